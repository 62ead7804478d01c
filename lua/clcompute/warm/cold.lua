-- SPDX-License-Identifier: MIT
--- What the first call of an operation costs on empty caches, ours and the drivers', in seconds of processor time: on a
-- busy machine they change less than those of the clock. Each runs in a process of its own with folders of its own.

local code_process = require "clcompute.warm.code_process"
local pocl_log = require "clcompute.warm.pocl_log"
local process = require("clcompute.base").process

local cold = {}

-- Lua code, in which `cl` and `d` are at hand. The last one also builds what others leave for later.
local FIRST = {
  { name = "saxpy", code = [[local x = d:zeros("float", 1000) cl.saxpy(2, x, x:copy()):read()]] },
  { name = "gemm", code = [[local a = d:zeros("float", 64, 64):fill(1) cl.gemm(a, a):read()]] },
  { name = "gauss", code = [[local a = d:zeros("float", 64, 64):fill(1) for i = 1, 64 do a:set(i, i, 64) end
    cl.gauss(a, d:zeros("float", 64):fill(1)):read()]] },
  { name = "sum", code = [[cl.sum(d:zeros("float", 1000))]] },
  { name = "map", code = [[cl.map("x[i] + 1", { x = d:zeros("float", 1000) }):read()]] },
  { name = "scan", code = [[cl.scan("a + b", d:zeros("float", 1000)):read()]] },
  { name = "gemm, fast", code = [[cl.ready(d)]], wait = true },
}

-- Prints a line for each build, and then one with the sums.
local PROGRAM = [[
local cl = require 'clcompute'
local answers, internal = require 'clcompute.answers', require 'clcompute.core.internal'
local judged, is_judging, verdict = 0, false, answers.verdict
function answers.verdict(...)
  if is_judging then return verdict(...) end
  local start = internal.processor_time()
  is_judging = true
  local result = verdict(...)
  is_judging, judged = false, judged + internal.processor_time() - start
  return result
end
local d = cl.device(%s)
d:zeros("float", 1)
d:wait()
local costs, start, began = internal.note_costs(), internal.processor_time(), cl.clock()
do %s end
d:wait()
local seconds, all = cl.clock() - began, internal.processor_time() - start
for _, cost in ipairs(costs) do print(("build\t%%s\t%%s\t%%s"):format(cost.phase, cost.seconds, cost.name)) end
print(("sums\t%%s\t%%s\t%%s"):format(judged, all, seconds))]]

--- The entry of a kernel's name, made where there is none.
local function entry_of(kernels, name)
  if not kernels[name] then
    kernels[name] = { name = name, builds = 0, source = 0 }
    kernels[#kernels + 1] = kernels[name]
  end
  return kernels[name]
end

local function add(row, key, seconds) row[key] = (row[key] or 0) + seconds end

local function add_build(row, phase, seconds, name)
  add(row, phase, tonumber(seconds))
  local entry = entry_of(row.kernels, (name:gsub("%.cl$", "")))
  add(entry, phase, tonumber(seconds))
  if phase == "source" then entry.builds = entry.builds + 1 end
end

--- What POCL says of a kernel that it compiled; of one of several forms it says so again.
local function add_compilation(row, name, phases)
  for phase, seconds in pairs(phases) do
    add(row, phase, seconds)
    add(entry_of(row.kernels, name), phase, seconds)
  end
end

--- Fills a row with what its process prints; returns the last line.
local function read(row, pipe)
  local listen, last = pocl_log.listener(function(...) add_compilation(row, ...) end), nil
  for line in pipe:lines() do
    local phase, cost, name = line:match "^build\t(%l+)\t([^\t]*)\t(.*)$"
    local judged, all, seconds = line:match "^sums\t([^\t]*)\t([^\t]*)\t(.*)$"
    if phase then
      add_build(row, phase, cost, name)
    elseif judged then
      row.judged, row.all, row.seconds = tonumber(judged), tonumber(all), tonumber(seconds)
    elseif not listen(line) then
      last = line
    end
  end
  return last
end

--- The environment in which no cache is but those of a folder. POCL tells in its log what a kernel costs.
local function environment(folder, wait)
  return { CLCOMPUTE_CACHE = folder .. "/ours", CLCOMPUTE_BUILD = wait and "wait" or "", XDG_CACHE_HOME = folder,
    CLCOMPUTE_SYSTEM_CACHE = "off", POCL_CACHE_DIR = folder .. "/pocl", CUDA_CACHE_PATH = folder .. "/cuda",
    POCL_DEBUG = "llvm,timing" }
end

local function measure(row, device)
  local folder <close> = process.new_folder()
  local code = PROGRAM:format(device and ("%q"):format(device) or "", row.code)
  local command = code_process.command(code, environment(folder.path, row.wait))
  local pipe <close> = code_process.open("exec env " .. command .. " 2>&1") -- its end is that of the process itself
  local measured = { name = row.name, source = 0, binary = 0, kernels = {} }
  local last = read(measured, pipe)
  if not (pipe:close() and measured.seconds) then return { name = row.name, fault = last or "it ended early" } end
  measured.launch = measured.all - measured.source - measured.binary
  for _, entry in ipairs(measured.kernels) do measured.kernels[entry.name] = nil end
  return measured
end

--- Measures the first calls on a device.
-- @tparam ?string device a selector
-- @tparam ?table names of those that are to be measured alone
-- @treturn table rows: `name`, `source` (front end), `launch` (work-groups, and what is computed), `binary` (for the
-- cache), `judged` (known answers, with what is built for them), `all`, in seconds of processor time; `seconds` of the
-- clock; `kernels`, a list of `name`, `builds`, `source`, `binary`; on POCL `vectoriser`, `code` and `link` too, in
-- seconds of the clock, which are part of `launch` and `binary`; or `fault`
function cold.measure(device, names)
  local rows, wanted = {}, names and {}
  for _, name in ipairs(names or {}) do wanted[name] = true end
  for _, row in ipairs(FIRST) do
    if not wanted or wanted[row.name] then rows[#rows + 1] = measure(row, device) end
  end
  return rows
end

return cold
