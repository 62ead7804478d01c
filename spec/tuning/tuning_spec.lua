-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"
local candidates = require "clcompute.tuning.candidates"
local known = require "clcompute.tuning.known"
local rules = require "clcompute.tuning.rules"
local store = require "clcompute.tuning.store"
local tune = require "clcompute.tune"
local tuning = require "clcompute.tuning"

--- Facts of a device, as `tuning.facts` has them.
local function facts(changes)
  local made = { type = "cpu", name = "Some CPU", vendor = "V", platform = "P", dtype = "float", size = 4, vector = 8,
    local_memory = 1 << 20, max_group = 1024, units = 4, capability = 0 }
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

  it("has no row that its kernels cannot run with, in the local memory that it asks for", function()
    for operation, rows in pairs(known) do
      for _, row in ipairs(rows) do
        local dtype = row.where.dtype or "double"
        local own = facts { dtype = dtype, size = dtype == "float" and 4 or 8,
          local_memory = row.where.local_memory or 32768 }
        assert.is_nil(rules.fault(operation, row, own))
        if row.kernel == "panels" then assert.equal(0, row.mc % row.rows) end
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
  it("takes the plain one, and the verdict is kept; the test is of the fast one, whatever is kept", function()
    local folder = os.tmpname()
    os.remove(folder)
    local script = [[
      local answers, cl, tuning = require "clcompute.answers", require "clcompute", require "clcompute.tuning"
      local d, test = cl.device(), answers.operation_tests.rows["gemm float"]
      local multiply = test.operation
      function test.operation(...)
        local values = multiply(...)
        if WRONG and tuning.of(d, "gemm", "float").kernel ~= "tiled" then values[1] = values[1] + 1 end
        return values
      end
      print((answers.run(d, test)))
      print(tuning.of(d, "gemm", "float").kernel)
      cl.profile(true)
      print(cl.gemm(d:buffer { { 2 } }, d:buffer { { 3 } }):read()[1][1])
      print(tostring(cl.profile()):match "gemm_(%l+)")]]
    local fast = tuning.of(helper.device(), "gemm", "float").kernel
    local environment = { CLCOMPUTE_CACHE = folder, CLCOMPUTE_DEVICE = helper.device().place }
    local ok, output = helper.run("WRONG = true\n" .. script, environment)
    assert.is_true(ok, output)
    assert.equal("fault\ntiled\n6.0\ntiled\n", output)
    assert.equal("ok\ntiled\n6.0\ntiled\n", select(2, helper.run(script, environment)))
    os.execute("rm -r " .. folder)
    ok, output = helper.run(script, environment)
    assert.is_true(ok, output)
    assert.matches("^ok\n" .. fast .. "\n6.0\n", output)
    assert.not_matches("tiled", output)
    os.execute("rm -r " .. folder)
  end)

  it("takes the verdict of nobody else's file, and begins a long one anew", function()
    local folder = helper.folder()
    local script = [[
      local known_answer = require "clcompute.answers.known_answer"
      local d, test = require "clcompute".device(), { name = "two", range = 1,
        source = "kernel void test(global int *x) { *x = 2; }", dtype = "int", n = 1, args = {}, expected = { 2 } }
      print(known_answer.verdict(d, test))]]
    local path = folder .. "/verdicts"
    local environment = { CLCOMPUTE_CACHE = folder, CLCOMPUTE_DEVICE = helper.device().place }
    assert.equal("ok\n", helper.output(script, environment))
    local lie = helper.read(path):gsub("ok\t", "fault\t")
    helper.write(path, lie)
    assert.equal("fault\n", helper.output(script, environment))
    for _, change in ipairs { "chmod o+w %s", "chown 65534 %s || chmod o+w %s", "mv %s %s.other; ln -s %s.other %s" } do
      helper.write(path, lie)
      assert(os.execute((change:gsub("%%s", path))))
      assert.equal("ok\n", helper.output(script, environment), change)
      assert.equal(lie, helper.read(path), change)
      assert(os.execute("rm -f " .. path .. "*"))
    end
    helper.write(path, ("x"):rep(1 << 20))
    for _ = 1, 2 do assert.equal("ok\n", helper.output(script, environment)) end
    assert.is_true(#helper.read(path) < 1000)
    assert(os.execute("rm -r " .. folder))
  end)
end)

describe("what was tuned", function()
  --- Runs a script with its own file of numbers.
  local function with_file(text, script)
    local path = os.tmpname()
    if text then assert(io.open(path, "w")):write(text):close() else os.remove(path) end
    local output = helper.output(script, { CLCOMPUTE_TUNING = path })
    os.remove(path)
    return output
  end

  it("is kept and read back", function()
    local output = with_file(nil, [[
      require "clcompute"
      local store = require "clcompute.tuning".store
      assert(next(store.read()) == nil)
      store.keep("one", { kernel = "panels", kc = 128, blocks = { { bm = 1 } } })
      store.keep("t|wo \"x\"", { kernel = "tiled" })
      local rows = store.read()
      print(rows.one.kc, rows.one.blocks[1].bm, rows["t|wo \"x\""].kernel)]])
    assert.equal("128\t1\ttiled\n", output)
  end)

  it("comes before what the project knows", function()
    local output = with_file(nil, [[
      local cl = require "clcompute"
      local store = require "clcompute.tuning.store"
      local d = cl.device()
      store.keep(store.key(d, "gemm", "float"), { kernel = "panels", vector = 4, rows = 6, mc = 6, nc = 8, kc = 4,
        direct = 0 })
      local row = require "clcompute.tuning".of(d, "gemm", "float")
      print(row.vector, row.units == d.compute_units)
      print(cl.gemm(d:buffer { { 1, 2 }, { 3, 4 } }, d:buffer { { 5, 6 }, { 7, 8 } }):read()[2][1])]])
    assert.equal("4\ttrue\n43.0\n", output)
  end)

  it("is warned of and left aside where the file holds something else", function()
    local texts = {
      ["a syntax error"] = "return { a = }", ["code"] = "return { a = (function() return 1 end)() }",
      ["another file"] = "print 'hello'", ["no table"] = "return 3", ["nothing"] = "",
      ["what is no number"] = "return { a = { b = true } }",
      ["nested tables without end"] = "return " .. ("{"):rep(1000),
      ["what never ends"] = [[return { a = ("x"):rep(1e5):find(("x*"):rep(9) .. "y"), b = '"' }]],
      ["code between two quotes"] = [[return { a = '"', b = ("x"):rep(1e5):find(("x*"):rep(9) .. "y"), c = '"' }]],
    }
    local script = { [[
      warn "@on"
      local cl = require "clcompute"
      local store, tuning = require "clcompute.tuning.store", require "clcompute.tuning"
      local d = cl.device()
      local function try(name, text)
        local file <close> = assert(io.open(store.path(), "w"))
        file:write(text):close()
        tuning.reload()
        print("== " .. name)
        print(cl.saxpy(2, d:buffer { 3 }, d:buffer { 0 })[1])
        print(cl.sum(d:buffer { 1 }))
        print(pcall(store.keep, "x", {}))
        io.stdout:flush() -- before the next warning
      end]] }
    for name, text in pairs(texts) do script[#script + 1] = ("try(%q, %q)"):format(name, text) end
    script[#script + 1] = "print '== '"
    local output = with_file("", table.concat(script, "\n"))
    for name in pairs(texts) do
      local part = output:match("== " .. name .. "\n(.-)== ")
      assert.matches("6.0\n", part, 1, true)
      assert.matches("false\t", part, 1, true)
    end
    local warnings = select(2, output:gsub("the numbers of the project are used instead", ""))
    assert.equal(9, warnings, output)
  end)

  it("is left aside where a file never ends", function()
    local output = helper.output([[
      warn "@on"
      print((next((require "clcompute.tuning.store".read()))))]], { CLCOMPUTE_TUNING = "/dev/zero" })
    assert.equal("nil\n", output)
  end)

  it("is warned of with the file's name, and left aside, where kernels cannot run with a row", function()
    local path = os.tmpname()
    local ok, output = helper.run([[
      warn "@on"
      local cl = require "clcompute"
      local store = require "clcompute.tuning.store"
      local tuning = require "clcompute.tuning"
      local d = cl.device()
      os.remove(store.path())
      local L = { vector = 4, group = 1, columns = 0, block = 0, large = 0, few = 0 }
      for _, dtype in ipairs { "float", d.has_double and "double" } do
        store.keep(store.key(d, "gemm", dtype), { kernel = "blocks", blocks = "abc" })
        store.keep(store.key(d, "lu", dtype), L)
        tuning.reload()
        local a = d:buffer({ { 2, 1 }, { 1, 3 } }, dtype)
        for _ = 1, 2 do print(cl.gemm(a, a):read()[1][1], math.floor(cl.lu(a):det() + 0.5)) end
      end]], { CLCOMPUTE_TUNING = path })
    os.remove(path)
    assert.is_true(ok, output)
    local dtypes = select(2, output:gsub("5.0\t5\n5.0\t5\n", ""))
    assert.is_true(dtypes >= 1, output)
    assert.equal(2 * dtypes, select(2, output:gsub(path:gsub("%p", "%%%0") .. ": %[", "")))
  end)
end)

describe("rules of tuning", function()
  local function changed(row, changes)
    local made = {}
    for key, value in pairs(row) do made[key] = value end
    for key, value in pairs(changes) do made[key] = value end
    return made
  end
  local panels = { kernel = "panels", vector = 8, rows = 6, mc = 12, nc = 32, kc = 20, direct = 0 }
  local block = { bm = 64, bn = 64, bk = 16, tm = 4, tn = 4, held = 4, alone = 1000, full = 2000 }
  local thin = { along = 8, beside = 8, worth = 0, group = 64, team = 32, rows = 2, across = 32, ahead = 4, held = 8,
    least = 256 }
  local lu = { vector = 8, group = 1, columns = 32, block = 64, large = 0, few = 0 }
  local tournament = { vector = 1, group = 64, columns = 8, block = 32, large = 0, few = 0, rows = 16, warp = 1 }

  local function gpu(changes) return changed({ size = 4, max_group = 256, local_memory = 32768 }, changes or {}) end

  it("take rows that kernels can run with", function()
    assert.is_nil(rules.fault("gemm", panels, facts()))
    assert.is_nil(rules.fault("gemm", { kernel = "blocks", blocks = { block } }, facts()))
    local room = 2 * 16 * (64 + 4 + 64 + 4) * 4 -- bytes: two slices of each operand, whose rows are 4 floats longer
    assert.is_nil(rules.fault("gemm", { kernel = "blocks", blocks = { block } }, facts { local_memory = room }))
    assert.matches(("%d bytes of local memory"):format(room),
      rules.fault("gemm", { kernel = "blocks", blocks = { block } }, facts { local_memory = room - 1 }))
    assert.is_nil(rules.fault("gemm", { kernel = "tiled" }, facts()))
    assert.is_nil(rules.fault("gemm", { kernel = "tiled", thin = thin, launch = 4, stream = 3000 }, facts()))
    assert.is_nil(rules.fault("lu", lu, facts()))
    assert.is_nil(rules.fault("lu", tournament, gpu()))
    assert.is_nil(rules.fault("lu", changed(tournament, { columns = 32, block = 64, rows = 64, warp = 32 }), gpu()))
    local shared = { rows = 128, share = 2, last = 256, last_share = 4, warp = 32, block = 128 }
    assert.is_nil(rules.fault("lu", changed(tournament, shared), gpu()))
  end)

  it("refuse numbers that a tournament of pivots does not end with, or that no group has room for", function()
    for _, case in ipairs { { "columns", 2 }, { "warp", 16 }, { "block", 16 }, { "block", 36 },
      { "block", 512 }, { "rows", 8 }, { "rows", 12 }, { "rows", 0 }, { "rows", 192 } } do
      assert.matches(case[1], rules.fault("lu", changed(tournament, { [case[1]] = case[2] }), gpu()))
    end
    for _, case in ipairs { { 3, 32, "share" }, { 2, 1, "share" }, { 4, 32, "rows" } } do
      local row = changed(tournament, { share = case[1], warp = case[2], rows = 64, block = 128 })
      assert.matches(case[3], rules.fault("lu", row, gpu()))
      assert.is_nil(rules.fault("lu", changed(row, { share = 1 }), gpu()))
      row = changed(row, { share = 1, last = 64, last_share = case[1] })
      assert.matches(case[3] == "rows" and "last" or "last_share", rules.fault("lu", row, gpu()))
    end
    assert.matches("groups of 128", rules.fault("lu", tournament, gpu { max_group = 64 }))
    assert.matches("local memory", rules.fault("lu", tournament, gpu { local_memory = 2048 }))
  end)

  it("ask of a scan in one pass that lines divide groups and blocks, and tiles fit", function()
    local scan = { kernel = "scan_groups", group = 256, lanes = 1, granule = 2048, least = 8192, per_unit = 8,
      ahead = 0, share = 23, block = 128, one_pass = 1 }
    assert.is_nil(rules.fault("scan", scan, gpu()))
    for _, case in ipairs { { "group", 8 }, { "block", 8 }, { "block", 512 }, { "share", 0 }, { "share", 65 } } do
      assert.matches(case[1], rules.fault("scan", changed(scan, { [case[1]] = case[2] }), gpu()))
    end
    assert.matches("local memory", rules.fault("scan", scan, gpu { local_memory = 16384 }))
  end)

  it("refuse numbers of doubles that a warp or a copy does not go round with", function()
    local shape = { bm = 32, bn = 32, bk = 16, tm = 4, tn = 2, stages = 3, depth = 8, held = 1, alone = 1, full = 1 }
    local function fault(changes, of_device)
      local row = { kernel = "doubles", least = 0, blocks = { block }, shapes = { changed(shape, changes) } }
      return rules.fault("gemm", row, gpu(changed({ size = 8, local_memory = 48000 }, of_device or {})))
    end
    assert.is_nil(fault {})
    for _, case in ipairs { { "bm", 24 }, { "bn", 40 }, { "tm", 6 }, { "tn", 3 }, { "bk", 8 }, { "depth", 16 },
      { "stages", 1 }, { "held", 0 }, { "parts", 2 } } do
      assert.matches(case[1], fault { [case[1]] = case[2] })
    end
    assert.matches("whole lines of 48", fault { bm = 48, bn = 16, tm = 12 })
    assert.matches("go round", fault { bm = 128, bn = 16 })
    assert.matches("local memory", fault({}, { local_memory = 30000 }))
  end)

  it("ask of warpgroups how long a tile takes, and that tiles fit", function()
    local function fault(class, changes)
      local shape = changed({ warpgroups = 2, bn = 128, stages = 4, band = 8, tile = 1 }, changes)
      return rules.fault("gemm " .. class, { kernel = "warpgroups", least = 0, depth = 0, shapes = { shape } },
        gpu { local_memory = 131072 })
    end
    assert.is_nil(fault("tf32", {}))
    for _, case in ipairs { { "tile", 0 }, { "bn", 64 }, { "warpgroups", 9 }, { "band", 0 } } do
      assert.matches(case[1], fault("tf32", { [case[1]] = case[2] }))
    end
    assert.matches("local memory", fault("tf32", { stages = 5 }))
    assert.matches("local memory", fault("float-tensor", {}))
    assert.matches("bn", fault("float-tensor", { bn = 256 }))
  end)

  it("refuse warps that cannot share a slice, or have no room for their sums", function()
    local shape = { bm = 32, bn = 32, bk = 32, tm = 4, tn = 8, ways = 4, stages = 3, held = 1, alone = 1, full = 1 }
    local function fault(changes, of_row)
      local row = { kernel = "pipelined", least = 0, blocks = { block }, shapes = { changed(shape, changes) } }
      return rules.fault("gemm", changed(row, of_row or {}), gpu { local_memory = 48000 })
    end
    assert.is_nil(fault {})
    assert.is_nil(fault({ two = 1 }, { launch = 7, stream = 3000, part = 880 }))
    for _, case in ipairs { { "ways", 0 }, { "ways", 9 }, { "bk", 40 }, { "ways", "2" }, { "two", 0 },
      { "parts", 0 } } do
      assert.matches(case[1], fault { [case[1]] = case[2] })
    end
    assert.matches("no room", fault { bm = 64, bn = 128, tm = 8, bk = 16, ways = 2, stages = 2 })
    assert.matches("part", fault({}, { part = -1 }))
    assert.matches("go round", fault { bk = 16, tn = 4 })
  end)

  it("refuse numbers that divide by zero, never end, or do not fit, and name them", function()
    for _, case in ipairs { { "mc", 0 }, { "nc", 0 }, { "nc", 33 }, { "kc", 0 }, { "kc", 1 << 20 }, { "vector", 3 },
      { "rows", 7 }, { "mc", 1e300 }, { "mc", 0 / 0 }, { "kc", "20" }, { "direct", -1 }, { "mc", 1 << 62 } } do
      local fault = rules.fault("gemm", changed(panels, { [case[1]] = case[2] }), facts())
      assert.is_true(fault:find(case[1], 1, true) ~= nil or fault:find("local memory", 1, true) ~= nil, fault)
    end
    for _, case in ipairs { { "bm", 0 }, { "bn", 30 }, { "bk", 3 }, { "tm", 7 }, { "tn", "4" }, { "bm", 1 << 40 },
      { "held", 0 }, { "alone", 0.5 }, { "full", 0 } } do
      local row = { kernel = "blocks", blocks = { block, changed(block, { [case[1]] = case[2] }) } }
      assert.matches(case[1], rules.fault("gemm", row, facts()))
    end
    for _, blocks in ipairs { "abc", 3, {}, { "a" }, { changed(block, { bm = 256, bn = 256 }) },
      { changed(block, { bm = 4, bk = 4 }) } } do
      assert.matches("blocks: ", rules.fault("gemm", { kernel = "blocks", blocks = blocks }, facts()))
    end
    for _, case in ipairs { { "along", 17 }, { "beside", -1 }, { "group", 48 }, { "group", 2048 }, { "rows", 0 },
      { "team", 128 }, { "worth", -1 }, { "across", 128 },
      { "across", 3 }, { "ahead", 0 }, { "held", 0 }, { "least", 0 }, { "rows", 9 } } do
      local row = { kernel = "tiled", thin = changed(thin, { [case[1]] = case[2] }) }
      assert.matches(case[1], rules.fault("gemm", row, facts()))
    end
    assert.matches("local memory", rules.fault("gemm", { kernel = "tiled", thin = changed(thin, { rows = 8 }) },
      gpu { local_memory = 8192 }))
    assert.matches("thin", rules.fault("gemm", { kernel = "tiled", thin = 3 }, facts()))
    assert.matches("stream", rules.fault("gemm", { kernel = "tiled", stream = -1 }, facts()))
    for _, case in ipairs { { "vector", 7 }, { "columns", 0 }, { "columns", 13 }, { "block", 0 }, { "block", 33 },
      { "group", 0 }, { "group", 1 << 20 }, { "large", 0.5 }, { "items", -1 } } do
      assert.matches(case[1], rules.fault("lu", changed(lu, { [case[1]] = case[2] }), facts()))
    end
    for _, row in ipairs { "hello", 5, {}, { kernel = {} } } do assert.is_string(rules.fault("gemm", row, facts())) end
  end)
end)

describe("tune", function()
  local d = helper.device()

  it("tries candidates, checks them, and keeps what it said", function()
    local was, calls = candidates.gemm, 0
    candidates.gemm = { { kernel = "panels", lines = { { m = 30, n = 40, k = 20 } }, values = { { "kc", { 4 } } } },
      { kernel = "blocks", lines = { { m = 30, n = 40, k = 20 } },
        values = { { "blocks", { { { bm = 16, bn = 16, bk = 4, tm = 4, tn = 4, held = 1, alone = 1, full = 1 } } } } },
      },
      { kernel = "pipelined", lines = { { m = 30, n = 40, k = 20 } }, values = { { "least", { 0, 1 } } } } }
    local ok, found = pcall(tune.run, d, { operations = { "gemm" }, dtypes = { "float" }, seconds = 20, keep = false,
      progress = function(event)
        calls = calls + 1
        assert.equal("ok", event.status)
      end })
    candidates.gemm = was
    assert.is_true(ok, found)
    assert.is_true(calls >= 1)
    assert.equal("gemm", found[1].operation)
    assert.is_nil(found[1].path)
    assert.is_true(found[1].reason ~= nil or found[1].is_faster)
    for _, row in ipairs(found[1].tried) do assert.is_true(row.checked) end
    assert.same(found[1].before.kernel, tuning.of(d, "gemm", "float").kernel)
  end)

  it("leaves out a candidate that is wrong", function()
    local was = candidates.gemm
    candidates.gemm = { { kernel = tuning.of(d, "gemm", "float").kernel, lines = { { m = 8, n = 8, k = 8 } },
      values = { { "kernel", { "no such" } } } } }
    local ok, found = pcall(tune.run, d, { operations = { "gemm" }, dtypes = { "float" }, seconds = 5, keep = false })
    candidates.gemm = was
    assert.is_true(ok, found)
    assert.is_nil(found[1].path)
  end)

  it("names what is wrong", function()
    helper.raises({ "tune", "'gem'", "gemm" }, tune.run, d, { operations = { "gem" } })
    helper.raises({ "tune", "'second'" }, tune.run, d, { second = 3 })
    helper.raises({ "tune", "'seconds'" }, tune.run, d, { seconds = -3 })
    helper.raises({ "tuning: lu, float: columns" }, tuning.use, d, "lu", "float",
      { vector = 4, group = 1, columns = 0, block = 0, large = 0, few = 0 })
  end)

  it("has candidates for kernels that there are, with numbers that rows have", function()
    for operation, list in pairs(candidates) do
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

  it("says as a command what was before, what is kept, and by how much it helps", function()
    local _, output = helper.run([[
      package.loaded["clcompute.tune"] = { operations = function() return { "gemm" } end, run = function()
        return { { operation = "gemm", dtype = "float", tried = { 1, 2 }, before = { kernel = "naive" },
          after = { kernel = "tiled", edge = 8 }, before_seconds = 0.004, after_seconds = 0.002, ratio = 0.5 } }
      end }
      os.exit(require "clcompute.cli".run { "tune", "gemm" })]], {})
    assert.matches("gemm, float: 2 candidates\n  before  kernel=naive\n  after   edge=8 kernel=tiled\n"
      .. "  4 ms before, 2 ms after: 2.00 times as fast\n", output, 1, true)
  end)
end)

describe("cl", function()
  it("has no functions of tuning", function()
    assert.is_nil(cl.set_tuning)
    assert.is_nil(cl.forget_tuning)
    assert.is_not_nil(store.path())
  end)
end)
