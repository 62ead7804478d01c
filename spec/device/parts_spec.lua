-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local cl = require "clcompute"

local TWICE = "kernel void twice(global int *x) { x[get_global_id(0)] *= 2; }"

--- Two parts of a device, or why there are none.
local function divide(d)
  if d.isolated or d.compute_units < 2 then return nil, "an isolated device, or of one compute unit" end
  local divided, parts = pcall(d.partition, d, { units = d.compute_units // 2 })
  return divided and parts or nil, parts
end

helper.describe_each("the parts of a device", function(d)
  it("are devices with all that devices have", function()
    local parts, reason = divide(d)
    if not parts then return pending(reason) end
    assert.equal(2, #parts)
    for i, part in ipairs(parts) do
      assert.equal(d, part.parent)
      assert.equal(d:timing(), part:timing())
      assert.equal(("%s part %d of 2"):format(d.place, i), part.place)
      assert.equal(part.place, part:info().place)
      assert.equal(1, (tostring(part):find(part.place .. " ", 1, true)))
      assert.equal(d.compute_units // 2, part.compute_units)
      assert.equal(d.name, part.name)
      local x = part:buffer({ 1, 2, 3 }, "int")
      part:program(TWICE).twice(3, x)
      assert.same({ 2, 4, 6 }, x:read())
      assert.equal(12, cl.sum(x))
      assert.equal(part, x.device)
      assert.same({ { 5 } }, cl.gemm(part:buffer { { 1, 2 } }, part:buffer { { 1 }, { 2 } }):read())
      assert.equal(part.place, part:queue().place)
      assert.equal(d, part:queue().parent)
    end
    assert.is_nil(d.parent)
  end)

  it("have images where their driver has them on parts", function()
    local parts, reason = divide(d)
    if not parts then return pending(reason) end
    if d:info().platform:find "Portable" then
      return helper.raises("no images on a part of a device", parts[1].image, parts[1], "rgba float", 8, 4)
    end
    assert.same({ 1, 2, 3, 4 }, { parts[1]:image("rgba float", 8, 4):fill({ 1, 2, 3, 4 }):get(8, 4) })
  end)

  it("have memory of their own", function()
    local parts, reason = divide(d)
    if not parts then return pending(reason) end
    local x, twice = parts[1]:buffer({ 1, 2 }, "int"), parts[2]:program(TWICE).twice
    helper.raises("the buffer lives on another device", twice, 2, x)
    local y = x:copy(parts[2])
    twice(2, y)
    assert.same({ 2, 4 }, y:copy(d):read())
    assert.same({ 1, 2 }, x:read())
  end)

  it("take each other's saved programs", function()
    local parts, reason = divide(d)
    if not parts then return pending(reason) end
    local path = os.tmpname()
    parts[1]:program(TWICE):save(path)
    for _, taker in ipairs { parts[2], d } do
      local x = taker:buffer({ 4 }, "int")
      taker:program({ binary = path }).twice(1, x)
      assert.same({ 4 }, x:read() and { x[1] // 2 })
    end
    os.remove(path)
  end)

  it("have as many compute units as counts say, and check mode as the device", function()
    if d.isolated then return pending "an isolated device" end
    d:check(true)
    local divided, parts = pcall(d.partition, d, { counts = { d.compute_units } })
    d:check(false)
    if not divided then return pending(parts) end
    assert.equal(1, #parts)
    assert.equal(d.compute_units, parts[1].compute_units)
    local x = parts[1]:empty("int", 2)
    helper.raises("was written", parts[1]:program(TWICE).twice, 3, x)
  end)

  it("are counted, live as long as what was made on them, and go", function()
    local function count()
      collectgarbage()
      collectgarbage()
      return cl.live().part
    end
    local before = count()
    local parts, reason = divide(d)
    if not parts then return pending(reason) end
    assert.equal(before + 2, count())
    local held = { parts[1]:buffer({ 1, 2 }, "int") }
    parts[2]:close()
    parts[1], parts[2] = nil, nil
    assert.equal(before + 1, count())
    assert.same({ 1, 2 }, held[1]:read())
    held[1] = nil
    assert.equal(before, count())
  end)

  it("are told apart in the profile, also when they are gone", function()
    local parts, reason = divide(d)
    if not parts then return pending(reason) end
    cl.profile(true)
    for i, part in ipairs(parts) do part:zeros("int", i * 4):read() end
    parts = nil -- luacheck: ignore 311
    collectgarbage()
    collectgarbage()
    local seen = {}
    for _, row in ipairs(cl.profile()) do
      if row.kind == "read" then seen[row.place] = row.bytes end
    end
    cl.profile(false)
    assert.same({ [d.place .. " part 1 of 2"] = 16, [d.place .. " part 2 of 2"] = 32 }, seen)
  end)

  it("have parts of their own", function()
    if not divide(d) then return pending "a device that is not divided" end
    local whole = d:partition({ units = d.compute_units })[1]
    assert.equal(d.place .. " part 1 of 1, part 2 of " .. d.compute_units, whole:partition({ units = 1 })[2].place)
  end)

  it("are refused in words", function()
    local many = d.compute_units + 1
    helper.raises({ "#2", "option counts, domain or units expected" }, d.partition, d, {})
    helper.raises("table expected", d.partition, d)
    helper.raises({ "#2", "one option expected, got two" }, d.partition, d, { units = 1, domain = "l2" })
    if d.isolated then return helper.raises("{isolated = false}) has", d.partition, d, { units = 1 }) end
    if not divide(d) then
      return helper.raises({ "the driver does not divide " .. d.place .. " by units" }, d.partition, d, { units = 1 })
    end
    helper.raises({ "'units'", many .. " compute units, the device has " .. d.compute_units }, d.partition, d,
      { units = many })
    helper.raises({ "'counts'", many .. " compute units" }, d.partition, d, { counts = { many - 1, 1 } })
    helper.raises({ "'counts'", "1 to" }, d.partition, d, { counts = {} })
    helper.raises({ "'counts'", "[2]: integer of at least 1" }, d.partition, d, { counts = { 1, 0 } })
    for _, wrong in ipairs { "1", 1.5, {} } do
      helper.raises({ "'counts'", "[1]: integer of at least 1" }, d.partition, d, { counts = { wrong } })
    end
    local ones = {}
    for i = 1, many do ones[i] = 1 end
    helper.raises({ "'counts'", ("1 to %d parts expected, got %d"):format(many - 1, many) }, d.partition, d,
      { counts = ones })
    helper.raises({ "'counts'", "list of compute units expected, got number" }, d.partition, d, { counts = 1 })
    helper.raises({ "'units'", "at least 1" }, d.partition, d, { units = 0 })
    helper.raises("does not divide", d.partition, divide(d)[1], { domain = "numa" })
    if d.platform:find "Portable" then
      helper.raises("by domain; it does by counts, units", d.partition, d, { domain = "numa" })
    end
  end)

  it("go while a thread of the driver still lets go of what was done there", function()
    if not divide(d) then return pending "a device that is not divided" end
    assert.equal("done\n", helper.output(([[
      local d = require "clcompute".device "%s"
      for _ = 1, 1000 do
        for _, part in ipairs(d:partition { units = 1 }) do
          part:zeros("int", 2):fill(7):read()
          part:close()
        end
      end
      print "done"
    ]]):format(d.place), { MALLOC_PERTURB_ = "85" })) -- what is freed is overwritten
  end)

  it("close with the device", function()
    local parts, reason = divide(d)
    if not parts then return pending(reason) end
    local x = parts[1]:zeros("int", 1 << 20)
    x:fill(3)
    d:close()
    helper.raises("buffer is released", x.read, x)
    helper.raises("device is released", parts[2].zeros, parts[2], "int", 1)
    assert.equal("device (released)", tostring(parts[1]))
  end)
end)
