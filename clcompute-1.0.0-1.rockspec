rockspec_format = "3.0"
package = "clcompute"
version = "1.0.0-1"
source = { url = "file://clcompute-1.0.0.tar.gz" } -- `make dist` packs both into a source rock
description = {
  summary = "OpenCL compute: devices, buffers, kernels, tuned operations, and Lua loops as kernels",
  detailed = [[
    Write Lua, compute on any OpenCL device, GPU or CPU: typed buffers, kernels whose arguments are checked, tuned
    operations, and Lua loops that become kernels. A mistake is an error that says what to do.]],
  license = "MIT",
  maintainer = "the clcompute authors",
  labels = { "opencl", "gpu", "compute", "linear-algebra" },
}
supported_platforms = { "linux" }
dependencies = { "lua >= 5.4, < 5.6" }
external_dependencies = { OPENCL = { header = "CL/cl.h", library = "OpenCL" } }
build = {
  type = "make",
  variables = { -- of both passes: what other flags built is built again
    CC = "$(CC)", CFLAGS = "$(CFLAGS) -I$(OPENCL_INCDIR)", LDFLAGS = "-L$(OPENCL_LIBDIR)", LUA_INCDIR = "$(LUA_INCDIR)",
  },
  install_variables = {
    PREFIX = "$(PREFIX)", LUADIR = "$(LUADIR)", LIBDIR = "$(LIBDIR)", BINDIR = "$(BINDIR)", DOCDIR = "$(PREFIX)/doc",
  },
}
test = { type = "command", command = "make check" }
