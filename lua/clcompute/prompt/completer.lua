-- SPDX-License-Identifier: MIT

--- What the word in front of the cursor could be: a local, a global, a field, a method; an option of the call it stands
-- in, or a string that the call takes, a device's selector among them. No code of the user runs meanwhile: tables are
-- read raw, and of the library's objects only what is there without waiting.

local catalogue = require "clcompute.prompt.catalogue"
local scanner = require "clcompute.prompt.scanner"

local completer = {}

-- --- values ----------------------------------------------------------------------------------------

--- A field of a table, or of those that it inherits from; a method of a string or of an object; a kernel of a program.
local function field_of(self, value, key)
  for _ = 1, 10 do -- tables may inherit from each other
    if type(value) ~= "table" then break end
    local found = rawget(value, key)
    local meta = debug.getmetatable(value)
    if found ~= nil or type(meta) ~= "table" then return found end
    value = rawget(meta, "__index")
  end
  local methods = value ~= nil and catalogue.methods_of(value)
  if methods and rawget(methods, key) ~= nil then return rawget(methods, key) end
  local class = catalogue.class_of(value)
  if type(value) ~= "userdata" or not class then return nil end
  for _, field in ipairs(self.catalogue:fields_of(self.catalogue:entry(class) or { fields = {} })) do
    local is_object = field.name == key and self.catalogue:is_object(field.type)
    if is_object or class == "clcompute.Program" and field.name == "kernels" then
      local ok, found = pcall(function() return value[key] end)
      return ok and found or nil
    end
  end
end

--- The value of `a.b:c`, whose last name has that index; nil where it is no such thing. And where it begins.
local function value_of(self, tokens, last)
  local first = last
  while tokens[first - 1] and tokens[first - 1].text:find "^[.:]$" and tokens[first - 2].kind == "name" do
    first = first - 2
  end
  if not tokens[last] or tokens[last].kind ~= "name" then return nil end
  local before = tokens[first - 1]
  if before and before.text:find "^[.:]$" then return nil end -- of a call, or of an element
  local value, is_local = self.session:get(tokens[first].text)
  if not is_local then value = rawget(_G, tokens[first].text) end
  for i = first + 2, last, 2 do
    if value == nil then return nil end
    value = field_of(self, value, tokens[i].text)
  end
  return value
end

-- --- names -----------------------------------------------------------------------------------------

local function add_keys(words, from, accepts)
  for _ = 1, 10 do
    if type(from) ~= "table" then return end
    for key, value in next, from do
      if type(key) == "string" and key:find "^[%a_][%w_]*$" and accepts(value) then words[key] = true end
    end
    local meta = debug.getmetatable(from)
    from = type(meta) == "table" and rawget(meta, "__index")
  end
end

local function anything()
  return true
end

local function is_callable(value)
  return type(value) == "function"
end

--- The fields of an object that the reference knows, and the kernels of a program.
local function add_fields(self, words, value)
  local class = catalogue.class_of(value)
  local entry = class and self.catalogue:entry(class)
  for _, field in ipairs(entry and self.catalogue:fields_of(entry) or {}) do
    if field.name:find "^[%a_]" then words[field.name] = true end
  end
  if class ~= "clcompute.Program" or type(value) ~= "userdata" then return end
  local ok, kernels = pcall(function() return value.kernels end)
  for _, name in ipairs(ok and kernels or {}) do words[name] = true end
end

local function members(self, value, separator)
  local words = {}
  if type(value) == "table" then add_keys(words, value, separator == ":" and is_callable or anything) end
  if separator == ":" then
    add_keys(words, value ~= nil and catalogue.methods_of(value), is_callable)
    for name in pairs(words) do if name:find "^__" then words[name] = nil end end
  else
    add_fields(self, words, value)
  end
  return words
end

local function all_names(self)
  local words = {}
  for word in pairs(scanner.KEYWORDS) do words[word] = true end
  for _, name in ipairs(self.session:names()) do words[name] = true end
  add_keys(words, _G, anything)
  return words
end

-- --- where the cursor is ---------------------------------------------------------------------------

local CLOSES = { [")"] = "(", ["}"] = "{", ["]"] = "[" }

--- The brackets that are open at the end of the tokens, from outside in: { at =, text =, commas = }.
local function open_brackets(tokens)
  local stack = {}
  for i, token in ipairs(tokens) do
    local top = stack[#stack]
    if token.kind == "symbol" then
      if token.text:find "^[({[]$" then
        stack[#stack + 1] = { at = i, text = token.text, commas = 0 }
      elseif CLOSES[token.text] then
        if top and top.text == CLOSES[token.text] then stack[#stack] = nil end
      elseif token.text == "," and top then
        top.commas = top.commas + 1
      end
    end
  end
  return stack
end

--- The type of a call's argument by its number; the last parameter may stand for several.
local function type_of_argument(self, tokens, callee_at, number)
  local callee = value_of(self, tokens, callee_at)
  if callee == require then return "module" end
  if catalogue.class_of(callee) == "clcompute.Kernel" then return number == 1 and "clcompute.RangeTable" or nil end
  local entry = callee ~= nil and self.catalogue:entry_of(callee)
  local params = entry and entry.params or {}
  local param = params[math.min(number, #params)]
  if not param then return nil end
  return param.name == "selector" and "selector" or param.type
end

local type_of_value

--- The classes of options whose fields the table of a bracket has.
local function options_of(self, tokens, stack, level)
  local type_text = type_of_value(self, tokens, stack, level - 1, stack[level].at)
  return type_text and self.catalogue:options_in(type_text) or {}
end

--- The type that is expected of the value which begins at a token, within so many brackets.
function type_of_value(self, tokens, stack, level, at)
  local before, bracket = tokens[at - 1], stack[level]
  if not before then return nil end
  if before.kind == "name" then return type_of_argument(self, tokens, at - 1, 1) end -- f { or f "
  if not bracket then return nil end
  if bracket.text == "(" and (at - 1 == bracket.at or before.text == ",") then
    return type_of_argument(self, tokens, bracket.at - 1, bracket.commas + 1)
  end
  if bracket.text ~= "{" or before.text ~= "=" or not tokens[at - 2] then return nil end
  for _, class in ipairs(options_of(self, tokens, stack, level)) do
    for _, field in ipairs(self.catalogue:fields_of(class)) do
      if field.name == tokens[at - 2].text then return field.name == "device" and "selector" or field.type end
    end
  end
end

-- --- what could stand there ------------------------------------------------------------------------

local function selectors()
  local words, library = {}, package.loaded["clcompute"]
  local ok, devices = pcall(function() return library.devices() end)
  for _, device in ipairs(ok and devices or {}) do words[device.type], words[device.place] = true, true end
  return words
end

local function strings(self, type_text)
  local words = {}
  if type_text == "selector" then return selectors() end
  local list = type_text == "module" and self.catalogue:modules() or self.catalogue:strings_in(type_text)
  for _, word in ipairs(list) do words[word] = true end
  return words
end

--- The options that a table at the cursor may have, each with " = " behind it.
local function option_names(self, tokens, stack)
  local words, top = {}, stack[#stack]
  local last = tokens[#tokens]
  if not top or top.text ~= "{" or not (#tokens == top.at or last.text == ",") then return words end
  for _, class in ipairs(options_of(self, tokens, stack, #stack)) do
    for _, field in ipairs(self.catalogue:fields_of(class)) do
      if field.name:find "^[%a_]" then words[field.name .. " = "] = true end
    end
  end
  return words
end

--- The words that could stand at the end of a text, and the beginning that is there of one.
local function candidates(self, text)
  local tokens = scanner.tokens(text)
  local last = tokens[#tokens]
  if last and last.is_open then
    local stem = last.text:gsub("^[\"']", ""):gsub("^%[=*%[", "")
    local type_text = type_of_value(self, tokens, open_brackets(tokens), #open_brackets(tokens), #tokens)
    return type_text and strings(self, type_text) or {}, stem
  end
  local is_word = last and (last.kind == "name" or last.kind == "keyword") and last.at + #last.text == #text + 1
  local stem = is_word and table.remove(tokens).text or ""
  last = tokens[#tokens]
  if last and last.text:find "^[.:]$" then
    return members(self, value_of(self, tokens, #tokens - 1), last.text), stem
  end
  local options = option_names(self, tokens, open_brackets(tokens))
  for word in pairs(options) do
    if word:sub(1, #stem) == stem then return options, stem end
  end
  return stem ~= "" and all_names(self) or {}, stem
end

--- A function that completes.
-- @tparam table session whose locals there are
-- @tparam table known of `clcompute.prompt.catalogue`
-- @treturn function (before, line, first, last): the chunk's lines before this one, the line, and the word's first byte
--  and the byte behind its last, as lua-readline tells them; returns a sorted list of what the word could be
function completer.new(session, known)
  local self = { session = session, catalogue = known }
  return function(before, line, first, last)
    local text = line:sub(1, last - 1)
    local words, stem = candidates(self, before .. text)
    local list, head = {}, text:sub(first, #text - #stem)
    for word in pairs(words) do
      if word:sub(1, #stem) == stem then list[#list + 1] = head .. word end
    end
    table.sort(list)
    return list
  end
end

return completer
