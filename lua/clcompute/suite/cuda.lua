-- SPDX-License-Identifier: MIT
--- NVIDIA's libraries on the GPU that OpenCL shows: cuBLAS, cuSOLVER, CUB, which tools/cuda.cu calls.

local interrupt = require("clcompute.base").interrupt
local process = require("clcompute.base").process

local cuda = {}

local PATH = "build/cuda.so"
local REMEDY = "make build/cuda.so in a checkout, which needs CUDA's nvcc"

local opened = {} -- by the number of the device

local function open(number)
  local load, reason = package.loadlib(os.getenv "CLCOMPUTE_CUDA" or PATH, "luaopen_cuda")
  if not load then return nil, ("no CUDA: %s; %s"):format(reason, REMEDY) end
  local library = load()
  library.name = "CUDA"
  local ok, answer = pcall(library.open, number)
  if not ok then
    interrupt.pass_on(answer)
    return nil, "no CUDA: " .. interrupt.text(answer)
  end
  library.version = answer
  return library
end

--- The number of a device, which NVIDIA's OpenCL and CUDA count alike.
local function number_of(device) return tonumber(device.place:match "^%d+:(%d+)") end

--- Opens the libraries.
-- @tparam Device device
-- @treturn ?table the functions of tools/cuda.cu, and `name`
-- @treturn ?string what is missing
function cuda.open(device)
  if not device.platform:find "NVIDIA" then return nil, ("no CUDA: %s is no device of NVIDIA's"):format(device.name) end
  local number = number_of(device)
  if not opened[number] then
    local library, reason = open(number)
    if not library then return nil, reason end
    opened[number] = library
  end
  return opened[number]
end

--- The clock of the multiprocessors now, in MHz; nil where NVIDIA's tool does not tell.
function cuda.clock(device)
  local command = "nvidia-smi -i %d --query-gpu=clocks.sm --format=csv,noheader,nounits 2>/dev/null"
  return tonumber(process.output(command:format(number_of(device))))
end

return cuda
