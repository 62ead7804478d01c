-- SPDX-License-Identifier: MIT
--- What the passes of clcompute.loops hand on: records with declared fields, and the passes that set them.

local ast = require "clcompute.loops.tree.ast"
local compiler = require "clcompute.loops.compiler"
local front = require "spec.support.loops_front"
local kernel_target = require "clcompute.loops.runtime.kernel_target"
local plan = require "clcompute.loops.tree.plan"

local SCALE = "function(a, x, n)\n  for i = 1, n do a[i] = x * a[i] end\nend"

--- What the passes make of a text, up to one of them, for tables of floats.
local function compile(text, last, options)
  local tree, kinds = front.tree(text), {}
  local variables = compiler.variables(tree)
  for _, variable in ipairs(variables) do
    kinds[variable] = variable.role == "array" and { kind = "table", element = "float", rank = variable.rank }
      or { kind = "number", type = variable.is_index and "int" or "float" }
  end
  return compiler.run({ tree = tree, variables = variables, taken = { kinds = kinds, twins = {} },
    options = { base = 1, mode = "exact", heuristics = "model", reduce = "sequential",
      force = options and options.force },
    target = kernel_target.without_device(options or { target = "cpu" }) }, last), tree
end

--- Asserts that f(...) raises a text: a fault of a pass, which tells its place.
local function fails(text, f, ...)
  local ok, message = pcall(f, ...)
  assert.is_false(ok)
  assert.matches(text, message, 1, true)
end

describe("a node", function()
  it("has the fields of its kind and no others", function()
    fails("no node 'while'", ast.node, "while", {})
    fails("node 'number' without its field 'value'", ast.node, "number", {})
    fails("node 'number' has no field 'valeu'", ast.node, "number", { valeu = 1 })
    fails("node 'name': field 'variable': table expected, got string", ast.node, "name", { variable = "a" })
    local node = ast.node("number", { value = 1 }, { line = 2, column = 3, offset = 9, finish = 9 })
    node.type = "int"
    assert.same({ 2, 3, 9, 9 }, { node.line, node.column, node.offset, node.finish })
    fails("node 'number' has no field 'tpye'", function() node.tpye = "int" end)
    fails("node 'number': field 'type': string expected, got number", function()
      ast.node("number", { value = 1 }).type = 1
    end)
  end)

  it("is copied with fields of its own, which are checked too", function()
    local node = ast.node("number", { value = 1 })
    local copy = ast.changed(node, { value = 2 })
    node.type = "int"
    assert.same({ 1, 2, "int", "number" }, { node.value, copy.value, copy.type, copy.kind })
    fails("node 'number' has no field 'op'", ast.changed, node, { op = "+" })
    fails("node 'number' has no field 'op'", function() copy.op = "+" end)
  end)

  it("of an expression is copied with all in it, but for variables", function()
    local n = ast.node("variable", { id = "n_1" })
    local length = ast.node("length", { array = n, dimension = 2, subscripts = { ast.node("number", { value = 1 }) } })
    local sum = ast.node("binary", { op = "+", left = length, right = ast.node("name", { variable = n }) })
    local copy = ast.copies { sum }[1]
    assert.equal(ast.show(sum), ast.show(copy))
    copy.left.subscripts[1].value = 2
    assert.same({ 1, 2 }, { length.subscripts[1].value, copy.left.subscripts[1].value })
    assert.equal(n, copy.right.variable)
  end)

  it("of the grammar has fields of its own", function()
    fails("parsed node 'name' has no field 'variable'", ast.parsed, "name", { variable = {} })
  end)
end)

describe("a part of a plan", function()
  it("has the fields of its kind and no others", function()
    fails("part of a plan 'loop' without its field 'body'", plan.part, "loop", { node = {} })
    fails("part of a plan 'loop' has no field 'bdoy'", plan.part, "loop", { node = {}, bdoy = {} })
  end)
end)

describe("a tree", function()
  it("is copied with its variables, and its loops with theirs", function()
    local tree = front.tree(SCALE)
    local copy, copies = ast.copy(tree)
    local loop = copy.body[1]
    assert.equal(ast.show(tree), ast.show(copy))
    assert.are_not.equal(tree.body[1], loop)
    assert.equal(loop, copies[tree.body[1]])
    assert.equal(loop, loop.variable.loop)
    assert.equal(copies[tree.parameters[1]], copy.parameters[1])
    assert.equal(copy.parameters[1], loop.body[1].target.array)
  end)

  it("is shown with what passes have found", function()
    local unit, tree = compile(SCALE, "dependences")
    assert.equal([[
for (line 2) variable=i_4 step=1 parallel=true carried=...
  from: number (line 2) value=1 type=int
  to: name (line 2) variable=n_3 type=int
  body:
    assign (line 2)
      target: index (line 2) array=a_1 type=float
        subscripts:
          name (line 2) variable=i_4 type=int
      value: binary (line 2) op=* type=float
        left: name (line 2) variable=x_2 type=float
        right: index (line 2) array=a_1 type=float
          subscripts:
            name (line 2) variable=i_4 type=int]], ast.show(unit.tree.body))
    assert.falsy(ast.show(tree):find("type=", 1, true)) -- it stays as it was resolved
  end)
end)

describe("a plan", function()
  it("is shown with what passes have made of it", function()
    local unit = compile([[function(a, b, steps)
      for t = 1, steps do
        for i = 1, #a do b[i] = a[i] end
        a[t] = b[t]
      end
    end]], "partition", { target = "gpu", force = true })
    assert.equal([[
loop node=for t_4
  body:
    kernel node=for i_5 index=1 name=nest_1 reads={a_1} writes={b_2} scalars={} nonzero={} host_loops={for t_4} ]]
      .. [[band={for i_5} counts=... mapping=... group=...
    lua nodes={assign} reads={b_2} writes={a_1}]], plan.show(unit.plan))
  end)
end)

describe("the passes", function()
  it("can be stopped after each", function()
    assert.same({ true, false }, { compile(SCALE, "scop").scop ~= nil, compile(SCALE, "scop").plan ~= nil })
    assert.same({ true, false }, { compile(SCALE, "partition").plan ~= nil, compile(SCALE, "partition").text ~= nil })
    assert.truthy(compile(SCALE).run)
    fails("no pass 'tilling'", compile, SCALE, "tilling")
  end)
end)
