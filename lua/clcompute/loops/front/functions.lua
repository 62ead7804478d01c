-- SPDX-License-Identifier: MIT

--- Finds the functions of a text, and the one that an origin means: by its name, or by what the debug library says of
-- a function value, so that a file that has changed since is noticed.
-- @module clcompute.loops.front.functions

local failure = require "clcompute.loops.tree.failure"

local functions = {}

-- The words that open and close blocks; `for` and `while` do so by their `do`.
functions.OPENERS = { ["function"] = true, ["do"] = true, ["if"] = true, ["repeat"] = true }
functions.CLOSERS = { ["end"] = true, ["until"] = true }

--- Reads `a.b.c` or `a.b:c` from a token on; returns it, or nil, and the index behind it.
local function read_name(tokens, index)
  local words = {}
  while tokens[index].kind == "name" do
    words[#words + 1] = tokens[index].text
    index = index + 1
    if tokens[index].text ~= "." and tokens[index].text ~= ":" then break end
    words[#words + 1] = tokens[index].text
    index = index + 1
  end
  return words[1] and table.concat(words), index
end

--- The name that `name = function` gives to the function whose first token is at `index`.
local function assigned_name(tokens, index)
  if index < 3 or tokens[index - 1].text ~= "=" or tokens[index - 2].kind ~= "name" then return nil end
  local first = index - 2
  while first > 2 and tokens[first - 1].text == "." and tokens[first - 2].kind == "name" do first = first - 2 end
  return (read_name(tokens, first))
end

local function parameter_names(tokens, index)
  local names = {}
  for i = index + 1, #tokens do
    if tokens[i].kind == "name" then names[#names + 1] = tokens[i].text end
    if tokens[i].kind ~= "name" and tokens[i].text ~= "," then break end
  end
  return names
end

--- What begins at the word `function`. Lua counts the lines of a function statement from that word, of a local one and
-- of an expression from its parenthesis.
local function describe(tokens, index, depth)
  local name, parenthesis = read_name(tokens, index + 1)
  local is_statement = name and not (index > 1 and tokens[index - 1].text == "local")
  return {
    first = index, parenthesis = parenthesis, depth = depth, name = name or assigned_name(tokens, index),
    is_method = name and name:find(":", 1, true) and true or false,
    parameters = parameter_names(tokens, parenthesis),
    line = tokens[is_statement and index or parenthesis].line,
  }
end

--- Every function of a text, in the order of their beginnings: `{ first=, last=, parenthesis=, depth=, name=,
-- is_method=, parameters={names}, line=, last_line= }`; first, last and parenthesis are indices of tokens, depth is how
-- many functions are around it.
-- @tparam table tokens of `clcompute.loops.front.lexer`
-- @treturn table
function functions.list(tokens)
  local list, open, depth = {}, {}, 0
  for index, token in ipairs(tokens) do
    if functions.OPENERS[token.text] then
      local found = token.text == "function" and describe(tokens, index, depth)
      open[#open + 1] = found
      if found then
        list[#list + 1], depth = found, depth + 1
        found.last, found.last_line = #tokens, tokens[#tokens].line -- until its end is seen
      end
    elseif functions.CLOSERS[token.text] and #open > 0 then
      local closed = table.remove(open)
      if closed then closed.last, closed.last_line, depth = index, token.line, depth - 1 end
    end
  end
  return list
end

local function same(one, other)
  return table.concat(one, ",") == table.concat(other, ",")
end

--- Whether every one of the names stands somewhere in a function.
local function mentions(tokens, found, names)
  local present = {}
  for index = found.first, found.last do
    if tokens[index].kind == "name" then present[tokens[index].text] = true end
  end
  for _, name in ipairs(names) do
    if not present[name] then return false end
  end
  return true
end

local function select(list, accepts)
  local chosen = {}
  for _, found in ipairs(list) do
    if accepts(found) then chosen[#chosen + 1] = found end
  end
  return chosen
end

--- The function that the debug library told of.
local function choose_by_debug(origin, tokens, list)
  local wanted = origin.wanted
  local chosen = select(list, function(found)
    return found.line == wanted.line and found.last_line == wanted.last_line
      and same(found.parameters, wanted.parameters) and mentions(tokens, found, wanted.upvalues)
  end)
  if #chosen == 0 then
    failure.raise(origin, nil, ("the function of line %d is not there: the source has changed since it was loaded; "
      .. "load it again, or pass the source as a text"):format(wanted.line))
  elseif #chosen > 1 then
    failure.raise(origin, tokens[chosen[2].first], ("%d functions of this line have the same parameters: which one is "
      .. "meant is ambiguous, pass the source as a text"):format(#chosen))
  end
  return chosen[1]
end

local function is_outermost(found)
  return found.depth == 0
end

local function has_name(found, name)
  return found.name and (found.name == name or found.name:match "[^.:]*$" == name)
end

local function names_of(list)
  local names = {}
  for _, found in ipairs(list) do names[#names + 1] = found.name end
  return #names > 0 and table.concat(names, ", ") or "none with a name"
end

local function choose_by_name(origin, tokens, list)
  list = select(list, is_outermost)
  local chosen = select(list, function(found) return has_name(found, origin.name) end)
  if #chosen == 0 then
    failure.raise(origin, tokens[1], ("no function '%s'; there are: %s"):format(origin.name, names_of(list)))
  elseif #chosen > 1 then
    failure.raise(origin, tokens[chosen[2].first], ("a second function '%s': which one is meant is ambiguous")
      :format(origin.name))
  end
  return chosen[1]
end

local function choose_only(origin, tokens, list)
  local chosen = select(list, is_outermost)
  if #chosen == 0 then failure.raise(origin, tokens[1], "no function is here") end
  if #chosen > 1 then
    failure.raise(origin, tokens[chosen[2].first],
      ("a second function: the option 'name' says which one; there are: %s"):format(names_of(chosen)))
  end
  return chosen[1]
end

--- The function that an origin means; a failure unless it is exactly one.
-- @tparam table origin of `clcompute.loops.front.origin`
-- @tparam table tokens of its text
-- @treturn table as in `functions.list`
function functions.choose(origin, tokens)
  local list = functions.list(tokens)
  if origin.wanted then return choose_by_debug(origin, tokens, list) end
  if origin.name then return choose_by_name(origin, tokens, list) end
  return choose_only(origin, tokens, list)
end

return functions
