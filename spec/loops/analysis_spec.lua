-- SPDX-License-Identifier: MIT
require "spec.helper" -- the seed
local bounds = require "clcompute.loops.analysis.bounds"
local dependences = require "clcompute.loops.analysis.dependences"
local front = require "clcompute.loops.front"
local random_nest = require "spec.support.random_nest"
local scop = require "clcompute.loops.analysis.scop"

--- Arrays of doubles and integers, as the tree uses its parameters.
local function kinds_of(tree)
  local kinds = {}
  for _, list in ipairs { tree.parameters, tree.captures } do
    for _, variable in ipairs(list) do
      kinds[variable] = variable.role == "array"
        and { kind = "table", element = "float", rank = variable.rank or variable.longest.dimension }
        or { kind = "number", type = "int" }
    end
  end
  return kinds
end

--- The polyhedral form of a function or its text.
local function extract(source)
  local tree = front.resolve(front.parse(front.origin(source)))
  return scop.extract(front.infer_types(tree, kinds_of(tree)))
end

local function analyse(source)
  local result = extract(source)
  assert(dependences.analyse(result))
  return result
end

--- "j,k" for the parallel loops among all of a function, in the order of the text.
local function parallel_loops(source)
  local names = {}
  for _, loop in ipairs(analyse(source).loops) do
    if loop.parallel then names[#names + 1] = loop.variable.name end
  end
  return table.concat(names, ",")
end

--- What carries the first loop of that name, each in words.
local function carried(source, name)
  local result, sentences = analyse(source), {}
  for _, loop in ipairs(result.loops) do
    if loop.variable.name == name and #sentences == 0 then
      for i, dependence in ipairs(loop.carried) do sentences[i] = dependences.describe(result, dependence) end
    end
  end
  return sentences
end

--- A variable of the tree by its name.
local function variable_of(result, name)
  for _, variable in ipairs(result.tree.parameters) do
    if variable.name == name then return variable end
  end
end

--- The parameters of a call by their names in isl: `numbers` by name, `sizes` by name of array.
local function parameters(result, numbers, sizes)
  local values = {}
  for name, parameter in pairs(result.parameters) do
    local variable = parameter.variable.name
    values[name] = parameter.dimension and sizes[variable][parameter.dimension] or numbers[variable]
  end
  return values
end

--- The message of the first check that fails for a call, or nil.
local function violation(source, numbers, sizes)
  local result = extract(source)
  local values = parameters(result, numbers, sizes)
  local check = bounds.compile(assert(bounds.analyse(result)))(values)
  return check and bounds.describe(result, check, values), check
end

--- Whether a nest needs an array's values, for a call: the first loop of that variable.
local function needs(source, name, array, numbers, sizes)
  local result = extract(source)
  for _, loop in ipairs(result.loops) do
    if loop.variable.name == name then
      local needed = bounds.needed(result, loop, variable_of(result, array))
      if type(needed) == "boolean" then return needed end
      local values = parameters(result, numbers, sizes)
      for _, outer in ipairs(result.loops) do values[outer.variable.id] = numbers[outer.variable.name] end
      return bounds.evaluator(needed)(values)
    end
  end
end

-- The loops of the PolyKernels that are parallel in the order as written.
local PARALLEL = {
  adi = "i,j", fdtd1d = "i,i", fdtd2d = "j,i,j,i,j,i,j", gemver = "i,j,i,i,i", gs = "", jac = "i,i",
  jac2d = "i,j,i,j", lud = "j,i,j", mmm = "i,j", mvt = "i,i", sor = "", ssymm = "i", ssyr2k = "j,k", ssyrk = "j,k",
  strmm = "j,k", strsm = "j", tmm = "i,j", trisolv = "i", trisolv_if = "",
}

describe("the parallel loops", function()
  for name, expected in pairs(PARALLEL) do
    it("of " .. name .. " are " .. (expected == "" and "none" or expected), function()
      local row = assert(dofile("examples/polykernels/" .. name .. ".lua"))
      local before = os.clock()
      local found = parallel_loops(row.run)
      assert.is_true(os.clock() - before < 1)
      assert.equal(expected, found)
    end)
  end

  it("include one whose passes have locals of their own, but none that hands a local on", function()
    assert.equal("i", parallel_loops "function(A, n) for i = 1, n do local s = A[i] A[i] = s * s end end")
    assert.equal("", parallel_loops [[function(A, n)
      local s = 0.0
      for i = 1, n do s = s + A[i] A[i] = s end
    end]])
    assert.equal("i", parallel_loops [[function(A, n)
      for i = 1, n do
        local s = 0.0
        for j = 1, n do s = s + A[i][j] end
        A[i][1] = s
      end
    end]])
  end)

  it("include one whose dependence a condition rules out", function()
    assert.equal("", parallel_loops "function(A, n) for i = 2, n do A[i] = A[i - 1] end end")
    assert.equal("i", parallel_loops [[function(A, n)
      for i = 2, n do
        if i % 2 == 0 then A[i] = A[i - 1] end
      end
    end]])
    assert.equal("i", parallel_loops [[function(A, n)
      for i = 1, 2 * n do
        if not (i > n) and i >= 1 then A[i] = A[i + n] elseif i < 1 then A[i] = A[i - 1] end
      end
    end]])
  end)

  it("do not depend on what data decide", function()
    assert.equal("i", parallel_loops "function(A, B, n) for i = 1, n do if B[i] > 0 then A[i] = B[i] end end end")
    assert.equal("", parallel_loops "function(A, n) for i = 1, n do if A[i + 1] > 0 then A[i] = 1.0 end end end")
    assert.equal("", parallel_loops "function(A, B, n) for i = 1, n do if B[i] > 0 then A[1] = B[i] end end end")
    assert.equal("", parallel_loops [[function(A, n) for i = 1, n do A[i] = i > 1 and A[i - 1] or 0.0 end end]])
    assert.equal("i", parallel_loops [[function(A, n) for i = 1, n do A[i] = i > n and A[i - 1] or 0.0 end end]])
  end)

  it("include one that has a single pass or none", function()
    assert.equal("i,j", parallel_loops [[function(A)
      for i = 1, 1 do A[1] = A[1] + 1 end
      for j = 2, 1 do A[1] = A[1] + 1 end
    end]])
  end)

  it("step over what is between", function()
    assert.equal("i", parallel_loops "function(A, n) for i = 2, n, 2 do A[i] = A[i - 1] end end")
    assert.equal("", parallel_loops "function(A, n) for i = 3, n, 2 do A[i] = A[i - 2] end end")
    assert.equal("i", parallel_loops "function(A, n) for i = 1, n do A[i // 1] = A[i % 1 + i] end end")
    assert.equal("", parallel_loops "function(A, n) for i = 1, n do A[i // 2 + 1] = 1.0 end end")
  end)

  it("step forward by what is above 0 for certain, and so stay behind where they begin", function()
    local text = "function(A, n) for k = 1, n do for j = n + 1, 2 * n, %s do A[j] = A[j - n] end end end"
    for _, step in ipairs { "k * k", "k * k + 2", "-k * -k" } do
      assert.equal("j", parallel_loops(text:format(step)), step)
    end
    for _, step in ipairs { "k * k - 2", "-2 + k * k", "k * n" } do
      assert.equal("", parallel_loops(text:format(step)), step)
    end
  end)

  it("are none where the budget is exceeded", function()
    local result = extract "function(A, n) for i = 1, n do A[i] = A[i] + 1 end end"
    local ok, message = dependences.analyse(result, 1)
    assert.is_nil(ok)
    assert.equal("the analysis takes more operations than its budget allows", message)
    assert.is_false(result.loops[1].parallel)
    assert.same({}, result.loops[1].carried)
  end)

  --- Stencils in three dimensions within a time loop; `statement` makes each from its number and its text.
  local function stencils(statement, around)
    local lines = {}
    for s = 1, 16 do
      lines[s] = statement(s, "B[i][j][k] = A[i][j][k] + A[i - 1][j][k] + A[i + 1][j][k] + A[i][j - 1][k] "
        .. "+ A[i][j + 1][k] + A[i][j][k - 1] + A[i][j][k + 1]")
    end
    return around:format(table.concat(lines, "\n"))
  end

  it("are found below a second among 16 three-dimensional stencils in a time loop", function()
    local names = {}
    for s = 1, 16 do names[s] = "a" .. s end
    local text = stencils(function(s, text)
      return ("for i = 2, n do for j = 2, n do for k = 2, n do %s end end end")
        :format((text:gsub("[AB]", { A = names[s], B = names[s % 16 + 1] })))
    end, "function(" .. table.concat(names, ", ") .. ", n, T) for t = 1, T do %s end end")
    local before = os.clock()
    local found = parallel_loops(text)
    assert.is_true(os.clock() - before < 1)
    assert.equal(("i,j,k,"):rep(16):sub(1, -2), found)
  end)

  it("are given up below 5 seconds where each of the 16 has conditions of its own", function()
    local result = extract(stencils(function(s, text)
      return ("if (i %% %d == 0 or j %% 3 == 1 or k %% 5 == 2) and not (k // %d == i or j // %d == k) then %s end")
        :format(s + 1, s + 1, s + 1, text)
    end, "function(A, B, n, T) for t = 1, T do for i = 2, n do for j = 2, n do for k = 2, n do %s end end end end end"))
    local before = os.clock()
    local ok, message = dependences.analyse(result)
    local checks = bounds.analyse(result)
    assert.is_true(os.clock() - before < (os.getenv "SANITIZED" and 20 or 5))
    assert.is_true(ok or message == "the analysis takes more operations than its budget allows")
    assert.is_nil(checks)
  end)
end)

describe("what makes a loop sequential", function()
  it("is said with both accesses and their lines", function()
    assert.same({ "b[i - 1] (line 3) reads what b[i] (line 3) wrote" }, carried([[function(b, n)
      for i = 2, n do
        b[i] = b[i - 1] + 1
      end
    end]], "i"))
    assert.same({ "b[i] (line 2) overwrites what b[i + 1] (line 2) read" },
      carried("function(b, n)\n for i = 1, n do b[i] = b[i + 1] end end", "i"))
    assert.same({ "b[i + 1] (line 2) reads what b[i] (line 2) wrote" },
      carried("function(b, n)\n for i = n, 1, -1 do b[i] = b[i + 1] end end", "i"))
    assert.same({ "c[1] (line 1) overwrites what c[1] (line 1) wrote" },
      carried("function(c, n) for i = 1, n do c[1] = 0.0 end end", "i"))
  end)

  it("names locals", function()
    assert.same({ "s (line 3) reads what s (line 3) wrote", "s (line 3) overwrites what s (line 3) read",
      "s (line 3) overwrites what s (line 3) wrote" }, carried([[function(A, n)
      local s = 0.0
      for i = 1, n do s = s + A[i] end
    end]], "i"))
  end)
end)

describe("the bounds", function()
  local product = [[function(A, B, C, n)
    for i = 1, n do
      for j = 1, n do C[i][j] = A[i][j] * B[j][i - 1] end
    end
  end]]

  it("are said with the dimension, what is reached and for which numbers", function()
    local sizes = { A = { 4, 4 }, B = { 4, 4 }, C = { 4, 4 } }
    assert.equal("B[_][0] is needed at line 3 for n=4, but B[_] begins at 1; functions that count from 0 are compiled "
      .. "with base = 0", (violation(product, { n = 4 }, sizes)))
    local stencil = "function(a, n)\n\n for i = 1, n do a[2][i + 1] = 0.0 end end"
    assert.equal("a[_][1025] is needed at line 3 for n=1024, but #a[_] is 1024",
      (violation(stencil, { n = 1024 }, { a = { 2, 1024 } })))
    assert.equal("a[2][_] is needed at line 3 for n=1023, but #a is 1",
      (violation(stencil, { n = 1023 }, { a = { 1, 1024 } })))
    assert.is_nil((violation(stencil, { n = 1023 }, { a = { 2, 1024 } })))
    assert.is_nil((violation(stencil, { n = 0 }, { a = { 0, 0 } })))
  end)

  it("hold for numbers whose multiples would wrap", function()
    local source = "function(A, n) for i = 1, 2 do A[3000 * n + i] = 1.0 end end"
    assert.matches("^A%[2702159776422297%d%d%d%d%] is needed at line 1 for n=%d+, but #A is 8$",
      (violation(source, { n = 1 << 53 }, { A = { 8 } })))
    assert.matches("A begins at 1$", (violation(source, { n = -1 << 53 }, { A = { 8 } })))
  end)

  it("know lengths", function()
    local source = "function(A, B) for i = 1, #A do for j = 1, #A[1] do A[i][j] = B[j] end end end"
    assert.is_nil((violation(source, {}, { A = { 3, 5 }, B = { 5 } })))
    assert.is_nil((violation(source, {}, { A = { 0, 5 }, B = { 0 } })))
    assert.equal("B[5] is needed at line 1, but #B is 4", (violation(source, {}, { A = { 3, 5 }, B = { 4 } })))
  end)

  it("follow conditions, as `and` and `or` come to them", function()
    assert.is_nil((violation("function(A, n) for i = 1, n do if i > 1 then A[i] = A[i - 1] end end end",
      { n = 3 }, { A = { 3 } })))
    assert.is_nil((violation("function(A, n) for i = 1, n do A[i] = i > 1 and A[i - 1] or 0.0 end end",
      { n = 3 }, { A = { 3 } })))
    assert.is_nil((violation("function(A, n) for i = 1, n do if i == 1 or A[i - 1] > 0 then A[i] = 1.0 end end end",
      { n = 3 }, { A = { 3 } })))
    assert.is_string((violation("function(A, n) for i = 1, n do if i == 2 or A[i - 1] > 0 then A[i] = 1.0 end end end",
      { n = 3 }, { A = { 3 } })))
  end)

  it("tell what only data decide", function()
    local source = "function(A, B, n) for i = 1, n do if B[i] > 0 then A[i + 1] = 1.0 end end end"
    local message, check = violation(source, { n = 3 }, { A = { 3 }, B = { 3 } })
    assert.equal("A[4] is needed at line 1 for n=3, but #A is 3", message)
    assert.is_false(check.certain)
    assert.is_true(select(2, violation(source, { n = 3 }, { A = { 4 }, B = { 2 } })).certain)
  end)

  it("are not known where the budget is exceeded", function()
    local checks, message = bounds.analyse(extract(product), 1)
    assert.is_nil(checks)
    assert.equal("the analysis takes more operations than its budget allows", message)
  end)
end)

describe("the values that an array held before a nest", function()
  local sizes = { A = { 4, 4 }, B = { 4, 4 } }

  it("are needed where some element stays as it is", function()
    local source = "function(A, n) for i = 1, n do for j = 1, n do A[i][j] = 1.0 end end end"
    assert.is_false(needs(source, "i", "A", { n = 4 }, sizes))
    assert.is_true(needs(source, "i", "A", { n = 3 }, sizes))
    assert.is_true(needs(source, "j", "A", { n = 4, i = 1 }, sizes))
    assert.is_false(needs(source, "j", "A", { n = 4, i = 1 }, { A = { 1, 4 } }))
    assert.is_true(needs(source, "j", "A", { n = 4, i = 2 }, { A = { 1, 4 } }))
  end)

  it("are needed where one is read before it is written", function()
    local source = [[function(A, B, n)
      for i = 1, n do
        for j = 1, n do A[i][j] = A[i][j] + 1 end
      end
      for k = 1, n do
        for j = 1, n do B[k][j] = 1.0 end
        for j = 1, n do B[k][j] = B[k][j] + 1 end
      end
    end]]
    assert.is_true(needs(source, "i", "A", { n = 4 }, sizes))
    assert.is_false(needs(source, "k", "B", { n = 4 }, sizes))
    assert.is_true(needs(source, "i", "B", { n = 4 }, sizes))
  end)

  it("are needed where only data decide on a write", function()
    local source = "function(A, B, n) for i = 1, n do for j = 1, n do if B[i][j] > 0 then A[i][j] = 1.0 end end end end"
    assert.is_true(needs(source, "i", "A", { n = 4 }, sizes))
    assert.is_true(needs(source, "i", "B", { n = 4 }, sizes))
    source = [[function(A, B, n) for i = 1, n do for j = 1, n do
      local s = 0.0
      if B[i][j] > 0 then s = 1.0 end
      A[i][j] = s
    end end end]]
    assert.is_false(needs(source, "i", "A", { n = 4 }, sizes))
  end)

  it("are those of which data decide, or are overwritten for certain", function()
    local result = extract [[function(A, B, C, n) for i = 1, n do
      if i > 1 then A[i] = 1.0 elseif B[i] > 0 then C[i] = 1.0 end
      if not (B[i] > 0 or i > 2) then B[i] = 1.0 else A[i] = C[i] end
    end end]]
    local undecided = {}
    for i = 1, 3 do undecided[i] = bounds.is_undecided(result, result.loops[1], result.tree.parameters[i]) end
    assert.same({ true, true, true }, undecided)
    result = extract "function(A, n) for i = 1, n do if i > 2 or n > 3 then A[i] = A[i] > 0 and 1.0 or 2.0 end end end"
    assert.is_false(bounds.is_undecided(result, result.loops[1], result.tree.parameters[1]))
  end)

  it("are needed where the budget is exceeded", function()
    local result = extract "function(A, n) for i = 1, #A do A[i] = 1.0 end end"
    assert.is_false(bounds.needed(result, result.loops[1], variable_of(result, "A")))
    assert.is_true(bounds.needed(result, result.loops[1], variable_of(result, "A"), 1))
  end)
end)

-- --- against what random nests really do ------------------------------------------

--- Loops that carry a dependence in a log: number to true.
local function observed_carried(log)
  local of_element, found = {}, {}
  for _, access in ipairs(log) do
    local name = access.array .. table.concat(access.key, ",")
    of_element[name] = of_element[name] or {}
    for _, earlier in ipairs(of_element[name]) do
      local depth = 1
      local one, other = earlier.passes, access.passes
      while one[depth] and other[depth] and one[depth].loop == other[depth].loop
        and one[depth].value == other[depth].value do depth = depth + 1 end
      if one[depth] and other[depth] and one[depth].loop == other[depth].loop
        and (earlier.write or access.write) then found[one[depth].loop] = true end
    end
    table.insert(of_element[name], access)
  end
  return found
end

--- Whether a log leaves an array of those sizes, and what subscripts it reaches: "A 1 -3" to true.
local function observed_bounds(log, sizes)
  local leaves, reached = false, {}
  for _, access in ipairs(log) do
    for d, subscript in ipairs(access.key) do
      reached[("%s %d %d"):format(access.array, d, subscript)] = true
      leaves = leaves or subscript < 1 or subscript > sizes[access.array][d]
    end
  end
  return leaves, reached
end

--- For each loop, and each way to come to it, whether an array's values are needed: a list of `{ loop=, outer={passes},
-- array=, needed= }`.
local function observed_needs(log, sizes)
  local instances, list = {}, {}
  for _, access in ipairs(log) do
    local path = ""
    for depth, pass in ipairs(access.passes) do
      local key = ("%s%d %s"):format(path, pass.loop, access.array)
      local instance = instances[key]
      if not instance then
        instance = { loop = pass.loop, outer = table.move(access.passes, 1, depth - 1, 1, {}), array = access.array,
          early = false, written = {}, count = 0 }
        instances[key], list[#list + 1] = instance, instance
      end
      local element = table.concat(access.key, ",")
      if access.write and not instance.written[element] then
        instance.written[element], instance.count = true, instance.count + 1
      end
      instance.early = instance.early or not access.write and not instance.written[element]
      path = ("%s%d=%d "):format(path, pass.loop, pass.value)
    end
  end
  for _, instance in ipairs(list) do
    local elements = 1
    for _, size in ipairs(sizes[instance.array]) do elements = elements * size end
    instance.needed = instance.early or instance.count < elements
  end
  return list
end

local function random_sizes()
  local function size() return math.random(0, 6) end
  return { A = { size() }, B = { size(), size() }, C = { size(), size() } }
end

--- Calls f with numbers, sizes and the log of each of some calls of a text.
local function each_call(text, f)
  for n = 0, 6 do
    local numbers, sizes = { n = n, m = math.random(0, 5) }, random_sizes()
    f(numbers, sizes, random_nest.run(text, numbers, sizes))
  end
end

local NESTS = os.getenv "LONG" and 1500 or 100

local function each_nest(options, f)
  for _ = 1, NESTS do
    local text = random_nest.text { deepest = math.random(3), data = options.data }
    local ok, message = pcall(f, text)
    if not ok then error(("%s\n%s"):format(tostring(message), text), 0) end
  end
end

local given_up = 0 -- nests whose analysis would take too long, which run in Lua then

local function assert_bounds(text, exact)
  local result = extract(text)
  local checks, reason = bounds.analyse(result)
  if not checks then
    assert.equal("the analysis takes more operations than its budget allows", reason)
    given_up = given_up + 1
    return
  end
  local find = bounds.compile(checks)
  each_call(text, function(numbers, sizes, log)
    local values = parameters(result, numbers, sizes)
    local check = find(values)
    local leaves, reached = observed_bounds(log, sizes)
    if leaves or exact then assert.equal(leaves, check ~= nil) end
    if check and exact then
      local index = bounds.evaluator(check.value)(values) + 1
      assert.is_true(reached[("%s %d %d"):format(check.array.name, check.dimension, index)])
      local size = sizes[check.array.name][check.dimension]
      assert.is_true(check.side == "below" and index < 1 or check.side == "above" and index > size)
    end
  end)
end

--- Answers only for calls that stay within bounds: others do not run.
local function assert_needs(text, exact)
  local result, compared, answers = extract(text), 0, {}
  local function answer(instance)
    local key = instance.loop .. instance.array
    if answers[key] == nil then
      local needed = bounds.needed(result, result.loops[instance.loop], variable_of(result, instance.array))
      answers[key] = type(needed) == "string" and bounds.evaluator(needed) or function() return needed end
    end
    return answers[key]
  end
  each_call(text, function(numbers, sizes, log)
    if observed_bounds(log, sizes) then return end
    local values = parameters(result, numbers, sizes)
    for _, instance in ipairs(observed_needs(log, sizes)) do
      for _, pass in ipairs(instance.outer) do values[result.loops[pass.loop].variable.id] = pass.value end
      local needed = answer(instance)(values)
      if instance.needed or exact then assert.equal(instance.needed, needed) end
      compared = compared + 1
    end
  end)
  return compared
end

describe("random nests", function()
  it("have the parallel loops that are found", function()
    local carriers, missed = 0, 0
    each_nest({}, function(text)
      local result, found = analyse(text), {}
      each_call(text, function(_, _, log)
        for loop in pairs(observed_carried(log)) do found[loop] = true end
      end)
      for number, loop in ipairs(result.loops) do
        if found[number] then assert.is_false(loop.parallel) end
        if not loop.parallel then carriers = carriers + 1 end
        if not loop.parallel and not found[number] then missed = missed + 1 end
      end
    end)
    assert.is_true(carriers > NESTS / 10)
    assert.is_true(missed <= carriers / 5, ("%d of %d are not seen"):format(missed, carriers)) -- for want of large n
  end)

  it("have none that is not parallel among those found, where data decide", function()
    each_nest({ data = true }, function(text)
      local result = analyse(text)
      each_call(text, function(_, _, log)
        for loop in pairs(observed_carried(log)) do assert.is_false(result.loops[loop].parallel) end
      end)
    end)
  end)

  it("leave their arrays exactly where the bounds say so", function()
    given_up = 0
    each_nest({}, function(text) assert_bounds(text, true) end)
    assert.is_true(given_up <= NESTS / 50, given_up .. " nests were given up")
  end)

  it("never leave them unforeseen where data decide", function()
    each_nest({ data = true }, function(text) assert_bounds(text, false) end)
  end)

  it("need the values of an array exactly where it is said", function()
    local compared = 0
    each_nest({}, function(text) compared = compared + assert_needs(text, true) end)
    assert.is_true(compared > 0)
  end)

  it("never need them unforeseen where data decide", function()
    local compared = 0
    each_nest({ data = true }, function(text) compared = compared + assert_needs(text, false) end)
    assert.is_true(compared > 0)
  end)
end)

