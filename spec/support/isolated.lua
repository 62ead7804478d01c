-- SPDX-License-Identifier: MIT
--- Isolated devices and their workers, from outside: what the specs of both share.

local cl = require "clcompute"
local helper = require "spec.helper"

local isolated = {}

-- PLACE, that of a CPU at speed; OTHER, a device that is no CPU.
for _, device in ipairs(cl.devices()) do
  if device.type ~= "cpu" then
    isolated.OTHER = isolated.OTHER or device
  elseif not helper.is_simulator(device) then
    isolated.PLACE = isolated.PLACE or device.place
  end
end

-- A sanitizer takes room, and time.
isolated.SANITIZED = os.getenv "SANITIZED"

-- Seconds at most to a new worker; a quarter is usual, on a machine at rest.
isolated.NEW_WORKER = isolated.SANITIZED and 20 or 5

--- A CPU, isolated.
function isolated.device(limit) return cl.device(isolated.PLACE, { isolated = true, limit = limit }) end

--- What a line of the shell prints.
function isolated.output_of(line)
  local pipe = assert(io.popen(line))
  local text = pipe:read "a"
  pipe:close()
  return text
end

--- The number of this process.
isolated.SELF = isolated.output_of("echo $PPID"):match "%d+" -- the shell's parent

--- The numbers of the worker processes of this one, dead ones included.
function isolated.workers()
  local list = {}
  for line in isolated.output_of("ps -o pid=,args= --ppid " .. isolated.SELF):gmatch "[^\n]+" do
    if line:find("clcompute_worker", 1, true) or line:find("defunct", 1, true) then
      list[#list + 1] = line:match "%d+"
    end
  end
  return list
end

--- How many files this process has open, but the pipes of the shell that counts them.
function isolated.count_files()
  return tonumber(isolated.output_of(("ls -l /proc/%s/fd | grep -vc pipe:"):format(isolated.SELF)))
end

function isolated.is_running(pid) return os.execute(("kill -0 %s 2>/dev/null"):format(pid)) == true end

--- Whether f() comes true within some seconds.
function isolated.soon(f)
  local start = cl.clock()
  while not f() do
    if cl.clock() - start > 10 then return false end
    os.execute "sleep 0.02"
  end
  return true
end

-- Kernels, most of which do what none should.
isolated.FAULTS = [=[
  kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }
  kernel void far(global float *x) { x[get_global_id(0) + (1L << 40)] = 2; }
  kernel void endless(global float *x) { volatile int go = 1; while (go) x[0] += 1; }
  kernel void large(global float *x) {
    volatile float a[1 << 24];
    for (int i = 0; i < 1 << 24; i++) a[i] = i;
    x[0] = a[(int)x[0]];
  }
  kernel void divergent(global float *x) {
    for (int i = 0; i < (int)get_local_id(0) * 1000; i++) {
      x[get_global_id(0)] += i;
      barrier(CLK_LOCAL_MEM_FENCE);
    }
  }
]=]

return isolated
