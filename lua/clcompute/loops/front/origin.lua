-- SPDX-License-Identifier: MIT

--- Where the source of a nest comes from: a function of which Lua still knows the file or the chunk, a text, or a file.
-- @module clcompute.loops.front.origin

local failure = require "clcompute.loops.tree.failure"

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
      error(("{ file = path } expected, it has '%s' too: options are the second argument"):format(key), 0)
    end
  end
  return source.file
end

--- The origin of a function: `{ text=, file=, fn=, wanted=, fixed=, name= }`, where file is what messages call it, fn
-- the function value if there is one, wanted what the debug library says of it, fixed its upvalues that are put in
-- place (clcompute.loops.front.captures lists them), and name the option.
-- @tparam function|string|table source a function, a text that holds one, or `{ file = path }`
-- @tparam ?table options `name`: which function of several
-- @treturn table
function origin.of(source, options)
  local name = options and options.name
  if type(source) == "function" then return of_function(source) end
  if type(source) == "string" then return { text = source, file = TEXT, name = name } end
  if type(source) == "table" and type(source.file) == "string" then
    local file = file_of(source)
    return { text = read_file(file), file = file, name = name }
  end
  error(("function, text or { file = path } expected, got %s"):format(type(source)), 0)
end

return origin
