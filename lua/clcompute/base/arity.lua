-- SPDX-License-Identifier: MIT
--- Functions that refuse more arguments than they take, which Lua would drop without a word. csrc/base/functions.c does
-- the same for functions in C.

local type_of = require("clcompute.base.options").type_of

local arity = {}

--- Where the first argument too many is a table of options, names one of them: the function may have it, behind fewer
-- arguments.
local function option_of(excess)
  for key in next, type_of(excess) == "table" and excess or {} do
    if type(key) == "string" then return ("; the table with '%s' is too many"):format(key) end
  end
  return ""
end

--- Raises when a function was given more arguments than it takes; nils at the end do not count.
-- @string name of the function
-- @int most
-- @int level where the error is, as `error` counts
-- @param ... what was given
function arity.check(name, most, level, ...)
  local given = select("#", ...)
  while given > most and (select(given, ...)) == nil do given = given - 1 end
  if given <= most then return end
  local expected = most == 0 and "no argument" or ("at most %d argument%s"):format(most, most == 1 and "" or "s")
  error(("%s: %s expected, got %d%s"):format(name, expected, given, option_of((select(most + 1, ...)))), level + 1)
end

--- A function that takes as many arguments as f has parameters; the object of a method is not counted. With `...` f
-- counts for itself.
local function counted(name, f, is_method)
  local known, self = debug.getinfo(f, "u"), is_method and 1 or 0
  local parameters = known.nparams
  if known.isvararg then return f end
  return function(...)
    if select("#", ...) > parameters then arity.check(name, parameters - self, 2, select(self + 1, ...)) end
    return f(...)
  end
end

--- Has functions refuse more arguments than they have parameters.
-- @tparam table functions by name
-- @treturn table the same
function arity.functions(functions)
  for name, f in pairs(functions) do functions[name] = counted(name, f) end
  return functions
end

local METHOD_NAMES = setmetatable({}, { __mode = "k" })

--- Has methods refuse more arguments than they have parameters behind the object.
-- @tparam table methods by name
-- @tparam string class "Compiled"
-- @treturn table the same
function arity.methods(methods, class)
  for name, f in pairs(methods) do
    methods[name] = counted(name, f, true)
    METHOD_NAMES[methods[name]] = ("%s:%s"):format(class, name)
  end
  return methods
end

--- What the reference calls a method: "Compiled:explain".
-- @tparam function method of `arity.methods`
-- @treturn ?string
function arity.method_name(method)
  return METHOD_NAMES[method]
end

return arity
