-- SPDX-License-Identifier: MIT
--- What is built before it is needed, and what first builds cost.

local calls = require "clcompute.warm.calls"
local command = require "spec.support.command"
local helper = require "spec.helper"
local pocl_log = require "clcompute.warm.pocl_log"
local process = require "clcompute.base.process"

local device, shell = helper.device(), helper.shell

--- A folder for a spec's caches, and the variables that name it.
local function new_caches()
  local folder = helper.folder()
  finally(function() shell("rm -rf " .. folder) end)
  return folder, { CLCOMPUTE_CACHE = folder .. "/cache", POCL_CACHE_DIR = folder .. "/pocl", CLCOMPUTE_BUILD = "",
    CLCOMPUTE_DEVICE = device.place, TMPDIR = folder }
end

local function prefix_of(environment)
  local words = {}
  for name, value in pairs(environment) do words[#words + 1] = ("%s='%s' "):format(name, value) end
  return table.concat(words)
end

describe("the rows of clcompute warm", function()
  it("call each operation of the reference", function()
    local called = {}
    for _, row in ipairs(calls.of(device)) do
      for name in row.name:gsub(",.*", ""):gmatch "%a[%w_]*" do called[name] = true end
    end
    for _, file in ipairs { "operations", "arrays" } do
      local stubs = helper.read(("library/clcompute/%s.lua"):format(file))
      for name in stubs:gmatch "\nfunction cl%.([%w_]+)%(" do
        assert(called[name], ("lua/clcompute/warm/calls.lua does not call cl.%s"):format(name))
      end
    end
  end)

  it("leave doubles out where a device has none, and the test of progress but for GPUs", function()
    local function names(facts)
      local list = {}
      for i, row in ipairs(calls.of(facts)) do list[i] = row.name end
      return table.concat(list, "\n")
    end
    assert.matches("sum reduce of double", names { has_double = true }, 1, true)
    assert.is_nil(names {}:find("double", 1, true))
  end)
end)

describe("clcompute warm", function()
  it("keeps the binaries of all rows with --system, as other users have no POCL cache of ours", function()
    local folder, environment = new_caches()
    environment.CLCOMPUTE_SYSTEM_CACHE = folder .. "/common"
    command.succeeds("warm --system --only 'min of int'", prefix_of(environment))
    assert.matches("%x%.bin\n", (shell(("find %s/common -name '*.bin'"):format(folder))))
    assert.equal("", (shell(("find %s/common -name '*.bin' -size 0"):format(folder))))
  end)

  it("keeps programs and verdicts, so that a second one and a script build nothing", function()
    local _, environment = new_caches()
    local prefix = prefix_of(environment)
    for _, only in ipairs { "images", "saxpy of float" } do
      local out = command.succeeds(("warm --only '%s'"):format(only), prefix)
      assert.matches(": all is built, in [%d.]+ s; [1-9]%d* programs were added to the cache\n$", out)
      assert.matches("; 0 programs were added to the cache\n$",
        command.succeeds(("warm --only '%s'"):format(only), prefix))
    end
    assert.matches("\timages of single halves\t", helper.read(environment.CLCOMPUTE_CACHE .. "/verdicts"), 1, true)
    assert.equal("0\n", helper.output([[
      local cl = require "clcompute"
      local d, costs = cl.device(), require "clcompute.core.internal".note_costs()
      local x = d:zeros("float", 100000)
      cl.saxpy(2, x, x:copy())
      require "clcompute.answers".misreads_halves(d)
      d:wait()
      print(#costs)]], environment))
  end)

  it("builds for an isolated device too, which has verdicts of its own", function()
    if device.type ~= "cpu" then return pending "only processors can be isolated" end
    local _, environment = new_caches()
    local out = command.succeeds("warm --isolated --only 'min of int'", prefix_of(environment))
    assert.matches(": all is built, in [%d.]+ s\n$", out)
  end)

  it("tells names that there are not, and what fails in a process of its own", function()
    local _, environment = new_caches()
    command.fails(1, { "nothing has 'nope' in its name" }, "warm --only nope", prefix_of(environment))
    environment.CLCOUNT_FAIL = "clBuildProgram -5 1 1000"
    command.fails(1, { "clBuildProgram", "CL_OUT_OF_RESOURCES" }, "warm --only 'min of int'", prefix_of(environment))
  end)
end)

describe("clcompute doctor --cold", function()
  local LOG = {
    "[2026-11-27 23:59:59.500000000] POCL: in fn int pocl_llvm_generate_workgroup_function(int) at line 1:",
    "  *** INFO ***  |    TIMING |       >>>       101.250  ms    API: llvm_workgroup_ir_func_gen",
    "[2026-11-27 23:59:59.750000000] POCL: in fn int pocl_llvm_codegen(cl_device_id, cl_program) at line 668:",
    "  *** INFO ***  |      LLVM |  Generating an object file directly.",
    "[2026-11-28 00:00:00.250000000] POCL: in fn llvm_codegen at line 196:",
    "  *** INFO ***  |      LLVM |  written /tmp/pocl/tempfile_mPecW0.so.o size 8768",
    "[2026-11-28 00:00:00.500000000] POCL: in fn llvm_codegen at line 209:",
    "  *** INFO ***  |      LLVM |  Temporary kernel.so file for kernel lu_batch : /tmp/pocl/tempfile_KTGyOR.so",
    "[2026-11-28 00:00:00.625000000] POCL: in fn llvm_codegen at line 259:",
    "  *** INFO ***  |    TIMING |       >>>       188.652  ms    API: llvm_codegen",
  }

  it("reads off POCL's log what a kernel took, also over midnight", function()
    local told = {}
    local listen = pocl_log.listener(function(name, phases) told[#told + 1] = { name, phases } end)
    assert.is_false(listen "a line of somebody else")
    for _, line in ipairs(LOG) do assert.is_true(listen(line)) end
    assert.near(0.10125, told[1][2].vectoriser, 1e-9)
    told[1][2].vectoriser = nil
    assert.same({ { "lu_batch", { code = 0.5, link = 0.125 } } }, told)
  end)

  it("measures first calls phase by phase, each of which builds one kernel within its bound", function()
    local bound = 4 * 0.5 -- seconds; a quarter of it is what a quiet machine must keep to
    for _, row in ipairs(require "clcompute.warm".cold(device.place, { "saxpy", "sum", "map" })) do
      assert.is_nil(row.fault, row.fault)
      assert.equal(1, #row.kernels)
      assert.equal(1, row.kernels[1].builds)
      assert.equal(0, row.judged)
      assert(row.source > 0 and row.launch > 0)
      if device.platform:find "Portable" then
        assert.equal(0, row.binary) -- others need no compilation to tell it
        for _, phase in ipairs { "vectoriser", "code", "link" } do
          assert(row[phase] > 0, phase)
          assert.equal(row[phase], row.kernels[1][phase])
        end
      end
      if not os.getenv "SANITIZED" then assert(row.all < bound, ("%s: %.2f s"):format(row.name, row.all)) end
    end
  end)

  it("says so where there is no place for its folders", function()
    local said = shell(("TMPDIR=/none/such %s doctor --cold 2>&1"):format(command.text))
    assert.equal("clcompute: mkdir: cannot make a folder in '/none/such'\n", said)
  end)

  it("has folders with names that no other one had", function()
    local is_known = {}
    for _ = 1, 40 do
      local folder <close> = process.new_folder()
      assert.is_nil(is_known[folder.path])
      is_known[folder.path] = true
      collectgarbage()
    end
  end)

  it("leaves nothing behind when Ctrl-C ends it", function()
    local folder, environment = new_caches()
    local path = helper.write(folder .. "/run.sh", ([[
      mkdir %s/new
      setsid env %s TMPDIR=%s/new %s doctor --cold --device %s >%s/said 2>&1 &
      for i in $(seq 600); do [ -n "$(ls %s/new)" ] && break; sleep 0.1; done
      ls %s/new | wc -l
      env kill -INT -- -$!
      wait $!
      echo $?
      ls %s/new | wc -l
      cat %s/said]]):format(folder, prefix_of(environment), folder, command.text, device.place, folder, folder, folder,
      folder, folder))
    assert.equal("1\n130\n0\nclcompute: interrupted\n", (shell("sh " .. path)))
  end)
end)
