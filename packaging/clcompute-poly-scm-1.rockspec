rockspec_format = "3.0"
package = "clcompute-poly"
version = "scm-1"
source = {
  url = "git+file://.",
}
description = {
  summary = "Analyses of loop nests by isl, for clcompute.loops",
  detailed = [[
    Dependences, bounds and coverage of loop nests: sets and maps go in as strings of isl, tables and
    Lua expressions come out. It needs neither OpenCL nor the rest of clcompute.]],
  license = "MIT",
  labels = { "polyhedral", "loops", "isl" },
}
supported_platforms = { "linux" }
dependencies = {
  "lua >= 5.4",
}
external_dependencies = {
  ISL = {
    header = "isl/ctx.h",
    library = "isl",
  },
}
build = {
  type = "builtin",
  modules = {
    ["clcompute.poly"] = {
      sources = {
        "csrc/poly.c",
        "csrc/poly_analysis.c",
        "csrc/poly_dependences.c",
        "csrc/poly_expression.c",
        "csrc/poly_extremes.c",
        "csrc/poly_input.c",
        "csrc/poly_overlap.c",
        "csrc/poly_uncovered.c",
        "csrc/poly_wavefront.c",
      },
      libraries = { "isl" },
      incdirs = { "$(ISL_INCDIR)" },
      libdirs = { "$(ISL_LIBDIR)" },
    },
  },
}
