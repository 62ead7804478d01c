-- SPDX-License-Identifier: MIT

--- Finds the calls on tables that are too small to pay, whatever is in the tables and in less time than it takes to
-- look at them: those run the Lua function itself. A function that is called often is mostly called with the same
-- sizes, so the last ones that were too small are remembered, and found again without a table being made.
--
-- These calls are never measured, so only those are taken that are too small even if each statement is a long one.
-- @module clcompute.loops.runtime.shortcut

local costs = require "clcompute.loops.runtime.costs"
local size_of = require "clcompute.loops.tree.variables".size

local shortcut = {}

local function add(lines, text, ...)
  lines[#lines + 1] = text:format(...)
end

--- The conditions that an array's value be a table of tables, and its sizes.
local function print_array(lines, variable)
  add(lines, "if type(%s) ~= 'table' then return false end", variable.id)
  local row = variable.id
  for d = 1, variable.rank do
    add(lines, "local %s = #%s", size_of(variable, d), row)
    if d < variable.rank then
      add(lines, "local %s_row%d = %s[1]", variable.id, d, row)
      row = ("%s_row%d"):format(variable.id, d)
      add(lines, "if type(%s) ~= 'table' then return false end", row)
    end
  end
end

--- The checks that a call's values can be judged, and locals for the sizes.
local function print_checks(lines, variables)
  for _, variable in ipairs(variables) do
    if variable.role == "array" then
      print_array(lines, variable)
    elseif variable.is_index then
      add(lines, "if integer(%s) ~= 'integer' then return false end", variable.id)
    end
  end
end

--- The judgement by the numbers and sizes of the call, and the memory of those that were short.
local function print_judgement(lines, ids, latest)
  local fields, known = {}, { "is_known" }
  for i, id in ipairs(ids) do
    fields[i] = ("%s = %s"):format(id, id)
    known[i + 1] = ("%s == %s"):format(id, latest[i])
  end
  add(lines, "if %s then return true end", table.concat(known, " and "))
  add(lines, "local values = { %s }", table.concat(fields, ", "))
  add(lines, "if fails(values) or may_fail(values) then return false end")
  add(lines, "if estimate(values).total >= limit then return false end")
  add(lines, "is_known = true")
  if #ids > 0 then add(lines, "%s = %s", table.concat(latest, ", "), table.concat(ids, ", ")) end
  add(lines, "return true")
end

--- Makes the function that tells whether a call is one of these; of a function that has had its first call. One that
-- was given an array twice is no help: its checks know only one of the two arrays that other calls have.
-- @tparam table state of `clcompute.loops`
-- @treturn ?function of the values of the parameters; false where there is none
function shortcut.of(state)
  local options, spec = state.options, state.latest.spec
  if not state.fn or options.force ~= nil or options.heuristics ~= "model" or options.base ~= 1
    or #state.tree.captures > 0 or spec.has_twins then return false end
  local lines, parameters, ids, latest = {}, {}, {}, {}
  for i, variable in ipairs(state.variables) do parameters[i] = variable.id end
  for i, name in ipairs(spec.names) do ids[i], latest[i] = name.id, "latest_" .. name.id end
  add(lines, "local fails, may_fail, estimate, limit = ...")
  add(lines, "local %s", table.concat({ "is_known", table.unpack(latest) }, ", "))
  add(lines, "return function(%s)", table.concat(parameters, ", "))
  print_checks(lines, state.variables)
  print_judgement(lines, ids, latest)
  add(lines, "end")
  local row = state.latest.place.costs
  local limit = (row.launch + row.wait + row.copy) / costs.HOST.long_statement
  return assert(load(table.concat(lines, "\n"), "=shortcut", "t", { type = type, integer = math.type }))(
    spec.fails, spec.may_fail, spec.estimate, limit)
end

return shortcut
