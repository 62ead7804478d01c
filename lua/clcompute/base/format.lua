-- SPDX-License-Identifier: MIT
--- Values as text: numbers with significant digits and engineering prefixes, one unit for a whole column or axis, sizes
-- in bytes; texts in UTF-8, without control characters.

local format = {}

--- What stands for a value that is not there.
format.MISSING = "–"

local PREFIXES = {
  [-24] = "y", [-21] = "z", [-18] = "a", [-15] = "f", [-12] = "p", [-9] = "n", [-6] = "µ", [-3] = "m",
  [0] = "", [3] = "k", [6] = "M", [9] = "G", [12] = "T", [15] = "P", [18] = "E", [21] = "Z", [24] = "Y",
}
local BINARY = { [20] = "Mi", [30] = "Gi", [40] = "Ti", [50] = "Pi", [60] = "Ei", [10] = "Ki" }

-- Units that take a prefix, and the largest: nobody says kiloseconds.
local LARGEST_PREFIX = { s = 0, B = 24, ["B/s"] = 24, ["FLOP/s"] = 24, FLOP = 24, ["OP/s"] = 24, ["/s"] = 24, Hz = 24,
  J = 24, W = 24 }

local WIDE = 1000 -- a column whose values differ by more has a prefix in each cell
local PLAIN_FROM, PLAIN_BELOW = -5, 7 -- powers of ten written without an exponent
local MOST_DECIMALS, ROUNDING = 12, 1e-9 -- of a tick; the share of a number that computing it may have cost

local REPLACEMENT = "\u{FFFD}" -- of a byte that is not UTF-8
local SIZES = { "B", "KiB", "MiB", "GiB" }

--- The text with every byte that is not UTF-8 replaced.
function format.utf8(text)
  if utf8.len(text) then return text end
  local at = 1
  local parts = {}
  while at <= #text do
    local _, bad = utf8.len(text, at)
    parts[#parts + 1] = text:sub(at, (bad or #text + 1) - 1)
    if not bad then break end
    parts[#parts + 1] = REPLACEMENT
    at = bad + 1
  end
  return table.concat(parts)
end

--- Any value as one line of UTF-8 without control characters.
function format.clean(value)
  return (format.utf8(tostring(value)):gsub("[\t\r\n]+", " "):gsub("%c", ""))
end

local CONTROLS = "[\0-\8\11-\31\127" -- all but the tab and the line end

local function escape(bytes)
  return (bytes:gsub(".", function(c) return ("\\x%02X"):format(c:byte()) end))
end

--- A text of several lines as a terminal may show it: what it would obey is escaped, "\x1B".
function format.visible(text)
  if not utf8.len(text) then return (text:gsub(CONTROLS .. "\x80-\xff]", escape)) end
  return (text:gsub(CONTROLS .. "]", escape):gsub("\xC2[\x80-\x9F]", escape))
end

--- Bytes as the largest unit of which they are a multiple: 32768 as "32 KiB".
function format.size(bytes)
  local i = 1
  while bytes >= 1024 and bytes % 1024 == 0 and i < #SIZES do bytes, i = bytes // 1024, i + 1 end
  return ("%d %s"):format(bytes, SIZES[i])
end

--- Whether a value is a number that has a place on an axis.
function format.is_finite(value)
  return type(value) == "number" and value - value == 0
end

--- The power of ten of a number's first digit, after rounding to `digits`.
local function magnitude(value, digits)
  return math.floor(tonumber(("%." .. (digits - 1) .. "e"):format(math.abs(value)):match "e(.*)$"))
end

local function fixed(value, decimals)
  return (("%." .. math.max(decimals, 0) .. "f"):format(value):gsub("^%-(0[0.]*)$", "%1"))
end

local function not_finite(value)
  if value ~= value then return "NaN" end
  return value > 0 and "inf" or "-inf"
end

--- A number with so many significant digits (3 unless told); integers as they are.
function format.significant(value, digits)
  digits = digits or 3
  if math.type(value) == "integer" then return ("%d"):format(value) end
  if not format.is_finite(value) then return not_finite(value) end
  if value == 0 then return "0" end
  local power = magnitude(value, digits)
  if power >= PLAIN_FROM and power < PLAIN_BELOW then return fixed(value, digits - 1 - power) end
  local mantissa, exponent = ("%." .. (digits - 1) .. "e"):format(value):match "^(.*)e(.*)$"
  return ("%se%d"):format(mantissa, math.floor(tonumber(exponent)))
end

--- The power of ten, a multiple of three, whose prefix suits a value of this unit.
local function prefix_power(value, unit)
  if value == 0 then return 0 end
  local power = magnitude(value, 3) // 3 * 3
  return math.max(-24, math.min(power, LARGEST_PREFIX[unit]))
end

--- A number with prefix and unit: 8.62 ms.
function format.engineering(value, unit, digits)
  if not format.is_finite(value) then return not_finite(value) end
  if not LARGEST_PREFIX[unit] then return format.significant(value, digits) .. (unit and " " .. unit or "") end
  if value == 0 then return "0 " .. unit end
  local power = prefix_power(value, unit)
  return ("%s %s%s"):format(format.significant(value / 10.0 ^ power, digits), PREFIXES[power], unit)
end

--- Smallest and largest absolute value that is not zero.
local function extent(values)
  local low, high
  for _, value in ipairs(values) do
    local size = format.is_finite(value) and math.abs(value + 0.0) or 0
    if size > 0 then low, high = math.min(low or size, size), math.max(high or size, size) end
  end
  return low, high
end

local function all_integers(values)
  for _, value in ipairs(values) do
    if math.type(value) ~= "integer" then return false end
  end
  return true
end

--- Writers of cells, which are given more than the value: integers as they are, and with three digits like the
-- others of their column.
local function plain(value)
  return format.significant(value)
end

local function three_digits(value)
  return format.significant(value + 0.0)
end

--- How to write values that stand below each other: a function from number to text, and the unit
-- for the head of the column (nil where each cell has its own). All have the same decimals, unless
-- so many `digits` are asked for. `all`: the values of every column that is to have this unit.
function format.shared(values, unit, digits, all)
  local low, high = extent(values)
  if not low or all_integers(values) and not LARGEST_PREFIX[unit] then return plain, unit end
  local least, most = extent(all or values)
  if most / least > WIDE then
    if not LARGEST_PREFIX[unit] then return three_digits, unit end
    return function(value) return format.engineering(value, unit) end, nil
  end
  local power = LARGEST_PREFIX[unit] and prefix_power(math.sqrt(least) * math.sqrt(most), unit) or 0
  local decimals = 2 - magnitude(low / 10.0 ^ power, 3)
  if decimals > 5 or magnitude(high / 10.0 ^ power, 3) >= PLAIN_BELOW then
    return function(value) return format.engineering(value, unit) end, nil
  end
  decimals = math.max(0, math.min(decimals, 5))
  local function write(value)
    if not format.is_finite(value) then return not_finite(value) end
    return digits and format.significant(value / 10.0 ^ power, digits) or fixed(value / 10.0 ^ power, decimals)
  end
  return write, LARGEST_PREFIX[unit] and PREFIXES[power] .. unit or unit
end

--- How to write shares of 1 as percent, below each other.
function format.percent(values)
  local scaled = {}
  for i, value in ipairs(values) do scaled[i] = value * 100.0 end
  local write = format.shared(scaled)
  return function(value) return format.is_finite(value) and write(value * 100.0) .. " %" or not_finite(value) end
end

-- --- axes ------------------------------------------------------------------------

--- The fewest decimals that write a number in full, but for rounding.
local function decimals_of(value)
  for decimals = 0, MOST_DECIMALS - 1 do
    if math.abs(fixed(value, decimals) - value) <= ROUNDING * math.abs(value) then return decimals end
  end
  return MOST_DECIMALS
end

--- Evenly spaced ticks, or ticks at data: as many decimals as any needs, one prefix for all.
function format.linear_ticks(values, unit)
  local _, high = extent(values)
  local power = LARGEST_PREFIX[unit] and prefix_power(high or 0, unit) or 0
  if not LARGEST_PREFIX[unit] and high and (high >= 1e6 or high < 1e-3) then power = magnitude(high, 3) // 3 * 3 end
  local labels, decimals = {}, 0
  for _, value in ipairs(values) do decimals = math.max(decimals, decimals_of(value / 10.0 ^ power)) end
  for i, value in ipairs(values) do labels[i] = fixed(value / 10.0 ^ power, decimals) end
  if LARGEST_PREFIX[unit] then return labels, PREFIXES[power] .. unit end
  if power == 0 then return labels, unit end
  return labels, ("10^%d"):format(power) .. (unit and " " .. unit or "")
end

--- 1048576 as 1 Mi; nil for what is no whole multiple, or too large for a prefix.
local function binary(value)
  if value >= 2.0 ^ 70 then return nil end
  local power = 60
  while power > 10 and value % 2 ^ power ~= 0 do power = power - 10 end
  if value % 2 ^ power ~= 0 then return nil end
  return ("%d %s"):format(value // 2 ^ power, BINARY[power])
end

--- A size on an axis that ends at `last`: in Ki and Mi where sizes are large.
local function size_tick(value, last)
  local short = last >= 65536 and binary(value)
  return short or format.significant(math.tointeger(value) or value)
end

--- A share of one on an axis of powers of two: 0.015625 as 1/64.
local function share_tick(value)
  local parts = math.floor(1 / value + 0.5)
  return math.abs(parts * value - 1) <= ROUNDING and ("1/%d"):format(parts) or ("%.3g"):format(value)
end

--- A label of a logarithmic axis that ends at `last`, with its own prefix.
function format.log_tick(value, unit, base, last)
  if base == 2 and not unit and value >= 1 then return size_tick(value, last) end
  if base == 2 and not unit and value >= 1e-6 then return share_tick(value) end
  if LARGEST_PREFIX[unit] then
    local power = prefix_power(value, unit)
    return ("%.6g %s%s"):format(value / 10.0 ^ power, PREFIXES[power], unit)
  end
  if value >= 1e-4 and value < 1e5 then return ("%.6g"):format(value) end
  return (("%.6g"):format(value):gsub("e([+-])0*", "e%1"):gsub("e%+", "e"))
end

--- Whether labels of a logarithmic axis carry this unit themselves.
function format.has_prefix(unit)
  return LARGEST_PREFIX[unit] ~= nil
end

return format
