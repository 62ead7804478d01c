-- SPDX-License-Identifier: MIT
--- The numbers with which operations run on a device: a pure function of what the device says of itself.
-- They are data: `clcompute.tuning.known`, and before it what `clcompute tune` found on this machine. Which of a row's
-- shapes a product takes is computed for its size, in csrc/operations/gemm/blocking.c.

local answers = require "clcompute.answers"
local known = require "clcompute.tuning.known"
local at_close = require("clcompute.base").at_close
local options = require("clcompute.base").options
local rules = require "clcompute.tuning.rules"
local store = require "clcompute.tuning.store"


local tuning = { candidates = require "clcompute.tuning.candidates", known = known, rules = rules, store = store }

--- The kernels that build soonest, by operation: they serve until the fast ones are built.
tuning.for_now = {
  gemm = { kernel = "naive", is_for_now = 1 },
  lu = { vector = 1, group = 64, columns = 32, block = 256, large = 512, few = 8, small = 1024, is_for_now = 1 },
}

local SAFE = { kernel = "tiled" } -- for a device that gets the fast products wrong

local SIZE = { float = 4, double = 8 }
local WIDEST = 16 -- elements of the widest vector type of OpenCL C

--- The facts of a device and a dtype that the conditions of rows name.
function tuning.facts(device, dtype)
  local width = device["vector_width_" .. dtype] or 0
  return {
    type = device.type, name = device.name, vendor = device.vendor, platform = device.platform,
    dtype = dtype, size = SIZE[dtype], vector = math.min(width, WIDEST), local_memory = device.local_memory,
    max_group = device.max_group_size, units = device.compute_units, capability = device.compute_capability or 0,
  }
end

--- The element types that operations are judged with on a device.
function tuning.dtypes(device)
  return device.has_double and { "float", "double" } or { "float" }
end

local AT_LEAST = { vector = true, local_memory = true, units = true, max_group = true, capability = true }
local PART = { name = true, vendor = true, platform = true }

local function meets(facts, where)
  for key, wanted in pairs(where) do
    local fact = facts[key]
    local met
    if AT_LEAST[key] then
      met = fact >= wanted
    elseif PART[key] then
      met = fact:find(wanted, 1, true) ~= nil
    else
      met = fact == wanted
    end
    if not met then return false end
  end
  return true
end

local function with_facts(row, facts)
  local chosen = {}
  for key, value in pairs(row) do chosen[key] = value end
  chosen.units = facts.units
  return chosen
end

--- Chooses the first row whose conditions a device meets.
-- @tparam table rows of `clcompute.tuning.known`
-- @tparam table facts of `tuning.facts`
-- @tparam ?function is_right called with a row that has `is_tried`: whether the device computes right results with it
-- @treturn table a copy of the row with the device's `units`
function tuning.choose(rows, facts, is_right)
  for _, row in ipairs(rows) do
    if meets(facts, row.where) and (not row.is_tried or not is_right or is_right(row)) then
      return with_facts(row, facts)
    end
  end
  error(("tuning: no row for %s, %s"):format(facts.name, facts.dtype), 0)
end

local kept -- what `clcompute tune` found, once it was read
local generation = 0

--- A number that changes whenever the numbers of an operation may have changed.
function tuning.generation()
  return generation
end

--- Reads the user's file again.
function tuning.reload()
  kept, generation = nil, generation + 1
  require("clcompute.core.internal").forget_tuning()
end

local function warn_of(fault) warn(("clcompute: %s: the numbers of the project are used instead\n"):format(fault)) end

--- The row of the user's file, or nil. A file that cannot be used, and numbers that no kernel can run with, raise one
-- warning; the project's numbers stand in for them.
local function kept_row(device, operation, dtype, facts)
  local fault
  if not kept then kept, fault = store.read() end
  if fault then warn_of(fault) end
  local key = store.key(device, operation, dtype)
  fault = kept[key] ~= nil and rules.fault(operation, kept[key], facts)
  if fault then
    warn_of(("%s: ['%s']: %s"):format(store.path(), key, fault))
    kept[key] = nil
  end
  return kept[key]
end

local chosen_by_hand = {} -- by place, operation and dtype

local function key_of(device, operation, dtype)
  return ("%s %s %s"):format(device.place, operation, dtype)
end

--- Makes an operation use other numbers on a device, for as long as this state lives: to try and measure them.
-- @tparam Device device
-- @string operation
-- @string dtype
-- @tparam ?table row as of `clcompute.tuning.known`; nil: what `of` would choose again
-- @raise for numbers that the kernels cannot run with
function tuning.use(device, operation, dtype, row)
  local fault = row ~= nil and rules.fault(operation, row, tuning.facts(device, dtype))
  if fault then error(("tuning: %s, %s: %s"):format(operation, dtype, fault), 0) end
  chosen_by_hand[key_of(device, operation, dtype)], generation = row, generation + 1
  require("clcompute.core.internal").forget_tuning()
end

--- The operation's known-answer test with other numbers.
local function with_numbers(test, operation, dtype, row, name)
  return setmetatable({ name = ("%s, %s"):format(test.name, name), operation = function(device)
    local undone <close> = at_close(function() -- luacheck: no unused
      tuning.use(device, operation, dtype, nil)
    end)
    tuning.use(device, operation, dtype, row)
    return test.operation(device, dtype)
  end }, { __index = test })
end

--- A name for a shape's numbers and for the kernels that it is tried with.
local function name_of(row, shape)
  local numbers = {}
  for name, number in pairs(shape) do numbers[#numbers + 1] = ("%s %s"):format(name, number) end
  table.sort(numbers)
  return ("%s, %s (%d)"):format(row.kernel, table.concat(numbers, ", "), row.is_tried)
end

--- The verdict on an operation's fast kernels; nil: it is not known yet, and a call of so much work need not wait.
local function verdict_on(...)
  return require "clcompute.tuning.for_now".verdict(...) -- here: numbers are read where there is no C core, too
end

--- Whether a device gets the known-answer test of a row's kernel right, or with each shape of a row that of the
-- operation, however small the product; nil: it is not known yet.
local function gets_right(device, operation, dtype, row, work)
  local own = answers.operation_tests.of_kernels[row.kernel]
  if own then
    local test = with_numbers(own, operation, dtype, row, ("%s (%d) of %s"):format(row.kernel, row.is_tried, dtype))
    local verdict = verdict_on(device, operation, dtype, test, work)
    return verdict and verdict == "ok"
  end
  local test = answers.operation_tests.rows[operation .. " " .. dtype]
  for _, shape in ipairs(row.shapes) do
    local numbers = options.merge(row, { least = 0, depth = 0, shapes = { shape } })
    if row.thin then numbers.thin = options.merge(row.thin, { worth = 0 }) end
    local own_test = with_numbers(test, operation, dtype, numbers, name_of(row, shape))
    if answers.verdict(device, own_test) ~= "ok" then return false end
  end
  return true
end

--- The numbers of an operation for a device. A device that fails the operation's known-answer test gets the plain
-- kernel.
-- @tparam Device device
-- @string operation a key of `clcompute.tuning.known`
-- @string dtype
-- @tparam ?number work multiply-adds of a call that plain kernels may serve until the fast ones are judged
-- @treturn table with `is_for_now` where the next call is to ask again
function tuning.of(device, operation, dtype, work)
  local facts, by_hand = tuning.facts(device, dtype), chosen_by_hand[key_of(device, operation, dtype)]
  if by_hand then return with_facts(by_hand, facts) end
  if work then require "clcompute.tuning.for_now".count(device, operation, dtype, work) end
  local test = answers.operation_tests.rows[operation .. " " .. dtype]
  local verdict = test and verdict_on(device, operation, dtype, test, work)
  local plain = tuning.for_now[operation]
  if test and not verdict or plain and verdict == "unknown" then return plain end
  if test and verdict ~= "ok" then return with_facts(SAFE, facts) end
  local found = kept_row(device, operation, dtype, facts)
  if found then return with_facts(found, facts) end
  local is_open = false
  local chosen = tuning.choose(known[operation], facts, function(row)
    local is_right = gets_right(device, operation, dtype, row, work)
    is_open = is_open or is_right == nil
    return is_right
  end)
  return is_open and tuning.for_now[operation] or chosen
end

return tuning
