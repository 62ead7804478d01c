-- SPDX-License-Identifier: MIT

--- Writes trees, resolved ones, as Lua again. Options say how names and accesses look: `name(variable)`,
-- `index(node, subscripts)` and `length(node, subscripts)` return text, subscripts being texts, as does
-- `assign(node, target, value)`, whole lines of two texts; without them, names are the ids of variables, and arrays
-- are indexed as in the source. `mark(line)` is what ends each line of a statement of that line of the source.

local interrupt = require("clcompute.base").interrupt

local lua_text = {}

-- Operator to how tightly it binds what stands left and right of it; `^` and `..` associate to the right.
lua_text.BINARY = {
  ["or"] = { 1, 1 }, ["and"] = { 2, 2 },
  ["<"] = { 3, 3 }, [">"] = { 3, 3 }, ["<="] = { 3, 3 }, [">="] = { 3, 3 }, ["~="] = { 3, 3 }, ["=="] = { 3, 3 },
  ["|"] = { 4, 4 }, ["~"] = { 5, 5 }, ["&"] = { 6, 6 }, ["<<"] = { 7, 7 }, [">>"] = { 7, 7 },
  [".."] = { 9, 8 }, ["+"] = { 10, 10 }, ["-"] = { 10, 10 },
  ["*"] = { 11, 11 }, ["/"] = { 11, 11 }, ["//"] = { 11, 11 }, ["%"] = { 11, 11 },
  ["^"] = { 14, 13 },
}

-- How tightly `-`, `not`, `~` and `#` bind.
lua_text.UNARY = 12

local ATOM = 100 -- binds more tightly than any operator
local INDENT = "  "

local Writer = {}
Writer.__index = Writer

local function new_writer(options)
  return setmetatable({ options = options or {}, lines = {}, level = 0, mark = "" }, Writer)
end

-- --- expressions --------------------------------------------------------------

local function number_text(value)
  if value == math.huge then return "math.huge" end
  if value == math.mininteger and math.type(value) == "integer" then return "math.mininteger" end
  local text = math.type(value) == "integer" and ("%d"):format(value) or ("%.17g"):format(value)
  if math.type(value) == "float" and not text:find "[.eE]" then text = text .. ".0" end
  return value < 0 and "(" .. text .. ")" or text
end

--- Expressions by kind: the text, and how tightly what is outermost in it binds.
local EXPRESSIONS = {}

function EXPRESSIONS.number(_, node) return number_text(node.value), ATOM end

function EXPRESSIONS.boolean(_, node) return tostring(node.value), ATOM end

function EXPRESSIONS.name(self, node) return self:name(node.variable), ATOM end

function EXPRESSIONS.index(self, node)
  local subscripts = self:list(node.subscripts)
  local write = self.options.index
  if write then return write(node, subscripts), ATOM end
  return self:name(node.array) .. self.brackets(subscripts), ATOM
end

function EXPRESSIONS.length(self, node)
  local subscripts = self:list(node.subscripts)
  local write = self.options.length
  if write then return write(node, subscripts), ATOM end
  return "#" .. self:name(node.array) .. self.brackets(subscripts), lua_text.UNARY
end

function EXPRESSIONS.call(self, node)
  return ("math.%s(%s)"):format(node.name, table.concat(self:list(node.arguments), ", ")), ATOM
end

function EXPRESSIONS.unary(self, node)
  local operand = self:operand(node.operand, lua_text.UNARY)
  if node.op == "not" then return "not " .. operand, lua_text.UNARY end
  if operand:find "^[-~]" then operand = "(" .. operand .. ")" end -- two dashes would begin a comment
  return node.op .. operand, lua_text.UNARY
end

function EXPRESSIONS.binary(self, node)
  local left, right = table.unpack(lua_text.BINARY[node.op])
  local associates_left = left == right
  return ("%s %s %s"):format(self:operand(node.left, associates_left and left or left + 1), node.op,
    self:operand(node.right, associates_left and right + 1 or right - 1)), left
end

function Writer:name(variable)
  local write = self.options.name
  return write and write(variable) or variable.id
end

function Writer.brackets(subscripts)
  return #subscripts > 0 and "[" .. table.concat(subscripts, "][") .. "]" or ""
end

function Writer:list(nodes)
  local texts = {}
  for i, node in ipairs(nodes) do texts[i] = self:expression(node) end
  return texts
end

function Writer:expression(node)
  return EXPRESSIONS[node.kind](self, node)
end

--- The text of an operand, in parentheses unless it binds at least so tightly.
function Writer:operand(node, least)
  local text, binding = self:expression(node)
  return binding < least and "(" .. text .. ")" or text
end

-- --- statements ---------------------------------------------------------------

local STATEMENTS = {}

function Writer:line(...)
  self.lines[#self.lines + 1] = INDENT:rep(self.level) .. table.concat { ... } .. self.mark
end

--- Begins with what stands there in the source.
function Writer:at(node)
  local write = self.options.mark
  if write then self.mark = write(node.line) end
end

function Writer:block(statements)
  self.level = self.level + 1
  for _, statement in ipairs(statements) do
    self:at(statement)
    STATEMENTS[statement.kind](self, statement)
  end
  self.level = self.level - 1
end

STATEMENTS["for"] = function(self, node)
  if node.word then
    self:line "while true do"
  else
    local step = node.step ~= 1 and ", " .. node.step or ""
    local bounds = table.concat(self:list { node.from, node.to, node.pace }, ", ")
    self:line("for ", self:name(node.variable), " = ", bounds, node.pace and "" or step, " do")
  end
  self:block(node.body)
  self:line "end"
end

STATEMENTS["break"] = function(self) self:line "break" end

STATEMENTS["if"] = function(self, node)
  for i, arm in ipairs(node.arms) do
    self:at(arm.condition)
    self:line(i == 1 and "if " or "elseif ", (self:expression(arm.condition)), " then")
    self:block(arm.body)
  end
  if node.otherwise then
    self:line "else"
    self:block(node.otherwise)
  end
  self:line "end"
end

STATEMENTS["local"] = function(self, node)
  self:line("local ", self:name(node.variable), " = ", (self:expression(node.value)))
end

function STATEMENTS.assign(self, node)
  local target, value, write = self:expression(node.target), self:expression(node.value), self.options.assign
  for line in (write and write(node, target, value) or target .. " = " .. value):gmatch "[^\n]+" do self:line(line) end
end

--- Loads a text that a pass has written.
-- @string text
-- @string name what messages call it
-- @tparam table environment
-- @treturn ?function nil where it is too large for Lua
-- @treturn ?string Lua's message then
function lua_text.load(text, name, environment)
  local chunk, message = load(text, "=" .. name, "t", environment)
  if not chunk then interrupt.pass_on(message) end
  return chunk, message
end

--- The text of an expression.
function lua_text.expression(node, options)
  return (new_writer(options):expression(node))
end

--- The text of statements, a line each.
-- @tparam table statements
-- @tparam ?table options also `level`: how far they are indented, 0 unless given
-- @treturn string
function lua_text.statements(statements, options)
  local writer = new_writer(options)
  writer.level = (options and options.level or 0) - 1
  writer:block(statements)
  return table.concat(writer.lines, "\n")
end

--- The text of a whole function, an expression; captures are parameters behind its own.
-- @tparam table tree of `clcompute.loops.front.resolve`
-- @tparam ?table options
-- @treturn string
function lua_text.whole(tree, options)
  local writer, parameters = new_writer(options), {}
  for _, list in ipairs { tree.parameters, tree.captures } do
    for _, variable in ipairs(list) do parameters[#parameters + 1] = writer:name(variable) end
  end
  writer:line("function(", table.concat(parameters, ", "), ")")
  writer:block(tree.body)
  writer:line "end"
  return table.concat(writer.lines, "\n")
end

return lua_text
