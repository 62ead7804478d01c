-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local report = require "clcompute.report"
local rule = require "clcompute.suite.group_rule"
local suite = require "clcompute.suite"

describe("the rule for the group size", function()
  it("gives the paper's 192 for 32, 48 and 3 units", function() assert.equal(192, rule.group(32, 48, 3)) end)

  it("is the smallest common multiple above the cores", function()
    for _, case in ipairs { { 32, 128, 1 }, { 64, 64, 10 }, { 8, 1, 2 }, { 32, 48, 4 }, { 7, 3, 5 } } do
      local multiple, cores, units = table.unpack(case)
      local group = rule.group(multiple, cores, units)
      assert.is_true(group > cores * units)
      for n = cores * units + 1, group - 1 do assert.is_false(n % multiple == 0 and n % cores == 0) end
      assert.is_true(group % multiple == 0 and group % cores == 0)
    end
  end)

  local function device(facts)
    return setmetatable(facts, { __index = { vendor = "NVIDIA Corporation", type = "gpu", group_multiple = 32,
      max_group_size = 1024 } })
  end

  it("knows the cores of a unit by vendor and architecture, or is told", function()
    for name, cores in pairs { ["NVIDIA H200"] = 128, ["NVIDIA H100 PCIe"] = 128, ["NVIDIA A100-SXM4-40GB"] = 64,
      ["Tesla V100-SXM2-16GB"] = 64, ["Tesla T4"] = 64, ["NVIDIA GeForce RTX 2080 Ti"] = 64,
      ["NVIDIA GeForce RTX 4090"] = 128, ["NVIDIA GeForce GTX 1080"] = 128, ["Tesla K40c"] = 192,
      ["GeForce GT 555M"] = 48, ["GeForce GTX 480"] = 32, ["GeForce GTX 750 Ti"] = 128, ["GeForce GTX TITAN"] = 192,
      ["NVIDIA TITAN V"] = 64, ["Quadro RTX 6000"] = 64, ["NVIDIA RTX A6000"] = 128, ["NVIDIA A10"] = 128,
      ["NVIDIA L40S"] = 128, ["NVIDIA B200"] = 128 } do
      assert.equal(cores, rule.cores(device { name = name }), name)
    end
    assert.equal(1, rule.cores { type = "cpu", vendor = "any", name = "any" })
    assert.is_nil(rule.cores { type = "gpu", vendor = "nobody", name = "any" })
    assert.is_nil(rule.cores(device { name = "one of the future" }))
    assert.equal(192, rule.of(device { name = "any", compute_units = 3 }, 48).group)
  end)

  it("says where it does not carry over", function()
    local found = rule.of(device { name = "NVIDIA H200", compute_units = 132 })
    assert.equal(16896, found.total)
    assert.matches("exceeds the largest group, 1024", found.reason)
    assert.matches("cores=", rule.of(device { vendor = "nobody", name = "any", compute_units = 3 }).reason)
  end)
end)

describe("kept rows", function()
  local function keep(path, rows) require("clcompute.base").write_file(path, report.jsonl(rows)) end

  it("are read back, and replace what the file held", function()
    local path = os.tmpname()
    finally(function() os.remove(path) end)
    for _, rows in ipairs { { { name = "a", value = 0.25 }, { name = "b" } }, { { name = "c" } }, {} } do
      keep(path, rows)
      assert.same(rows, report.read(path))
    end
  end)

  it("raise what keeps them from being written", function()
    helper.raises({ "/none/rows" }, keep, "/none/rows", {})
    helper.raises({ "/dev/full", "No space left" }, keep, "/dev/full", { { name = "a" } })
  end)
end)

describe("the report", function()
  local device
  for _, d in ipairs(helper.devices()) do
    if d.platform ~= "Oclgrind" then device = d end
  end
  if not device then return pending "Oclgrind is too slow for them" end
  --- A folder that goes with the test.
  local function new_folder()
    local folder = helper.folder()
    finally(function() os.execute("rm -r " .. folder) end)
    return folder
  end

  local function section_of(document, title)
    for _, section in ipairs(document.sections) do
      if section.title:find(title, 1, true) then return section end
    end
    error("no section " .. title)
  end

  it("borisov has the paper's times beside those measured, all checked", function()
    local folder = new_folder()
    local document = suite.report("borisov", { devices = { device }, quick = true, seconds = 0.01, rows = folder,
      sizes = { saxpy = 1 << 14, gemm = 64, gauss = 50 } })
    local kept, at = report.read(folder .. "/borisov.jsonl"), 0
    for _, section in ipairs(document.sections) do
      for _, row in ipairs(section.rows) do
        at = at + 1
        assert.same({ section.title, row.name, row.status }, { kept[at].section, kept[at].name, kept[at].status })
        assert.near(row.value, kept[at].value, 1e-12 * row.value)
      end
    end
    assert.equal(at, #kept)
    local value = { [1] = 3.2e-3, [2] = 5.1695, [3] = 0.1695 }
    for number, expected in pairs(value) do
      local section = section_of(document, "Table " .. number)
      local paper, ours
      for _, row in ipairs(section.rows) do
        if row.paper and row.params.platform == "NVIDIA" then paper = row end
        if row.device == device.name then ours = row end
      end
      assert.equal(expected, paper.value)
      assert.is_true(ours.checked and ours.max_error <= 1, ours.reason)
      assert.is_true(ours.value > 0 and ours.ratio > 0)
    end
    assert.matches("Quadro FX 1700", report.text(document, { width = 200 }), 1, true)
    assert.matches("<svg", report.html(document), 1, true)
  end)

  it("gauss has every figure, records the driver's group, and goes on from the rows it kept", function()
    local folder, shown = new_folder(), {}
    local options = { devices = { device }, quick = true, rows = folder, sizes = { 30 }, large_sizes = { 40 },
      progress = function(state) shown[#shown + 1] = state.name end }
    local document = suite.report("gauss", options)
    local progress = table.concat(shown, "\n")
    for _, figure in ipairs { "1", "2 on ", "3 on ", "5 on " } do -- the others show the same rows
      assert.truthy(progress:find("Figure " .. figure, 1, true), figure)
    end
    for figure = 1, 6 do
      local section = section_of(document, "Figure " .. figure)
      assert.is_true(#section.rows > 0)
      for _, row in ipairs(section.rows) do
        assert.is_true(row.status == "unsupported" or row.status == "ok", row.reason)
        assert.is_true(row.checked or row.status == "unsupported" or row.device:find "sequential" ~= nil)
      end
    end
    local primes = 0
    for _, row in ipairs(section_of(document, "Figure 2").rows) do
      assert.matches("^%d+ x %d+$", row.params.group)
      if row.params.chooser == "fixed" then assert.matches(" x 1$", row.params.group) end
      if row.params.prime then primes = primes + 1 end
    end
    assert.equal(4, primes) -- one on either side of the limit, by two choosers
    for _, row in ipairs(section_of(document, "Figure 4").rows) do assert.is_true(row.params.group > 1) end
    for _, row in ipairs(section_of(document, "Figure 6").rows) do
      assert.is_true(row.params.group >= 128 and row.params.group <= 384)
    end
    local fastest, marked
    for _, row in ipairs(section_of(document, "Figure 5").rows) do
      assert.is_true(row.relative >= 1)
      if row.relative == 1 then fastest, marked = row, row.best end
    end
    assert.is_true(marked)
    for _, row in ipairs(section_of(document, "Figure 5").rows) do -- and those that are not told from it
      assert.equal(row.q1 <= fastest.q3, row.best or false)
    end
    assert.equal(1, #section_of(document, "The rule").rows)
    local times = {}
    for _, row in ipairs(section_of(document, "A fixed or a shrinking range").rows) do
      if row.params.n == 100 then times[row.params.method] = row.checked and row.value end
      assert.is_true(row.surplus < row.cold) -- what the first call takes beyond the median of all
    end
    assert.is_true(times.fixed > 0 and times.host > 0 and times.shrinking > 0)
    local place = "_" .. tostring(device):match("^%d+:%d+"):gsub(":", ".")
    for file, title in pairs { life = "Figure 1", driver_choice = "Figure 2", group_size_3 = "Figure 3",
      group_size_5 = "Figure 5", shrinking = "A fixed or a shrinking range" } do
      local of_all = file == "life" or file == "shrinking"
      local kept = report.read(("%s/%s%s.jsonl"):format(folder, file, of_all and "" or place))
      assert.equal(#section_of(document, title).rows, #kept, file)
    end
    local again = suite.report("gauss", options)
    for _, figure in ipairs { "Figure 1", "Figure 2", "Figure 3", "Figure 5" } do
      local first, second = section_of(document, figure).rows[1], section_of(again, figure).rows[1]
      assert.near(first.value, second.value, 1e-12 * first.value) -- as many digits as the file has
    end
    assert.matches("</html>", report.html(again), 1, true)
  end)
end)
