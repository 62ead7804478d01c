-- SPDX-License-Identifier: MIT
--- `clcompute report scaling`, of pretended devices and of ranks, and the model of what operations take.

local helper = require "spec.helper"
local cl = require "clcompute"
local model = require "clcompute.suite.scaling_model"

local has_mpi = helper.shell("command -v mpirun"):find "mpirun" ~= nil
  and package.searchpath("clcompute.ranks", package.cpath)

-- Prints of each row what does not change from run to run.
local SCRIPT = [[
  local cl = require "clcompute"
  local document = require "clcompute.suite".report("scaling",
    { devices = cl.devices "portable", selector = "portable", quick = true, sizes = { 384, 3840000 } })
  for _, row in ipairs(document and document.sections[1].rows or {}) do
    print(row.name, row.scaling, row.params.n, row.count, row.grid,
      row.reason and row.status .. ": " .. row.reason or row.status, row.bytes, row.theory,
      row.speedup and row.efficiency * row.count == row.speedup and "related" or "alone", row.runs)
  end
  if document then assert(require "clcompute.report".svg(document.sections[1]):find "efficiency") end
]]

local function check(output)
  assert.matches("gemm\tstrong\t384\t1\t1x1\tok\t0\t0\talone\t3\n", output)
  assert.matches("gemm\tstrong\t384\t2\t1x2\tok\t(589824)\t%1\trelated\t3\n", output) -- bytes as in theory
  assert.matches("gemm\tweak\t512\t2\t1x2\tok\t", output)
  assert.matches("lu and solve\tstrong\t384\t2\t1x2\tok\t(%d+)\t%1\trelated\t3\n", output)
  assert.matches("gemm\tstrong\t3840000\tnil\tnil\tskipped: it would take %d+ s, and may take 20 %(%-%-limit%)\t",
    output)
  assert.matches("saxpy\tweak\t2097152\t2\t1x2\tok\t0\t0\trelated\t3\n", output)
  assert.matches("sum\tstrong\t1048576\t2\t1x2\tok\t0\t0\trelated\t3\n", output)
end

describe("the report on scaling", function()
  it("relates two devices of a process to one", function()
    if #cl.devices "portable" == 0 then return pending "no POCL" end
    check(helper.output(SCRIPT, { POCL_DEVICES = "pthread pthread" }))
  end)

  it("relates the ranks of a job to one of them, and one of them shows it", function()
    if not has_mpi or #cl.devices "portable" == 0 then return pending "no MPI, or no POCL" end
    local path = os.tmpname()
    helper.write(path, SCRIPT)
    local output, is_well = helper.shell(("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 120 "
      .. "mpirun --oversubscribe -n 2 %s %s"):format(helper.lua, path))
    os.remove(path)
    assert.is_true(is_well, output)
    check(output)
    assert.equal(1, select(2, output:gsub("gemm\tstrong\t384\t2", "")))
  end)
end)

describe("the example of scaling", function()
  it("has machines on paper, and predicts what it measures on ranks and on devices", function()
    local paper = helper.shell(helper.lua .. " examples/scaling.lua paper")
    assert.equal(9, select(2, paper:gsub("\n", "\n")), paper)
    assert.matches("\n1,000 hosts of 8, 80x100 +4194304 +26.4 +[%d.]+ s +%d+ %% +[%d.]+ s +%d+ %% +12525.6\n$", paper)
    if #cl.devices "portable" == 0 then return pending "no POCL" end
    local function run(launcher, environment)
      local output, is_well = helper.shell(("CLCOMPUTE_DEVICE=portable OMPI_ALLOW_RUN_AS_ROOT=1 "
        .. "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 %s timeout 120 %s %s examples/scaling.lua 320,512 64"):format(environment,
        launcher, helper.lua))
      assert.is_true(is_well, output)
      assert.matches("2 ranks, grid 1x2, blocks of 64; step [%d.]+ ms, message [%d.]+ ms\n", output)
      assert.matches("\n  product +[%d.]+ ms and +[%d.]+ Gop/s\n", output)
      assert.matches("\n  send +[%d.]+ ms and +[%d.]+ GB/s\nn = 320: gemm predicted +[%d.]+ ms, measured", output)
      assert.matches("\nn = 512: lu   predicted +[%d.]+ ms, measured +[%d.]+ ms: [%d.]+\n$", output)
    end
    run("", "POCL_DEVICES='pthread pthread'")
    if has_mpi then run("mpirun --oversubscribe -n 2", "") end
  end)
end)

describe("the model of scaling", function()
  local machine

  before_each(function()
    machine = { product = 1e11, update = 1e11, panel = 1e11, solve = 1e11, copy = 1e10, norm = 1e10, exchange = 1e10,
      link = 1e9, send = 2e9, latency = 1e-5, step = 1e-4 }
  end)

  it("has the bytes of theory", function()
    assert.equal(4 * 1000 ^ 2 * 3, model.bytes("gemm", 1000, 2, 3))
    assert.equal(2 * 1000 ^ 2, model.bytes("lu and solve", 1000, 1, 2))
    assert.equal(0, model.bytes("sum", 1000, 4, 4))
  end)

  it("divides the work, and adds what moves", function()
    local one = model.seconds("gemm", machine, 4096, 1, 1, 256)
    assert.is_true(math.abs(one - 2 * 4096 ^ 3 / machine.product) < 1e-9)
    local two = model.seconds("gemm", machine, 4096, 1, 2, 256)
    local moved = model.bytes("gemm", 4096, 1, 2) / 2 / machine.link + 8 * machine.latency
    assert.is_true(math.abs(two - one / 2 - moved) < 1e-9)
    for _, grid in ipairs { { 1, 2 }, { 2, 2 } } do
      local alone = model.seconds("lu", machine, 4096, 1, 1, 256)
      assert.is_true(alone > 2 / 3 * 4096 ^ 3 / machine.update)
      assert.is_true(model.seconds("lu", machine, 4096, grid[1], grid[2], 256) < alone)
      local slow = setmetatable({ link = 1e6, send = 1e6 }, { __index = machine })
      assert.is_true(model.seconds("lu", slow, 4096, grid[1], grid[2], 256) > alone)
    end
  end)

  it("hides transfers behind kernels where they overlap, as far as these last", function()
    local function gemm(changes)
      return model.seconds("gemm", setmetatable(changes, { __index = machine }), 4096, 1, 2, 256)
    end
    local computed, moved = 4096 ^ 3 / machine.product, 4 * 4096 ^ 2 / 2 / machine.link + 8 * machine.latency
    assert.is_true(math.abs(gemm { overlaps = true } - computed - moved / 4) < 1e-9) -- the first of four panels
    local slow = 1e7 -- all but the last product are hidden behind transfers
    local slowly = 4 * 4096 ^ 2 / 2 / slow + 8 * machine.latency
    assert.is_true(math.abs(gemm { overlaps = true, link = slow } - slowly - computed / 4) < 1e-9)
    local function lu(changes)
      return model.seconds("lu", setmetatable(changes, { __index = machine }), 4096, 1, 2, 256)
    end
    assert.is_true(lu { overlaps = true } < lu {})
    local of_panels = lu { overlaps = true, product = 1e15, update = 1e15, solve = 1e15, exchange = 1e15, norm = 1e15 }
    local least = 0 -- where the rest takes no time the panels do, one after the other
    for k = 0, 4095, 256 do least = least + (4096 - k) * 256 * 256 / machine.panel end
    assert.is_true(of_panels > least and of_panels < 3 * least)
  end)

  it("has what any work takes at least", function()
    machine.product = { fixed = 1, rate = 1e11 }
    assert.is_true(math.abs(model.seconds("gemm", machine, 4096, 1, 1, 256) - 4 - 2 * 4096 ^ 3 / 1e11) < 1e-9)
  end)
end)
