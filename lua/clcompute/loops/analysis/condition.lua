-- SPDX-License-Identifier: MIT

--- Lua expressions over the parameters of a call, as clcompute.poly writes them, made into functions. They compute in
-- floats: those are exact up to 2^53, and beyond they do not wrap to small numbers, as products of integers would.
-- @module clcompute.loops.analysis.condition

local interrupt = require("clcompute.base").interrupt

local condition = {}

local OWN = { ["and"] = true, ["or"] = true, ["true"] = true, ["false"] = true, ["not"] = true, max = true, min = true }

--- The names in expressions that the call has to fill in, sorted.
-- @tparam {string,...} texts
-- @treturn {string,...}
function condition.names(texts)
  local names, seen = {}, {}
  for _, text in ipairs(texts) do
    for name in text:gmatch "[%a_][%w_]*" do
      if not OWN[name] and not seen[name] then names[#names + 1], seen[name] = name, true end
    end
  end
  table.sort(names)
  return names
end

--- The body of a function over the names that it uses, as a function of a table of them.
-- @tparam {string,...} texts all expressions in the body
-- @string body
-- @treturn ?function nil where it has more names than a function of Lua may
-- @treturn ?string Lua's message then
function condition.compile(texts, body)
  local names, fields = condition.names(texts), {}
  for i, name in ipairs(names) do fields[i] = ("v.%s + 0.0"):format(name) end
  local binding = #names == 0 and "" or
    ("local %s = %s\n"):format(table.concat(names, ", "), table.concat(fields, ", "))
  local text = ("local max, min = ...\nreturn function(v)\n%s%s\nend"):format(binding, body)
  local chunk, message = load(text, "=condition", "t", {})
  if not chunk then
    interrupt.pass_on(message)
    return nil, message
  end
  return chunk(math.max, math.min)
end

--- One expression as a function of a table of parameters.
-- @string text
-- @treturn function
function condition.evaluator(text)
  return assert(condition.compile({ text }, "return " .. text))
end

return condition
