-- SPDX-License-Identifier: MIT

--- From the kernel nests of a plan to OpenCL C: one program for all of them, each statement marked with its line.
--
-- A work-item runs one iteration of the band: its place along each dimension is the number of its iteration of the
-- loop mapped there. Loops beyond the third share dimension 2, and are recovered from it by base and mod.
-- @module clcompute.loops.generation.kernels

local c_expression = require "clcompute.loops.generation.c_expression"
local c_helpers = require "clcompute.loops.generation.c_helpers"
local size_of = require "clcompute.loops.variables".size
local uses = require "clcompute.loops.generation.uses"
local walk = require "clcompute.loops.walk"

local kernels = {}

local COMMENT_COLUMN = 60

local C_TYPE = { int = "long", bool = "int" }

local function c_type(type, context)
  return C_TYPE[type] or context.real
end

-- --- lines --------------------------------------------------------------------------------

--- The source text of a node in one line; of a loop or an `if` its head.
local function source_of(node, origin)
  local text = origin.text:sub(node.offset, node.finish)
  if node.kind == "for" then text = text:match "^(.-%f[%w]do)%f[^%w]" or text end
  if node.kind == "if" then text = text:match "^(.-%f[%w]then)%f[^%w]" or text end
  return (text:gsub("%-%-[^\n]*", ""):gsub("%s+", " "):gsub("[\\?]+", " "))
end

--- Adds a line; what it was in Lua stands beside it where there is room, else above.
local function add(output, text, node)
  local indent = ("  "):rep(output.depth)
  local line = indent .. text
  local comment = node and ("// %d: %s"):format(node.line, source_of(node, output.context.origin))
  if comment and #line < COMMENT_COLUMN then
    line = line .. (" "):rep(COMMENT_COLUMN - #line) .. comment
  elseif comment then
    output[#output + 1] = indent .. comment
  end
  output[#output + 1] = line
end

-- --- statements ---------------------------------------------------------------------------

local print_statement

local function print_body(nodes, output)
  output.depth = output.depth + 1
  for _, node in ipairs(nodes) do print_statement(node, output) end
  output.depth = output.depth - 1
end

--- A value as it is stored in an element of a dtype: rounded, or its low bits.
local function stored(value, dtype, context)
  local is_float = dtype == "float" or dtype == "double"
  local text = c_expression.text(value, context, is_float and "float" or nil)
  local own = is_float and context.real or "long"
  if dtype == own then return text end
  return ("(%s)(%s)"):format(dtype, text)
end

local STATEMENTS = {}

STATEMENTS["for"] = function(node, output)
  local id, last = node.variable.id, node.variable.id .. "_last"
  local step, context = node.step, output.context
  local increment = step == 1 and id .. "++" or step == -1 and id .. "--"
    or ("%s %s %d"):format(id, step > 0 and "+=" or "-=", math.abs(step))
  add(output, ("for (long %s = %s, %s = %s; %s %s %s; %s) {"):format(id, c_expression.plain(node.from, context), last,
    c_expression.plain(node.to, context), id, step > 0 and "<=" or ">=", last, increment), node)
  print_body(node.body, output)
  add(output, "}")
end

STATEMENTS["local"] = function(node, output)
  local type, context = node.variable.type, output.context
  add(output, ("%s %s = %s;"):format(c_type(type, context), node.variable.id,
    c_expression.text(node.value, context, type)), node)
end

function STATEMENTS.assign(node, output)
  local target, context = node.target, output.context
  if target.kind == "index" then
    add(output, ("%s = %s;"):format(c_expression.element(target, context),
      stored(node.value, target.array.element, context)), node)
  else
    add(output, ("%s = %s;"):format(target.variable.id,
      c_expression.text(node.value, context, target.variable.type)), node)
  end
end

STATEMENTS["if"] = function(node, output)
  for i, arm in ipairs(node.arms) do
    local condition = c_expression.condition(arm.condition, output.context)
    add(output, ("%sif (%s) {"):format(i > 1 and "} else " or "", condition), i == 1 and node or nil)
    print_body(arm.body, output)
  end
  if node.otherwise then
    add(output, "} else {")
    print_body(node.otherwise, output)
  end
  add(output, "}")
end

function print_statement(node, output)
  STATEMENTS[node.kind](node, output)
end

-- --- the band -----------------------------------------------------------------------------

--- How a band loop's iteration is found: its number from get_global_id, its variable from that.
local function print_place(node, mapping, output)
  local id, step, place = node.variable.id, node.step, mapping[node]
  local number = ("(long)get_global_id(%d)"):format(place.dimension)
  if place.shared then
    number = ("%s / %s_base"):format(number, id)
    if not place.outermost then number = ("%s %% %s_mod"):format(number, id) end
  end
  local from = c_expression.plain(node.from, output.context)
  if step == 1 then
    number = "+ " .. number
  elseif step == -1 then
    number = "- " .. (place.shared and "(" .. number .. ")" or number)
  else
    number = ("%s %s * %d"):format(step > 0 and "+" or "-", place.shared and "(" .. number .. ")" or number,
      math.abs(step))
  end
  add(output, ("const long %s = %s %s;"):format(id, from, number), node)
  add(output, ("if (%s %s %s) return;"):format(id, step > 0 and ">" or "<",
    c_expression.plain(node.to, output.context)))
end

-- --- parameters ---------------------------------------------------------------------------

--- The dimensions of arrays that a nest's text needs: those after the first of what it indexes, those it asks for.
local function sizes_of(nest)
  local sizes, has = {}, {}
  local function need(variable, dimension)
    local id = size_of(variable, dimension)
    if not has[id] then
      has[id] = true
      sizes[#sizes + 1] = { kind = "size", variable = variable, dimension = dimension, id = id }
    end
  end
  walk.node(nest.node, function(node)
    if node.kind == "index" then
      for dimension = 2, #node.subscripts do need(node.array, dimension) end
    elseif node.kind == "length" then
      need(node.array, node.dimension)
    end
  end)
  return sizes
end

--- What a kernel is given at each launch, in order: rows of `kind` ("array", "size", "scalar", "place"), `id` and what
-- the kind needs.
function kernels.parameters(nest)
  local rows, is_written = {}, uses.set(nest.writes)
  for _, variable in ipairs(uses.union(nest.writes, nest.reads)) do
    rows[#rows + 1] = { kind = "array", variable = variable, id = variable.id, is_written = is_written[variable] }
  end
  for _, size in ipairs(sizes_of(nest)) do rows[#rows + 1] = size end
  for _, variable in ipairs(nest.scalars) do
    rows[#rows + 1] = { kind = "scalar", variable = variable, id = variable.id }
  end
  for _, node in ipairs(nest.band) do
    local place = nest.mapping[node]
    if place.shared then
      rows[#rows + 1] = { kind = "place", id = node.variable.id .. "_base", node = node, part = "base" }
      if not place.outermost then
        rows[#rows + 1] = { kind = "place", id = node.variable.id .. "_mod", node = node, part = "mod" }
      end
    end
  end
  return rows
end

local function declaration(row, context)
  if row.kind == "array" then
    return ("global %s%s *restrict %s"):format(row.is_written and "" or "const ", row.variable.element, row.id)
  end
  local type = row.kind == "scalar" and c_type(row.variable.type, context) or "long"
  return ("const %s %s"):format(type, row.id)
end

--- Declarations as lines of at most 110 columns.
local function wrapped(declarations, indent)
  local lines, line = {}, ""
  for i, text in ipairs(declarations) do
    local piece = text .. (i < #declarations and ", " or "")
    if #line + #piece > 100 then
      lines[#lines + 1], line = line, ""
    end
    line = line .. piece
  end
  lines[#lines + 1] = line
  return (table.concat(lines, "\n" .. (" "):rep(indent)):gsub(" \n", "\n"))
end

local function print_kernel(nest, context)
  local output, declarations = { depth = 0, context = context }, {}
  for i, row in ipairs(nest.parameters) do declarations[i] = declaration(row, context) end
  local head = ("kernel void %s("):format(nest.name)
  add(output, ("%s%s) {"):format(head, wrapped(declarations, #head)))
  output.depth = 1
  for _, node in ipairs(nest.band) do print_place(node, nest.mapping, output) end
  output.depth = 0
  print_body(nest.band[#nest.band].body, output)
  add(output, "}")
  return table.concat(output, "\n") .. "\n"
end

-- --- the program --------------------------------------------------------------------------

local function uses_double(nests)
  for _, nest in ipairs(nests) do
    for _, row in ipairs(nest.parameters) do
      if row.kind == "array" and row.variable.element == "double" then return true end
    end
  end
  return false
end

--- Whether nests, which have their `parameters`, need doubles: exact arithmetic does, fast only for arrays of them.
function kernels.need_double(nests, mode)
  return mode == "exact" or uses_double(nests)
end

--- One program with all kernels of a plan.
-- @tparam table nests kernel nests, each with its `mapping` and `parameters`
-- @tparam table options `mode`, `base`, `origin`
-- @treturn string OpenCL C
function kernels.text(nests, options)
  local is_double = kernels.need_double(nests, options.mode)
  local context = { real = is_double and "double" or "float", base = options.base, origin = options.origin,
    helpers = {} }
  local texts = {}
  for i, nest in ipairs(nests) do texts[i] = print_kernel(nest, context) end
  local head = {}
  if is_double then head[#head + 1] = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n" end
  if options.mode == "exact" then
    head[#head + 1] = "#pragma OPENCL FP_CONTRACT OFF // a product is rounded before it is added, as in Lua\n"
  end
  local helpers = c_helpers.text(context.helpers)
  if helpers ~= "" then head[#head + 1] = ("#define REAL %s\n\n%s"):format(context.real, helpers) end
  return table.concat(head) .. "\n" .. table.concat(texts, "\n")
end

return kernels
