-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"
local choices = require "clcompute.tuning.choices"
local known = require "clcompute.tuning.known"
local store = require "clcompute.tuning.store"
local tune = require "clcompute.tune"
local tuning = require "clcompute.tuning"

--- Facts of a device, as `tuning.facts` has them.
local function facts(changes)
  local made = { type = "cpu", name = "Some CPU", vendor = "V", platform = "P", dtype = "float", size = 4, vector = 8,
    local_memory = 1 << 20, units = 4 }
  for key, value in pairs(changes or {}) do made[key] = value end
  return made
end

describe("tuning", function()
  it("chooses by what the device says of itself", function()
    assert.equal(16, tuning.choose(known.gemm, facts { vector = 16 }).vector)
    assert.equal(8, tuning.choose(known.gemm, facts()).vector)
    assert.equal(8, tuning.choose(known.gemm, facts { dtype = "double", vector = 8 }).vector)
    assert.equal("panels", tuning.choose(known.gemm, facts { vector = 1, local_memory = 32768 }).kernel)
    assert.equal("blocks", tuning.choose(known.gemm, facts { type = "gpu", vector = 1 }).kernel)
    assert.equal("blocks", tuning.choose(known.gemm, facts { type = "accelerator", local_memory = 49152 }).kernel)
    assert.equal("tiled", tuning.choose(known.gemm, facts { type = "gpu", local_memory = 1024 }).kernel)
    assert.equal(4, tuning.choose(known.gemm, facts()).units)
  end)

  it("has no row that its own local memory does not hold", function()
    for _, row in ipairs(known.gemm) do
      local size = row.where.dtype == "float" and 4 or 8
      local memory = row.where.local_memory or 32768
      if row.kernel == "panels" then
        assert.is_true(((row.mc + 4) * row.kc + row.vector) * size <= memory)
        assert.equal(0, row.mc % row.rows)
        assert.equal(0, row.nc % (2 * row.vector))
      end
      for _, block in ipairs(row.blocks or {}) do
        assert.is_true(2 * block.bk * (block.bm + block.bn + 8) * size <= memory)
        local items = block.bm // block.tm * (block.bn // block.tn)
        assert.equal(0, block.bm * block.bk % (4 * items))
        assert.equal(0, block.bn * block.bk % (4 * items))
      end
    end
  end)

  it("takes the first row whose conditions are all met, by parts of names too", function()
    local rows = { { where = { vendor = "Intel", units = 8 }, a = 1 }, { where = { vendor = "Intel" }, a = 2 },
      { where = {}, a = 3 } }
    assert.equal(1, tuning.choose(rows, facts { vendor = "The Intel Co", units = 8 }).a)
    assert.equal(2, tuning.choose(rows, facts { vendor = "The Intel Co", units = 7 }).a)
    assert.equal(3, tuning.choose(rows, facts()).a)
    assert.has_error(function() tuning.choose({ rows[1] }, facts()) end, "tuning: no row for Some CPU, float")
  end)
end)

describe("a device that gets a fast kernel wrong", function()
  it("takes the plain one, and the verdict is kept", function()
    local folder = os.tmpname()
    os.remove(folder)
    local script = [[
      local operations = require "clcompute.doctor.operations"
      local cl = require "clcompute"
      local d = cl.device()
      operations.rows["gemm float"].expected = WRONG and { 1 } or nil
      print(require "clcompute.tuning".of(d, "gemm", "float").kernel)
      print(cl.gemm(d:buffer { { 2 } }, d:buffer { { 3 } }):read()[1][1])]]
    local fast = tuning.of(helper.device(), "gemm", "float").kernel
    local environment = { CLCOMPUTE_CACHE = folder, CLCOMPUTE_DEVICE = helper.device().place }
    local ok, output = helper.run("WRONG = true\n" .. script, environment)
    assert.is_true(ok, output)
    assert.equal("tiled\n6.0\n", output)
    assert.equal("tiled\n6.0\n", select(2, helper.run(script, environment)))
    os.execute("rm -r " .. folder)
    ok, output = helper.run(script, environment)
    assert.is_true(ok, output)
    assert.equal(fast .. "\n6.0\n", output)
    os.execute("rm -r " .. folder)
  end)
end)

describe("what was tuned", function()
  --- Runs a script with its own file of numbers.
  local function with_file(text, script)
    local path = os.tmpname()
    if text then assert(io.open(path, "w")):write(text):close() else os.remove(path) end
    local ok, output = helper.run(script, { CLCOMPUTE_TUNING = path })
    os.remove(path)
    return ok, output
  end

  it("is kept and read back", function()
    local ok, output = with_file(nil, [[
      local store = require "clcompute.tuning.store"
      assert(next(store.read()) == nil)
      store.keep("one", { kernel = "panels", kc = 128, blocks = { { bm = 1 } } })
      store.keep("t|wo \"x\"", { kernel = "tiled" })
      local rows = store.read()
      print(rows.one.kc, rows.one.blocks[1].bm, rows["t|wo \"x\""].kernel)]])
    assert.is_true(ok, output)
    assert.equal("128\t1\ttiled\n", output)
  end)

  it("comes before what the project knows", function()
    local ok, output = with_file(nil, [[
      local cl = require "clcompute"
      local store = require "clcompute.tuning.store"
      local d = cl.device()
      store.keep(store.key(d, "gemm", "float"), { kernel = "panels", vector = 4, rows = 6, mc = 6, nc = 8, kc = 4,
        direct = 0 })
      local row = require "clcompute.tuning".of(d, "gemm", "float")
      print(row.vector, row.units == d.compute_units)
      print(cl.gemm(d:buffer { { 1, 2 }, { 3, 4 } }, d:buffer { { 5, 6 }, { 7, 8 } }):read()[2][1])]])
    assert.is_true(ok, output)
    assert.equal("4\ttrue\n43.0\n", output)
  end)

  for name, text in pairs {
    ["a syntax error"] = "return { a = }", ["code"] = "return { a = (function() return 1 end)() }",
    ["another file"] = "print 'hello'", ["no table"] = "return 3", ["nothing"] = "",
    ["what is no number"] = "return { a = { b = true } }",
  } do
    it("is warned of and left aside where the file holds " .. name, function()
      local ok, output = with_file(text, [[
        warn "@on"
        local cl = require "clcompute"
        local d = cl.device()
        print(cl.gemm(d:buffer { { 2 } }, d:buffer { { 3 } }):read()[1][1])
        cl.gemm(d:buffer({ { 2 } }, "double"), d:buffer({ { 3 } }, "double"))
        print(pcall(require "clcompute.tuning.store".keep, "x", {}))]])
      assert.is_true(ok, output)
      assert.matches("6.0\n", output, 1, true)
      assert.matches("false\t", output, 1, true)
      assert.equal(1, select(2, output:gsub("the numbers of the project are used instead", "")))
    end)
  end
end)

describe("tune", function()
  local d = helper.device()

  it("tries candidates, checks them, and keeps what it said", function()
    local was, calls = choices.gemm, 0
    choices.gemm = { { kernel = "panels", lines = { { m = 30, n = 40, k = 20 } }, values = { { "kc", { 4, 8 } } } },
      { kernel = "blocks", lines = { { m = 30, n = 40, k = 20 } },
        values = { { "blocks", { { { bm = 16, bn = 16, bk = 4, tm = 4, tn = 4 } } } } } } }
    local ok, found = pcall(tune.run, d, { operations = { "gemm" }, dtypes = { "float" }, seconds = 20, keep = false,
      progress = function(event)
        calls = calls + 1
        assert.equal("ok", event.status)
      end })
    choices.gemm = was
    assert.is_true(ok, found)
    assert.is_true(calls >= 1)
    assert.equal("gemm", found[1].operation)
    assert.is_nil(found[1].path)
    assert.is_true(found[1].reason ~= nil or found[1].is_faster)
    for _, row in ipairs(found[1].tried) do assert.is_true(row.checked) end
    assert.same(found[1].before.kernel, tuning.of(d, "gemm", "float").kernel)
  end)

  it("leaves out a candidate that is wrong", function()
    local was = choices.gemm
    choices.gemm = { { kernel = tuning.of(d, "gemm", "float").kernel, lines = { { m = 8, n = 8, k = 8 } },
      values = { { "kernel", { "no such" } } } } }
    local ok, found = pcall(tune.run, d, { operations = { "gemm" }, dtypes = { "float" }, seconds = 5, keep = false })
    choices.gemm = was
    assert.is_true(ok, found)
    assert.is_nil(found[1].path)
  end)

  it("names what is wrong", function()
    helper.raises({ "tune", "'gem'", "gemm" }, tune.run, d, { operations = { "gem" } })
    helper.raises({ "tune", "'second'" }, tune.run, d, { second = 3 })
    helper.raises({ "tune", "'seconds'" }, tune.run, d, { seconds = -3 })
  end)

  it("has choices for kernels that there are, with numbers that rows have", function()
    for operation, list in pairs(choices) do
      for _, choice in ipairs(list) do
        for _, row in ipairs(known[operation]) do
          if row.kernel == choice.kernel then
            for _, pair in ipairs(choice.values) do assert.is_not_nil(row[pair[1]], pair[1]) end
          end
        end
      end
    end
    assert.same({ "gemm" }, { tune.operations()[1] })
  end)

  it("is a command", function()
    local ok, output = helper.run([[os.exit(require "clcompute.cli".run { "tune", "gem" })]], {})
    assert.is_false(ok)
    assert.matches("no operation 'gem'; there are gemm", output, 1, true)
  end)
end)

describe("cl", function()
  it("has no functions of tuning", function()
    assert.is_nil(cl.set_tuning)
    assert.is_nil(cl.forget_tuning)
    assert.is_not_nil(store.path())
  end)
end)
