-- SPDX-License-Identifier: MIT
--- Processes that fuzz the API, each with a seed, and what came of them; what one dies of is shrunk to a short script.

local shrink = require "spec.support.fuzz.shrink"

local campaign = {}

local LIMIT = 20 -- seconds of the processor that a shortened script may take
local PATIENCE = 8 -- times as long may pass: the machine has other work, and what waits for ever takes no such time
local TRIES = tonumber(os.getenv "FUZZ_TRIES") or 150 -- of shortened scripts

local function quote(text) return "'" .. text:gsub("'", "'\\''") .. "'" end

local function shell(line)
  local pipe = assert(io.popen(line))
  local output = pipe:read "a"
  local _, kind, code = pipe:close()
  return output, kind == "signal" and 128 + code or code
end

local ROOT = shell "pwd":gsub("\n", "")

local function read(path)
  local file = io.open(path, "rb")
  if not file then return "" end
  local text = file:read "a"
  file:close()
  return text
end

local function write(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

--- Whether there is a CPU at speed, whose kernels can go to a worker.
function campaign.can_isolate() return read "/etc/OpenCL/vendors/pocl.icd" ~= "" end

--- A folder with a platform of Oclgrind alone, one of POCL alone, and for the files that scripts read and write.
function campaign.prepare(folder)
  folder = shell("mkdir -p " .. quote(folder) .. " && realpath " .. quote(folder)):gsub("\n", "")
  os.execute(("cd %s && mkdir -p simulated isolated scratch && cd scratch && rm -rf * && mkfifo pipe && "
    .. "ln -s a.npy link.npy"):format(quote(folder)))
  write(folder .. "/scratch/junk.npy", "junk")
  write(folder .. "/scratch/k.cl", "kernel void k(global int *x) { x[0] = 1; }")
  write(folder .. "/simulated/oclgrind.icd", "/usr/lib/oclgrind/liboclgrind-rt-icd.so\n")
  write(folder .. "/isolated/pocl.icd", read "/etc/OpenCL/vendors/pocl.icd")
  return folder
end

-- KiB of addresses that a process may have: an array of 2^32 numbers is to be refused, not to use up the machine. The
-- sanitizers need more for themselves.
local ROOM = os.getenv "SANITIZED" and "unlimited" or "8388608"

--- Runs a Lua file there for at most so many seconds of the processor, on a device that is "simulated" or "isolated";
-- returns what it printed and how it ended.
local function run(folder, kind, limit, path, ...)
  local words = { quote(path), ... }
  local command = "cd %s/scratch && ulimit -v %s && ulimit -S -t %d && OCL_ICD_VENDORS=%s/%s FUZZ_DEVICE=%s "
    .. "CLCOMPUTE_CACHE=%s/cache CLCOMPUTE_DEVICE= CLCOUNT_EXIT=9 CLCOUNT_QUIET=1 timeout %d %s %s </dev/null 2>&1"
  local place = quote(folder)
  local lua = os.getenv "LUA" or "lua5.4"
  return shell(command:format(place, ROOM, limit, place, kind, kind, place, PATIENCE * limit, lua,
    table.concat(words, " ")))
end

--- The text of a script that runs by itself.
function campaign.script(lines)
  local head = ("package.path = %q .. package.path\n"):format(ROOT .. "/?.lua;")
  return head .. "local stage = require \"spec.support.fuzz.stage\"\n" .. table.concat(lines, "\n")
    .. "\nstage.finish()\nstage.report()\n"
end

-- By `timeout`, and by SIGXCPU.
local ENDLESS = { [124] = true, [128 + 24] = true }

--- How an end is called: as what came out wrong, or as what the process died of; nil where all is well.
local function name_end(output, code)
  local fault = output:match "fuzz: ([^\n]*)" or output:match "fault=([^\n]*)"
  if fault then return (fault:gsub("%d+", "0")) end
  if code == 0 then return nil end
  if ENDLESS[code] then return "it did not end" end
  return output:match "ERROR: (%w+Sanitizer: [%w%-]+)" or output:match "(runtime error: [^\n]*)" or "exit code " .. code
end

--- Shrinks the script in a file; returns its text, which is kept beside it.
function campaign.shrink(folder, kind, path, wanted)
  local lines = {}
  for line in read(path):gmatch "stage%.line%b()" do lines[#lines + 1] = line end
  lines = shrink.lines(lines, function(rest)
    write(path .. ".lua", campaign.script(rest))
    return name_end(run(folder, kind, LIMIT, path .. ".lua")) == wanted
  end, TRIES)
  local text = campaign.script(lines)
  write(path .. ".lua", text)
  return text
end

--- One process. Returns a table {calls=, messages={text}, failures={{name=, script=}}}.
-- @string folder of `prepare`
-- @tparam integer seed
-- @tparam integer calls
-- @tparam integer limit seconds of the processor
-- @string[opt="simulated"] kind of device; or "isolated"
function campaign.run(folder, seed, calls, limit, kind)
  kind = kind or "simulated"
  local log = ("%s/script.%s.%d"):format(folder, kind, seed)
  local output, code = run(folder, kind, limit, ROOT .. "/spec/support/fuzz/api.lua", seed, calls, quote(log))
  local result = { calls = math.tointeger(output:match "calls=(%d+)") or 0, messages = {}, failures = {} }
  for message in output:gmatch "message=([^\n]*)" do result.messages[#result.messages + 1] = message end
  local number = 0
  for fault in output:gmatch "fault=([^\n]*)" do
    number = number + 1
    result.failures[number] = { name = fault:gsub("%d+", "0"), path = log .. "." .. number }
  end
  if os.rename(folder .. "/scratch/owned", folder .. "/owned") then
    result.failures[number + 1] = { name = "a text reached a shell", path = log }
    number = number + 1
  end
  if code ~= 0 then result.failures[number + 1] = { name = name_end(output:gsub("fault=", ""), code), path = log } end
  for _, failure in ipairs(result.failures) do
    failure.output = output
    failure.script = campaign.shrink(folder, kind, failure.path, failure.name)
  end
  return result
end

return campaign
