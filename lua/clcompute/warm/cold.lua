-- SPDX-License-Identifier: MIT
--- What the first call of an operation costs on empty caches, ours and POCL's, in seconds of processor time: on a busy
-- machine they change less than those of the clock. Each runs in a process of its own with folders of
-- its own.

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

local PROGRAM = [[
local cl = require 'clcompute'
local internal = require 'clcompute.core.internal'
local d = cl.device(%s)
d:zeros("float", 1)
d:wait()
local costs, start, linked = internal.note_costs(), internal.processor_time()
local began = cl.clock()
do %s end
d:wait()
local seconds = cl.clock() - began
local all, link = internal.processor_time()
local sums, names = { source = 0, binary = 0 }, {}
for _, cost in ipairs(costs) do
  sums[cost.phase] = sums[cost.phase] + cost.seconds
  if cost.phase == "source" then names[#names + 1] = (cost.name:gsub("%%.cl$", "")) end
end
print(("%%s\t%%s\t%%s\t%%s\t%%s\t%%s"):format(sums.source, sums.binary, link - linked, all - start, seconds,
  table.concat(names, " ")))]]

--- The last line that a process of its own prints, and whether it ended well.
local function run(variables, program)
  local code = ("package.path, package.cpath = %q, %q\n%s"):format(package.path, package.cpath, program)
  local pipe = io.popen(("%s %s -e %s 2>&1 </dev/null"):format(variables, process.quote(process.interpreter()),
    process.quote(code)))
  local last = ""
  for line in pipe:lines() do last = line end
  return last, (pipe:close())
end

local NUMBERS = { "source", "binary", "link", "all", "seconds" }

local function read(row, line)
  local words = {}
  for word in (line .. "\t"):gmatch "(.-)\t" do words[#words + 1] = word end
  for i, name in ipairs(NUMBERS) do row[name] = tonumber(words[i]) end
  if not row.seconds then return { name = row.name, fault = line } end
  row.kernels, row.launch = words[#NUMBERS + 1], row.all - row.source - row.binary
  return row
end

local function measure(row, device)
  local folder = process.tool "mktemp -d"
  local variables = ("POCL_CACHE_DIR=%s CLCOMPUTE_CACHE=%s CLCOMPUTE_BUILD=%s"):format(
    process.quote(folder), process.quote(folder .. "/ours"), row.wait and "wait" or "''")
  local line, ended = run(variables, PROGRAM:format(device and ("%q"):format(device) or "", row.code))
  process.tool("rm -rf " .. process.quote(folder))
  return ended and read({ name = row.name }, line) or { name = row.name, fault = line }
end

--- Measures the first calls on a device.
-- @tparam ?string device a selector
-- @treturn table rows: `source` (front end), `launch` (work-groups, and what is computed), `binary` (for the cache), of
-- these `link`, `all`, in seconds of processor time; `seconds` of the clock; `kernels`; or `fault`
function cold.measure(device)
  local rows = {}
  for i, row in ipairs(FIRST) do rows[i] = measure(row, device) end
  return rows
end

return cold
