-- SPDX-License-Identifier: MIT

--- Where the numbers that kernels compute may not be those of Lua, in words.

local ast = require("clcompute.loops.tree").ast
local walk = require("clcompute.loops.tree").walk

local arithmetic = {}

local function add(lines, text, ...)
  lines[#lines + 1] = text:format(...)
end

local INEXACT = { exp = true, log = true, sin = true, cos = true, tan = true, asin = true, acos = true,
  atan = true }

--- The functions that are used and that OpenCL does not round as Lua does.
-- @tparam table tree of `clcompute.loops.front.resolve`
-- @treturn table their names
function arithmetic.inexact(tree)
  local list, has = {}, {}
  walk.nodes(tree.body, function(node)
    local name = node.kind == "call" and INEXACT[node.name] and "math." .. node.name
      or node.op == "^" and not (node.right.kind == "number" and node.right.value == 2) and "^" or nil
    if name and not has[name] then
      has[name] = true
      list[#list + 1] = name
    end
  end)
  return list
end

--- Whether floats become integers, which of those that do not have 64 bits are others than in Lua.
local function is_rounding(tree)
  return walk.find(tree.body, function(node)
    return node.kind == "call" and (node.name == "floor" or node.name == "ceil") and node.arguments[1].type == "float"
  end) ~= nil
end

--- Whether work-items of a plan sum floats in copies of arrays.
local function has_float_copies(plan)
  for _, kernel in ipairs(plan.kernels) do
    for _, array in ipairs(kernel.scattered and kernel.scattered.arrays or {}) do
      if ast.is_float(array.element) then return true end
    end
  end
  return false
end

--- The reductions that a kernel shares out.
local function reductions_of(kernel)
  if kernel.accumulators then return kernel.accumulators end
  local list = {}
  for _, loop in ipairs(kernel.team and kernel.team.loops or {}) do
    table.move(loop.reductions or {}, 1, #(loop.reductions or {}), #list + 1, list)
  end
  return list
end

--- Whether a plan shares out sums or products of floats, and minima or maxima of them, whose results may not be Lua's.
-- @tparam table plan of `clcompute.loops.generation.partition`
-- @treturn boolean sums or products
-- @treturn boolean minima or maxima
-- @treturn boolean sums in copies of arrays
function arithmetic.shared_out(plan)
  local reorders, swaps = false, false
  for _, kernel in ipairs(plan.kernels) do
    for _, reduction in ipairs(reductions_of(kernel)) do
      local is_extreme = reduction.operation == "min" or reduction.operation == "max"
      local is_float = reduction.has_order and reduction.target.type == "float"
      reorders, swaps = reorders or is_float and not is_extreme, swaps or is_float and is_extreme
    end
  end
  return reorders, swaps, has_float_copies(plan)
end

--- What of the arithmetic is not as in Lua because reductions are shared out.
local function explain_reductions(plan, lines)
  local reorders, swaps, has_copies = arithmetic.shared_out(plan)
  if has_copies then
    add(lines, "  sums in copies of arrays are put together in another order than Lua's, that of the copies:")
    add(lines, "  the same at every call of a size on a device, within the bounds of rounding that Lua's order has")
  end
  if reorders then
    add(lines, "  sums and products that are shared out are put together in another order than Lua's, and rounded to "
      .. "an array's type once, at the end:")
    add(lines, "  the same at every call of a size on a device, within the bounds of rounding that Lua's order has")
  end
  if swaps then
    add(lines, "  minima and maxima that are shared out leave out NaN, as math.min(x, e) does and math.min(e, x) does "
      .. "not; of 0.0 and -0.0 either may be left")
  end
end

local function explain_operators(mode, spec, lines)
  if mode == "fast" then
    return add(lines, "arithmetic: fast, %s", spec.needs_double and "in double, products and sums may be contracted"
      or "in float, products and sums may be contracted")
  end
  local inexact = arithmetic.inexact(spec.tree)
  add(lines, "arithmetic: exact, as in Lua%s", #inexact > 0 and "; except " .. table.concat(inexact, ", ")
    .. ", whose last digits may differ, as OpenCL allows" or "")
  if is_rounding(spec.tree) then
    add(lines, "  math.floor and math.ceil, where an integer is needed, are 0 of NaN, and the nearest beyond 64 bits")
  end
end

--- Adds lines on what of a specialisation's arithmetic is as in Lua.
-- @tparam table spec of `clcompute.loops.compiler`
-- @string mode "exact" or "fast"
-- @tparam {string,...} lines
function arithmetic.explain(spec, mode, lines)
  explain_operators(mode, spec, lines)
  explain_reductions(spec.plan, lines)
end

return arithmetic
