-- SPDX-License-Identifier: MIT

--- Writes functions without `goto` and without a `return` on the way: what would be jumped over stands in an `if`.
--
--     for i do if a then goto continue end; b; ::continue:: end      for i do if a then else b end end
--     if a then return x end; b; return y                            if a then give x else b; give y end
--
-- Where no `else` does, as behind a loop within, a local tells whether a jump was made; out of loops leads a `break`.

local ast = require("clcompute.loops.tree").ast
local failure = require("clcompute.loops.tree").failure

local jumps = {}

local Jumps = {}
Jumps.__index = Jumps

-- --- nodes ---------------------------------------------------------------------------------

local function flag_name(label, at)
  return ast.parsed("name", { name = label.flag }, at)
end

--- `local flag = false`.
local function declaration(label, at)
  local token = { text = label.flag, line = at.line, column = at.column, offset = at.offset, finish = at.finish }
  return ast.parsed("local", { names = { token }, values = { ast.parsed("boolean", { value = false }, at) } }, at)
end

local function mentions(node, name)
  if node.kind == "name" and node.name == name then return true end
  for _, part in pairs(node) do
    if type(part) == "table" and mentions(part, name) then return true end
  end
  return false
end

--- Declares the local of a label where statements first name it, so that those before may be kernels.
local function declare(statements, label)
  for i, node in ipairs(statements) do
    if mentions(node, label.flag) then return table.insert(statements, i, declaration(label, node)) end
  end
end

local function set(label, at)
  return ast.parsed("assign", { target = flag_name(label, at), value = ast.parsed("boolean", { value = true }, at) },
    at)
end

local function branch(condition, body, at)
  return ast.parsed("if", { arms = { ast.parsed("arm", { condition = condition, body = body }, at) } }, at)
end

--- That no jump was made to any of some labels.
local function none_made(labels, at)
  local any
  for _, label in ipairs(labels) do
    local name = flag_name(label, at)
    any = any and ast.parsed("binary", { op = "or", left = any, right = name }, at) or name
  end
  return ast.parsed("unary", { op = "not", operand = any }, at)
end

--- Checks that a `return` gives as many numbers as another one.
-- @tparam table self with `fail`
-- @tparam table node
-- @tparam integer count
-- @tparam integer before
function jumps.check_count(self, node, count, before)
  if count == before then return end
  self:fail(node, "every 'return' of a function gives as many numbers: here are %d, and %d before", count, before)
end

-- --- labels --------------------------------------------------------------------------------

function Jumps:fail(node, message, ...)
  failure.raise(self.origin, node, message:format(...))
end

--- The labels with which a list of statements ends, and how many other statements there are.
local function labels_of(statements)
  local count, labels = #statements, {}
  while count > 0 and statements[count].kind == "label" do
    labels[#labels + 1] = statements[count]
    count = count - 1
  end
  return labels, count
end

function Jumps:label(node)
  for i = #self.labels, 1, -1 do
    if self.labels[i].name == node.name then return self.labels[i] end
  end
  self:fail(node, "'goto %s' is not accepted: a label is the last statement of a block around, in a 'repeat' that of "
    .. "a 'do ... end'", node.name)
end

--- Gives a label its local; what was written without it is written anew.
function Jumps:need_flag(label)
  if label.flag then return end
  self.count = self.count + 1
  label.flag, self.is_stale = ("left %d"):format(self.count), true
  self.flags[label.key] = label.flag
end

--- The labels of a set in the body of the loop at hand, and those that are farther out.
function Jumps:sorted(may)
  local here, farther = {}, {}
  for _, label in ipairs(self.labels) do
    local list = label.depth == self.depth and here or farther
    if may[label] then list[#list + 1] = label end
  end
  return here, farther
end

local function unite(set_of, further)
  for label in pairs(further) do set_of[label] = true end
end

-- --- statements ----------------------------------------------------------------------------
--
-- Of each: the one that stands for it, or a list; a set of the labels to which it may jump; whether nothing that
-- follows it is reached.

local STATEMENTS = {}

local function leave(self, label, into, at)
  if self.depth > label.depth then self:need_flag(label) end
  if label.flag then into[#into + 1] = set(label, at) end
  if self.depth > label.depth then into[#into + 1] = ast.parsed("break", {}, at) end
  return into, { [label] = true }, true
end

STATEMENTS["goto"] = function(self, node) return leave(self, self:label(node), {}, node) end

STATEMENTS["return"] = function(self, node)
  local last = node.values[#node.values]
  if last and last.takes and last.callee.kind == "name" then
    self.is_open = true
  else
    self.values = self.values or #node.values
    jumps.check_count(self, node, #node.values, self.values)
  end
  local into = {}
  if #node.values > 0 then into[1] = ast.parsed("give", { values = node.values }, node) end
  return leave(self, self.labels[1], into, node)
end

STATEMENTS["break"] = function(_, node) return { node }, {}, true end

function STATEMENTS.label(self, node)
  self:fail(node, "a label is only accepted as the last statement of a block")
end

STATEMENTS["do"] = function(self, node)
  local body, may, always = self:block(node.body)
  return { ast.parsed("do", { body = body }, node) }, may, always
end

--- An `if`, also with lists of the ways through it that go on behind it.
STATEMENTS["if"] = function(self, node)
  local arms, may, ways, is_sure = {}, {}, {}, true
  local function take(parsed)
    local body, own, always = self:block(parsed)
    unite(may, own)
    if not always then
      ways[#ways + 1] = body
      is_sure = is_sure and next(own) == nil
    end
    return body
  end
  for i, arm in ipairs(node.arms) do
    arms[i] = ast.parsed("arm", { condition = arm.condition, body = take(arm.body) }, arm)
  end
  local otherwise = take(node.otherwise or {})
  local has_other = node.otherwise or #ways == 1 and ways[1] == otherwise
  return { ast.parsed("if", { arms = arms, otherwise = has_other and otherwise or nil }, node) }, may, #ways == 0,
    is_sure and #ways == 1 and ways[1] or nil
end

--- Whether a `break` in statements leaves the loop that they are the body of.
local function has_break(statements)
  for _, node in ipairs(statements) do
    if node.kind == "break" then return true end
    if node.kind == "do" and has_break(node.body) then return true end
    for _, arm in ipairs(node.kind == "if" and node.arms or {}) do
      if has_break(arm.body) then return true end
    end
    if node.kind == "if" and node.otherwise and has_break(node.otherwise) then return true end
  end
  return false
end

local FIELDS = { ["for"] = { "name", "from", "to", "step", "pace" }, each = { "name", "value", "call" },
  forever = { "word" } }

local function with_body(node, body)
  local fields = { body = body }
  for _, field in ipairs(FIELDS[node.kind]) do fields[field] = node[field] end
  return ast.parsed(node.kind, fields, node)
end

local function loop(self, node)
  self.depth = self.depth + 1
  local body, may = self:block(node.body)
  self.depth = self.depth - 1
  local list, _, farther = { with_body(node, body) }, self:sorted(may)
  for _, label in ipairs(farther) do
    if label.flag then list[#list + 1] = branch(flag_name(label, node), { ast.parsed("break", {}, node) }, node) end
  end
  return list, may, node.kind == "forever" and not has_break(body)
end

STATEMENTS["for"], STATEMENTS.each, STATEMENTS.forever = loop, loop, loop

-- --- blocks --------------------------------------------------------------------------------

--- Takes away an `else` without statements that was not written.
local function drop_empty(node, parsed)
  if node.kind == "if" and not parsed.otherwise and node.otherwise and #node.otherwise == 0 then
    node.otherwise = nil
  end
end

--- The statements of a list from one on to the last, as those of STATEMENTS.
function Jumps:list(statements, first, last)
  local result, may = {}, {}
  for i = first, last do
    local node = statements[i]
    local write = STATEMENTS[node.kind]
    local list, own, always, way = { node }, {}, false, nil
    if write then list, own, always, way = write(self, node) end
    unite(may, own)
    table.move(list, 1, #list, #result + 1, result)
    if always then return result, may, true end
    local here = self:sorted(own)
    if #here == 0 or i == last then drop_empty(list[1], node) end
    if #here > 0 and i < last then
      local rest, further, ends = self:list(statements, i + 1, last)
      unite(may, further)
      if way then
        local before = table.move(way, 1, #way, 1, {})
        for k = #way, 1, -1 do way[k] = nil end
        if #before > 0 then way[1] = ast.parsed("do", { body = before }, node) end
        table.move(rest, 1, #rest, #way + 1, way)
      else
        for _, label in ipairs(here) do self:need_flag(label) end
        if not self.is_stale then result[#result + 1] = branch(none_made(here, node), rest, node) end
      end
      return result, may, ends
    end
  end
  return result, may, false
end

--- A block, whose labels jumps in it meet.
function Jumps:block(statements)
  local labels, count = labels_of(statements)
  local base = #self.labels
  for i, node in ipairs(labels) do
    self.labels[base + i] = { name = node.name, key = node, depth = self.depth, flag = self.flags[node] }
  end
  local result, may, always = self:list(statements, 1, count)
  for i = #self.labels, base + 1, -1 do
    local label = self.labels[i]
    if may[label] then may[label], always = nil, false end
    if label.flag then declare(result, label) end
    self.labels[i] = nil
  end
  return result, may, always
end

--- The statements of a function without jumps: `give` nodes stand where it returns numbers.
-- @tparam table origin for failures
-- @tparam table parsed the function
-- @treturn {table,...} parsed statements
-- @treturn ?integer how many numbers it returns; nil where each `return` ends with a call of a function
function jumps.structured(origin, parsed)
  local self = setmetatable({ origin = origin, flags = {}, count = 0 }, Jumps)
  local result, always
  repeat
    local exit = { key = parsed, depth = 0, flag = self.flags[parsed] }
    self.labels, self.depth, self.is_stale = { exit }, 0, false
    local _
    result, _, always = self:block(parsed.body)
    if exit.flag then declare(result, exit) end
  until not self.is_stale
  if not always and ((self.values or 0) > 0 or self.is_open) then
    self:fail(parsed, "every way through a function that returns numbers ends with 'return'")
  end
  return result, self.values or not self.is_open and 0 or nil
end

return jumps
