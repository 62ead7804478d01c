-- SPDX-License-Identifier: MIT

--- The reference beside the values of this process: which entry a function, a method or an object has.

local arity = require("clcompute.base").arity
local reference = require "clcompute.reference"

local Catalogue = {}
Catalogue.__index = Catalogue

local catalogue = {}

--- Entries by name and by kind.
-- @tparam[opt] table entries of `clcompute.reference.read`, which are read when they are first needed
function catalogue.new(entries)
  return setmetatable({ given = entries }, Catalogue)
end

--- All entries, in the order of the reference.
-- @treturn table
function Catalogue:entries()
  self.list = self.list or self.given or reference.read()
  return self.list
end

--- The entry of that full name: "cl.gemm", "Buffer:read", "clcompute.GemmOptions".
-- @tparam string name
-- @treturn ?table
function Catalogue:entry(name)
  if not self.by_name then
    self.by_name = {}
    for _, entry in ipairs(self:entries()) do
      if not self.by_name[entry.name] then self.by_name[entry.name] = entry end
    end
  end
  return self.by_name[name]
end

--- The names of the modules, "clcompute.bench".
-- @treturn table a list
function Catalogue:modules()
  local list, seen = {}, {}
  for _, entry in ipairs(self:entries()) do
    if not seen[entry.module] then list[#list + 1] = entry.module end
    seen[entry.module] = true
  end
  return list
end

--- What functions of a module are called by in the reference: "cl", "bench".
local function prefix_of(module)
  return module == "clcompute" and "cl" or module:match "[%w_]+$"
end

--- The module that a table is: "clcompute.bench".
-- @param value
-- @treturn ?string
function Catalogue:module_of(value)
  if type(value) ~= "table" then return nil end
  for _, module in ipairs(self:modules()) do
    if rawequal(package.loaded[module], value) then return module end
  end
end

--- The class of an object: "clcompute.Buffer". Their metatables are hidden from scripts.
-- @param value
-- @treturn ?string
function catalogue.class_of(value)
  local meta = (type(value) == "userdata" or type(value) == "table") and debug.getmetatable(value)
  local name = meta and rawget(meta, "__name")
  return type(name) == "string" and name:find "^clcompute%." and name or nil
end

--- The methods of an object by name.
-- @param value
-- @treturn ?table
function catalogue.methods_of(value)
  local meta = debug.getmetatable(value)
  if type(meta) ~= "table" then return nil end
  local methods = rawget(meta, "methods") or rawget(meta, "__index")
  return type(methods) == "table" and methods or nil
end

local function key_of(functions, value)
  for key, member in next, functions do
    if rawequal(member, value) and type(key) == "string" and not key:find "^__" then return key end
  end
end

--- The entry of a function of a loaded module.
local function of_module(self, value)
  for _, module in ipairs(self:modules()) do
    local key = type(package.loaded[module]) == "table" and key_of(package.loaded[module], value)
    local entry = key and self:entry(prefix_of(module) .. "." .. key)
    if entry then return entry end
  end
end

--- The entry of a method: the core's metatables are in the registry, by the names of their classes.
local function of_method(self, value)
  local known = arity.method_name(value)
  if known then return self:entry(known) end
  for name, meta in next, debug.getregistry() do
    local class = type(name) == "string" and type(meta) == "table" and name:match "^clcompute%.(%w+)$"
    local methods = class and rawget(meta, "methods")
    local key = type(methods) == "table" and key_of(methods, value)
    local entry = key and self:entry(class .. ":" .. key)
    if entry then return entry end
  end
end

--- The entry of a value: of a function or method by itself, of a module or an object by its class.
-- @param value
-- @treturn ?table
function Catalogue:entry_of(value)
  if type(value) == "function" then return of_module(self, value) or of_method(self, value) end
  local module = self:module_of(value)
  if module then return self:entry(module) end
  local class = catalogue.class_of(value)
  return class and self:entry(class)
end

--- What a type of the reference names as tables of options: the classes that are no objects.
-- @tparam string text "clcompute.GemmOptions", "integer|clcompute.RandomOptions"
-- @treturn table a list of entries of classes
function Catalogue:options_in(text)
  local list = {}
  for name in text:gmatch "clcompute[%w_.]*" do
    local entry = self:entry(name)
    if entry and entry.kind == "class" and not self:is_object(name) then list[#list + 1] = entry end
  end
  return list
end

--- The fields of a class with those of its parents.
-- @tparam table entry
-- @treturn table a list
function Catalogue:fields_of(entry)
  local list = table.move(entry.fields, 1, #entry.fields, 1, {})
  local parents = entry.kind == "class" and entry.parents or "" -- an alias may name itself
  for name in parents:gmatch "clcompute[%w_.]*" do
    local parent = self:entry(name)
    for _, field in ipairs(parent and self:fields_of(parent) or {}) do list[#list + 1] = field end
  end
  return list
end

--- Whether a class has methods.
function Catalogue:is_object(name)
  local prefix = (name:match "[%w_]+$" or "") .. ":"
  for _, entry in ipairs(self:entries()) do
    if entry.kind == "method" and entry.name:sub(1, #prefix) == prefix then return true end
  end
  return false
end

--- The strings that a type names: choices of an alias, and those in quotes.
-- @tparam string text
-- @treturn table a list
function Catalogue:strings_in(text)
  local list = {}
  for word in text:gmatch '"([^"]*)"' do list[#list + 1] = word end
  for name in text:gmatch "clcompute[%w_.]*" do
    local entry = self:entry(name)
    for _, choice in ipairs(entry and entry.choices or {}) do list[#list + 1] = choice end
  end
  return list
end

return catalogue
