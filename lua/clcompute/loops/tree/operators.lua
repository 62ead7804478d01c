-- SPDX-License-Identifier: MIT

--- The operators of Lua: how tightly each binds, as in section 3.4.8 of its manual.
-- @module clcompute.loops.tree.operators

local operators = {}

-- Operator to how tightly it binds what stands left and right of it; `^` and `..` associate to the right.
operators.BINARY = {
  ["or"] = { 1, 1 }, ["and"] = { 2, 2 },
  ["<"] = { 3, 3 }, [">"] = { 3, 3 }, ["<="] = { 3, 3 }, [">="] = { 3, 3 }, ["~="] = { 3, 3 }, ["=="] = { 3, 3 },
  ["|"] = { 4, 4 }, ["~"] = { 5, 5 }, ["&"] = { 6, 6 }, ["<<"] = { 7, 7 }, [">>"] = { 7, 7 },
  [".."] = { 9, 8 }, ["+"] = { 10, 10 }, ["-"] = { 10, 10 },
  ["*"] = { 11, 11 }, ["/"] = { 11, 11 }, ["//"] = { 11, 11 }, ["%"] = { 11, 11 },
  ["^"] = { 14, 13 },
}

-- How tightly `-`, `not`, `~` and `#` bind.
operators.UNARY = 12

return operators
