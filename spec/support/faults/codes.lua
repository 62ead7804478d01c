-- SPDX-License-Identifier: MIT
--- The errors that each call of OpenCL can return (OpenCL 3.0, the unified specification), those that a correct program
-- can meet first; and what the library is known to do about some of them instead of raising.

local codes = {}

codes.names = {
  [-2] = "CL_DEVICE_NOT_AVAILABLE", [-3] = "CL_COMPILER_NOT_AVAILABLE",
  [-4] = "CL_MEM_OBJECT_ALLOCATION_FAILURE", [-5] = "CL_OUT_OF_RESOURCES", [-6] = "CL_OUT_OF_HOST_MEMORY",
  [-7] = "CL_PROFILING_INFO_NOT_AVAILABLE", [-11] = "CL_BUILD_PROGRAM_FAILURE", [-12] = "CL_MAP_FAILURE",
  [-8] = "CL_MEM_COPY_OVERLAP", [-9] = "CL_IMAGE_FORMAT_MISMATCH", [-10] = "CL_IMAGE_FORMAT_NOT_SUPPORTED",
  [-13] = "CL_MISALIGNED_SUB_BUFFER_OFFSET", [-14] = "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
  [-18] = "CL_DEVICE_PARTITION_FAILED", [-19] = "CL_KERNEL_ARG_INFO_NOT_AVAILABLE",
  [-30] = "CL_INVALID_VALUE", [-32] = "CL_INVALID_PLATFORM",
  [-33] = "CL_INVALID_DEVICE", [-34] = "CL_INVALID_CONTEXT", [-35] = "CL_INVALID_QUEUE_PROPERTIES",
  [-36] = "CL_INVALID_COMMAND_QUEUE", [-38] = "CL_INVALID_MEM_OBJECT",
  [-39] = "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR", [-40] = "CL_INVALID_IMAGE_SIZE", [-41] = "CL_INVALID_SAMPLER",
  [-42] = "CL_INVALID_BINARY",
  [-43] = "CL_INVALID_BUILD_OPTIONS", [-44] = "CL_INVALID_PROGRAM", [-45] = "CL_INVALID_PROGRAM_EXECUTABLE",
  [-46] = "CL_INVALID_KERNEL_NAME", [-47] = "CL_INVALID_KERNEL_DEFINITION", [-48] = "CL_INVALID_KERNEL",
  [-49] = "CL_INVALID_ARG_INDEX", [-50] = "CL_INVALID_ARG_VALUE", [-51] = "CL_INVALID_ARG_SIZE",
  [-52] = "CL_INVALID_KERNEL_ARGS", [-54] = "CL_INVALID_WORK_GROUP_SIZE", [-55] = "CL_INVALID_WORK_ITEM_SIZE",
  [-56] = "CL_INVALID_GLOBAL_OFFSET", [-58] = "CL_INVALID_EVENT", [-59] = "CL_INVALID_OPERATION",
  [-61] = "CL_INVALID_BUFFER_SIZE", [-63] = "CL_INVALID_GLOBAL_WORK_SIZE",
  [-65] = "CL_INVALID_IMAGE_DESCRIPTOR", [-68] = "CL_INVALID_DEVICE_PARTITION_COUNT",
}

local MEMORY = { -6, -5 } -- what any call can run out of

local own = {
  clGetPlatformIDs = { -30 }, clGetPlatformInfo = { -32, -30 }, clGetDeviceIDs = { -30, -32 },
  clGetDeviceInfo = { -33, -30 }, clCreateSubDevices = { -18, -30, -33, -68 }, clCreateContext = { -2, -30, -32, -33 },
  clGetContextInfo = { -30, -34 },
  clCreateCommandQueue = { -30, -33, -34, -35 }, clCreateCommandQueueWithProperties = { -30, -33, -34, -35 },
  clCreateBuffer = { -4, -30, -34, -61 }, clSetMemObjectDestructorCallback = { -30, -38 },
  clCreateSubBuffer = { -4, -13, -30, -38 }, clCreateProgramWithSource = { -30, -34 },
  clCreateProgramWithBinary = { -30, -33, -34, -42 }, clBuildProgram = { -3, -11, -43, -44, -59 },
  clGetProgramInfo = { -30, -44, -45 }, clGetProgramBuildInfo = { -30, -33, -44 },
  clCreateKernel = { -44, -45, -46, -47 }, clGetKernelInfo = { -30, -48 },
  clGetKernelArgInfo = { -19, -30, -48, -49 }, clGetKernelWorkGroupInfo = { -30, -33, -48 },
  clSetKernelArg = { -38, -48, -49, -50, -51 }, clEnqueueNDRangeKernel = { -4, -36, -45, -48, -52, -54, -55, -56, -63 },
  clEnqueueReadBuffer = { -4, -14, -30, -34, -36, -38, -59 },
  clEnqueueWriteBuffer = { -4, -14, -30, -34, -36, -38, -59 },
  clEnqueueReadBufferRect = { -4, -14, -30, -34, -36, -38, -59 },
  clEnqueueWriteBufferRect = { -4, -14, -30, -34, -36, -38, -59 }, clEnqueueCopyBuffer = { -4, -30, -34, -36, -38 },
  clEnqueueFillBuffer = { -4, -30, -34, -36, -38 }, clEnqueueMapBuffer = { -4, -12, -14, -30, -34, -36, -38, -59 },
  clEnqueueUnmapMemObject = { -30, -34, -36, -38 },
  clEnqueueBarrierWithWaitList = { -34, -36, -58 }, clWaitForEvents = { -14, -30, -34, -58 },
  clGetEventInfo = { -30, -58 }, clGetEventProfilingInfo = { -7, -30, -58 }, clFlush = { -36 }, clFinish = { -36 },
  clCreateImage = { -4, -10, -30, -34, -39, -40, -59, -65 }, clGetSupportedImageFormats = { -30, -34 },
  clCreateSampler = { -30, -34, -59 }, clEnqueueReadImage = { -4, -10, -14, -30, -34, -36, -38, -40, -59 },
  clEnqueueWriteImage = { -4, -10, -14, -30, -34, -36, -38, -40, -59 },
  clEnqueueFillImage = { -4, -10, -30, -34, -36, -38, -40 },
  clEnqueueCopyImage = { -4, -8, -9, -10, -30, -34, -36, -38, -40, -59 },
  clEnqueueCopyImageToBuffer = { -4, -10, -30, -34, -36, -38, -40, -59 },
  clEnqueueCopyBufferToImage = { -4, -10, -30, -34, -36, -38, -40, -59 },
}

--- The codes of a call, those of memory first; without a call these alone.
function codes.of(call)
  if not call then return MEMORY end
  local list = table.move(MEMORY, 1, #MEMORY, 1, {})
  return table.move(own[call] or error("no codes for " .. call), 1, #own[call], #list + 1, list)
end

--- A command that fails on the device: what its state may be.
codes.of_commands = { -14, -5 }

local OUT_OF_MEMORY = { [-4] = true, [-5] = true, [-6] = true }

-- What need not raise, as its result is right all the same: by call, the codes (true: all) and why.
codes.mended = {
  clGetDeviceIDs = { true, "a driver that fails hides its own devices, not those of others" },
  clGetContextInfo = { true, "a part waits for the driver's threads without it" },
  clGetDeviceInfo = { { [-30] = true }, "a driver that does not know a property lacks what it tells of" },
  clCreateBuffer = { OUT_OF_MEMORY, "garbage is collected for a second try; a write waits instead of a copy" },
  clCreateImage = { OUT_OF_MEMORY, "the same" },
  clEnqueueMapBuffer = { OUT_OF_MEMORY, "the same, for host arrays, which stay mapped" },
  clSetMemObjectDestructorCallback = { OUT_OF_MEMORY, "the same, for memory that is shared with a worker" },
  clCreateProgramWithBinary = { true, "what the cache holds is built from its source" },
  clBuildProgram = { true, "what the cache holds is built from its source" },
  clGetProgramInfo = { true, "a program that cannot be kept is built again next time" },
  clCreateKernel = { true, "the same" }, clGetKernelInfo = { true, "the same" },
  clGetKernelArgInfo = { true, "the same" },
  clGetEventProfilingInfo = { true, "what the driver did not time is not in the profile" },
  clFinish = { true, "memory of the host goes, whatever the driver says" },
  clFlush = { true, "a command that has ended needs none" },
}

--- Whether a call may fail so without an error, given that the result is right.
function codes.may_be_mended(call, code)
  local row = codes.mended[call]
  return row ~= nil and (row[1] == true or row[1][code] == true)
end

-- Calls that ask after commands: where they fail, so have the commands, which the message names instead.
codes.of_state = { clGetEventInfo = true, clFlush = true }

return codes
