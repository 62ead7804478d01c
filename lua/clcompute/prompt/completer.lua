-- SPDX-License-Identifier: MIT

--- What the word in front of the cursor could be: a local, a global, a field, a method; an option of the call it stands
-- in, or a string that the call takes: a device's selector, a file, a topic of `help`. No code of the user runs
-- meanwhile: tables are read raw, and of the library's objects only what is there without waiting.

local catalogue = require "clcompute.prompt.catalogue"
local devices = require "clcompute.core".devices -- as it is before a script exchanges it
local process = require("clcompute.base").process
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

--- The value of `a.b:c`, whose last name has that index; nil where it is no such thing.
local function value_of(self, tokens, last)
  local first = last
  while first > 2 and tokens[first - 1].text:find "^[.:]$" and tokens[first - 2].kind == "name" do first = first - 2 end
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

-- What strings of these names are.
local MEANINGS = { selector = "selector", device = "selector", path = "file", file = "file", files = "file",
  binary = "file", include = "file" }

local function meaning(name, type_text)
  return type_text:find "string" and MEANINGS[name] or type_text
end

local OF_FILES = { [dofile] = true, [loadfile] = true, [io.lines] = true, [io.open] = true }

--- The type of a call's argument by its number; the last parameter may stand for several.
local function type_of_argument(self, tokens, callee_at, number)
  local callee = value_of(self, tokens, callee_at)
  if callee == require then return "module" end
  if callee ~= nil and rawequal(callee, rawget(_G, "help")) then return "topic" end
  if OF_FILES[callee] then return number == 1 and "file" or nil end
  if catalogue.class_of(callee) == "clcompute.Kernel" then return number == 1 and "clcompute.RangeTable" or nil end
  local entry = callee ~= nil and self.catalogue:entry_of(callee)
  local params = entry and entry.params or {}
  local param = params[math.min(number, #params)]
  if not param then return nil end
  return meaning(param.name, param.type)
end

local type_of_value

--- The type of the table of a bracket.
local function type_of_table(self, tokens, stack, level)
  return type_of_value(self, tokens, stack, level - 1, stack[level].at) or ""
end

--- The fields that a table of a type may have: of its classes of options, also behind an alias, and of tables that the
-- type itself describes: "string|{file: string}".
local function fields_in(self, type_text)
  local list = {}
  local function add_classes(text)
    for _, class in ipairs(self.catalogue:options_in(text)) do
      for _, field in ipairs(self.catalogue:fields_of(class)) do list[#list + 1] = field end
    end
  end
  add_classes(type_text)
  for name in type_text:gmatch "clcompute[%w_.]*" do
    local entry = self.catalogue:entry(name)
    if entry and entry.kind == "alias" then add_classes(entry.parents) end
  end
  for name, type in type_text:gmatch "{ ?([%a_]+): ?([^}]-) ?}" do list[#list + 1] = { name = name, type = type } end
  return list
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
  if bracket.text ~= "{" then return nil end
  local outer = type_of_table(self, tokens, stack, level)
  if at - 1 == bracket.at or before.text == "," then -- of a list
    return outer == "file" and outer or outer:match "^([^|]*)%[%]$"
  end
  if before.text ~= "=" or not tokens[at - 2] then return nil end
  local name = tokens[at - 2].text
  for _, field in ipairs(fields_in(self, outer)) do
    if field.name == name then return meaning(name, field.type) end
  end
end

-- --- what could stand there ------------------------------------------------------------------------

local strings = {} -- by what they are: (self, beginning) --> a list

function strings.selector()
  local list, ok, found = {}, pcall(devices)
  for _, device in ipairs(ok and found or {}) do
    list[#list + 1] = device.type
    list[#list + 1] = device.place
  end
  return list
end

function strings.module(self)
  return self.catalogue:modules()
end

--- The paths of files with that beginning; a folder ends with a slash. Behind one that stands alone readline would end
-- the string, which goes on with what is in it.
function strings.file(self, beginning)
  local folder, list = beginning:match "^.*/" or "", {}
  local names = process.tool("ls -1Ap -- " .. process.quote(folder == "" and "." or folder) .. " 2>/dev/null")
  for name in (names or ""):gmatch "[^\n]+" do
    local path = folder .. name
    if path:sub(1, #beginning) == beginning then list[#list + 1] = path end
  end
  local inside = #list == 1 and list[1]:find "/$" and strings.file(self, list[1]) or {}
  return #inside > 0 and inside or list
end

--- The names of the reference, with and without what they belong to.
function strings.topic(self)
  local list = {}
  for _, entry in ipairs(self.catalogue:entries()) do
    if entry.signature or self.catalogue:is_object(entry.name) then
      list[#list + 1] = entry.name:gsub("^clcompute%.", "")
      list[#list + 1] = entry.name:match "[%w_]+$"
    end
  end
  return list
end

--- The strings of a type, as a set.
local function strings_of(self, type_text, beginning)
  local words, choices = {}, strings[type_text]
  local list = choices and choices(self, beginning) or self.catalogue:strings_in(type_text)
  for _, word in ipairs(list) do words[word] = true end
  return words
end

--- The options that a table at the cursor may have, each with " = " behind it.
local function option_names(self, tokens, stack)
  local words, top = {}, stack[#stack]
  local last = tokens[#tokens]
  if not top or top.text ~= "{" or not (#tokens == top.at or last.text == ",") then return words end
  for _, field in ipairs(fields_in(self, type_of_table(self, tokens, stack, #stack))) do
    if field.name:find "^[%a_]" then words[field.name .. " = "] = true end
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
    return type_text and strings_of(self, type_text, stem) or {}, stem
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
    local list, stem_at = {}, #text - #stem + 1 -- which may begin before readline's word, or behind its first byte
    local head, skipped = text:sub(first, stem_at - 1), math.max(0, first - stem_at)
    for word in pairs(words) do
      if word:sub(1, #stem) == stem then list[#list + 1] = head .. word:sub(skipped + 1) end
    end
    table.sort(list)
    return list
  end
end

return completer
