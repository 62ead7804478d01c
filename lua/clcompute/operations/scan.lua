-- SPDX-License-Identifier: MIT

--- cl.scan: running results.
-- @module clcompute

local code = require "clcompute.operations.code"
local enqueue = require("clcompute.core.internal").enqueue
local kernels = require "clcompute.operations.kernels"
local operands = require "clcompute.operations.operands"
local operations = require "clcompute.operations.operations"
local options = require("clcompute.base").options
local plans = require "clcompute.operations.plans"
local public = require "clcompute.operations.public"
local typing = require "clcompute.operations.typing"

local OPTIONS = { exclusive = "boolean", init = "number", out = "Buffer", dtype = "string" }
local NONE = {}

local ELEMENT = "arg_x"

--- What both kernels have: elements in the type that is computed in.
local function macros_of(s, plan)
  local macros = code.macros(s.list, ELEMENT, { type_of = function() return s.value end, ahead = plan.ahead })
  macros.OPERATION, macros.LANES = s.operation, plan.lanes
  return macros
end

local function build_sums(text, device, s, reduce_plan)
  local macros = macros_of(s, reduce_plan)
  macros.RESULT, macros.ORDERED = s.value, s.identity and 0 or 1
  return kernels.build("scan", text, device, reduce_plan.kernel, macros)
end

--- Sixteen elements at once.
local function elements(s)
  local read = s.list[1].dtype == "half" and "vload_half16" or "vload16"
  return ("convert_%s16(%s(0, mem_x + first_x + at))"):format(s.value, read)
end

local function build_scan(text, device, s, plan)
  local macros = macros_of(s, plan)
  macros.ELEMENTS = elements(s)
  macros.RESULT, macros.VALUE, macros.HALF = s.dtype, s.value, s.dtype == "half" and 1 or 0
  macros.EXCLUSIVE, macros.STREAM, macros.IDENTITY = s.exclusive and 1 or 0, s.streams and 1 or 0, s.identity
  return kernels.build("scan", text, device, plan.kernel, macros)
end

--- Both kernels, from what is kept or built.
local function find_kernels(state, text, device, s, plan)
  local key = ("scan %s\n%s %s %s %s"):format(text, s.list[1].dtype, s.dtype, s.exclusive, s.streams)
  local pair = state.kernels[key]
  if not pair then
    local reduce_plan = plans.of(state.facts, "reduce", 1)
    pair = { sums = build_sums(text, device, s, reduce_plan), scan = build_scan(text, device, s, plan) }
    state.kernels[key] = pair
  end
  return pair
end

--- Queues the sums of the chunks, unless there is one alone, and the scan.
local function launch(pair, plan, n, s, out, sums)
  local chunk, x = plan.chunk, s.list[1].value
  if plan.workers > 1 then
    enqueue.launch(pair.sums, plan.items, plan.group, n, chunk, sums, 0, 0, x)
  end
  enqueue.launch(pair.scan, plan.items, plan.group, n, chunk, out, sums, s.init and 1 or 0, s.init or 0, x)
end

local NUMBERS = { ["0"] = 0, ["1"] = 1 }

--- The init that a script did not give: a known operation begins with what leaves all as it is.
local function default_init(text, identity, exclusive)
  if NUMBERS[identity] then return NUMBERS[identity] end
  if exclusive then
    error(("scan: with 'exclusive' \"%s\" needs an 'init', the first result"):format(text), 0)
  end
end

--- Whether the result goes past the caches.
local function streams(plan, out, in_place)
  local size = typing.sizes[out.dtype]
  return plan.stream and out.count * size >= plan.stream and out.first % 16 == 0 and not in_place or false
end

local function scan(text, x, o)
  o = o and options.check("scan", o, OPTIONS) or NONE
  local operation = operations.translate("scan", text)
  local first = operands.describe("scan", "argument 2", x, "x")
  local target, dtype = operands.target("scan", o)
  dtype = dtype or first.dtype
  local list = { first }
  local out, in_place = operands.result("scan", target, dtype, list, first)
  local s = { list = list, dtype = dtype, value = typing.value(dtype), exclusive = o.exclusive or false,
    operation = operation }
  s.identity = operations.identity(s.operation, s.value)
  s.init = o.init or default_init(text, s.identity, s.exclusive)
  if not s.init then s.identity = nil end -- the vectors' scan begins with a total
  local device, n = first.device, first.count
  local state = kernels.state(device)
  local plan = kernels.plan(state, "scan", math.max(n, 1))
  s.streams = streams(plan, out, in_place)
  local pair = find_kernels(state, text, device, s, plan)
  if n > 0 then
    local sums = kernels.take(state, device, s.value, plan.workers)
    launch(pair, plan, n, s, out.value, sums)
    kernels.give(state, s.value, sums)
  end
  return out.value
end

--- Running results: out[i] is the operation over all elements up to and with element i. Queued.
--
-- The operation must be associative; the order of the elements is kept. It is computed in the dtype of the result, half
-- in float; integers wrap around there.
-- @function scan
-- @string operation expression of OpenCL C in a and b: "a + b"
-- @tparam Buffer x of any shape, in row-major order
-- @tparam[opt] table options `exclusive`: true leaves element i itself out, the first result is `init`; `init`: comes
-- before the first element (0 for sums and 1 for products unless given); `out`: a Buffer for the result, which may be
-- x; `dtype` of the result, that of x unless given
-- @treturn Buffer the result: `out`, or a new one of the shape of x
-- @usage local ends = cl.scan("a + b", lengths)
-- local starts = cl.scan("a + b", lengths, { exclusive = true })
return public("scan", scan)
