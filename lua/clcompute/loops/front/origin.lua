-- SPDX-License-Identifier: MIT

--- Where the source of a nest comes from, a function of which Lua still knows the file or the chunk, a text, or a file;
-- and which of its functions is meant: by its name, or by what the debug library says of a function value, so that a
-- file that has changed since is noticed.

local failure = require("clcompute.loops.tree").failure

local origin = {}

local TEXT = "(text)" -- what messages call a source that is no file

--- The text of a file; `advice` ends the message where it cannot be read.
local function read_file(path, advice)
  local file, message = io.open(path, "rb")
  local text
  if file then -- a folder can be opened
    text, message = file:read "a"
    file:close()
  end
  if text then return text end
  message = message:gsub("^.*: ", "") -- the path, which stands in front
  failure.raise({ file = path }, nil, ("cannot be read: %s%s"):format(message, advice or ""))
end

local function parameter_names(f)
  local names, index = {}, 1
  while debug.getlocal(f, index) do
    names[index] = debug.getlocal(f, index)
    index = index + 1
  end
  return names
end

local function upvalue_names(f)
  local names, index = {}, 1
  while debug.getupvalue(f, index) do
    local name = debug.getupvalue(f, index)
    if name ~= "_ENV" then names[#names + 1] = name end
    index = index + 1
  end
  return names
end

--- The text of the chunk that a function was loaded from.
local function of_function(f)
  local info = debug.getinfo(f, "S")
  local self = { fn = f, fixed = {}, wanted = { line = info.linedefined, last_line = info.lastlinedefined,
    parameters = parameter_names(f), upvalues = upvalue_names(f) } }
  if info.what == "C" then
    failure.raise({ file = "C function" }, nil, "it has no Lua source")
  elseif info.source == "=?" then
    failure.raise({ file = "function" }, nil, "it was stripped of its source; pass the source as a text")
  elseif info.source:find "^=" then
    failure.raise({ file = info.source:sub(2) }, nil, "the text of the function is not kept; pass the source as a text")
  elseif info.source:find "^@" then
    self.file = info.source:sub(2)
    self.text = read_file(self.file, "; pass the source as a text")
  else
    self.file, self.text = TEXT, info.source
  end
  if info.what == "main" then failure.raise(self, nil, "this is a whole chunk; pass the function") end
  return self
end

--- The path of `{ file = path }`. Options among its fields would do nothing.
local function file_of(source)
  for key in pairs(source) do
    if key ~= "file" then
      error(("loops.compile: { file = path } expected, it has '%s' too: options are the second argument")
        :format(key), 0)
    end
  end
  return source.file
end

--- The origin of a function: `{ text=, file=, fn=, wanted=, fixed=, name= }`, where file is what messages call it, fn
-- the function value if there is one, wanted what the debug library says of it, fixed its upvalues that are put in
-- place (clcompute.loops.front.denotations lists them), and name the option.
-- @tparam function|string|table source a function, a text that holds one, or `{ file = path }`
-- @tparam ?table options `name`: which function of several
-- @treturn table
function origin.of(source, options)
  local name = options and options.name
  if type(source) == "function" then return of_function(source) end
  if type(source) == "string" then
    local from = { text = source, file = TEXT, name = name }
    if source:find "^[^%s(]+%.lua$" then
      failure.raise(from, nil, ("no function is here; a file is passed as { file = %q }"):format(source))
    end
    return from
  end
  if type(source) == "table" and type(source.file) == "string" then
    local file = file_of(source)
    return { text = read_file(file), file = file, name = name }
  end
  error(("loops.compile: function, text or { file = path } expected, got %s"):format(type(source)), 0)
end

-- --- the functions of a text ---------------------------------------------------------------

-- The words that open and close blocks; `for` and `while` do so by their `do`.
origin.OPENERS = { ["function"] = true, ["do"] = true, ["if"] = true, ["repeat"] = true }
origin.CLOSERS = { ["end"] = true, ["until"] = true }

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

--- The index of the parenthesis behind the word `function` at an index, and what may stand between: a name with dots.
-- @tparam {table,...} tokens of `clcompute.loops.front.lexer`
-- @tparam integer index
-- @treturn integer
function origin.parenthesis(tokens, index)
  return (select(2, read_name(tokens, index + 1)))
end

--- The name that `name = function` gives to the function whose first token is at `index`.
local function assigned_name(tokens, index)
  if index < 3 or tokens[index - 1].text ~= "=" or tokens[index - 2].kind ~= "name" then return nil end
  local first = index - 2
  while first > 2 and tokens[first - 1].text == "." and tokens[first - 2].kind == "name" do first = first - 2 end
  return (read_name(tokens, first))
end

local function parameters_at(tokens, index)
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
  local is_method, parameters = name and name:find(":", 1, true) and true or false, parameters_at(tokens, parenthesis)
  if is_method then table.insert(parameters, 1, "self") end
  return {
    first = index, parenthesis = parenthesis, depth = depth, name = name or assigned_name(tokens, index),
    is_method = is_method, parameters = parameters,
    line = tokens[is_statement and index or parenthesis].line,
  }
end

--- Every function of a text, in the order of their beginnings: `{ first=, last=, parenthesis=, depth=, name=,
-- is_method=, parameters={names}, line=, last_line= }`; first, last and parenthesis are indices of tokens, depth is how
-- many functions are around it.
-- @tparam table tokens of `clcompute.loops.front.lexer`
-- @treturn table
function origin.functions(tokens)
  local list, open, depth = {}, {}, 0
  for index, token in ipairs(tokens) do
    if origin.OPENERS[token.text] then
      local found = token.text == "function" and describe(tokens, index, depth)
      open[#open + 1] = found
      if found then
        list[#list + 1], depth = found, depth + 1
        found.last, found.last_line = #tokens, tokens[#tokens].line -- until its end is seen
      end
    elseif origin.CLOSERS[token.text] and #open > 0 then
      local closed = table.remove(open)
      if closed then closed.last, closed.last_line, depth = index, token.line, depth - 1 end
    end
  end
  return list
end

local LOOPS = { ["for"] = true, ["while"] = true, ["repeat"] = true }

local function has_loop(tokens, found)
  for index = found.first, found.last do
    if LOOPS[tokens[index].text] then return true end
  end
  return false
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
local function choose_by_debug(from, tokens, list)
  local wanted = from.wanted
  local chosen = select(list, function(found)
    return found.line == wanted.line and found.last_line == wanted.last_line
      and same(found.parameters, wanted.parameters) and mentions(tokens, found, wanted.upvalues)
  end)
  if #chosen == 0 then
    failure.raise(from, nil, ("the function of line %d is not there: the source has changed since it was loaded; "
      .. "load it again, or pass the source as a text"):format(wanted.line))
  elseif #chosen > 1 then
    failure.raise(from, tokens[chosen[2].first], ("%d functions of this line have the same parameters: which one is "
      .. "meant is ambiguous, pass the source as a text"):format(#chosen))
  end
  return chosen[1]
end

local function is_outermost(found)
  return found.depth == 0
end

--- The outermost functions of a text that hold a loop.
-- @tparam table tokens of `clcompute.loops.front.lexer`
-- @treturn table as `origin.functions`
function origin.with_loops(tokens)
  return select(origin.functions(tokens), function(found) return is_outermost(found) and has_loop(tokens, found) end)
end

--- The functions of a name, or those whose last word it is.
local function with_name(list, name)
  local chosen = select(list, function(found) return found.name == name end)
  if #chosen > 0 then return chosen end
  return select(list, function(found) return found.name and found.name:match "[^.:]*$" == name end)
end

local function names_of(list)
  local names = {}
  for _, found in ipairs(list) do names[#names + 1] = found.name end
  return #names > 0 and table.concat(names, ", ") or "none with a name"
end

local function choose_by_name(from, tokens, list)
  list = select(list, is_outermost)
  local chosen = with_name(list, from.name)
  if #chosen == 0 then
    failure.raise(from, tokens[1], ("no function '%s'; there are: %s"):format(from.name, names_of(list)))
  elseif #chosen > 1 then
    failure.raise(from, tokens[chosen[2].first], ("a second function '%s': which one is meant is ambiguous")
      :format(from.name))
  end
  return chosen[1]
end

--- The outermost function of a text that has but one, or but one with a loop.
local function choose_only(from, tokens, list)
  local chosen, looped = select(list, is_outermost), origin.with_loops(tokens)
  if #looped == 1 then return looped[1] end
  if #chosen == 0 then failure.raise(from, tokens[1], "no function is here") end
  if #chosen > 1 then
    failure.raise(from, tokens[chosen[2].first],
      ("a second function: the option 'name' says which one; there are: %s"):format(names_of(chosen)))
  end
  return chosen[1]
end

--- The function that an origin means; a failure unless it is exactly one.
-- @tparam table from of `clcompute.loops.front.origin`
-- @tparam table tokens of its text
-- @treturn table as in `origin.functions`
function origin.choose(from, tokens)
  local list = origin.functions(tokens)
  if from.wanted then return choose_by_debug(from, tokens, list) end
  if from.name then return choose_by_name(from, tokens, list) end
  return choose_only(from, tokens, list)
end

return origin
