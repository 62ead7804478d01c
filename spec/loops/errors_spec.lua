-- SPDX-License-Identifier: MIT
local failure = require "clcompute.loops.tree.failure"
local front = require "spec.support.loops_front"

local OTHER_FOR = "a generic 'for' goes over ipairs of an array: write 'for i, v in ipairs(x) do' or "
  .. "'for i = first, last do'"
local EXCHANGE = "'a' is an array and cannot be assigned: two change places by 'a, b = b, a' once in each pass of a "
  .. "'for' without 'break' or of a 'while' that stands in no other loop"

local NO_VALUE = "'x' may have no value here: give it one in every way that leads here, or where it is declared: "
  .. "local x = 0, math.huge for a minimum, -math.huge for a maximum"

local NO_NIL = "nil is not accepted: values are numbers and booleans; what is missing may be math.huge, or -1"
local LEFT_OUT = "'k' is nil in this call of 'f', which leaves it out: pass it, or let the function begin with "
  .. "'k = k or 0'"

local KEYS = "keys in braces are integers beside the list, as in 'local t = { [0] = 1, 2, 3 }' or "
  .. "'t[i] = { [0] = 1 }', each once: others come behind it, t[k] = v"
local RECORDS = "records are arrays, one for each field"
local OF_ERRORS = "an error is raised behind the compiled function: keep where something is wrong in a local, bad = i, "
  .. "and return that"
local NO_ELEMENT = "'a' is an array, and what is stored is a number: copy its elements, or write a row in braces, "
  .. "{ x, y }"

local THERE = "a row of 't' is made here that may be there already: make all rows in one loop before, "
  .. "'for i = 1, n do t[i] = {} end', and store in their elements"
local COUNTED = "which row of 't' is made here is told by a local that changes: append it, t[#t + 1] = { x, y }, or "
  .. "let a loop's variable tell"
local IN_ORDER = "'t' is returned, so its rows have to be made one by one from 1 on"
local EVEN = IN_ORDER .. ", in each row as many"

-- § stands before the place that a message names.
local ROW = "'r' is a row of 't': append to it once in each pass of one loop right behind its '{}', or store in its "
  .. "elements, r[x] = v"

local ERRORS = {
  { "function(a) local r = a[1] §r = 2 r[1] = 1 end", "'r' cannot be assigned" },
  { "function(a) local r = a[1] r[1] = §r + 1 end", "'r' is a row: index it" },
  { "function(a) §a[1] = {} end", "'a' is an array: all its rows are there before the call" },
  { "function(a) a[1] = §{ 1 } + 2 end", "a table is made with a name, 'local t = {}', or as a row of one, t[i] = {}" },
  { "function(n) local t = { 1 } §t = { 2 } return t end",
    "'t' is an array already: a table is made with a name of its own, 'local t = {}'" },
  { "function(a, n) local t = {} for i = 1, n do t[i] = §a end t[1] = a[1] end", NO_ELEMENT },
  { "function(a, n) local t = {} for i = 1, n do local r = { i } if n > 2 then t[#t + 1] = §r end end end",
    (NO_ELEMENT:gsub("'a'", "'r'")) },
  { "function(a) local function f() local t = { 1 } return t end a[1] = §f() end",
    "'t' is an array, and a local function returns numbers: let it store in a table that it is given" },
  { "function(a) §a.x = 1 end", "a field cannot be assigned: " .. RECORDS },
  { "function(a) §a.x[1] = 1 end", "'a.x' is not accepted: make it a parameter, or a local around the function; "
    .. RECORDS },
  { "function(a) a[§'x'] = 1 end", "a key that is a string is not accepted: " .. RECORDS },
  { "function(a) if a[1] < 0 then §error('negative') end end", OF_ERRORS },
  { "function(a) §assert(a[1] > 0, 'negative') end", OF_ERRORS },
  { "function(a) a[1] §+= 2 end", "Lua has no '+=': write x = x + 1" },
  { "function(a) for i = 1, 2 do §continue end end",
    "Lua has no 'continue': write 'goto continue', and '::continue::' at the end of the loop" },
  { "function(a) for i, v in §ipairs(a[1]) do end end",
    "ipairs takes the name of an array or a row here: write 'local row = a[i]' before, and 'ipairs(row)'" },
  { "function(a) a[1] = §#'x' end", "'#' takes the name of an array" },
  { "function(a) a[1] = §type(a[1]) == 'number' and 1 or 0 end",
    "unknown call 'type': 'type' stays in Lua, before or behind the compiled function" },
  { "function(a) local c = 0.0 local function f() c = c + 1 return c end local t = §{ [0] = c, f() } a[1] = t[0] end",
    "a function is called in braces with keys, or beside them: call it before, in a local of its own" },
  { "function(a) local t = { x §= 1 } a[1] = t[1] end",
    "a table is a list here, numbers without keys: t[k] = v comes behind it" },
  { "function(a) local t = { [§1] = 1, 2 } a[1] = t[1] end", KEYS },
  { "function(a) local t = { [§a[1]] = 1 } a[1] = t[1] end", KEYS },
  { "function(a) local t = { [0] = 1, [§0] = 2 } a[1] = t[0] end", KEYS },
  { "function(a, n) local t, n = { [0] = §n }, 1 a[n] = t[0] end", KEYS },
  { "function(a) local t = {} for i = 1, 3 do t[#t + 1] = { [§0] = 1 } end a[1] = t[1][0] end", KEYS },
  { "function(a) local t = { §{ [0] = 1 } } a[1] = t[1][0] end",
    "a table is a list here, numbers without keys: t[k] = v comes behind it" },
  { "function(a) for i = 1, #a do if a[i] > 2 then return true end end return §0 end",
    "every 'return' gives a boolean in this place, or every one a number" },
  { "function(a) local t = {} for i = 1, #a do t[i] = a[i] > 2 end t[1] = §0 return t end",
    "'t' has booleans, and this is a number" },
  { "function(n) local §t = {} return t end", "nothing is stored in 't'" },
  { "function(n) local §t = {} for i = 1, n do t[i][1] = i end end",
    "'t' has no rows: make them by t[i] = {}" },
  { "function(n) local t = {} for i = 1, n do t[i] = {} end §t[1] = { 2 } return t end",
    THERE },
  { "function(n) local t = {} for i = 1, n do for j = 1, n do §t[i] = { j } end end return t end",
    THERE },
  { "function(a, n) local t = {} for i = 1, n do if a[i] > 0 then §t[i] = { i } end end return t end",
    "a row of 't' is made only if a condition holds: make all rows" },
  { "function(a, n) local t = {} for i = 1, n do if a[i] == 0 then break end §t[i] = {} t[i][1] = i end return t end",
    "a row of 't' is made in a loop that data may end: make all rows in one before, or write what is in them, "
    .. "t[i] = { x, y }" },
  { "function(n) local t = {} for i = 1, n, 2 do §t[i] = {} t[i][1] = i end return t end",
    "'t' is returned, so its rows have to be made one by one from 1 on" },
  { "function(n) local t = {} for i = 2, n do §t[i] = {} t[i][1] = i end return t end",
    "'t' is returned, so its rows have to be made one by one from 1 on" },
  { "function(a, b, n)\nfor t = 1, n do a[1] = b[1] a, b = b, a end\nfor t = 1, n do a[1] = b[1] a, b = b, a end\n"
    .. "§for t = 1, n do a[1] = b[1] a, b = b, a end\nend",
    "arrays change places in more than 2 loops, one behind the other" },
  { "function(a, n) local §t, m = {}, 0 for i = 1, n do m = m + 2 t[m] = a[i] end return t end", "how long 't' gets is "
    .. "not known before a call, as data say where it is stored: fill it before, by 'for i = 1, "
    .. "most do t[i] = 0 end'" },
  { "function(a, n) local §t = {} for i = 0, n do t[i] = a[i + 1] end return t end",
    "'t' is returned, so it has to begin at 1" },
  { "function(a, n) local t = { 1 } for i = 1, #t do §t[i + 1] = a[i] end end", "'t' is asked for its length, and "
    .. "this may make it longer: use the number that it gets" },
  { "function(a, n) local t = {} for i = 1, n do t[i] = a[i] a[i] = §#t end end", "the length of 't', which is made "
    .. "here, is another one at each place: use the number that it gets" },
  { "function(a) local t = {} local function f() t[#t + 1] = 1 return 2 end for i = 1, 3 do §t[#t + 1] = f() end end",
    "what is appended to 't' appends to it, too: give it to a local before" },
  { "function(a) local t = {} local function f() t[#t + 1] = { 1 } return 2 end for i = 1, 3 do §t[#t + 1] = { f() } "
    .. "end end", "what is appended to 't' appends to it, too: give it to a local before" },
  { "function(a) local t = {} local function f() t[#t + 1] = 1 return 2, 3 end for i = 1, 3 do §t[#t + 1], a[1] = f() "
    .. "end end", "what is appended to 't' appends to it, too: give it to a local before" },
  { "function(a) local t, i = {}, 1 while a[i] > 0 do §t[#t + 1] = i i = i + 1 end return t end", "how long 't' "
    .. "gets is not known before a call, as data say how often this 'while' goes round: fill it "
    .. "before, by 'for i = 1, most do t[i] = 0 end', and count" },
  { "function(a, n) local t = {} for i = n, 1, -1 do local r = { a[i], i } §t[#t + 1] = r end return t end",
    "a row is appended in each pass of one loop in steps of 1, or in braces, t[#t + 1] = { x, y }; elsewhere let a "
      .. "loop's variable say which one it is: t[r] = row" },
  { "function() local t = {} for i = 1, 4 do §t[i % 2 + 1] = {} for j = 1, i do t[i % 2 + 1][j] = i end end return t "
    .. "end", THERE },
  { "function() local t = {} for i = 1, 4 do §t[(i - 1) // 2 + 1] = { i } end return t end", THERE },
  { "function() local t = {} for i = 1, 4 do §t[math.min(i, 3)] = { i } end return t end", THERE },
  { "function() local t = {} t[1] = {} §t[3] = {} t[1][1] = 2 t[3][1] = 1 return t end", IN_ORDER },
  { "function(n) local t = {} for i = n, n + 2 do §t[i] = {} t[i][1] = i end return t end", IN_ORDER },
  { "function(n) local t = {} for i = math.max(1, n - 3), n do §t[i] = {} t[i][1] = i end return t end", IN_ORDER },
  { "function(n) local t = {} for i = 1, n do t[i] = {} for j = 1, i do §t[i][j] = { j } end end return t end", EVEN },
  { "function(n) local t = {} for i = 1, n do t[i] = {} for j = 1, i do local r = {}\n"
    .. "for k = 1, 2 do r[#r + 1] = k end §t[i][j] = r end end return t end", EVEN },
  { "function(x) local t = { { { 1, 2 } }, { { 3, x }, §{ 5, 6 } } } return t end", EVEN },
  { "function(n) local t = {} t[1] = {} t[2] = {} for j = 1, 2 do t[1][j] = { j, 1 } end for j = 1, 3 do\n"
    .. "§t[2][j] = { j, 2 } end return t end", EVEN },
  { "function(n) local t = {} for i = 1, n do t[i] = {} end for j = 1, 2 do §t[1][j] = { j } end return t end", EVEN },
  { "function(n) local t, u = {}, {} for i = 1, n do u[i] = i local r = { i } local t = u t[#t + 1] = §r end return t "
    .. "end", "'r' is a row: index it" },
  { "function(n) local t = {} for i = 1, n do local r = {} for j = 1, n do if j > i then\n§r[#r + 1] = j end end "
    .. "t[i] = r end return t end", ROW },
  { "function(n) local t = {} for i = 1, n do local r = {} for j = 1, n do\n§r[#r + 1] = j if j > i then break end end "
    .. "t[i] = r end return t end", ROW },
  { "function(n) local t = {} for i = 1, n do local r = {} for j = 1, n do\n§r[#r + 1] = j end r[n] = 0 t[i] = r end "
    .. "return t end", ROW },
  { "function(n) local t = {} for i = 1, n do t[i] = {} end for i = 1, n do local r = t[i] for j = 1, n do\n"
    .. "§r[#r + 1] = j end end return t end", ROW },
  { "function(n) local t = {} for i = 1, n do local r, m = {}, 0 for j = 1, n do\n§r[#r + 1], m = j, m + 1 end "
    .. "t[i] = r end return t end", ROW },
  { "function(a, n) local §t, m = {}, 0 for i = 1, n do local k = m m = m + 1 t[k] = a[i] end return t end", "how long "
    .. "'t' gets is not known before a call, as data say where it is stored: fill it before, by 'for i = 1, "
    .. "most do t[i] = 0 end'" },
  { "function(a) local t = {} for i = 1, #a do if a[i] > 0 then t[#t + 1] = { a[i], i } end end §t[1][3] = 0 end",
    "'t' gets longer at its end, so what is appended are numbers, or rows that all have as many" },
  { "function(a, n) local t, s = {}, 0 for i = 1, n do if a[i] > 2 then t[#t + 1] = i end end return §t[n] end", "'t' "
    .. "gets longer at its end, so its elements are those of a loop 'for i = 1, #t', or 'for i = 1, n' where n counts "
    .. "them; to take others fill it before, by 'for i = 1, most do t[i] = 0 end'" },
  { "function(a, n) local t = {} for i = 1, n do t[i] = i end a[1] = #t §t[n + 1] = 2 end", "'t' is asked for its "
    .. "length, and this may make it longer: use the number that it gets" },
  { "function(a, n) local t = {} t[#t + 1] = { 1, 2 } §t[#t + 1] = { 3 } return t end",
    "all rows of 't' are appended here, each with as many numbers" },
  { "function(a, n) local t = { 1 } if n > 1 then return t end return §5 end",
    "every 'return' gives an array in this place, or every one a number" },
  { "function(a) a[1] = §3x end", "malformed number '3x'" },
  { "function(a, b) for i, v in ipairs(b) do if v > 0 then §a[#a + 1] = v end end end", "'a' would get longer here, "
    .. "and an array keeps its length in a call: append to a table that the function makes, and return that" },
  { "function(a) a[1] = §0x end", "malformed number '0x'" },
  { "function(a) a[1] = §1e end", "malformed number '1e'" },
  { "function(a) a[1] = 2 §@ 3 end", "unexpected '@'" },
  { "function(a) a[1] = 2 §? 3 end", "unexpected '?'" },
  { "function(a) a[1] = §\xC8 end", "unexpected byte 0xC8" },
  { "function(a) a[1] = §'abc end", "this string has no end" },
  { "function(a)\n  a[1] = §'abc\\\nend", "this string has no end" },
  { "function(a) a[1] = \"§\\q\" end", "invalid escape" },
  { "function(a) a[1] = '§\\300' end", "a decimal escape goes up to 255" },
  { "function(a) a[1] = '§\\u{80000000}' end", "invalid escape" },
  { "function(a)\n  --§[[ never\n  closed end", "this long comment has no end" },
  { "function(a) a[1] = §[==[ x ]] end", "this long string has no end" },
  { "function(a) a[1] = §[=x end", "a long string opens with '[', any '=' and '['" },
  { "function(a) for x in §next do end end", OTHER_FOR },
  { "function(a) for i, x in §pairs(a, 1) do end end", OTHER_FOR },
  { "function(a) for i, x§, y in ipairs(a) do end end", OTHER_FOR },
  { "function(a) for i, x in §pairs(a) do end end",
    "a generic 'for' goes over ipairs of an array, and 'pairs' is not Lua's 'ipairs': write 'ipairs(x)'" },
  { "function(a) §goto out a[1] = 1 ::out:: a[1] = 2 end",
    "'goto out' is not accepted: a label is the last statement of a block around, in a 'repeat' "
    .. "that of a 'do ... end'" },
  { "function(a) §::out:: a[1] = 1 end", "a label is only accepted as the last statement of a block" },
  { "§function(a, n) for i = 1, n do if a[i] > 0 then return i end end end",
    "every way through a function that returns numbers ends with 'return'" },
  { "function(a, n) if n > 0 then return 1 end §return 1, 2 end",
    "every 'return' of a function gives as many numbers: here are 2, and 1 before" },
  { "function(a) local function f(x) return x, x end local t = { §f(1) } return t end",
    "'f' returns 2 numbers, and one is needed here" },
  { "function(a) local t = {} local function f(x) return x, x end table.insert(t, §f(1)) return t end",
    "'f' returns 2 numbers, and one is needed here" },
  { "function(a) local function f(x) return x, x end local p, q, r = §f(1) end",
    "'f' returns 2 numbers, and 3 are needed here" },
  { "function(a) local function f(x) return x end a[1], a[2] = §f(1) end",
    "'f' returns 1 number, and 2 are needed here" },
  { "function(a) local function f(x) a[1] = x end a[2] = §f(1) end", "'f' returns 0 numbers, and one is needed here" },
  { "function(a) local p, q = §math.sqrt(2) end", "'math.sqrt' returns 1 number, and 2 are needed here" },
  { "function(a) local function f(x) return x, x end §local p, q = (f(1)) end",
    "every local takes one value, here are 1 for 2" },
  { "function(a) local function f(x) return x, x end §local p, q, r = f(1), 2 end",
    "every local takes one value, here are 2 for 3" },
  { "function(a) local function f(x) return x, x end local function g(x) return x end a[1] = §g(f(1)) end",
    "'g' takes 1 argument here, got 2" },
  { "function(a) local function f(x) return x, x end a[1] = §math.sqrt(f(1)) end",
    "'math.sqrt' takes 1 argument here, got 2" },
  { "function(a) local function f(x) return x, x end a[1] = a[1] > 0 and §f(1) or 2 end",
    "'f' returns 2 numbers: give them to locals before, not behind 'and', 'or' or 'elseif'" },
  { "function(a) local function f(x) if x > 1 then return x, x end return f(1) end a[1] = §f(2) end",
    "'f' calls itself: it cannot be put in place of its calls" },
  { "function(a, n) local function f(x) return x, x end if n > 1 then return 1 end §return f(n) end",
    "every 'return' of a function gives as many numbers: here are 2, and 1 before" },
  { "function(a, n) local function f(x) if x > 1 then return x, x end return 1, 2 end local t = { 1 }\n"
    .. "if n > 1 then return n, t end return §f(n) end",
    "every 'return' gives an array in this place, or every one a number" },
  { "function(a) local p = 1 local function f(x) p = p + x return p, x end §a[p], a[2] = f(1) end",
    "'p' says where to store, and this call changes it: give the value to a local before" },
  { "function(a) local p = 1 local function f(x) p = p + x return p end local t, q = { p }, §f(1) return t end",
    "this call changes what may be in the table before it: write two statements" },
  { "function(a) local function f(x) x = x + 1 return x end a[1] = a[1] > 0 and §f(1) or 2 end",
    "'f' has statements: give its value to a local before, not behind 'and', 'or' or 'elseif'" },
  { "function(a) local function f(x) a[2] = x return x end a[1] = 1 + §f(1) end",
    "'f' changes arrays or locals: its call is a statement, or all of a value" },
  { "function(a) §function f() end end",
    "a global function is not accepted here: only 'local function f(x) ... end' is" },
  { "function(a) local x <§close> = 1 end", "an attribute other than <const> is not accepted: "
    .. "what is closed stays before or behind the function" },
  { "function(a) local x a[1] = §x end", NO_VALUE },
  { "function(a) local x, y y = 1 a[1] = y a[§x] = 1 end", NO_VALUE },
  { "function(a) local x if a[1] > 0 then x = 1 end a[1] = §x end", NO_VALUE },
  { "function(a) local x if a[1] > 0 then x = 1 elseif §x > 0 then x = 2 else x = 3 end a[1] = x end", NO_VALUE },
  { "function(a, n) local x for i = 1, n do x = i end a[1] = §x end", NO_VALUE },
  { "function(a, n) for i = 1, n do local x if i > 1 then a[i] = §x end x = i end end", NO_VALUE },
  { "function(a, n) local x while true do if a[1] > 0 then break end x = 1 break end a[1] = §x end", NO_VALUE },
  { "function(a) §local x, y = 1 end", "every local takes one value, here are 1 for 2" },
  { "function(a) §a[1] = 1, 2 end", "every target takes one value, here are 2 for 1" },
  { "function(a) §a[1], a[2] = 1 end", "every target takes one value, here are 1 for 2" },
  { "function(a) §print(a) end", "print stays in Lua: store the numbers in a table, and print them behind the compiled "
    .. "function" },
  { "function(a) §next(a) end", "a call is not a statement here: functions of math only give a value; others are " ..
      "called before or behind the compiled function" },
  { "function(a) a§:fill(0) end", "a method call is not accepted: call it before or behind the function, or a local "
    .. "function in its place" },
  { "function(a) §math.sqrt = 1 end", "a field cannot be assigned: " .. RECORDS },
  { "function(a) (a)§[1] = 1 end", "only a name can be indexed or called" },
  { "function(a) §(a) = 1 end", "this cannot be assigned to" },
  { "function(a) §x = 1 end", "'x' is a global: make it a local or a parameter" },
  { "function(a) §+ 1 end", "a statement expected, found '+'" },
  { "function(a) a[1] = §nil end", NO_NIL },
  { "function(a) a[1] = §'x' end", "a string is not accepted: values are numbers and booleans; texts are made " ..
      "before or behind the compiled function" },
  { "function(a, §...) end", "'...' is not accepted: every parameter has a name" },
  { "function(a) a[1] = §... end", "'...' is not accepted: every parameter has a name" },
  { "function(a) a[1] = §function() end end",
    "a function is not accepted here: only 'local f = function(x) ... end' is" },
  { "function(a) a[1] = a[2] §.. a[3] end", "'..' is not accepted: values are numbers and booleans; texts are made " ..
      "before or behind the compiled function" },
  { "function(a) a[1] = f §'x' end", "a call with a string or a table is not accepted" },
  { "function(a) a[1] = §a.n end", "field 'n' of 'a' is not accepted: make it a local or a parameter; "
    .. "records are arrays, one for each field" },
  { "function(a) local t = { 1 } §table.sort(t) end",
    "table.sort stays in Lua, before or behind the compiled function: table.insert(t, e) of a name t "
    .. "alone is accepted" },
  { "function(a) a[1] = a[1]§.n end", "a field of this is not accepted: records are arrays, one for each field" },
  { "function(a) a[1] = f(1)§(2) end", "only a name can be called" },
  { "function(a) a[1] = f(1)§[2] end", "only a name can be indexed" },
  { "function(a) a[1] = §#(1 + 2) end", "'#' takes the name of an array" },
  { "function(a) a[1] = §foo(2) end", "unknown call 'foo': 'foo' is a global: make it a local or a parameter" },
  { "function(a) a[1] = §string.rep(a[1], 3) end",
    "unknown call 'string.rep': 'string' stays in Lua, before or behind the compiled function" },
  { "function(a) a[1] = §tostring(2) end",
    "unknown call 'tostring': 'tostring' stays in Lua, before or behind the compiled function" },
  { "function(a) a[1] = §math.random() end", "unknown call 'math.random': write an array of random "
    .. "numbers, made before the call" },
  { "function(a) a[1] = §math.pow(a[1], 2) end", "unknown call 'math.pow': write x ^ y" },
  { "function(a) a[1] = §math.randomseed(1) end", "unknown call 'math.randomseed': math.randomseed is not accepted; "
    .. "functions that are: abs, acos, asin, atan, ceil, cos, deg, exp, floor, fmod, log, "
    .. "max, min, rad, sin, sqrt, tan, tointeger" },
  { "function(a) a[1] = §math.cosine(1) end", "unknown call 'math.cosine': math has no 'cosine'" },
  { "function(a) a[1] = §math.sni(1) end", "unknown call 'math.sni': math has no 'sni'; did you mean 'sin'?" },
  { "function(a) a[1] = §math.Sin(1) end", "unknown call 'math.Sin': math has no 'Sin'; did you mean 'sin'?" },
  { "function(a) a[1] = §mth.sin(1) end",
    "unknown call 'mth.sin': 'mth' is a global: make it a local or a parameter; did you mean 'math'?" },
  { "function(a) a[1] = §math.rando(1) end", "unknown call 'math.rando': math has no 'rando'" },
  { "function(a) a[1] = §math.sqrt(1, 2) end", "'math.sqrt' takes 1 argument here, got 2" },
  { "function(a) a[1] = §math.max() end", "'math.max' takes at least 1 argument here, got 0" },
  { "function(a) a[1] = §math.fmod(1) end", "'math.fmod' takes 2 arguments here, got 1" },
  { "function(a) a[1] = §math end", "'math' is no number" },
  { "function(a) a[1] = §math.sqrt end", "'math.sqrt' is a function: call it" },
  { "function(a) local function f(x, k) return x * k end a[1] = §f(1) end", LEFT_OUT },
  { "function(a) local function f(x, k) if x > 2 then k = k or 2 end return x end a[1] = §f(1) end", LEFT_OUT },
  { "function(a) local function f(x, k) x = x + #k return x end a[1] = §f(1, nil) end", LEFT_OUT },
  { "function(a) local function f(x, k) return x + k[1] end a[1] = §f(1) end", LEFT_OUT },
  { "function(a) local t = { 1 } t[a[1]] = 2 a[1] = §t[1] == nil and 1 or 2 end",
    "whether there is an element of 't' is known in and behind a loop that fills all of it, "
    .. "'for i = 1, n do t[i] = e end': fill it first, or store a number such as math.huge or -1 for nil" },
  { "function(a) local s if s == §nil then s = 1 end a[1] = s end", NO_NIL },
  { "function(a) local function f(x) return x end a[1] = §f(1, 2) end", "'f' takes 1 argument here, got 2" },
  { "function(a) local function f(x) return x < 1 and 1 or f(x - 1) end a[1] = §f(3) end",
    "'f' calls itself: it cannot be put in place of its calls" },
  { "local f = math.sqrt local function g(a) local function f(x) return f(x) end a[1] = §f(3) end",
    "'f' calls itself: it cannot be put in place of its calls" },
  { "function(a) local f = function(x) return f(x) end a[1] = §f(3) end",
    "unknown call 'f': 'f' is a global: make it a local or a parameter" },
  { "function(a) local function f(x) return 1 end a[1] = f(§b + 1) end",
    "'b' is a global: make it a local or a parameter" },
  { "function(a) local function f(g, x) return g(x) end a[1] = §f(math.sqrt, 3) end",
    "unknown call 'g': functions of math and local functions are accepted" },
  { "function(a) local function f(x) return x end a[1] = §f end", "'f' is a function: call it" },
  { "function(a) local s = math.sqrt §s = 2 end", "'s' cannot be assigned" },
  { "function(a) local function f(x) return x.sqrt(2) end a[1] = §f(3) end",
    "field 'sqrt' of 'x' is not accepted: make it a local or a parameter; records are arrays, one for each field" },
  { "function(a) local function f(x) return x[1] end a[1] = §f(3) end", "'x' is not an array" },
  { "function(a) a[1] = §N end", "'N' is a global: make it a local or a parameter" },
  { "function(a) a[1] = §a(1) end", "unknown call 'a': functions of math and local functions are accepted" },
  { "function(a) a[1] = §end", "an expression expected, found 'end'" },
  { "function(a) a[1 §= 2 end", "']' expected, found '='" },
  { "function(a) a[1] §2 end", "'=' expected, found '2'" },
  { "function(a)\n  for i = 1, 2 do\n    a[i] = 0\n§",
    "'end' expected (to close 'for' of line 2), found the end of the text" },
  { "function(a) return 1 §a[1] = 2 end", "'end' expected, found 'a'" },
  { "function(a) if true §a[1] = 1 end end", "'then' expected, found 'a'" },
  { "function(a, §) end", "a name expected, found ')'" },
  { "function(a) for i = 1 §do end end", "',' expected, found 'do'" },
  { "function(a) for §1 = 1, 2 do end end", "a name expected, found '1'" },
  { "function(a) a[1] = 1 end §end", "not Lua: <eof> expected near 'end'" },
  { "§x = 1", "no function is here" },
  { "§", "no function is here" },
  { "local function f(a) end local §function g(a) end",
    "a second function: the option 'name' says which one; there are: f, g" },
  { "§function M:f(a) end", "a method is not accepted: it has the hidden parameter 'self'" },
  { "local x = 1 §1 local function f(a) end", "not Lua: unexpected symbol near '1'" },
  { "function(a, n) for i = 1, n, §0 do a[i] = 0 end end", "the step of a loop must not be 0" },
  { "function(a, n) for i = 1, n, §2 - 2 do a[i] = 0 end end", "the step of a loop must not be 0" },
  { "function(a, n) for i = n, 1, §-9007199254740993 do a[i] = 0 end end", "the step of a loop is too large" },
  { "function(a, n) for i = 1, n, §1.5 do a[i] = 0 end end", "the step of a loop must be an integer, "
    .. "not 1.5: write 'for i = 0, n do local x = i * 1.5'" },
  { "function(a, n) for i = 1, n do §i = i + 1 end end",
    "'i' is a loop variable and cannot be assigned: use a local" },
  { "function(n) local t = {} for i = 1, 3 do for j = 1, 3 do §t[i + j - 1] = { i, j } end end return t end",
    THERE },
  { "function(a, n) for i = 1, n do a[i] = §a[i][1] end end", "'a' has 2 subscripts here, but 1 subscript in line 1: "
    .. "rows are copied and exchanged element by element" },
  { "function(a, n) a[1][1] = n §a[n], a[1] = a[1], a[n] end", "'a' has 1 subscript here, but 2 subscripts in line 1: "
    .. "rows are copied and exchanged element by element" },
  { "function(a, n)\n  for i = 1, n do a[i] = 0 end\n  a[1] = §a + 1\nend",
    "'a' is used as a number here, but as an array in line 2" },
  { "function(a, n)\n  a[1] = n + 1\n  a[2] = §n[1]\nend", "'n' is used as an array here, but as a number in line 2" },
  { "function(a, n) a[1] = 0 §a = 1 end", EXCHANGE },
  { "function(a, b, n) for t = 1, n do a[1] = b[1] if t > 3 then break end §a, b = b, a end end", EXCHANGE },
  { "function(a, b, n) for t = 1, n do for s = 1, n do a[1] = b[1] §a, b = b, a end end end", EXCHANGE },
  { "function(a, b, n) for t = 1, n / 2 do a[1] = b[1] §a, b = b, a end end", EXCHANGE },
  { "function(a, b, n) for t = 1, n do §a, b = b, a a[1] = b[1] a, b = b, a end end", EXCHANGE },
  { "function(a, n) local s = 1 a[1] = §s[1] end", "'s' is a local with a number, and is indexed here: a "
    .. "name of an array or a row is declared alone, 'local row = a[i]'" },
  { "function(a, n) local t, i = {}, 1 for k = 1, n do §t[i] = { a[k], 1 } i = i + 1 end end", COUNTED },
  { "function(a) local t, i = {}, 1 t[i] = { a[1] } i = i + 1 §t[i] = { a[2] } end", COUNTED },
  { "function(a, n) for i = 1, n do a[i] = §i[1] end end", "'i' is a loop variable, not an array" },
  { "function(a, n) a[1] = §#a[1] end", "'a' has 1 subscript, but a length of dimension 2 is taken in line 1" },
  { "function(a, n) a[§i & 1] = 0 end", "'i' is a global: make it a local or a parameter" },
}

--- The source without its mark, and the lines that are expected of it: worked out here, from the mark alone.
local function expected_of(marked, reason)
  local offset = assert(marked:find("§", 1, true), marked)
  local source = marked:gsub("§", "")
  local before = source:sub(1, offset - 1):match "[^\n]*$"
  local _, breaks = source:sub(1, offset - 1):gsub("\n", "")
  local line = source:match("^[^\n]*", offset - #before):gsub("%s+$", ""):gsub("\xC8", "\xC8")
  return source, ("(text):%d:%d: %s\n%s\n%s^"):format(breaks + 1, #before + 1, reason, line, (" "):rep(#before))
end

describe("a source that is refused", function()
  for _, case in ipairs(ERRORS) do
    local source, expected = expected_of(case[1], case[2])
    it("says: " .. case[2] .. ": " .. source:gsub("%s+", " "):gsub("[\x80-\xFF]", "?"), function()
      local ok, raised = pcall(front.tree, source)
      assert.is_false(ok)
      assert.is_true(failure.is(raised), tostring(raised))
      assert.equal(expected, tostring(raised))
    end)
  end

  it("is taken for a path where it looks like one", function()
    local f, reason = require("clcompute.loops").compile("nests/sums.lua", { name = "scale" })
    assert.is_nil(f)
    assert.equal('(text): no function is here; a file is passed as { file = "nests/sums.lua" }', tostring(reason))
  end)

  it("is shown with its tabs, and the caret counts characters", function()
    local _, raised = pcall(front.tree, "function(a)\n\t--[[äöü]] a[1] = ...\r\nend")
    assert.equal("(text):2:22: '...' is not accepted: every parameter has a name\n" ..
      "\t--[[äöü]] a[1] = ...\n\t                 ^", tostring(raised))
  end)

  it("is shown from the place on where the line is long", function()
    local _, raised = pcall(front.tree, "function(a) a[1] = 1 " .. (" "):rep(500) .. " + nil end")
    assert.matches("^%(text%):1:525: nil is not accepted[^\n]*\nnil end\n%^$", tostring(raised))
  end)

  it("nests no deeper than Lua does", function()
    for _, value in ipairs { ("("):rep(10000) .. "1" .. (")"):rep(10000), ("- "):rep(10000) .. "1",
      "1" .. (" + 1"):rep(10000), "1" .. (" ^ 1"):rep(10000) } do
      local _, raised = pcall(front.tree, "function(a) a[1] = " .. value .. " end")
      assert.is_true(failure.is(raised), tostring(raised))
      assert.matches("more than 200 levels", raised.reason)
    end
    local _, raised = pcall(front.tree, "function(a) " .. ("do "):rep(10000) .. ("end "):rep(10000) .. " end")
    assert.matches("more than 200 levels", raised.reason)
  end)

  it("calls functions of one expression within each other up to a depth and a size", function()
    local lines = { "local function f0(x) return x + x end" }
    for i = 1, 15 do
      lines[#lines + 1] = ("local function f%d(x) return f%d(x) + f%d(x) end"):format(i, i - 1, i - 1)
    end
    local source = ("function(a) %s a[1] = f15(1) end"):format(table.concat(lines, " "))
    local _, raised = pcall(front.tree, source)
    assert.matches("more than 50000 expressions", raised.reason)
    for i = 0, 20 do lines[i + 1] = ("local function f%d(x) return %s end"):format(i, i == 0 and "x" or
      ("f%d(x)"):format(i - 1)) end
    _, raised = pcall(front.tree, ("function(a) %s a[1] = f20(1) end"):format(table.concat(lines, " ")))
    assert.equal("'f0': calls within calls are put in place up to 20 levels", raised.reason)
    local more
    local function again(x) return more(x) end
    more = function(x) return again(x) + 1 end
    _, raised = pcall(front.tree, function(a) a[1] = again(1) end)
    assert.equal("'again' calls itself: it cannot be put in place of its calls", raised.reason)
  end)

  it("may be too large for Lua once calls are in their places", function()
    local names = {}
    for i = 1, 190 do names[i] = ("local x%d = 1"):format(i) end
    local source = ("function(a) do %s end do %s end end"):format(table.concat(names, " "), table.concat(names, " "))
    local _, raised = pcall(front.tree, source)
    assert.matches("too large with all calls put in place: too many local variables", raised.reason)
  end)
end)
