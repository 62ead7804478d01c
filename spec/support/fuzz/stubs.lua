-- SPDX-License-Identifier: MIT
--- The signatures of the public functions, from the stubs for editors in library/: what a fuzzer calls and with what.
--
-- A type is {kind="name", name=}, {kind="text", text=} and {kind="number", text=} (literals), {kind="list", of=},
-- {kind="table", value=}, {kind="record", fields={name=, type=}} or {kind="union", of={types}}.

local stubs = {}

local ROOT = debug.getinfo(1, "S").source:match "^@(.*)/spec/support/" or "."

-- --- types -----------------------------------------------------------------------------------------

local parse_union

--- The part of a text up to a character that stands outside all brackets, and the rest behind it.
local function split(text, stop)
  local depth = 0
  for i = 1, #text do
    local c = text:sub(i, i)
    if c:find "[%(%[{<]" then depth = depth + 1 end
    if c:find "[%)%]}>]" then depth = depth - 1 end
    if depth == 0 and c == stop then return text:sub(1, i - 1), text:sub(i + 1) end
  end
  return text, nil
end

--- "out: clcompute.Buffer, n?: integer" as fields.
local function parse_fields(text)
  local fields, rest = {}, text
  while rest do
    local part, behind = split(rest, ",")
    rest = behind
    local name, type_text = part:match "^%s*([%w_]+)%??:%s*(.*)$"
    if name then fields[#fields + 1] = { name = name, type = parse_union(type_text) } end
  end
  return { kind = "record", fields = fields }
end

local function parse_single(text)
  text = text:match "^%s*(.-)%s*$"
  if text:find "%[%]$" then return { kind = "list", of = parse_union(text:sub(1, -3)) } end
  if text:find "^%(.*%)$" then return parse_union(text:sub(2, -2)) end
  if text:find "^{.*}$" then return parse_fields(text:sub(2, -2)) end
  if text:find '^".*"$' then return { kind = "text", text = text:sub(2, -2) } end
  if tonumber(text) then return { kind = "number", text = text } end
  local value = text:match "^table<[^,]+,(.*)>$"
  if value then return { kind = "table", value = parse_union(value) } end
  return { kind = "name", name = text:find "^fun%(" and "function" or text }
end

function parse_union(text)
  local types, rest = {}, text
  while rest do
    local part, behind = split(rest, "|")
    rest = behind
    types[#types + 1] = parse_single(part)
  end
  return #types == 1 and types[1] or { kind = "union", of = types }
end

--- The type at the start of what stands behind a name; it ends at a blank outside brackets.
local function leading_type(text) return parse_union((split(text, " "))) end

-- --- files -----------------------------------------------------------------------------------------

local function read_file(path)
  local file <close> = assert(io.open(path))
  return file:read "a"
end

--- Classes and aliases into `types`, functions into `list`.
local function read_stub(path, module, types, list)
  local class, params = nil, {}
  for line in read_file(path):gmatch "[^\n]+" do
    local new_class = line:match "^%-%-%-@class ([%w_.]+)"
    local alias, aliased = line:match "^%-%-%-@alias ([%w_.]+)%s*(.*)$"
    local literal = line:match '^%-%-%-| (".*")$'
    local field, field_type = line:match "^%-%-%-@field ([%w_]+)%?? (.*)$"
    local param, param_type = line:match "^%-%-%-@param ([%w_.]+)%?? (.*)$"
    local owner, name = line:match "^function ([%w_]+)[.:]([%w_]+)%("
    if new_class then
      class = { kind = "record", fields = {} }
      types[new_class] = class
    elseif alias then
      types[alias] = aliased ~= "" and parse_union(aliased) or { kind = "union", of = {} }
      class = types[alias]
    elseif literal then
      class.of[#class.of + 1] = parse_single(literal)
    elseif field then
      class.fields[#class.fields + 1] = { name = field, type = leading_type(field_type) }
    elseif param then
      params[#params + 1] = { name = param, type = leading_type(param_type), rest = param == "..." }
    elseif name then
      local is_method = owner:find "^%u" ~= nil
      list[#list + 1] = { name = (is_method and owner .. ":" or module .. ".") .. name,
        method = is_method and name or nil,
        class = is_method and owner or nil, module = module, params = params }
      params = {}
    end
  end
end

-- The stubs of the public table lie in several files.
local FILES = { clcompute = { "clcompute", "clcompute/device", "clcompute/buffer", "clcompute/image",
  "clcompute/program", "clcompute/operations" } }

--- Reads the stubs of modules: of "clcompute" itself, or of "clcompute.<name>".
-- @tparam {string} modules
-- @treturn {table} functions {name="Buffer:read", class="Buffer", method="read", params={{name=, type=, rest=}}};
-- one of a module has name="clcompute.gemm" and no class
-- @treturn table types by their names
function stubs.read(modules)
  local list, types = {}, {}
  for _, module in ipairs(modules) do
    for _, name in ipairs(FILES[module] or { (module:gsub("%.", "/")) }) do
      read_stub(("%s/library/%s.lua"):format(ROOT, name), module, types, list)
    end
  end
  return list, types
end

return stubs
