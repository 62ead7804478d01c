-- SPDX-License-Identifier: MIT

--- Records of declared kinds: a field that is missing, misspelt or of another type is an error where it is given.
--
-- A family has rows `{ field, type, pass, meaning }` by kind: `pass` is the first that sets the field, `type` is one of
-- those below, with "?" behind it where the record may be made without it.

local record = {}

-- What stands for a type in Lua; all others are tables: "node" and "nodes" are records of the family in the record,
-- "ref" and "refs" records elsewhere, "list" and "table" have no records that matter.
local LUA_TYPES = { string = "string", integer = "number", number = "number", boolean = "boolean",
  ["function"] = "function" }

local PLACE = { line = true, column = true, offset = true, finish = true } -- in the source

--- The field as a value that is shown beside the kind; nil for what has lines of its own.
local SHOWN = {
  ref = function(value) return value.id or value.kind == "for" and "for " .. value.variable.id or value.kind end,
  table = function() return "..." end,
}

function SHOWN.refs(list)
  local texts = {}
  for i, value in ipairs(list) do texts[i] = SHOWN.ref(value) end
  return "{" .. table.concat(texts, ", ") .. "}"
end

SHOWN.list, SHOWN["function"] = SHOWN.table, SHOWN.table

local Family = {}
Family.__index = Family

--- Raises what is wrong with a field of a kind: it is not declared, or of another type.
local function refuse(self, kind, field, value)
  local type_of = self.types[kind][field]
  if not type_of then error(("%s '%s' has no field '%s'"):format(self.name, kind, field), 3) end
  error(("%s '%s': field '%s': %s expected, got %s"):format(self.name, kind, field, type_of, type(value)), 3)
end

local function check_fields(self, kind, fields)
  local types = self.types[kind]
  for field, value in next, fields do
    if type(value) ~= types[field] then refuse(self, kind, field, value) end
  end
end

--- Makes a record.
-- @string kind
-- @tparam table fields becomes the record
-- @tparam ?table at a token or a record whose place in the source it has
-- @treturn table
function Family:new(kind, fields, at)
  local required = self.required[kind] or error(("no %s '%s'"):format(self.name, kind), 2)
  check_fields(self, kind, fields)
  for i = 1, #required do
    if fields[required[i]] == nil then
      error(("%s '%s' without its field '%s'"):format(self.name, kind, required[i]), 2)
    end
  end
  fields.kind = kind
  if at then fields.line, fields.column, fields.offset, fields.finish = at.line, at.column, at.offset, at.finish end
  return setmetatable(fields, self.metatables[kind])
end

--- A copy of a record with some fields of its own, which sees later changes of the others.
function Family:changed(original, fields)
  check_fields(self, original.kind, fields)
  return setmetatable(fields, { __index = original, __newindex = self.metatables[original.kind].__newindex })
end

--- A copy of a record with some fields of its own, which sees no later changes of the others.
function Family:apart(original, fields)
  for _, row in ipairs(self.kinds[original.kind]) do
    if fields[row[1]] == nil then fields[row[1]] = original[row[1]] end
  end
  return self:new(original.kind, fields)
end

--- Makes a record another one, in all places that refer to it.
function Family:become(original, other)
  for field in pairs(original) do rawset(original, field, nil) end
  for field, value in next, other do rawset(original, field, value) end
  setmetatable(original, self.metatables[other.kind])
end

-- --- copies ---------------------------------------------------------------------------------

local COPIED = { node = true, ref = true }
local COPIED_LISTS = { nodes = true, refs = true }

--- A copy of a record with all records that it leads to, however they refer to each other.
-- @tparam table original
-- @tparam table copies original to copy, of those that are made
-- @treturn table
function Family:copy(original, copies)
  if copies[original] then return copies[original] end
  local copy = setmetatable({}, getmetatable(original))
  copies[original] = copy
  for field, value in next, original do rawset(copy, field, value) end
  for _, row in ipairs(self.kinds[original.kind]) do
    local field, type_of, value = row[1], row.type, original[row[1]]
    if value ~= nil and COPIED[type_of] then
      copy[field] = self:copy(value, copies)
    elseif value ~= nil and COPIED_LISTS[type_of] then
      copy[field] = {}
      for i, item in ipairs(value) do copy[field][i] = self:copy(item, copies) end
    end
  end
  return copy
end

-- --- text -----------------------------------------------------------------------------------

local function show(self, value, indent, label, lines)
  local rows, head, below = self.kinds[value.kind], { label .. value.kind }, {}
  if value.line then head[1] = ("%s (line %d)"):format(head[1], value.line) end
  for _, row in ipairs(rows or {}) do
    local field, found = row[1], value[row[1]]
    if found ~= nil and (row.type == "node" or row.type == "nodes") then
      below[#below + 1] = row
    elseif found and not PLACE[field] then
      head[#head + 1] = ("%s=%s"):format(field, (SHOWN[row.type] or tostring)(found))
    end
  end
  lines[#lines + 1] = indent .. table.concat(head, " ")
  for _, row in ipairs(below) do
    local found = value[row[1]]
    if row.type == "node" then
      show(self, found, indent .. "  ", row[1] .. ": ", lines)
    else
      lines[#lines + 1] = ("%s  %s:"):format(indent, row[1])
      for _, item in ipairs(found) do show(self, item, indent .. "    ", "", lines) end
    end
  end
end

--- A record with all that is in it, a line each.
-- @tparam table value a record, or a list of them
-- @treturn string
function Family:show(value)
  local lines = {}
  for _, item in ipairs(value.kind and { value } or value) do show(self, item, "", "", lines) end
  return table.concat(lines, "\n")
end

-- --- families -------------------------------------------------------------------------------

--- Reads a kind's rows: its fields' types in Lua, and the names of those that must be given.
local function read(rows)
  local types, required = {}, {}
  for _, row in ipairs(rows) do
    row.type = row[2]:match "^%l+"
    types[row[1]] = LUA_TYPES[row.type] or "table"
    if not row[2]:find("?", 1, true) then required[#required + 1] = row[1] end
  end
  return types, required
end

--- Declares a family.
-- @string name what messages call one of its records
-- @tparam table kinds rows by kind
-- @treturn table with the methods `new`, `changed`, `apart`, `copy`, `show`
function record.family(name, kinds)
  local self = setmetatable({ name = name, kinds = kinds, types = {}, required = {}, metatables = {} }, Family)
  for kind, rows in pairs(kinds) do
    local types, required = read(rows)
    self.types[kind], self.required[kind] = types, required
    self.metatables[kind] = { __newindex = function(value, field, new)
      if new == nil and types[field] then return end
      if type(new) ~= types[field] then refuse(self, kind, field, new) end
      rawset(value, field, new)
    end }
  end
  return self
end

return record
