-- SPDX-License-Identifier: MIT
--- What POCL 3.1 says, under POCL_DEBUG=llvm,timing, of each kernel that it compiles: a line with the time, then one
-- with what happens, of one kernel at a time:
--
--     >>>       101.279  ms    API: llvm_workgroup_ir_func_gen      the vectoriser, and what else makes a work-group
--     Generating an object file directly.
--     written /.../tempfile_mPecW0.so.o size 8768                   code generation
--     Temporary kernel.so file for kernel lu_batch : ...
--     >>>       188.652  ms    API: llvm_codegen                    the linker

local pocl_log = {}

local UNITS = { s = 1, ms = 1e-3, us = 1e-6, ns = 1e-9 }
local DAY = 86400

local function seconds_of_day(line)
  local hours, minutes, seconds = line:match "^%[%d+%-%d+%-%d+ (%d+):(%d+):([%d.]+)%] POCL: "
  return hours and (hours * 60 + minutes) * 60 + tonumber(seconds)
end

--- A function that is called with each line of a process and returns whether it is POCL's.
-- @tparam function tell called with the name of a kernel that was compiled and its seconds of the clock: `vectoriser`,
-- `code`, `link`
function pocl_log.listener(tell)
  local now, phases, began, name = 0, {}, nil, nil
  return function(line)
    local time = seconds_of_day(line)
    now = time or now
    if time or line:find "^%*%* Final POCL_DEBUG" then return true end
    if not line:find "^  %*%*%* %u+ %*%*%*  |" then return false end
    local taken, unit = line:match ">>> *([%d.]+) *(%l+) *API: llvm_workgroup_ir_func_gen"
    if taken then phases.vectoriser = taken * UNITS[unit] end
    if line:find "Generating an object file" then began = now end
    if line:find "written .*%.so%.o size" and began then phases.code = (now - began) % DAY end
    local linked = line:match "Temporary kernel%.so file for kernel (%S+)"
    if linked then name, began = linked, now end
    if line:find "API: llvm_codegen" and name then
      phases.link = (now - began) % DAY
      tell(name, phases)
      phases, began, name = {}, nil, nil
    end
    return true
  end
end

return pocl_log
