-- SPDX-License-Identifier: MIT
--- The points of a sweep: the combinations of the values of its axes, and what tells them apart.
-- @module clcompute.bench.combinations

local combinations = {}

local AXES = { { "device", "devices" }, { "kernel", "kernels" }, { "size", "sizes" }, { "group", "groups" } }

--- Raises unless values that are tables are lists of numbers or texts, as {16, 16}.
local function check_values(name, values)
  for i, value in ipairs(values) do
    local is_list = type(value) ~= "table" or #value > 0
    for _, part in ipairs(type(value) == "table" and value or {}) do
      is_list = is_list and (type(part) == "number" or type(part) == "string")
    end
    if not is_list then
      error(("sweep: axis '%s': value %d: a list of numbers expected where it is a table"):format(name, i), 0)
    end
  end
end

--- The axes of checked options, each { name, values }.
function combinations.axes(given)
  local axes = {}
  for _, axis in ipairs(AXES) do
    if given[axis[2]] then axes[#axes + 1] = { axis[1], given[axis[2]] } end
  end
  for i, axis in ipairs(given.axes or {}) do
    if type(axis) ~= "table" or type(axis[1]) ~= "string" or type(axis[2]) ~= "table" then
      error(("sweep: option 'axes': element %d: { name, values } expected"):format(i), 0)
    end
    axes[#axes + 1] = axis
  end
  for _, axis in ipairs(axes) do check_values(axis[1], axis[2]) end
  if #axes == 0 then error("sweep: no axis: give sizes, groups, devices, kernels or axes", 0) end
  return axes
end

--- The cartesian product, the last axis varying first.
function combinations.product(axes)
  local list = { {} }
  for _, axis in ipairs(axes) do
    local longer = {}
    for _, point in ipairs(list) do
      for _, value in ipairs(axis[2]) do
        local copy = { [axis[1]] = value }
        for key, other in pairs(point) do copy[key] = other end
        longer[#longer + 1] = copy
      end
    end
    list = longer
  end
  return list
end

--- A value as a file holds it: groups like {16, 16}, devices and what JSON has no number for as text; whole numbers
-- with all their digits.
local function plain(value)
  if type(value) == "table" then return table.concat(value, "x") end
  if type(value) == "number" and value - value == 0 then return math.tointeger(value) or value end
  if type(value) == "boolean" then return value end
  return tostring(value)
end

--- A point as a file holds it.
function combinations.plain(point)
  local params = {}
  for key, value in pairs(point) do params[key] = plain(value) end
  return params
end

--- The names of the axes as one text, in an order of their own.
function combinations.names(axes)
  local names = {}
  for i, axis in ipairs(axes) do names[i] = axis[1] end
  table.sort(names)
  return table.concat(names, ", ")
end

--- What the axes say of a point: tells it from the others, the same from a file as before it was written.
function combinations.key(params, axes)
  local words = {}
  for i, axis in ipairs(axes) do
    local value = params[axis[1]]
    local text = math.type(value) == "float" and ("%.14g"):format(value) or tostring(value)
    words[i] = type(value) .. " " .. text
  end
  return table.concat(words, "\0")
end

--- What tells a point from those it is measured together with: "group 64".
function combinations.label(params, names)
  local words = {}
  for i, name in ipairs(names) do words[i] = name .. " " .. tostring(params[name]) end
  return table.concat(words, ", ")
end

--- The axes whose points are measured one by one: those that are not named.
local function apart(axes, names)
  local left, named = {}, {}
  for _, name in ipairs(names) do named[name] = true end
  for _, axis in ipairs(axes) do
    if named[axis[1]] then named[axis[1]] = nil else left[#left + 1] = axis end
  end
  if next(named) then
    error(("sweep: option 'together': no axis is named '%s'"):format(tostring(next(named))), 0)
  end
  return left
end

--- The indices of the points in the lists that are measured at once, in the order of the first ones.
function combinations.batches(params, axes, together)
  local batches, known = {}, {}
  if not together then
    for i = 1, #params do batches[i] = { i } end
    return batches
  end
  local rest = apart(axes, together)
  for i, each in ipairs(params) do
    local key = combinations.key(each, rest)
    if not known[key] then
      known[key] = {}
      batches[#batches + 1] = known[key]
    end
    table.insert(known[key], i)
  end
  return batches
end

return combinations
