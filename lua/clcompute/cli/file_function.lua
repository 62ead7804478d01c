-- SPDX-License-Identifier: MIT

--- Runs a file and gets hold of one of its functions, wherever the file keeps it: in a local of its own, a global, what
-- it returns, or behind those.
-- @module clcompute.cli.file_function

--- Runs a chunk; what it returns, and its locals at its end, go into a list.
local function run(chunk, found)
  local hook, mask, count = debug.gethook()
  debug.sethook(function()
    if debug.getinfo(2, "f").func ~= chunk then return end
    local index, name, value = 1, debug.getlocal(2, 1)
    while name and not name:find "^%(" do -- what follows are registers that may hold anything
      found[#found + 1] = value
      index = index + 1
      name, value = debug.getlocal(2, index)
    end
  end, "r")
  local results = table.pack(pcall(chunk))
  debug.sethook(hook, mask, count)
  if not results[1] then error(results[2], 0) end
  for i = 2, results.n do found[#found + 1] = results[i] end
end

local function each_upvalue(fn)
  local index = 0
  return function()
    index = index + 1
    return debug.getupvalue(fn, index)
  end
end

--- The first function that is accepted among values and what is behind them. The list is used up.
local function search(values, accepts)
  local seen = { [values] = true }
  local function add(value)
    local is_holder = type(value) == "function" or type(value) == "table"
    if is_holder and not seen[value] then seen[value], values[#values + 1] = true, value end
  end
  while #values > 0 do
    local value = table.remove(values)
    if type(value) == "function" then
      if accepts(value) then return value end
      for _, held in each_upvalue(value) do add(held) end
    elseif type(value) == "table" then
      for _, held in next, value do add(held) end
    end
  end
end

local function has_parameters(fn, names)
  for i = 1, #names + 1 do
    if debug.getlocal(fn, i) ~= names[i] then return false end
  end
  return true
end

--- Runs a file and returns a function of it.
-- @string path
-- @tparam table place `line` and `last_line` of the function, as the debug library counts them, and `parameters`, names
-- @treturn function
-- @raise what the file raises, or that the function was not there when the file had run
local function file_function(path, place)
  local environment = setmetatable({ arg = { [0] = path } }, { __index = _G })
  local chunk, message = loadfile(path, "t", environment)
  if not chunk then error(message, 0) end
  local found = { environment }
  run(chunk, found)
  local source = debug.getinfo(chunk, "S").source
  return search(found, function(fn)
    local info = debug.getinfo(fn, "S")
    return info.source == source and info.linedefined == place.line and info.lastlinedefined == place.last_line
      and has_parameters(fn, place.parameters)
  end) or error(("%s has run, but its function of line %d is in no local, global or table"):format(path, place.line), 0)
end

return file_function
