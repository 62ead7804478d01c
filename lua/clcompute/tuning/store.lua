-- SPDX-License-Identifier: MIT
--- What `clcompute tune` found on this machine: a file of numbers in the user's configuration folder, by device,
-- driver, operation and dtype. It is data: text that holds anything but numbers and words in tables, comments included,
-- is refused.

local store = {}

--- An environment variable that is an absolute path, or nil.
local function absolute(name)
  local value = os.getenv(name)
  return value and value:sub(1, 1) == "/" and value or nil
end

--- The file: $CLCOMPUTE_TUNING, or tuning.lua in $XDG_CONFIG_HOME/clcompute or ~/.config/clcompute.
-- @treturn ?string nil without a home
function store.path()
  local own = os.getenv "CLCOMPUTE_TUNING"
  if own and own ~= "" then return own end
  local all, home = absolute "XDG_CONFIG_HOME", absolute "HOME"
  local base = all or home and home .. "/.config"
  return base and base .. "/clcompute/tuning.lua"
end

--- What numbers are kept for: another driver may want others, and so may a part of the device.
function store.key(device, operation, dtype)
  local name = device.name .. (device.place:match " part .*" or "")
  return table.concat({ device.platform, name, device.driver, operation, dtype }, " | ")
end

local LONGEST = 1 << 20 -- characters of a file
local PLAIN = { number = true, string = true }

local function is_plain(value)
  if PLAIN[type(value)] then return true end
  if type(value) ~= "table" then return false end
  for key, field in pairs(value) do
    if not (PLAIN[type(key)] and is_plain(field)) then return false end
  end
  return true
end

--- Whether text is a table of numbers and words, told before it runs: what stands outside of strings calls nothing.
local function is_data(text)
  local bare = text:gsub("\\.", ""):gsub("([\"']).-%1", "")
  local is_code = bare:find "[^%w%s_{}%[%]=,;.+-]" or bare:find "%-%-" or bare:find "%[[%[=]"
  return text:find "^return%s*{" and not is_code
end

--- All that is kept.
-- @treturn table by key; empty where there is no file
-- @treturn ?string what is wrong with the file
function store.read()
  local path = store.path()
  local file = path and io.open(path)
  if not file then return {} end
  local text, message = file:read(LONGEST + 1)
  file:close()
  if message then return {}, path .. ": cannot be read" end
  if not text or #text > LONGEST or not is_data(text) then return {}, path .. ": not a file of numbers" end
  local chunk, fault = load(text, "=" .. path, "t", {})
  if not chunk then return {}, path .. ": " .. fault end
  local ok, rows = pcall(chunk)
  if not (ok and type(rows) == "table" and is_plain(rows)) then return {}, path .. ": not a file of numbers" end
  return rows
end

local function sorted_keys(map)
  local keys = {}
  for key in pairs(map) do keys[#keys + 1] = key end
  table.sort(keys, function(x, y) return tostring(x) < tostring(y) end)
  return keys
end

local function print_value(value, indent)
  if type(value) ~= "table" then return ("%q"):format(value) end
  local lines, inner = {}, indent .. "  "
  for _, key in ipairs(sorted_keys(value)) do
    lines[#lines + 1] = ("%s[%q] = %s,\n"):format(inner, key, print_value(value[key], inner))
  end
  return "{\n" .. table.concat(lines) .. indent .. "}"
end

--- Keeps numbers, beside those that are kept already.
-- @string key of `store.key`
-- @tparam table row numbers and words
-- @treturn string the path
-- @raise where the file cannot be written, or holds something else
function store.keep(key, row)
  local path = store.path()
  if not path then error("tune: HOME is not set, so there is no configuration folder; set CLCOMPUTE_TUNING", 0) end
  local rows, fault = store.read()
  if fault then error(fault, 0) end
  rows[key] = row
  local files = require "clcompute.files" -- here: numbers are read where there is no C core, too
  files.make_folders(path)
  local text = "return " .. print_value(rows, "") .. "\n"
  local ok, reason = pcall(files.replace, path, function(file) return file:write(text) end)
  if not ok then error(("%s: %s"):format(path, reason), 0) end
  return path
end

return store
