-- SPDX-License-Identifier: MIT

--- The tree: every kind of node with its fields, their types, and the pass that sets them.
--
-- `front.grammar` makes nodes of `PARSED`, in which names stand as written. From them `front.resolve` makes nodes of
-- `NODES`, which all later passes read. Both have their place in the source: `line`, `column`, and `offset` and
-- `finish`, the first and the last byte; nodes that passes make may have none. A pass has the name of its file, or of
-- the function of `clcompute.loops.compiler` that runs it.

local record = require "clcompute.loops.tree.record"

local ast = {}

local PLACE = {
  { "line", "integer?", "grammar" }, { "column", "integer?", "grammar" },
  { "offset", "integer?", "grammar", "its first byte" }, { "finish", "integer?", "grammar", "its last byte" },
  { "inside", "string?", "resolve", "its place in a function whose call has the place above" },
}

--- Rows with others behind them.
local function with(further, rows)
  return table.move(further, 1, #further, #rows + 1, rows)
end

--- Kinds whose rows all have some rows behind them.
local function all_with(further, kinds)
  for _, rows in pairs(kinds) do with(further, rows) end
  return kinds
end

-- --- what the grammar makes --------------------------------------------------------------------

local PARSED = all_with(PLACE, {
  number = { { "value", "number", "grammar" } },
  boolean = { { "value", "boolean", "grammar" } },
  name = { { "name", "string", "grammar" } },
  ["nil"] = {},
  string = {},
  table = { { "items", "nodes", "grammar", "numbers, or such tables" },
    { "keyed", "list?", "grammar", "items with keys: { key, value }; keyed_items writes them as statements" } },
  field = { { "name", "string", "grammar" }, { "field", "string", "grammar", "of math" } },
  index = { { "name", "string", "grammar" }, { "subscripts", "nodes", "grammar" } },
  length = { { "operand", "node", "grammar", "a name or an index" } },
  call = { { "callee", "node", "grammar", "a name or a field" }, { "arguments", "nodes", "grammar" },
    { "takes", "number?", "grammar", "how many of its numbers are taken: the first one, unless given; huge: all" } },
  unary = { { "op", "string", "grammar" }, { "operand", "node", "grammar" } },
  binary = { { "op", "string", "grammar" }, { "left", "node", "grammar" }, { "right", "node", "grammar" } },

  ["for"] = { { "name", "table", "grammar", "a token" }, { "from", "node", "grammar" }, { "to", "node", "grammar" },
    { "step", "integer", "grammar" }, { "pace", "node?", "grammar", "a step that is no literal" },
    { "body", "nodes", "grammar" } },
  each = { { "name", "table", "grammar", "a token" }, { "value", "table?", "grammar", "a token" },
    { "call", "node", "grammar", "of ipairs" }, { "body", "nodes", "grammar" } },
  forever = { { "word", "string", "grammar", "while or repeat" }, { "body", "nodes", "grammar" } },
  ["break"] = {},
  ["goto"] = { { "name", "string", "grammar" } },
  label = { { "name", "string", "grammar" } },
  ["return"] = { { "values", "nodes", "grammar" } },
  give = { { "values", "nodes", "jumps", "what the function returns" } },
  swapped = { { "one", "string", "swaps", "a name that means what the other one does, and the other way round" },
    { "other", "string", "swaps" }, { "body", "nodes", "swaps" } },
  rest = { { "body", "nodes", "swaps", "all that follows in the function" } },
  ["if"] = { { "arms", "nodes", "grammar" }, { "otherwise", "nodes?", "grammar" } },
  arm = { { "condition", "node", "grammar" }, { "body", "nodes", "grammar" } },
  ["do"] = { { "body", "nodes", "grammar" } },
  ["local"] = { { "names", "list", "grammar", "tokens" }, { "values", "nodes", "grammar" } },
  assign = { { "target", "node", "grammar" }, { "value", "node", "grammar" } },
  assigns = { { "targets", "nodes", "grammar" }, { "values", "nodes", "grammar" } },
  perform = { { "call", "node", "grammar", "whose value is not taken" } },
  define = { -- a local function
    { "name", "string", "grammar" }, { "parameters", "list", "grammar", "tokens" }, { "body", "nodes", "grammar" },
    { "sees_itself", "boolean?", "grammar", "whether `local function` defines it" },
  },
  ["function"] = {
    { "name", "string?", "grammar" }, { "parameters", "list", "grammar", "tokens" }, { "body", "nodes", "grammar" },
    { "origin", "table", "grammar", "the text" }, { "tokens", "list", "grammar" },
    { "first", "integer", "grammar", "the index of its first token" },
  },
})

-- --- what all passes read ---------------------------------------------------------------------

-- Of each expression.
local VALUE = with(PLACE, {
  { "type", "string?", "types", '"int", "float" or "bool"' },
  { "is_partial", "boolean?", "types", "an `and` that is false or a number" },
  { "is_mixed", "boolean?", "types", "a float that is an integer in Lua where data say so" },
  { "is_ambiguous", "boolean?", "types", "a mixed one for which that makes a difference" },
  { "addend", "integer?", "types", "of a sum that is ambiguous where passes are many: what one adds at most" },
})

local GUARDED = { "is_guarded", "boolean?", "partition", "the integer divisor is looked at as it is used" }

local EXPRESSIONS = all_with(VALUE, {
  number = { { "value", "number", "resolve" } },
  boolean = { { "value", "boolean", "resolve" } },
  name = { { "variable", "ref", "resolve" } },
  index = { { "array", "ref", "resolve", "its variable" }, { "subscripts", "nodes", "resolve" },
    { "in_rows", "nodes?", "delinearising", "of a flat array: the subscripts as those of a matrix" },
    { "checked", "table?", "irregular, delinearising", "as keys, dimensions whose subscripts are looked at when used" },
    { "is_end", "boolean?", "appending", "where a list gets longer" },
    { "is_item", "boolean?", "made_tables", "of a row in braces, or such a row" },
    { "has_default", "boolean?", "resolve", "what is stored there is computed from it, or from another number" },
    { "may_miss", "string?", "expressions, presence",
      'of a table that is made, where Lua may have nil: "default", "condition"; "guarded" by its length' },
    { "is_stored", "boolean?", "irregular, delinearising, compiler", "gets a value; Lua looks whether it is one" } },
  length = { { "array", "ref", "resolve", "its variable" }, { "subscripts", "nodes", "resolve" },
    { "dimension", "integer", "resolve, delinearising", "0: all of a flat array that is a matrix" } },
  call = { { "name", "string", "resolve", "a function of math" }, { "arguments", "nodes", "resolve" }, GUARDED,
    { "is_operand", "boolean?", "types", "math.tointeger that an operator on integers does" } },
  unary = { { "op", "string", "resolve" }, { "operand", "node", "resolve" } },
  binary = { { "op", "string", "resolve" }, { "left", "node", "resolve" }, { "right", "node", "resolve" },
    GUARDED, { "is_reordered", "boolean?", "partition", "of an accumulator: the compiler may reorder it" } },
  bound = { { "node", "node", "jamming", "an integer so small that C's own arithmetic will do" } },
  text = { { "text", "string", "tile_kernels", "OpenCL C, printed as it is" } },
})

local STATEMENTS = all_with(PLACE, {
  ["local"] = { { "variable", "ref", "resolve" }, { "value", "node", "resolve" },
    { "is_blank", "boolean?", "resolve", "the value is none of Lua's: another one is assigned before it is read" },
    { "is_bare", "boolean?", "resolve", "a blank one that is written so: `local s`" } },
  assign = { { "target", "node", "resolve", "a name or an index" }, { "value", "node", "resolve" },
    { "is_float", "boolean?", "types", "the value is a float in Lua, too" },
    { "atomic", "node?", "scattered_updates", "what is added to the target, in one step" } },
  ["if"] = { { "arms", "nodes", "resolve" }, { "otherwise", "nodes?", "resolve" },
    { "is_choice", "boolean?", "right_looking", "between two orders of the same loops, by their passes" } },
  arm = { { "condition", "node", "resolve" }, { "body", "nodes", "resolve" } },
  ["do"] = { { "body", "nodes", "partition", "statements that are one task" } },
  ["break"] = {},
  shared = { { "loop", "node", "sharing", "of which groups take pieces" },
    { "is_sum", "boolean?", "group_tasks", "one that is parallel but for sums" },
    { "is_joined", "boolean?", "group_tasks", "what is behind it is for one work-item, and needs no barrier before" } },
  meeting = {},
  alone = { { "body", "nodes", "sharing", "what one group does" } },
  ["for"] = {
    { "variable", "ref", "resolve" }, { "from", "node", "resolve" }, { "to", "node", "resolve" },
    { "step", "integer", "resolve", "not 0" }, { "body", "nodes", "resolve" },
    { "pace", "node?", "resolve", "a step that is no literal; then `step` is 1, or -1 where it is surely negative" },
    { "word", "string?", "resolve", '"while" or "repeat": a loop without an end' },
    { "irregular", "string?", "irregular", "why data decide which passes there are" },
    { "is_broken", "boolean?", "irregular", "each pass may be the last one" },
    { "is_open", "boolean?", "irregular", "data decide how far its variable goes" },
    { "parallel", "boolean?", "dependences", "no two passes touch one element that one of them writes" },
    { "carried", "list?", "dependences", "examples of dependences between passes: { array, kind, from, to }" },
    { "is_moved", "boolean?", "interchange", "went inwards" },
    { "strips", "integer?", "unblocking", "the line of the loop over its strips, which are put together" },
    { "is_separated", "boolean?", "separation", "of the nest of an assignment that kept others from being parallel" },
    { "is_short", "boolean?", "lockstep", "has fewer passes than go side by side" },
    { "is_turned", "boolean?", "triangles", "from a loop over rows to one within a column" },
    { "reductions", "list?", "loop_reductions", "all that keeps it from being parallel" },
    { "scattered", "list?", "scattered_updates", "sums in elements where data say, which alone do: the assignments" },
    { "logged", "list?", "scattered_updates", "the same, whose order matters: { node, term, loops }" },
    { "recurrences", "list?", "recurrences", "`x = f(x, e)`, which alone keep it from being parallel" },
    { "wavefront", "table?", "wavefronts", "{ loops, coefficients, follower } of an outermost loop" },
    { "is_common", "boolean?", "sharing", "all groups go through it, and must not look at elements there" },
    { "behind", "integer?", "pipelines", "its passes are rows: how many passes each stays behind the one before" },
    { "obstacle", "string?", "partition", "why it is no kernel although it is parallel" },
    { "place", "string?", "partition", 'of a reduction: "shared", "work-item", "group" or "either"' },
    { "is_lane", "boolean?", "sinking", "a copy of the loop that is innermost" },
    { "is_independent", "boolean?", "tiling", "innermost and parallel: vectors" },
    { "is_plain", "boolean?", "tiling", "has neither loops nor conditions in it" },
    { "has_all", "boolean?", "tiling", "of vectors: has all passes, not those of a tile" },
    { "reads_rows", "boolean?", "tiling", "each pass reads all of its rows of matrices" },
    { "is_strided", "boolean?", "tiling", "innermost and parallel: stores every other element" },
    { "row_lanes", "table?", "skewing", "its rows are lanes of vectors: the variables `row` and `pass`, `behind`" },
    { "vectors", "integer?", "tiling", "of a plain one: how many it has at once" },
    { "operations", "integer?", "tiling", "of a plain one: of a pass" },
    { "cut", "table?", "tiling", "two loops in its place: `before` and `from`, as generation/cutting has found them" },
    { "lanes", "table?", "masking", "of a loop without an end: what it is for all lanes of the loop around it" },
    { "places", "refs?", "tiling", "of strips of a lane: locals that need a place for each pass" },
    { "common", "list?", "tiling", "what all passes read before: { variable, value, nodes }" },
  },
  ["function"] = {
    { "name", "string?", "resolve" }, { "parameters", "refs", "resolve" }, { "captures", "refs", "resolve" },
    { "body", "nodes", "resolve" }, { "origin", "table", "resolve", "the text" },
    { "base", "integer", "resolve", "the index of an array's first element" },
    { "results", "refs", "resolve", "what it returns: arrays, and arrays of one element for numbers" },
    { "scratch", "refs?", "resolve, privatising, preserving, expansion, recomputing", "arrays of a call's own" },
  },
})

-- A name of the function in all its nodes; passes that need further ones give them no more than an id and a type.
local VARIABLE = {
  { "id", "string", "resolve", "valid and of its own in Lua, C and isl" },
  { "name", "string?", "resolve", "as written" },
  { "role", "string?", "resolve", '"parameter", "capture", "local", "loop"; where it is indexed "array"' },
  { "node", "table?", "resolve", "where it is declared" },
  { "loops", "refs?", "resolve", "the `for` nodes around its declaration, outermost first" },
  { "loop", "ref?", "resolve", "the `for` node whose variable it is" },
  { "is_parameter", "boolean?", "resolve" }, { "is_capture", "boolean?", "resolve" },
  { "is_result", "boolean?", "resolve", "an array of one element: a number that the function returns" },
  { "arrays", "refs?", "resolve", "of a result: it is the number of one of these" },
  { "is_made", "boolean?", "resolve", "a table that the function makes" },
  { "computed", "node?", "irregular", "of a capture: what it is, of other numbers of the call" },
  { "is_pointer", "boolean?", "irregular", "an integer, or an array of some: bounds, subscripts or bits depend on it" },
  { "fn", "function?", "resolve", "of a capture: a function that has it" },
  { "index", "integer?", "resolve", "of a capture: its number among the upvalues of fn" },
  { "definition", "node?", "resolve", "of a local: its first value" },
  { "is_argument", "boolean?", "resolve", "a local for the argument of a function that is put in place" },
  { "is_bare", "boolean?", "resolve", "a local that is declared without a value" },
  { "assigned", "table?", "restrictions", "where a local is first assigned" },
  { "number", "table?", "restrictions", "where it is first read as a number" },
  { "use", "table?", "restrictions", "where an array is first used" },
  { "indexed", "table?", "restrictions", "where an array is first indexed" },
  { "longest", "table?", "restrictions", "the last dimension whose length is taken: { dimension, line }" },
  { "asked", "table?", "presence", "as keys, dimensions of which the function asks whether an element is there" },
  { "rank", "integer?", "restrictions, delinearising, local_tables", "subscripts of an array" },
  { "pitches", "nodes?", "delinearising", "of a flat array that is a matrix: elements of its rows, outermost first" },
  { "first", "integer?", "delinearising", "of such an array: the index of its first element" },
  { "is_index", "boolean?", "restrictions", "a bound or subscript needs it" },
  { "is_operand", "boolean?", "restrictions", "it is computed with beside those" },
  { "type", "string?", "types", '"int", "float" or "bool"' },
  { "float_at", "ref?", "types", "of a local: the first value that is a float" },
  { "element", "string?", "types", "the dtype of an array's elements" },
  { "extents", "nodes?", "privatising and expansion", "of an array that a call makes for itself: its dimensions" },
  { "rows", "nodes?", "made_tables", "of such a table: where its rows are made" },
  { "appended", "table?", "appending", "of such a table: { loop, at }, by which it gets longer" },
  { "cursor", "ref?", "appending", "of such a table: a local with its length, where data say how long it is" },
  { "length", "ref?", "appending", "of such a table that is returned: the result with its length" },
  { "filled", "ref?", "appending", "of such a table: the loop that stores in each element from 1 on" },
  { "item_count", "integer?", "made_tables", "of such a table: how many its braces have" },
  { "row_length", "integer?", "appending", "of such a table: how many numbers have the rows that are appended" },
  { "is_flags", "boolean?", "flags", "of a table that is made, or a result: 1 and 0 in place of booleans" },
  { "is_counted", "boolean?", "appending", "of such a table: its length is used" },
  { "is_looked_up", "boolean?", "made_extents", "of such a table: it is asked whether elements are there" },
  { "early", "ref?", "made_extents", "of such a table: the loop that is said to fill it where it is asked that" },
  { "is_returned", "boolean?", "made_tables", "the function returns it" },
  { "has_late_rows", "boolean?", "made_tables", "a row is there from where its items are stored on" },
  { "has_doubtful_rows", "boolean?", "made_tables", "data say which of its rows are made" },
  { "is_shifted", "boolean?", "made_tables", "begins below the base as it is written" },
  { "sizes", "list?", "local_tables", "of a table that the function makes: its dimensions, as texts" },
  { "like", "ref?", "preserving and recomputing", "of an array that a call makes for itself: one of the same sizes" },
  { "is_buffer", "boolean?", "types" },
  { "doubt", "list?", "types", "of a result: the least and the most of the integers that it is where data say so" },
  { "is_mixed", "boolean?", "types", "as of expressions" },
}

local NODES = { variable = VARIABLE }
for _, kinds in ipairs { EXPRESSIONS, STATEMENTS } do
  for kind, rows in pairs(kinds) do NODES[kind] = rows end
end

local parsed, nodes = record.family("parsed node", PARSED), record.family("node", NODES)

--- A node as the grammar makes it.
function ast.parsed(kind, fields, at)
  return parsed:new(kind, fields, at)
end

--- A node.
-- @string kind
-- @tparam table fields becomes the node
-- @tparam ?table at a token or node whose place it has
function ast.node(kind, fields, at)
  return nodes:new(kind, fields, at)
end

--- A copy of a node or variable with some fields of its own. Passes whose trees Lua does not run change copies.
function ast.changed(node, fields)
  return nodes:changed(node, fields)
end

--- The same, that sees no later changes of the node: passes mark it anew.
function ast.apart(node, fields)
  return nodes:apart(node, fields)
end

--- Makes a node another one, in all places that refer to it.
function ast.become(node, other)
  nodes:become(node, other)
end

--- A copy of a resolved function with nodes and variables of its own.
-- @treturn table the copy
-- @treturn table each variable and node of the function to its copy
function ast.copy(tree)
  local copies = {}
  return nodes:copy(tree, copies), copies
end

--- Copies of expressions, which speak of the same variables.
function ast.copies(list)
  local known = setmetatable({}, { __index = function(_, node) return node.kind == "variable" and node end })
  local copies = {}
  for i, node in ipairs(list) do copies[i] = nodes:copy(node, known) end
  return copies
end

--- A tree, or a list of nodes, as text: a node a line, with the fields that it has by now.
function ast.show(node)
  return nodes:show(node)
end

--- Whether Lua may raise an error at a node itself while data are at hand.
function ast.may_fail(node)
  if node.kind == "index" then return node.checked ~= nil end
  if node.kind == "for" then return node.pace ~= nil end
  if node.kind == "call" and node.name == "tointeger" then return node.arguments[1].type == "float" end
  return node.is_guarded == true
end

--- Whether Lua takes a value for true whatever it is: a number.
function ast.is_number(node)
  return node.type ~= "bool" and not node.is_partial
end

local DIVISIONS = { ["//"] = true, ["%"] = true }

--- The divisor of a division of integers, at which Lua raises an error where it is 0; nil where it is another number.
function ast.zero_divisor(node)
  local divisor
  if node.kind == "binary" and DIVISIONS[node.op] then divisor = node.right end
  if node.kind == "call" and node.name == "fmod" then divisor = node.arguments[2] end
  if not divisor or node.type ~= "int" then return nil end
  local literal = divisor.kind == "unary" and divisor.op == "-" and divisor.operand or divisor
  return (literal.kind ~= "number" or literal.value == 0) and divisor or nil
end

--- Whether Lua may raise an error at a node: data, numbers of the call or a literal may be such that it does.
function ast.may_raise(node)
  return ast.may_fail(node) or ast.zero_divisor(node) ~= nil
end

--- Whether Lua may raise an error at a node, or data decide which passes there are.
function ast.is_uncertain(node)
  return ast.may_raise(node) or node.irregular ~= nil
end

-- --- variables --------------------------------------------------------------------------------

--- A letter first, a number last: no keyword of Lua, C or isl is like this, where words such as `floor` and `M_PI_2`
-- mean something; macros of C are in capitals.
function ast.id(name, number)
  local is_plain = name:find "^%l" or name:find "^%u+%l*$"
  return ("%s%s_%d"):format(is_plain and "" or "v", name:gsub("[^%w_]", "_"), number)
end

local BYTES = { char = 1, uchar = 1, short = 2, ushort = 2, int = 4, uint = 4, float = 4, long = 8, ulong = 8,
  double = 8 }

--- Bytes of an element of a dtype; nil where no array has such.
function ast.bytes(dtype)
  return BYTES[dtype]
end

--- Whether elements of a dtype are floats.
function ast.is_float(dtype)
  return dtype == "float" or dtype == "double"
end

--- The name of an array's size: a number of the call in Lua, C and isl. That of dimension 0 is the length of a flat
-- array that is a matrix.
-- @tparam table array its variable
-- @tparam integer dimension
function ast.size(array, dimension)
  return ("%s_d%d"):format((array.like or array).id, dimension)
end

--- The name of how much of a dimension but the first the last row of a flat array has that is a matrix: the row may not
-- be whole.
function ast.last(array, dimension)
  return ("%s_l%d"):format(array.id, dimension)
end

--- Whether a call makes an array for itself.
function ast.is_scratch(array)
  return array.extents ~= nil or array.like ~= nil or array.is_made == true
end

--- A node that names a variable which a pass has made up.
function ast.made_up(id, type)
  return ast.node("name", { type = type, variable = ast.node("variable", { id = id, type = type }) })
end

return ast
