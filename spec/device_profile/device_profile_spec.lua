-- SPDX-License-Identifier: MIT
--- A device profile as it is measured; what is read off curves is in readings_spec.lua.

local chain = require "clcompute.device_profile.chain"
local device_profile = require "clcompute.device_profile"
local helper = require "spec.helper"
local launch = require("clcompute.device_profile.host_costs").launch
local report = require "clcompute.report"

--- Measures with an experiment that raises a message.
local function measure_with(message, device, given)
  local own = launch.measure
  finally(function() launch.measure = own end)
  launch.measure = function() error(message, 0) end
  return device_profile.measure(device, given)
end

--- All experiments, or those that do not take a simulator long: for its peaks it moves a MiB dozens of times.
-- spec/whole/oclgrind_spec.lua launches their kernels there.
local function experiments_for(device)
  local names = device_profile.names()
  for i, name in ipairs(names) do
    if name == "peaks" and helper.is_simulator(device) and not helper.long(true) then table.remove(names, i) end
  end
  return names
end

helper.describe_each("a device profile", function(device)
  it("has a section or more of every experiment, each result checked, each curve read", function()
    local profile = device_profile.measure(device, { quick = true, only = experiments_for(device) })
    local names = {}
    for i, experiment in ipairs(profile.experiments) do
      names[i] = experiment.name
      assert.matches("source 4", experiment.teaches)
      assert.is_true(experiment.seconds > 0)
      assert.is_true(#experiment.sections > 0)
      for _, section in ipairs(experiment.sections) do
        assert.matches("%.$", section.how)
        assert.is_true(#section.rows > 0 or experiment.name == "whole_wavefronts") -- which needs a wavefront
        assert.is_true(#section.reading > 0)
        for _, sentence in ipairs(section.reading) do assert.is_string(sentence) end
        for _, row in ipairs(section.rows) do
          local what = ("%s: %s: %s"):format(experiment.name, row.name, row.reason)
          assert.is_true(row.status == "ok" or row.status == "unsupported" and experiment.name == "peaks", what)
          assert.is_true(row.status ~= "ok" or row.checked or row.computed or row.roof, what)
        end
      end
    end
    assert.same(experiments_for(device), names)
    assert.equal(tostring(device), profile.device)
    assert.is_string(report.html(device_profile.document(profile)))
    assert.same({}, profile.found) -- times of one run say nothing
  end)

  it("has the library's own product and factors beneath the roof, checked", function()
    local rows, found = device_profile.measure(device, { quick = true, only = { "roofline" } })
      .experiments[1].sections[1].rows, {}
    for _, row in ipairs(rows) do
      found[row.name] = row.checked and row.rate > 0
      local n = row.params and row.params.n
      if row.name == "cl.lu and solve" or row.name == "cl.gauss" then -- the matrix is read, and factors are written
        assert.equal(row.flops / (2 * n * n * 4), row.intensity)
      end
    end
    for _, name in ipairs { "saxpy", "cl.gemm", "gemm, tiled kernel", "gemm, naive kernel", "cl.lu and solve",
      "cl.gauss" } do
      assert.is_true(found[name], name)
    end
  end)

  it("has what only some experiments find", function()
    local profile = device_profile.measure(device, { quick = true, only = { "launch", "divergence" } })
    assert.same({ "divergence", "launch" }, { profile.experiments[1].name, profile.experiments[2].name })
    assert.is_nil(profile.experiments[3])
  end)
end)

describe("a device profile", function()
  local device = helper.device()

  it("becomes a document in every form", function()
    local document = device_profile.document(device_profile.measure(device, { only = { "launch" }, seconds = 1e-3 }))
    assert.equal("Summary", document.sections[1].title)
    assert.equal(launch.title, document.sections[2].title)
    assert.same({ launch.teaches, "A kernel of one group of" },
      { document.sections[2].text[1], document.sections[2].text[2]:match "^A kernel of one group of" })
    assert.matches("A launch that is waited for takes", document.sections[2].caption)
    for _, form in ipairs { "text", "markdown", "html", "csv", "json" } do
      assert.truthy(report[form](document):find(launch.title, 1, true), form)
    end
    assert.matches("<svg", report.html(document), 1, true)
  end)

  it("has ever twice as many groups in flight", function()
    local profile = device_profile.measure(device, { quick = true, only = { "latency_hiding" } })
    local rows = profile.experiments[1].sections[1].rows
    for i, row in ipairs(rows) do assert.same({ 1 << i - 1, "ok" }, { row.params.groups, row.status }) end
    assert.is_true(#rows > 2)
  end)

  it("finds what a launch costs, waited for at least as much as queued", function()
    local found = device_profile.measure(device, { only = { "launch" } }).found
    assert.is_true(found.launch_waited > 0 and found.launch_queued > 0)
    assert.is_true(found.launch_queued < 1.5 * found.launch_waited)
  end)

  it("has rates and times of one that a reader finds again from the medians", function()
    local names = { "launch", "barrier", "divergence" }
    local profile = device_profile.measure(device, { only = names, seconds = 1e-3 })
    local launches = profile.experiments[#profile.experiments - 1].sections[1].rows
    for _, row in ipairs(launches) do assert.equal(row.value / row.params.launches, row.each) end
    for _, row in ipairs(profile.experiments[3].sections[1].rows) do
      assert.equal(row.operations / row.value, row.per_second)
    end
    local blocks = profile.experiments[1].sections[1].rows
    for _, row in ipairs(blocks) do assert.equal(row.value / blocks[#blocks].value, row.times) end
    local facts = {}
    for _, fact in ipairs(device_profile.document(profile).facts) do facts[fact[1]] = fact[2] end
    assert.matches("rates.* those of the medians", facts.times)
  end)

  it("takes its peaks from the bench", function()
    local found = device_profile.measure(device, { only = { "peaks" }, seconds = 0.02 }).found
    local bench = require "clcompute.bench"
    local row = bench.measure(function() return 1e-3, 1 end, { device = device, timed = true, flops = 1e6, rounds = 1,
      peak = found.peak })
    assert.is_true(math.abs(row.peak_share - 1e9 / found.flops.float) < 1e-9 * row.peak_share)
  end)

  it("says of an experiment that fails why it did, and goes on", function()
    local profile = measure_with("no luck", device, { quick = true, only = { "launch", "barrier" } })
    local section = profile.experiments[1].sections[1]
    assert.same({ "failed", "no luck" }, { section.rows[1].status, section.rows[1].reason })
    assert.matches("no luck", section.reading[1])
    assert.equal("barrier", profile.experiments[2].name)
    assert.matches("no luck", report.text(device_profile.document(profile)))
  end)

  it("takes results that are not the oracle's for wrong", function()
    local power = chain.power
    finally(function() chain.power = power end)
    chain.power = function() return 1, 0 end
    local names = { "divergence", "long_loop", "barrier" }
    for _, experiment in ipairs(device_profile.measure(device, { quick = true, only = names }).experiments) do
      for _, row in ipairs(experiment.sections[1].rows) do
        if not row.computed then
          assert.same({ "failed", false }, { row.status, row.checked })
          assert.matches("^element %d+ is %d+, not %d+$", row.reason)
        end
      end
    end
  end)

  it("ends with Ctrl-C", function()
    assert.equal("interrupted!", helper.raises({}, measure_with, "interrupted!", device, { only = { "launch" } }))
  end)

  it("tells how far it is", function()
    local events = {}
    device_profile.measure(device, { quick = true, only = { "launch", "barrier" }, progress = function(event)
      events[#events + 1] = event
    end })
    assert.same({ name = "launch", done = 0, total = 2, weights = { 3, 3 } }, events[1])
    assert.same({ 1, 2 }, { events[#events].done, events[#events].total })
    assert.matches("^barrier: groups of", events[#events].name)
  end)

  it("refuses what it does not know", function()
    helper.raises("measure: Device expected, got nil", device_profile.measure)
    helper.raises("measure: Device expected, got string", device_profile.measure, "0:0")
    helper.raises({ "unknown option 'fast'", "only, progress, quick, seconds" }, device_profile.measure, device,
      { fast = true })
    helper.raises({ "no experiment 'zork'", "divergence", "roofline" }, device_profile.measure, device,
      { only = { "launch", "zork" } })
    helper.raises("no experiment '", device_profile.measure, device, { only = { 0 / 0 } })
    helper.raises("names of experiments expected, got {}", device_profile.measure, device, { only = {} })
    helper.raises("option 'seconds': must be above 0", device_profile.measure, device, { seconds = 0 })
    helper.raises("a profile, as measure returns it, expected", device_profile.document, {})
    helper.raises("a profile, as measure returns it, expected", device_profile.document, { experiments = {} })
  end)
end)
