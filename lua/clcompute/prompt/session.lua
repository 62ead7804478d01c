-- SPDX-License-Identifier: MIT

--- Chunks that share their locals, as if all that is typed were one block. A chunk is compiled inside a function that
-- declares the locals of the chunks before it; `debug.upvaluejoin` makes them the same variables that the closures of
-- those chunks have. What a chunk declares itself is handed over at its end by a closure. A `<const>` stays one. A
-- `<close>` is closed when the session is, not at the end of its line.

local scanner = require "clcompute.prompt.scanner"

local getupvalue, upvaluejoin, getinfo, getmetatable = debug.getupvalue, debug.upvaluejoin, debug.getinfo,
  debug.getmetatable

local KEEP = "__keep_locals" -- the name that a chunk calls with that closure
local PASS = "__pass" -- what it passes results through: a call in their place would lose its line, as tail calls do

local OPENERS = { ["function"] = true, ["do"] = true, ["if"] = true, ["repeat"] = true, ["("] = true, ["{"] = true,
  ["["] = true }
local CLOSERS = { ["end"] = true, ["until"] = true, [")"] = true, ["}"] = true, ["]"] = true }

local Session = { __name = "clcompute.Session" }
Session.__index = Session

local session = {}

function session.new()
  return setmetatable({ variables = {}, closing = {} }, Session)
end

-- --- what a chunk declares -----------------------------------------------------------------

--- Adds the names of `local a <const>, b` whose first name has that index, each with its attribute.
local function add_names(tokens, index, declared)
  while tokens[index] and tokens[index].kind == "name" do
    local found = { name = tokens[index].text }
    index = index + 1
    if tokens[index] and tokens[index].text == "<" then
      found.attribute, found.attribute_at = tokens[index + 1].text, tokens[index + 1].at
      index = index + 3
    end
    declared[#declared + 1] = found
    if not tokens[index] or tokens[index].text ~= "," then return end
    index = index + 1
  end
end

local function depth_of(token)
  return OPENERS[token.text] and 1 or CLOSERS[token.text] and -1 or 0
end

--- The locals that are declared outside of all blocks, and the byte of a `return` there; of a chunk without mistakes.
local function survey(tokens)
  local declared, depth, return_at = {}, 0, nil
  for i, token in ipairs(tokens) do
    if token.kind == "keyword" then
      if depth == 0 and token.text == "return" then return_at = token.at end
      if depth == 0 and token.text == "local" then
        add_names(tokens, tokens[i + 1].text == "function" and i + 2 or i + 1, declared)
      end
    end
    depth = depth + depth_of(token)
  end
  return declared, return_at
end

--- Each name once, as it was declared last. `_ENV` would take the globals away from all chunks to come.
local function last_of_each(declared)
  local list, seen = {}, { _ENV = true }
  for i = #declared, 1, -1 do
    if not seen[declared[i].name] then table.insert(list, 1, declared[i]) end
    seen[declared[i].name] = true
  end
  return list
end

--- The text with every `<close>` outside of blocks a `<const>`, which is as long, and the call that keeps its locals.
local function keeping(text, declared, return_at)
  if #declared == 0 then return text end
  for _, one in ipairs(declared) do
    if one.attribute == "close" then
      text = text:sub(1, one.attribute_at - 1) .. "const" .. text:sub(one.attribute_at + 5)
    end
  end
  local names = {}
  for i, one in ipairs(last_of_each(declared)) do names[i] = one.name end
  if #names == 0 then return text end
  local call = ("\n%s(function() return %s end)"):format(KEEP, table.concat(names, ", "))
  if not return_at then return text .. call end
  return text:sub(1, return_at - 1) .. call:sub(2) .. " " .. text:sub(return_at)
end

-- --- what it is given, and what is kept ----------------------------------------------------

--- The variables of the session that a text names: what declares them, and the values of those that are constant.
local function header(self, tokens)
  local names, values, seen = { KEEP, PASS }, {}, {}
  for _, token in ipairs(tokens) do
    local variable = token.kind == "name" and not seen[token.text] and self.variables[token.text]
    if variable then
      seen[token.text] = true
      names[#names + 1] = token.text .. (variable.holder and "" or " <const>")
      values[#names - 2] = variable.value
    end
  end
  return ("local %s = ... return function(...) "):format(table.concat(names, ", ")), values, #names - 2
end

local function join(self, chunk)
  for i = 1, math.huge do
    local name = getupvalue(chunk, i)
    if not name then return end
    local variable = self.variables[name]
    if variable and variable.holder then upvaluejoin(chunk, i, variable.holder, variable.index) end
  end
end

local function index_of(closure, name)
  for i = 1, math.huge do
    local found = getupvalue(closure, i)
    if not found or found == name then return found and i end
  end
end

--- Takes over what a chunk declared from the closure that has it all.
local function keep(self, declared, closure)
  local values = { closure() }
  for i, one in ipairs(last_of_each(declared)) do
    local value, index = values[i], not one.attribute and index_of(closure, one.name)
    if one.attribute == "close" and value then
      local meta = getmetatable(value)
      if not (meta and meta.__close) then error(("variable '%s' got a non-closable value"):format(one.name), 0) end
      table.insert(self.closing, value)
    end
    self.variables[one.name] = index and { holder = closure, index = index } or { value = value }
  end
end

local function pass(...) return ... end

--- Compiles a text, of which Lua's own compiler has found no fault.
local function compile_among(self, text, chunk_name)
  local tokens = scanner.tokens(text)
  local declared, return_at = survey(tokens)
  local head, values, count = header(self, tokens)
  -- A label at the end of a block is one no more with a call behind it: then nothing is kept.
  local outer = load(head .. keeping(text, declared, return_at) .. "\nend", chunk_name, "t")
  local message
  if not outer then outer, message = load(head .. text .. "\nend", chunk_name, "t") end
  if not outer then return nil, message end
  local chunk = outer(function(closure) keep(self, declared, closure) end, pass, table.unpack(values, 1, count))
  join(self, chunk)
  return chunk
end

local function ends_too_early(message)
  return message:find "<eof>$" ~= nil
end

--- Without the "=" that Lua 5.1 needed.
local function without_sign(text)
  return (text:gsub("^%s*=", ""))
end

--- Without the comment and the `;` at its end. An access there has the line of the `)` that follows, which is to be its
-- own.
local function without_end(text)
  local tokens = scanner.tokens(text)
  if #tokens > 0 and tokens[#tokens].text == ";" then table.remove(tokens) end
  local last = tokens[#tokens]
  return last and text:sub(1, last.at + #last.text - 1) or ""
end

--- The byte of the last `;` that has something behind it, outside of blocks and brackets; 0 where there is none.
local function last_semicolon(text)
  local tokens, depth, at = scanner.tokens(text), 0, 0
  for i, token in ipairs(tokens) do
    if depth == 0 and token.text == ";" and i < #tokens then at = token.at end
    depth = depth + depth_of(token)
  end
  return at
end

--- The chunk that returns the values of an expression, which may have statements and a `;` before it; nil for another
-- text.
local function returning(text)
  local at = last_semicolon(text)
  local statements, expression = text:sub(1, at), text:sub(at + 1)
  if not load("return " .. expression .. "\n") then return nil end -- in whose middle a string in quotes ends too early
  local chunk = ("%sreturn %s(%s)"):format(statements, PASS, without_end(expression))
  return load(chunk) and chunk
end

--- Compiles what was typed: an expression, whose values the chunk returns, statements, or both with a `;` between. Its
-- functions know their source by the text, as `load` without a name for it has it.
-- @tparam string text
-- @treturn ?function the chunk
-- @treturn ?string what is wrong
-- @treturn ?boolean whether more lines could make it right
function Session:compile(text)
  text = without_sign(text)
  local expression = returning(text)
  if expression then return compile_among(self, expression, text) end
  local _, reason = load("return " .. text .. "\n", text, "t")
  local statements, message = load(text .. "\n", text, "t")
  if statements then return compile_among(self, text, text) end
  return nil, message, ends_too_early(message) or ends_too_early(reason)
end

--- What messages call a text, `[string "..."]`.
-- @tparam string text
-- @treturn string
function session.label(text)
  return getinfo(load("", without_sign(text)), "S").short_src
end

--- The value of a local.
-- @tparam string name
-- @return the value
-- @treturn boolean whether there is such a local
function Session:get(name)
  local variable = self.variables[name]
  if not variable then return nil, false end
  if not variable.holder then return variable.value, true end
  local _, value = getupvalue(variable.holder, variable.index)
  return value, true
end

--- The names of all locals, in no order.
-- @treturn table a list
function Session:names()
  local names = {}
  for name in pairs(self.variables) do names[#names + 1] = name end
  return names
end

--- Closes what was declared as `<close>`, the last one first. An error does not keep the others from it.
function Session:close()
  while #self.closing > 0 do
    local value = table.remove(self.closing)
    pcall(getmetatable(value).__close, value)
  end
end

return session
