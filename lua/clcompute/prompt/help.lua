-- SPDX-License-Identifier: MIT

--- `help` of the prompt: what the reference says of a value or of a name, also of one that is half remembered.

local format = require("clcompute.base").format
local spelling = require("clcompute.base").spelling
local width = require("clcompute.base").width

local help = {}

local WIDEST = 100 -- columns of a text to be read
local MOST = 12 -- suggestions
local LONGEST = 100 -- columns of a topic
local PART <const>, TEXT <const> = 3, 20 -- ranks: the topic is an end of the name; the text speaks of it

-- --- words ---------------------------------------------------------------------------------------

--- A paragraph in lines of so many columns behind an indent; `further`: what those after the first have too.
local function wrap(text, columns, indent, further)
  return table.concat(width.wrap(text, columns, indent, indent .. (further or "")), "\n")
end

--- The paragraphs of a text.
local function paragraphs(text, columns, indent)
  local list = {}
  for part in (text .. "\n\n"):gmatch "(.-)\n\n+" do
    if part ~= "" then list[#list + 1] = wrap(part, columns, indent) end
  end
  return table.concat(list, "\n\n")
end

local function first_sentence(entry)
  local text = entry.text:gsub("\n", " ")
  return text:match "^(.-%.) " or text
end

local function type_text(text)
  return (text:gsub("clcompute%.", ""):gsub("|", " or "))
end

local function label(entry)
  return entry.signature or (entry.name:gsub("^clcompute%.", ""))
end

local function last_word(name)
  return name:match "[%w_]+$"
end

-- --- one entry -----------------------------------------------------------------------------------

--- "  name? type: text" in lines, or with something else in place of the name.
local function described(name, one, columns, indent)
  local head = ("%s%s %s"):format(name, one.is_optional and name == one.name and "?" or "", type_text(one.type))
  return wrap(one.text ~= "" and head .. ": " .. one.text or head, columns, indent, "    ")
end

local function add_fields(lines, known, entry, columns, indent)
  for _, field in ipairs(known:fields_of(entry)) do
    if not field.name:find "^%[" then lines[#lines + 1] = described(field.name, field, columns, indent) end
  end
end

local function add_params(lines, known, entry, columns)
  if #entry.params + #entry.returns > 0 then lines[#lines + 1] = "" end
  for _, param in ipairs(entry.params) do
    lines[#lines + 1] = described(param.name, param, columns, "  ")
    for _, options in ipairs(known:options_in(param.type)) do add_fields(lines, known, options, columns, "      ") end
  end
  for _, result in ipairs(entry.returns) do lines[#lines + 1] = described("returns", result, columns, "  ") end
end

local function add_members(lines, known, entry, columns)
  lines[#lines + 1] = ""
  add_fields(lines, known, entry, columns, "  ")
  local word = last_word(entry.name)
  local object, module = word .. ":", entry.name == "clcompute" and "cl." or word .. "."
  for _, one in ipairs(known:entries()) do
    if one.signature and (one.name:sub(1, #object) == object or one.name:sub(1, #module) == module) then
      lines[#lines + 1] = width.cut(("  %s  %s"):format(one.signature, first_sentence(one)), columns)
    end
  end
end

--- An entry with all that the reference says.
local function entry_text(known, entry, columns)
  local lines = { label(entry) }
  if entry.text ~= "" then lines[#lines + 1] = paragraphs(entry.text, columns, "  ") end
  if entry.signature then add_params(lines, known, entry, columns) else add_members(lines, known, entry, columns) end
  if entry.errors then lines[#lines + 1] = "\n" .. wrap("Errors: " .. entry.errors, columns, "  ") end
  if entry.example then lines[#lines + 1] = "\nExample:\n  " .. entry.example:gsub("\n", "\n  ") end
  return table.concat(lines, "\n")
end

-- --- looking for a name --------------------------------------------------------------------------

--- Whether an entry, or what it says of its parameters and options, has words that begin with each part of a topic.
local function speaks_of(known, entry, topic)
  local texts = { entry.text, entry.errors }
  for _, param in ipairs(entry.params) do
    texts[#texts + 1] = param.text
    for _, class in ipairs(known:options_in(param.type)) do
      for _, field in ipairs(known:fields_of(class)) do texts[#texts + 1] = field.text end
    end
  end
  local text = table.concat(texts, " "):lower()
  for part in topic:gmatch "[^.]+" do
    if not text:find("%f[%w]" .. part:gsub("%p", "%%%0")) then return false end
  end
  return #topic > 2
end

--- How far a name is from what is looked for: 0 is the name, nil too far. A table of options shows with its function.
local function rank(known, entry, topic)
  local name, word = label(entry):match "^[%w_.:]+":lower():gsub(":", "."), last_word(entry.name):lower()
  local part = topic:match "[^.]*$"
  if name == topic or entry.name:lower():gsub(":", ".") == topic then return 0 end
  if word == topic then return 1 end
  if not entry.signature and not known:is_object(entry.name) and entry.name ~= entry.module then return nil end
  if word:sub(1, #topic) == topic or name:sub(1, #topic) == topic then return 2 end
  if #topic > 2 and word:sub(-#topic) == topic then return PART end
  local distance = #part > 0 and spelling.near(part, word)
  if distance then return PART + distance end
  return speaks_of(known, entry, topic) and TEXT or nil
end

--- The entries that may be meant, { rank =, entry = }, the nearest first.
local function find(known, topic)
  local found = {}
  topic = topic:lower():match "^%s*(.-)%s*$":gsub("[:%s]+", ".")
  for place, entry in ipairs(known:entries()) do
    local distant = topic ~= "" and rank(known, entry, topic)
    if distant then found[#found + 1] = { rank = distant, place = place, entry = entry } end
  end
  table.sort(found, function(a, b) return a.rank < b.rank or a.rank == b.rank and a.place < b.place end)
  return found
end

--- The entries that speak of the words of a topic, one word at a time where none speaks of all.
local function find_any(known, topic)
  local found, seen = find(known, topic), {}
  if #found > 0 then return found end
  for word in topic:gmatch "%w%w%w%w+" do
    for _, one in ipairs(find(known, word)) do
      if not seen[one.entry] then found[#found + 1] = one end
      seen[one.entry] = true
    end
  end
  return found
end

--- What is said of the options and the fields of that name.
local function fields_text(known, topic, columns)
  local lines, seen = {}, {}
  local function add(entry, class)
    seen[class] = true
    for _, field in ipairs(known:fields_of(class)) do
      if field.name == topic then
        lines[#lines + 1] = described(("%s of %s:"):format(topic, label(entry):match "^[^(]+"), field, columns, "")
      end
    end
  end
  for _, entry in ipairs(known:entries()) do
    if known:is_object(entry.name) then add(entry, entry) end
    for _, param in ipairs(entry.params) do
      for _, class in ipairs(known:options_in(param.type)) do add(entry, class) end
    end
  end
  for _, entry in ipairs(known:entries()) do
    if entry.kind == "class" and not seen[entry] then add(entry, entry) end
  end
  return lines[1] and table.concat(lines, "\n")
end

--- Those of a list that begin or end with the name; without one, those that are as near as the nearest and no farther
-- than a rank.
local function nearest(found, farthest)
  local least, list = farthest, {}
  for _, one in ipairs(found) do least = math.min(least, math.max(one.rank, PART)) end
  for _, one in ipairs(found) do
    if one.rank <= least then list[#list + 1] = one end
  end
  return list
end

--- What may be meant by a name that the reference does not have, and whether that is told for sure.
local function suggestions(found, topic, columns)
  local word = topic:match "^[%w_]+[.:]([%w_]+)$" or topic
  local here, near = spelling.elsewhere(word), spelling.absent(word)
  if near then return ("there is no '%s' here; near is %s"):format(topic, near), true end
  found = nearest(found, here and PART or TEXT)
  if #found == 0 and not here then
    return ("'%s' is not in the reference; help() lists what is"):format(topic), false
  end
  local lines = { here and ("'%s' is a name of other libraries; write %s"):format(topic, here)
    or ("'%s' is not in the reference; help \"name\" tells of these:"):format(topic) }
  for i = 1, math.min(#found, MOST) do
    local entry = found[i].entry
    lines[#lines + 1] = width.cut(("  %s  %s"):format(label(entry), first_sentence(entry)), columns)
  end
  if #found > MOST then lines[#lines + 1] = ("  and %d more: help()"):format(#found - MOST) end
  return table.concat(lines, "\n"), here ~= nil
end

--- Whether a text has that word.
local function has_word(text, word)
  return text:lower():find("%f[%w_]" .. word:lower():gsub("%p", "%%%0") .. "%f[^%w_]") ~= nil
end

--- What is named so, with the options and fields of that name, and what else speaks of it in its first sentence.
local function by_name(known, topic, columns)
  topic = width.cut(topic, LONGEST):gsub("[.:()]+$", "")
  local found = find(known, topic)
  if not found[1] or found[1].rank > 1 then
    local text = fields_text(known, topic, columns)
    if text then return text, true end
    return suggestions(find_any(known, topic), topic, columns)
  end
  local parts, also = { entry_text(known, found[1].entry, columns), fields_text(known, topic, columns) }, {}
  for i = 2, #found do
    local one = found[i]
    if one.rank <= 1 or has_word(first_sentence(one.entry), topic) then also[#also + 1] = one.entry.name end
  end
  if #also > 0 then parts[#parts + 1] = wrap("See also: " .. table.concat(also, ", "), columns, "") end
  return table.concat(parts, "\n\n"), true
end

-- --- all -----------------------------------------------------------------------------------------

local INTRODUCTION = [[
help(x) tells of a function, a method or an object, help "gemm" of a name, also of a part of one.
Tab completes names, options and devices. Ctrl-C ends what computes, Ctrl-D the prompt.]]

--- The names of everything, by module and by object.
-- @tparam table known of `clcompute.prompt.catalogue`
-- @tparam integer columns of the terminal
-- @treturn string
function help.overview(known, columns)
  columns = math.min(columns, WIDEST)
  local groups, order = {}, {}
  for _, entry in ipairs(known:entries()) do
    local group = entry.signature and entry.name:match "^[%w_]+"
    if group and not groups[group] then
      groups[group] = {}
      order[#order + 1] = { name = group, module = entry.module, is_object = entry.kind == "method" }
    end
    if group then table.insert(groups[group], last_word(entry.name)) end
  end
  local lines = { INTRODUCTION }
  for _, group in ipairs(order) do
    local is_module = not group.is_object and group.module ~= "clcompute"
    lines[#lines + 1] = ("\n%s%s"):format(group.name, is_module and (' = require "%s"'):format(group.module)
      or group.is_object and ":" or ".")
    lines[#lines + 1] = wrap(table.concat(groups[group.name], " "), columns, "  ")
  end
  return table.concat(lines, "\n")
end

local function of_value(known, value, columns)
  local entry = known:entry_of(value)
  if not entry then
    return ("nothing in the reference is about this %s; help \"name\" looks for a name"):format(type(value))
  end
  local is_object = type(value) ~= "function" and entry.name ~= entry.module
  return (is_object and tostring(value) .. "\n\n" or "") .. entry_text(known, entry, columns)
end

--- What the reference says of a value or of a name.
-- @tparam table known of `clcompute.prompt.catalogue`
-- @param topic
-- @tparam integer columns of the terminal
-- @treturn string
-- @treturn boolean whether it is known, also as a name of another library
function help.text(known, topic, columns)
  local tell = type(topic) == "string" and by_name or of_value
  local text, is_known = tell(known, topic, math.min(columns, WIDEST))
  return format.visible(text), is_known
end

--- The global `help`, which prints when it is called, and shows all names where it stands alone.
-- @tparam table known of `clcompute.prompt.catalogue`
-- @tparam function columns tells how wide the terminal is
function help.new(known, columns)
  local function tell(self, ...)
    local topic = ...
    if select("#", ...) > 0 and topic ~= self and topic ~= "help" then return help.text(known, topic, columns()) end
    return help.overview(known, columns())
  end
  return setmetatable({}, {
    __tostring = tell,
    __call = function(...) io.write(tell(...), "\n") end,
  })
end

return help
