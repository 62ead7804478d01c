-- SPDX-License-Identifier: MIT

--- Finds the calls on tables that are too small to pay, in less time than it takes to look at the tables: those run the
-- Lua function itself.
-- @module clcompute.loops.shortcut

local profitability = require "clcompute.loops.profitability"

local shortcut = {}

local function add(lines, text, ...)
  lines[#lines + 1] = text:format(...)
end

--- The conditions that an array's value be a table of tables, and its sizes.
local function print_array(lines, variable)
  add(lines, "if type(%s) ~= 'table' then return false end", variable.id)
  local row = variable.id
  for d = 1, variable.rank do
    add(lines, "local %s_d%d = #%s", variable.id, d, row)
    if d < variable.rank then
      add(lines, "local %s_%d = %s[1]", variable.id, d, row)
      row = ("%s_%d"):format(variable.id, d)
      add(lines, "if type(%s) ~= 'table' then return false end", row)
    end
  end
end

--- Makes the function that tells whether a call is one of these; of a function that has had its first call.
-- @tparam table state of `clcompute.loops`
-- @treturn ?function of the values of the parameters; false where none is ever short
function shortcut.of(state)
  local options, spec = state.options, state.latest.spec
  if not state.fn or options.force ~= nil or options.heuristics ~= "model" or options.base ~= 1
    or #state.tree.captures > 0 then return false end
  local lines, names, fields = {}, {}, {}
  for i, variable in ipairs(state.variables) do names[i] = variable.id end
  add(lines, "local fails, may_fail, estimate, limit = ...")
  add(lines, "return function(%s)", table.concat(names, ", "))
  for _, variable in ipairs(state.variables) do
    if variable.role == "array" then
      print_array(lines, variable)
    elseif variable.is_index then
      add(lines, "if integer(%s) ~= 'integer' then return false end", variable.id)
    end
  end
  for i, name in ipairs(spec.names) do fields[i] = ("%s = %s"):format(name.id, name.id) end
  add(lines, "local values = { %s }", table.concat(fields, ", "))
  add(lines, "if fails(values) or may_fail(values) then return false end")
  add(lines, "local work = 0")
  add(lines, "for _, count in ipairs(estimate(values).work) do work = work + count end")
  add(lines, "return work < limit")
  add(lines, "end")
  local limit = (profitability.COSTS.launch + profitability.COSTS.copy) / profitability.COSTS.lua_work
  return assert(load(table.concat(lines, "\n"), "=shortcut", "t", { type = type, integer = math.type,
    ipairs = ipairs }))(spec.fails, spec.may_fail, spec.estimate, limit)
end

return shortcut
