-- SPDX-License-Identifier: MIT

--- Buffers of one or two dimensions as comma-separated values: a row a line. Numbers have as many digits as it takes to
-- read the same number back.

local csv = {}

local PIECE = 1 << 16 -- elements that are read at once
local DIGITS = { double = "%.17g", float = "%.9g", half = "%.5g" }
local LONGEST_NUMBER = 400 -- bytes; what is longer is no number, and is not looked at

-- Bits of an integer type, and whether it has a sign.
local INTEGERS = { char = { 8, true }, uchar = { 8 }, short = { 16, true }, ushort = { 16 }, int = { 32, true },
  uint = { 32 }, long = { 64, true }, ulong = { 64 } }

local function fail(...) error(string.format(...), 0) end

-- --- writing -------------------------------------------------------------------------------------------

local function ulong_text(v)
  if v >= 0 then return tostring(v) end
  local tens = (v >> 1) // 5
  return ("%d%d"):format(tens, v - 10 * tens)
end

local function float_writer(digits)
  local has_point = ("%.1f"):format(0.5) == "0.5" -- not where the program chose a locale
  return function(v)
    if v ~= v then return "nan" end
    local text = digits:format(v)
    return has_point and text or (text:gsub(",", "."))
  end
end

local function writer_of(dtype)
  if dtype == "ulong" then return ulong_text end
  return DIGITS[dtype] and float_writer(DIGITS[dtype]) or tostring
end

--- The line of the option `header`: names in quotes, so that none looks like a number.
local function header_line(names, columns)
  if #names ~= columns then fail("option 'header': %d names expected, one a column, got %d", columns, #names) end
  local quoted = {}
  for k = 1, columns do
    local name = rawget(names, k)
    if type(name) ~= "string" or name:find "[\r\n]" then fail("option 'header': [%d]: text of one line expected", k) end
    quoted[k] = '"' .. name:gsub('"', '""') .. '"'
  end
  return table.concat(quoted, ",") .. "\n"
end

--- Writes a buffer to an open file; returns nil and the reason where it fails.
function csv.write(file, buffer, options)
  local shape, write = buffer.shape, writer_of(buffer.dtype)
  if #shape > 2 then fail("a .csv file has 1 or 2 dimensions; this buffer is %s", table.concat(shape, "x")) end
  local columns = shape[2] or 1
  if options.header then
    local ok, message = file:write(header_line(options.header, columns))
    if not ok then return nil, message end
  end
  if shape[1] * columns == 0 then return true end
  local step = math.max(1, PIECE // columns)
  for first = 1, shape[1], step do
    local rows = buffer:read(first, math.min(first + step - 1, shape[1]))
    for i, row in ipairs(rows) do
      if shape[2] then
        for j, v in ipairs(row) do row[j] = write(v) end
        rows[i] = table.concat(row, ",")
      else
        rows[i] = write(row)
      end
    end
    local ok, message = file:write(table.concat(rows, "\n"), "\n")
    if not ok then return nil, message end
  end
  return true
end

-- --- reading -------------------------------------------------------------------------------------------

local WORDS = { nan = 0 / 0, inf = math.huge, infinity = math.huge }

local BEYOND = { half = 65520, float = 0x1.ffffffp127, double = math.huge } -- the least that rounds to infinity

--- A function that returns the number of a text, or nil and what it is not.
local function float_reader(dtype)
  return function(text)
    local sign, word = text:lower():match "^([+-]?)(%l+)$"
    if WORDS[word] then return sign == "-" and -WORDS[word] or WORDS[word] end
    if not text:find "^[+-]?[%d.]" or text:find "[xX]" then return nil, "a number" end
    local plain = text:gsub("^%+", "")
    local v = tonumber(plain:find "[.eE]" and plain or plain .. "e0") -- a float: -0 is one
    if v and math.abs(v) >= BEYOND[dtype] then return nil, ("a number that %s holds"):format(dtype) end
    return v, "a number"
  end
end

--- The 64 bits of an integer without a sign, or nil.
local function ulong_of(digits)
  local tens, last = tonumber(digits:sub(1, -2)) or 0, tonumber(digits:sub(-1))
  if math.type(tens) ~= "integer" or tens > 1844674407370955161 then return nil end
  if tens == 1844674407370955161 and last > 5 then return nil end
  return tens * 10 + last
end

local function integer_reader(dtype)
  local bits, is_signed = table.unpack(INTEGERS[dtype])
  local expected = "an integer of " .. dtype
  local low = is_signed and -1 << bits - 1 or 0
  local high = (1 << (is_signed and bits - 1 or bits)) - 1
  return function(text)
    local sign, digits, rest = text:match "^([+-]?)(%d+)(.*)$"
    if not digits or not rest:find "^%.?0*$" then return nil, expected end
    if dtype == "ulong" then return sign ~= "-" and ulong_of(digits) or nil, expected end
    local v = tonumber((sign == "-" and "-" or "") .. digits)
    if math.type(v) ~= "integer" then return nil, expected end
    if bits < 64 and (v < low or v > high) then return nil, expected end
    return v
  end
end

--- Adds the numbers of a line to a list; returns how many there were.
local function read_line(line, number, list, read)
  local count = 0
  for text in (line .. ","):gmatch "[ \t]*([^,]-)[ \t]*," do
    local v, expected = nil, "a number"
    count = count + 1
    if #text <= LONGEST_NUMBER then v, expected = read(text) end
    if not v then
      local shown = text:sub(1, 24):gsub("[^\x20-\x7e]", "?")
      fail("line %d, column %d: %s expected, got '%s'", number, count, expected, shown)
    end
    list[#list + 1] = v
  end
  return count
end

--- Whether the first line has names: letters or texts in quotes in every column, and no number.
local function is_header(line)
  for text in (line:gsub('"[^"]*"', "name") .. ","):gmatch "[ \t]*([^,]-)[ \t]*," do
    if not text:find "^[%a_]" or WORDS[text:lower()] then return false end
  end
  return true
end

--- A new buffer with the numbers of an open file, but for a first line of names: of one dimension where
-- every line has one number.
function csv.read(device, file, options)
  local dtype = options.dtype or "float"
  if not DIGITS[dtype] and not INTEGERS[dtype] then fail("option 'dtype': a dtype expected, got '%s'", dtype) end
  local read, list = (INTEGERS[dtype] and integer_reader or float_reader)(dtype), {}
  local number, columns, rows, empty = 0, nil, 0, nil
  for line in file:lines() do
    number = number + 1
    line = line:gsub("\r$", "")
    if number == 1 then line = line:gsub("^\xef\xbb\xbf", "") end
    if line:find "^%s*$" then
      empty = empty or number
    elseif number > 1 or not is_header(line) then
      if empty then fail("line %d is empty, and line %d is not", empty, number) end
      local count = read_line(line, number, list, read)
      if columns and count ~= columns then
        fail("line %d has %d column%s, but those before it have %d", number, count, count == 1 and "" or "s", columns)
      end
      columns, rows = count, rows + 1
    end
  end
  if rows == 0 then return device:empty(dtype, 0) end
  local buffer <close> = device:buffer(list, dtype)
  return columns == 1 and buffer:reshape(rows) or buffer:reshape(rows, columns)
end

return csv
