rockspec_format = "3.0"
package = "clcompute"
version = "scm-1"
source = { url = "git+file://." }
description = {
  summary = "OpenCL compute: devices, buffers, kernels, and tuned saxpy, gemm and gauss",
  detailed = [[
    Write Lua, compute on any OpenCL device: typed buffers, kernels whose arguments are
    checked against their own signature, prebuilt saxpy, gemm and Gauss elimination.]],
  license = "MIT",
  labels = { "opencl", "gpu", "compute", "linear-algebra" },
}
supported_platforms = { "linux" }
dependencies = { "lua >= 5.4" }
external_dependencies = { OPENCL = { header = "CL/cl.h", library = "OpenCL" } }
build = {
  type = "make",
  build_variables = {
    CC = "$(CC)", CFLAGS = "$(CFLAGS) -I$(OPENCL_INCDIR)", LDFLAGS = "-L$(OPENCL_LIBDIR)", LUA_INCDIR = "$(LUA_INCDIR)",
  },
  install_variables = { LUADIR = "$(LUADIR)", LIBDIR = "$(LIBDIR)", BINDIR = "$(BINDIR)" },
}
test = { type = "command", command = "make test" }
