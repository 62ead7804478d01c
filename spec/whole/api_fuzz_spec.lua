-- SPDX-License-Identifier: MIT
--- Calls of the API with plausible and hostile arguments, made from the stubs, in processes of their own on Oclgrind:
-- no crash, no hang, no leak, no message of the library's inside. `make fuzz-api` does a million of them, `make long`
-- some with a fresh seed.

local campaign = require "spec.support.fuzz.campaign"
local cl = require "clcompute"
local helper = require "spec.helper"
local shrink = require "spec.support.fuzz.shrink"
local stubs = require "spec.support.fuzz.stubs"

local CALLS = 3000
local ISOLATED_CALLS = helper.long(CALLS) or 1000 -- where kernels are compiled for the processor
local LIMIT = os.getenv "STRESS" and 300 or 120 -- seconds of the processor for a process

if #cl.devices "oclgrind" == 0 then
  pending "fuzzing the API: Oclgrind is not installed"
  return
end

describe("fuzzing the API", function()
  local folder = campaign.prepare((os.getenv "WORK" or "build") .. "/fuzz")

  local function run(seed, calls, kind)
    local result = campaign.run(folder, seed, calls, LIMIT, kind)
    local texts = {}
    for i, failure in ipairs(result.failures) do texts[i] = failure.name .. "\n" .. failure.script end
    assert.equal("", table.concat(texts, "\n"))
    assert.is_true(result.calls >= calls)
    return #result.messages
  end

  it("with a fixed seed ends in results and errors in words", function() assert.is_true(run(1, CALLS) >= 100) end)

  if helper.long(true) then
    it("with a fresh seed too", function() run(helper.seed % 1000000000, CALLS) end)
  end

  it("on a CPU whose kernels a worker runs, too", function()
    if not campaign.can_isolate() then return pending "there is no POCL" end
    run(helper.seed % 1000000000, ISOLATED_CALLS, "isolated")
  end)

  it("would show a crash as a short script", function()
    local lines = {}
    for i = 1, 40 do lines[i] = ("stage.line(%d, \"local r = %d\")"):format(i, i) end
    lines[31] = 'stage.line(3, "local r = os.exit(7)")'
    local path = folder .. "/script.planted"
    helper.write(path, table.concat(lines, "\n"))
    local script = campaign.shrink(folder, "simulated", path, "exit code 7")
    assert.matches("os.exit(7)", script, 1, true)
    assert.is_nil(script:find("local r = 30", 1, true))
  end)

  it("keeps what a failure needs together", function()
    local function fails(lines)
      local text = table.concat(lines)
      return text:find "a" ~= nil and text:find "q" ~= nil
    end
    local letters = {}
    for i = 1, 26 do letters[i] = string.char(96 + i) end
    assert.same({ "a", "q" }, shrink.lines(letters, fails))
  end)

  it("knows the types of every stub", function()
    local functions, types = stubs.read { "clcompute", "clcompute.blas", "clcompute.loops" }
    local by_name = {}
    for _, f in ipairs(functions) do by_name[f.name] = f end
    assert.same({ kind = "name", name = "clcompute.Buffer" }, by_name["clcompute.gemm"].params[1].type)
    assert.equal("Buffer", by_name["Buffer:fill"].class)
    assert.is_true(#types["clcompute.GemmOptions"].fields > 8)
    assert.equal("fast", types["clcompute.GemmOptions"].fields[6].type.of[1].text)
  end)
end)
