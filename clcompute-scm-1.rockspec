rockspec_format = "3.0"
package = "clcompute"
version = "scm-1"
source = {
  url = "git+file://.",
}
description = {
  summary = "OpenCL compute: devices, buffers, kernels, and tuned saxpy, gemm and gauss",
  detailed = [[
    Write Lua, compute on any OpenCL device: typed buffers, kernels whose arguments are
    checked against their own signature, prebuilt saxpy, gemm and Gauss elimination.]],
  license = "MIT",
  labels = { "opencl", "gpu", "compute", "linear-algebra" },
}
supported_platforms = { "linux" }
dependencies = {
  "lua >= 5.4",
}
external_dependencies = {
  OPENCL = {
    header = "CL/cl.h",
    library = "OpenCL",
  },
}
build = {
  type = "builtin",
  modules = {
    clcompute = "lua/clcompute/init.lua",
    ["clcompute.npy"] = "lua/clcompute/npy.lua",
    ["clcompute.npy_header"] = "lua/clcompute/npy_header.lua",
    ["clcompute.core"] = {
      sources = {
        "csrc/accuracy.c",
        "csrc/args.c",
        "csrc/binary.c",
        "csrc/buffer.c",
        "csrc/build.c",
        "csrc/buildlog.c",
        "csrc/cache.c",
        "csrc/core.c",
        "csrc/counter.c",
        "csrc/create.c",
        "csrc/declaration.c",
        "csrc/device.c",
        "csrc/discover.c",
        "csrc/dtype.c",
        "csrc/error.c",
        "csrc/event.c",
        "csrc/folder.c",
        "csrc/gauss.c",
        "csrc/gauss_paper.c",
        "csrc/gemm.c",
        "csrc/handle.c",
        "csrc/include.c",
        "csrc/info.c",
        "csrc/kernel.c",
        "csrc/lexer.c",
        "csrc/live.c",
        "csrc/lu.c",
        "csrc/memory.c",
        "csrc/operand.c",
        "csrc/plain.c",
        "csrc/platform.c",
        "csrc/pocl.c",
        "csrc/prebuilt.c",
        "csrc/profile.c",
        "csrc/program.c",
        "csrc/range.c",
        "csrc/saxpy.c",
        "csrc/shape.c",
        "csrc/signature.c",
        "csrc/source.c",
        "csrc/wait.c",
      },
      libraries = { "OpenCL", "m", "pthread" },
      incdirs = { "$(OPENCL_INCDIR)" },
      libdirs = { "$(OPENCL_LIBDIR)" },
    },
    ["clcompute.doctor"] = "lua/clcompute/doctor.lua",
    ["clcompute.doctor.answers"] = "lua/clcompute/doctor/answers.lua",
    ["clcompute.doctor.compilers"] = "lua/clcompute/doctor/compilers.lua",
    ["clcompute.doctor.drivers"] = "lua/clcompute/doctor/drivers.lua",
    ["clcompute.doctor.folders"] = "lua/clcompute/doctor/folders.lua",
    ["clcompute.doctor.known_answer"] = "lua/clcompute/doctor/known_answer.lua",
    ["clcompute.doctor.machine"] = "lua/clcompute/doctor/machine.lua",
    ["clcompute.doctor.probe"] = "lua/clcompute/doctor/probe.lua",
    ["clcompute.doctor.process"] = "lua/clcompute/doctor/process.lua",
    ["clcompute.doctor.report"] = "lua/clcompute/doctor/report.lua",
    ["clcompute.loop_warning"] = "lua/clcompute/loop_warning.lua",
    ["clcompute.profile"] = "lua/clcompute/profile.lua",
    ["clcompute.sequential"] = {
      sources = { "csrc/sequential.c", "csrc/plain.c" },
      libraries = { "m" },
    },
  },
  install = {
    -- a module path with a file of another kind: it lands beside the Lua files
    lua = {
      ["clcompute.kernels.column_sums"] = "kernels/column_sums.cl",
      ["clcompute.kernels.copy_matrix"] = "kernels/copy_matrix.cl",
      ["clcompute.kernels.gather_rows"] = "kernels/gather_rows.cl",
      ["clcompute.kernels.gauss_bwd"] = "kernels/gauss_bwd.cl",
      ["clcompute.kernels.gauss_bwd_prepare"] = "kernels/gauss_bwd_prepare.cl",
      ["clcompute.kernels.gauss_fwd"] = "kernels/gauss_fwd.cl",
      ["clcompute.kernels.gauss_fwd_pre"] = "kernels/gauss_fwd_pre.cl",
      ["clcompute.kernels.gemm_naive"] = "kernels/gemm_naive.cl",
      ["clcompute.kernels.gemm_tiled"] = "kernels/gemm_tiled.cl",
      ["clcompute.kernels.lu_pivot"] = "kernels/lu_pivot.cl",
      ["clcompute.kernels.lu_substitute"] = "kernels/lu_substitute.cl",
      ["clcompute.kernels.lu_swap"] = "kernels/lu_swap.cl",
      ["clcompute.kernels.lu_update"] = "kernels/lu_update.cl",
      ["clcompute.kernels.residual"] = "kernels/residual.cl",
      ["clcompute.kernels.reverse_axes"] = "kernels/reverse_axes.cl",
      ["clcompute.kernels.saxpy"] = "kernels/saxpy.cl",
    },
  },
}
test = {
  type = "command",
  command = "make test",
}
