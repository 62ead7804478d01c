-- SPDX-License-Identifier: MIT
--- Writes the reference, docs/api.md, from the stubs in library/: `make doc`. One page: a part for each object and each
-- module, in it the functions, and behind a function the tables that it takes and returns, where they are first met.

local reference = require "clcompute.reference"

local entries = reference.read()

local lines = {}
local function add(...) lines[#lines + 1] = string.format(...) end

local function label(name) return (name:gsub("^clcompute%.", "")) end

--- What GitHub makes of a heading.
local function anchor(title) return (title:lower():gsub("[^%w_-]", "")) end

-- --- the parts: an object is a class with methods, a module a class named like it -----------------------

local classes, titles, parts = {}, {}, {}

for _, entry in ipairs(entries) do
  if not entry.signature and not classes[entry.name] then classes[entry.name] = entry end
end

local function add_part(class, title, prefix, members)
  if not class or titles[class] then return end
  titles[class] = title
  local part = { class = class, title = title, functions = {} }
  for _, entry in ipairs(members) do
    if entry.signature and entry.name:find("^" .. prefix .. "[.:]") then part.functions[#part.functions + 1] = entry end
  end
  parts[#parts + 1] = part
end

--- A module, then its objects in their order; those of the core belong to the library as a whole.
local function add_module(module)
  add_part(classes[module], module, module == "clcompute" and "cl" or module:match "[%w_]+$", entries)
  for _, class in ipairs(entries) do
    local object = class.kind == "class" and class.module == module and class.name:match "[%w_]+$"
    for _, entry in ipairs(object and entries or {}) do
      if entry.kind == "method" and entry.name:match "^%w+" == object then add_part(class, object, object, entries) end
    end
  end
end

for _, entry in ipairs(entries) do add_module(entry.module) end

-- --- what is written ------------------------------------------------------------------------------------

--- A type, with links to the objects and tables in it.
local function type_text(text)
  text = text:gsub("|", " or ")
  local linked, count = text:gsub("clcompute[%w_.]*", function(name)
    local class = classes[name]
    return class and ("[%s](#%s)"):format(label(name), anchor(titles[class] or label(name)))
  end)
  return count > 0 and linked or "`" .. text .. "`"
end

local function add_text(entry)
  if entry.text ~= "" then add("\n%s", entry.text) end
  if entry.errors then add("\n**Errors:** %s", entry.errors) end
  if entry.example then add("\n```lua\n%s\n```", entry.example) end
  if entry.choices[1] then add("\n`%s`", table.concat(entry.choices, "` `")) end
end

local function add_fields(fields)
  if #fields == 0 then return end
  add "\n| field | type | |\n|---|---|---|"
  for _, field in ipairs(fields) do
    add("| `%s`%s | %s | %s |", field.name, field.is_optional and "?" or "", type_text(field.type),
      (field.text:gsub("|", "\\|")))
  end
end

local shown = {}

--- The tables that a type speaks of, and those of their fields.
local function add_tables(text)
  for name in text:gmatch "clcompute[%w_.]*" do
    local class = classes[name]
    if class and not titles[class] and not shown[class] then
      shown[class] = true
      local what = class.kind == "alias" and ": " or ": the fields of "
      add('\n<a id="%s"></a>**%s**%s', anchor(label(name)), label(name),
        class.parents ~= "" and what .. type_text(class.parents) or "")
      add_text(class)
      add_fields(class.fields)
      add_tables(class.parents)
      for _, field in ipairs(class.fields) do add_tables(field.type) end
    end
  end
end

local function add_function(entry)
  add("\n### %s\n\n`%s`", entry.name, entry.signature)
  add_text(entry)
  add ""
  for _, param in ipairs(entry.params) do
    add("- `%s`%s %s%s", param.name, param.is_optional and "?" or "", type_text(param.type),
      param.text ~= "" and ": " .. param.text or "")
  end
  for _, result in ipairs(entry.returns) do
    add("- returns %s%s", type_text(result.type), result.text ~= "" and ": " .. result.text or "")
  end
  for _, list in ipairs { entry.params, entry.returns } do
    for _, one in ipairs(list) do add_tables(one.type) end
  end
end

add [[
# Reference

<!-- Made of library/ by `make doc`; the stubs there are what to change. -->

In the examples `cl` is the library and `d` a device. `name?` may be left out. A function refuses arguments of a wrong
type, extra arguments and options that it does not know, with an error that names them; nils at the end do not count.
"Errors" tells what else is one. What is queued returns at once; what blocks waits for the device.
]]
local links = {}
for i, part in ipairs(parts) do links[i] = ("[%s](#%s)"):format(part.title, anchor(part.title)) end
add("%s", table.concat(links, " · "))
for _, part in ipairs(parts) do
  add("\n## %s", part.title)
  add_text(part.class)
  add_fields(part.class.fields)
  for _, field in ipairs(part.class.fields) do add_tables(field.type) end
  for _, entry in ipairs(part.functions) do add_function(entry) end
end
print(table.concat(lines, "\n"))
