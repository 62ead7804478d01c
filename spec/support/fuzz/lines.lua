-- SPDX-License-Identifier: MIT
--- Lines of a fuzzed script: calls by the signatures of the stubs, and all else that can be done to an object.

local stage = require "spec.support.fuzz.stage"
local stubs = require "spec.support.fuzz.stubs"
local values = require "spec.support.fuzz.values"

local lines = {}

local chance, pick = values.chance, values.pick

-- Left out: they start processes, or read files that are no input of theirs.
local EXCLUDED = { ["clcompute.doctor"] = true, ["clcompute.report.read"] = true }

-- One in so many calls of what launches many work-items, which a simulator runs slowly.
local RARE = {
  gemm = 60, gauss = 60, lu = 30, sum = 60, asum = 60, dot = 60, min = 60, max = 60, argmin = 60,
  argmax = 60, norm2 = 60, reduce = 40, sort = 60, argsort = 60, unique = 60, compact = 60, count = 60, any = 60,
  all = 60, histogram = 60, gather = 40, scatter = 40, where = 8,
  scan = 20, map = 8, trace_range = 6, program = 4, kernel = 4, is_built = 4, queue = 3, close = 60, compile = 8,
  html = 6, svg = 4, openblas = 300, clblast = 40, platforms = 4, devices = 4, info = 2, json = 2, dependences = 4,
  extremes = 4, uncovered = 4, solve = 8, rcond = 8, det = 4, save = 3, load = 3,
}

local MODULES = { "clcompute", "clcompute.sequential", "clcompute.blas", "clcompute.poly", "clcompute.report",
  "clcompute.loops" }

local functions, types = stubs.read(MODULES)
values.use(types)

-- A kernel's call has no stub of its own.
functions[#functions + 1] = { name = "Kernel:call", class = "Kernel", module = "clcompute", call = true, params = {
  { name = "range", type = { kind = "name", name = "clcompute.Range" } },
  { name = "...", rest = true, type = { kind = "union", of = {
    { kind = "name", name = "clcompute.Buffer" }, { kind = "name", name = "clcompute.Buffer" },
    { kind = "name", name = "number" }, { kind = "name", name = "clcompute.Scratch" },
    { kind = "name", name = "clcompute.Image" }, { kind = "name", name = "clcompute.Sampler" },
    { kind = "name", name = "clcompute.Values" }, { kind = "name", name = "string" } } } } } }

local chosen = {}
for _, f in ipairs(functions) do
  local name = f.method or f.name:match "%w+$"
  if not EXCLUDED[f.name] then chosen[#chosen + 1] = { f = f, rare = RARE[name] or 1 } end
end

-- --- calls -----------------------------------------------------------------------------------------

--- The text of arguments; the last ones are left out at times, and some are too many.
local function arguments(f)
  local parts = {}
  for _, param in ipairs(f.params) do
    for _ = 1, param.rest and math.random(0, 3) or 1 do
      parts[#parts + 1] = values.of(param.type, param.name, 0, f.module)
    end
  end
  if chance(20) then parts[#parts] = nil end
  if chance(3) then parts[#parts + 1] = values.hostile(f.module) end
  return table.concat(parts, ", ")
end

local BUFFER_OF_DTYPE = { float = true, double = true, int = true, uchar = true }

--- Arguments as a kernel's own signature has them.
local function own_arguments(kernel)
  local ok, args = pcall(function() return kernel.args end)
  if not ok then return nil end
  local parts = {}
  for _, arg in ipairs(args) do
    local base = arg.type:match "^(%w+)%*$" or arg.type:match "(%w+) ?%*"
    if arg.space == "local" then
      parts[#parts + 1] = ("cl.scratch(%q, %s)"):format(base or "float", values.integer())
    elseif base and BUFFER_OF_DTYPE[base] then
      parts[#parts + 1] = ("v[1]:zeros(%q, %d)"):format(base, math.random(0, 4))
    elseif arg.type:find "%d$" then
      parts[#parts + 1] = "{" .. ("1, "):rep(tonumber(arg.type:match "%d+$")) .. "}"
    elseif arg.type:find "pair" then
      parts[#parts + 1] = '("\\0"):rep(8)'
    else
      parts[#parts + 1] = values.integer()
    end
    if chance(8) then parts[#parts] = values.hostile() end
  end
  return table.concat(parts, ", ")
end

local function call_kernel(f, i)
  local given = chance(75) and stage.slots[i] and own_arguments(stage.slots[i]) or nil
  if not given then return ("local r = v[%d](%s) return r"):format(i, arguments(f)) end
  local range = values.of(f.params[1].type, "range")
  return ("local r = v[%d](%s) return r"):format(i, given == "" and range or range .. ", " .. given)
end

--- A call of a signature, or nil where there is no object for it.
local function call(f)
  if not f.class then
    local module = f.module == "clcompute" and "cl" or f.module:match "%w+$"
    return ("local r = %s.%s(%s) return r"):format(module, f.name:match "[%w_]+$", arguments(f))
  end
  local i = values.slot_of(f.class)
  if not i then return nil end
  if f.call then return call_kernel(f, i) end
  local given = arguments(f)
  if chance(2) then -- another object in its place
    local self = values.hostile()
    return ("local r = v[%d].%s(%s) return r"):format(i, f.method, given == "" and self or self .. ", " .. given)
  end
  return ("local r = v[%d]:%s(%s) return r"):format(i, f.method, given)
end

local function some_call()
  local text
  repeat
    local one = pick(chosen)
    text = one.rare > 0 and math.random(one.rare) == 1 and call(one.f) or nil
  until text
  return text
end

-- --- what else can be done -------------------------------------------------------------------------

local function some() return math.random(values.SLOTS) end

local function some_object()
  for _ = 1, 10 do
    local i = some()
    if stage.slots[i] ~= nil and i > 1 then return i end
  end
  return some()
end

local OPERATORS = { "+", "-", "*", "/", "//", "%", "^", "&", "|", "~" }

--- An expression of buffers, one of which may be an expression.
local function combine()
  local i, j = values.slot_of "Buffer", chance(60) and values.slot_of "Buffer"
  if not i then return some_call() end
  if chance(15) then return ("local r = %sv[%d] return r"):format(pick { "-", "~" }, i) end
  local other = j and ("v[%d]"):format(j) or chance(90) and pick { "2", "3", "-1", "0.5" } or values.hostile()
  if chance(30) then return ("local r = %s %s v[%d] return r"):format(other, pick(OPERATORS), i) end
  return ("local r = v[%d] %s %s return r"):format(i, pick(OPERATORS), other)
end

--- What a recording keeps, or refuses.
local function recorded()
  local parts = {}
  for k = 1, math.random(0, 3) do
    local i, buffer = values.slot_of "Kernel", values.slot_of "Buffer"
    local launch = i and chance(50) and call_kernel({ params = functions[#functions].params }, i)
    local fill = buffer and chance(60) and ("v[%d]:fill(%s)"):format(buffer, values.integer())
    parts[k] = ("pcall(function() %s end)"):format(launch or fill or chance(50) and combine() or some_call())
  end
  return table.concat(parts, " ")
end

-- How often a sequence goes: not 2^31 times.
local TURNS = { "", "2", "3", "-1", "0.5", "2^63", '"x"', "{}", "stage.yielding()" }

--- A sequence: recorded, queued again, changed, with something in the middle of it.
local function sequence()
  local i = values.slot_of "Sequence"
  if not i or chance(25) then return ("local r = v[1]:record(function() %s end) return r"):format(recorded()) end
  if chance(40) then return ("local r = v[%d](%s) return r"):format(i, pick(TURNS)) end
  local which, buffer = pick { "1", "2", '"x"', '"n"', values.hostile() }, values.slot_of "Buffer"
  local given = buffer and chance(50) and ("v[%d]"):format(buffer) or values.integer()
  return ("local r = v[%d]:set(%s, %s, %s) return r"):format(i, pick { "1", "1", "2", values.integer() }, which, given)
end

--- A call, an operator, or a sequence.
local function some_use() return pick { some_call, some_call, combine, sequence }() end

local FIELDS = { "name", "dtype", "shape", "bytes", "device", "args", "kernels", "status", "seconds", "k", "second",
  "n",
  "count", "align", "max_group_sizes", "threads", "__gc", "__index", "release", "close" }
local METAMETHODS = { "__gc", "__close", "__index", "__newindex", "__tostring", "__len", "__call", "__pairs",
  "release" }

--- The source of statements, each with a weight.
local ACTS = {
  { 100, some_call },
  { 12, combine },
  { 8, sequence },
  { 8, function() return ("local r = v[%d].%s return r"):format(some_object(), pick(FIELDS)) end },
  { 6, function() return ("local r = v[%d][%s] return r"):format(some_object(), values.integer()) end },
  { 5, function() return ("v[%d][%s] = %s"):format(some_object(), values.integer(), values.hostile()) end },
  { 2, function() return ("v[%d][%s] = %s"):format(some_object(), values.hostile(), values.hostile()) end },
  { 2, function() return ("local r = v[%d][%s] return r"):format(some_object(), values.hostile()) end },
  { 6, function() return ("local r = tostring(v[%d]) .. #v[%d]"):format(some_object(), some_object()) end },
  -- not all of a matrix of a billion rows
  { 3, function() return ("for i in ipairs(v[%d]) do if i > 999 then break end end"):format(some_object()) end },
  { 3, function()
    return ("local n = 0 for _ in pairs(v[%d]) do n = n + 1 if n > 999 then break end end"):format(some_object())
  end },
  { 2, function()
    return ("local r = v[%d] %s v[%d]"):format(some_object(), pick { "==", "<", ".." }, some_object())
  end },
  { 6, function() return ("stage.drop(%d)"):format(some_object()) end },
  { 6, function() return ("v[%d] = nil"):format(math.random(2, values.SLOTS)) end },
  { 3, function() return pick { "collectgarbage()", 'collectgarbage "step"', 'collectgarbage "generational"',
    'collectgarbage "incremental"', 'collectgarbage "stop"', 'collectgarbage "restart"' } end },
  { 5, function() return ("stage.mine(%d)"):format(some_object()) end },
  { 3, function() return ("stage.user(%d)"):format(some_object()) end },
  { 4, function()
    return ("return stage.hooked(%d, %d, function() %s end)"):format(some(), math.random(9), some_call())
  end },
  { 4, function()
    return ("return stage.pressed(%d, %s, function() %s end)"):format(some_object(), chance(50), some_use())
  end },
  { 3, function() return ("return stage.inside(function() %s end)"):format(some_call()) end },
  { 3, function() return ("return stage.closed(function() return stage.scoped(%d, function() %s end) end)"):format(
    some_object(), some_call()) end },
  { 2, function() return ("return stage.scoped(%d, function() %s end)"):format(some_object(), some_call()) end },
  { 1, function() -- in few scripts, as what is forged cannot be counted afterwards
    if math.random(20) > 1 then return some_call() end
    return ("stage.forge(v[%d], v[%d])"):format(some_object(), some_object())
  end },
  { 1, function()
    return ("debug.setuservalue(v[%d], %s, %d)"):format(some_object(), values.hostile(), math.random(5))
  end },
  { 1, function() return ("local t = debug.getuservalue(v[%d], %d) for k in pairs(t) do t[k] = %s end"):format(
    some_object(), math.random(5), values.hostile()) end },
  { 2, function() return ("local r = debug.getmetatable(v[%d]).%s(v[%d], %s) return r"):format(some_object(),
    pick(METAMETHODS), some(), values.hostile()) end },
  { 1, function() return ("v[%d]:close() v[1] = cl.device()"):format(some_object()) end },
}

local total = 0
for _, act in ipairs(ACTS) do total = total + act[1] end

--- The text of one line. What it does depends on what the slots hold.
function lines.make()
  local at = math.random(total)
  for _, act in ipairs(ACTS) do
    at = at - act[1]
    if at <= 0 then return act[2]() end
  end
end

--- Objects to begin with, so that calls reach deep.
lines.PRELUDE = {
  "local r = cl.device() return r", "local r = v[1]:buffer({{4, 1, 0}, {1, 5, 2}, {0, 2, 6}}) return r",
  "local r = v[1]:buffer({1, 2, 3}) return r",
  'local r = v[1]:buffer({1, 2, 3, 4, 5, 6}, "int") return r',
  "local r = v[1]:program(" .. ("%q"):format(values.SOURCES[1]) .. ") return r", "local r = v[5].k return r",
  "local r = v[6](4, v[4], 7) return r",
  "local r = v[1]:program(" .. ("%q"):format(values.SOURCES[2]) .. ") return r", "local r = v[8].k return r",
  'local r = cl.scratch("float", 4) return r',
  'local r = v[1]:zeros("double", 3, 3) return r',
  "local r = cl.lu(v[2]) return r", "local r = v[2]:view(2, 3) return r",
  'local r = blas.array(9, "float") return r',
  "local r = v[1]:record(function() v[6](4, v[4], 7) end) return r", "local r = v[2] + 2 * v[3] return r",
  "local r = v[1]:queue() return r", "local r = v[17]:zeros('float', 3, 3) return r",
}

return lines
