-- SPDX-License-Identifier: MIT

--- Numbers as a prompt shows them: lists, matrices and buffers in as many columns as the terminal has room for, and of
-- many the first lines.

local catalogue = require "clcompute.prompt.catalogue"
local width = require("clcompute.base").width

local numbers = {}

local ROWS = 12 -- lines, at most
local COLUMNS_READ = 64 -- elements of a row that are looked at
local DOTS = "..."

-- --- cells ---------------------------------------------------------------------------------------

local function element(value)
  if value ~= value then return "nan" end -- whose sign says nothing
  return math.type(value) == "float" and ("%.6g"):format(value) or tostring(value)
end

--- The first elements of a list as texts. No code of the user's runs.
local function elements(list, count)
  local cells = {}
  for i = 1, math.min(rawlen(list), count) do cells[i] = element(rawget(list, i)) end
  return cells
end

local function widest_of(cells)
  local widest = 0
  for _, cell in ipairs(cells) do widest = math.max(widest, #cell) end
  return widest
end

--- Rows of cells below each other, as many columns as the terminal has room for.
-- @tparam table rows lists of strings, all as long, not empty
-- @tparam boolean has_more whether there are further columns
local function grid(rows, has_more, columns)
  local widths, room, count = {}, columns - #DOTS - 3, 0
  for i = 1, #rows[1] do
    local column = {}
    for r, row in ipairs(rows) do column[r] = row[i] end
    widths[i] = widest_of(column)
    room = room - widths[i] - 2
    if room < 0 and i > 1 then break end
    count = i
  end
  local lines = {}
  for r, row in ipairs(rows) do
    local cells = {}
    for i = 1, count do cells[i] = width.pad(row[i], widths[i], "right") end
    lines[r] = "  " .. table.concat(cells, "  ") .. ((count < #row or has_more) and "  " .. DOTS or "")
  end
  return lines
end

--- How many elements of a list have room, at most.
local function most_of_list(columns)
  return ROWS * (columns // 3)
end

--- The elements of one list in lines, each of several behind the index of its first.
-- @tparam table cells strings
-- @tparam integer length of the list, of which the cells may be the beginning
local function wrapped(cells, length, columns)
  local widest = widest_of(cells)
  local label, per_line = 0, math.max(1, columns // (widest + 2))
  if length > per_line then
    label = #tostring(#cells) + 4
    per_line = math.max(1, (columns - label) // (widest + 2))
  end
  local lines = {}
  for first = 1, math.min(#cells, ROWS * per_line), per_line do
    local line = {}
    for i = first, math.min(first + per_line - 1, #cells) do line[#line + 1] = width.pad(cells[i], widest, "right") end
    local index = label > 0 and width.pad(("  [%d]"):format(first), label) or ""
    lines[#lines + 1] = index .. "  " .. table.concat(line, "  ")
  end
  if length > ROWS * per_line then lines[#lines + 1] = ("  %s %d elements"):format(DOTS, length) end
  return lines
end

-- --- tables --------------------------------------------------------------------------------------

--- Whether a table is a list of members that fit, without holes, and nothing else.
local function is_list_of(value, fits)
  local length, count = rawlen(value), 0
  for key, member in next, value do
    if math.type(key) ~= "integer" or key < 1 or key > length or not fits(member) then return false end
    count = count + 1
  end
  return count > 0 and count == length
end

local function is_number(value)
  return type(value) == "number"
end

--- Whether a table is a list of numbers.
-- @tparam table value
-- @treturn boolean
function numbers.is_list(value)
  return is_list_of(value, is_number)
end

--- Whether a table is a list of lists of numbers, all as long.
-- @tparam table value
-- @treturn boolean
function numbers.is_matrix(value)
  local first = rawget(value, 1)
  return rawlen(value) > 1 and type(first) == "table" and is_list_of(value, function(row)
    return type(row) == "table" and rawlen(row) == rawlen(first) and numbers.is_list(row)
  end)
end

local function braces(lines)
  return "{\n" .. table.concat(lines, "\n") .. "\n}"
end

--- A list of numbers in lines.
-- @tparam table list
-- @tparam integer columns of the terminal
-- @treturn string
function numbers.list(list, columns)
  return braces(wrapped(elements(list, most_of_list(columns)), rawlen(list), columns))
end

--- A list of lists of numbers in rows.
-- @tparam table matrix
-- @tparam integer columns of the terminal
-- @treturn string
function numbers.matrix(matrix, columns)
  local rows, height, count = {}, rawlen(matrix), rawlen(rawget(matrix, 1))
  for i = 1, math.min(height, ROWS) do rows[i] = elements(rawget(matrix, i), COLUMNS_READ) end
  local lines = grid(rows, count > COLUMNS_READ, columns)
  if height > ROWS then lines[#lines + 1] = ("  %s %d rows of %d"):format(DOTS, height, count) end
  return braces(lines)
end

-- --- buffers -------------------------------------------------------------------------------------

--- Adds the rows of a buffer of two dimensions to lines, so many at most.
local function add_rows(lines, buffer, most, indent, columns)
  local shape, rows = buffer.shape, {}
  local shown = math.min(shape[2], COLUMNS_READ)
  for i = 1, math.min(shape[1], most) do rows[i] = elements(buffer[i]:read(1, shown), shown) end
  for _, line in ipairs(grid(rows, shape[2] > shown, columns - #indent)) do lines[#lines + 1] = indent .. line end
end

--- The same of one with more dimensions: matrices, each below its indices. Returns for how many rows there is room yet.
local function add_matrices(lines, buffer, indices, most, columns)
  if #buffer.shape == 2 then
    lines[#lines + 1] = "  " .. indices
    add_rows(lines, buffer, most, "  ", columns)
    return most - buffer.shape[1]
  end
  for i = 1, buffer.shape[1] do
    if most <= 0 then break end
    most = add_matrices(lines, buffer[i], ("%s[%d]"):format(indices, i), most, columns)
  end
  return most
end

--- A buffer: its type, its shape and its device, and below them its elements.
-- @tparam Buffer buffer not released
-- @tparam integer columns of the terminal
-- @treturn string
function numbers.buffer(buffer, columns)
  local shape = buffer.shape
  local head = ("%s buffer %s on %s:"):format(buffer.dtype, table.concat(shape, "x"), buffer.device.name)
  local lines = { width.cut(head, columns) }
  if #shape == 1 and shape[1] > 0 then
    local first = buffer:read(1, math.min(shape[1], most_of_list(columns)))
    table.move(wrapped(elements(first, #first), shape[1], columns), 1, ROWS + 1, 2, lines)
  elseif buffer.bytes > 0 then
    local rows = 1
    for i = 1, #shape - 1 do rows = rows * shape[i] end
    if #shape == 2 then
      add_rows(lines, buffer, ROWS, "", columns)
    else
      add_matrices(lines, buffer, "", ROWS, columns)
    end
    if rows > ROWS then lines[#lines + 1] = "  " .. DOTS end
  end
  return table.concat(lines, "\n")
end

--- Whether a value is a buffer that was not released.
-- @param value
-- @treturn boolean
function numbers.is_buffer(value)
  return catalogue.class_of(value) == "clcompute.Buffer" and pcall(function() return value.shape end)
end

return numbers
