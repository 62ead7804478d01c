-- SPDX-License-Identifier: MIT
--- Shapes that differ and go together, as those of operators do: compared from the last extent on, an extent of 1 or a
--- missing one goes with any other.

local operands = require("clcompute.operations").operands

local shapes = {}

--- The shape of both; nil where they do not go together.
local function both(a, b)
  local joined, most = {}, math.max(#a, #b)
  for back = 0, most - 1 do
    local m, n = a[#a - back] or 1, b[#b - back] or 1
    if m ~= n and m ~= 1 and n ~= 1 then return nil end
    joined[most - back] = m == 1 and n or m
  end
  return joined
end

local function text(shape) return table.concat(shape, "x") end

--- The names of the buffers in their order.
local function names_of(where, given)
  local names = {}
  for name, value in next, given do
    if type(name) == "string" and type(value) == "userdata" then
      operands.describe(where, "operand '%s'", value, name)
      names[#names + 1] = name
    end
  end
  table.sort(names)
  return names
end

--- Has the buffers of a table have one shape: those of another one are repeated, in place of which stands a new buffer.
-- @string where
-- @tparam table given buffers and numbers by name
-- @tparam table known what messages call them; "operand 'x'" unless given
function shapes.join(where, given, known)
  local names, first, joined = names_of(where, given), nil, nil
  for _, name in ipairs(names) do
    local shape = given[name].shape
    local together = joined and both(joined, shape) or not joined and shape
    if not together then
      error(("%s: shapes %s of %s and %s of %s do not go together"):format(where, text(joined), known[first]
        or ("operand '%s'"):format(first), text(shape), known[name] or ("operand '%s'"):format(name)), 0)
    end
    first, joined = first or name, together
  end
  for _, name in ipairs(names) do
    local buffer = given[name]
    if text(buffer.shape) ~= text(joined) then
      given[name] = buffer * buffer.device:full(buffer.dtype, 1, table.unpack(joined))
    end
  end
end

return shapes
