-- SPDX-License-Identifier: MIT
--- Functions of matrices as functions of flat arrays, in the ways in which people write a[i][j] then.

local random_flat = {}

local function pick(list) return list[math.random(#list)] end

local WAYS = { "(x - 1) * w + y", "y + (x - 1) * w", "w * (x) - w + y", "w * (x - 1) + y" }

local SUBSCRIPT = "%[([^%[%]]*)%]"

--- A text in which `a[x][y]`, of arrays of these letters, is `a[(x - 1) * w + y]`, or the same in another way.
-- @string text
-- @string letters names of the matrices, of one letter each
-- @string w elements of a row
-- @tparam ?boolean is_plain whether always in the first way
-- @treturn string
function random_flat.text(text, letters, w, is_plain)
  return (text:gsub("%f[%w]([" .. letters .. "])" .. SUBSCRIPT .. SUBSCRIPT, function(array, x, y)
    local parts = { x = x, y = y, w = w }
    return ("%s[%s]"):format(array, ((is_plain and WAYS[1] or pick(WAYS)):gsub("[xyw]", parts)))
  end))
end

--- The elements of a matrix, row by row.
function random_flat.values(matrix)
  local list = {}
  for _, row in ipairs(matrix) do table.move(row, 1, #row, #list + 1, list) end
  return list
end

return random_flat
