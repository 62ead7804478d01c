-- SPDX-License-Identifier: MIT
local statistics = require("clcompute.base").statistics

describe("statistics", function()
  it("of a list are its median, least value and quartiles, in any order and between two values", function()
    assert.equal(4, statistics.median { 4 })
    assert.equal(2.5, statistics.median { 4, 1 })
    assert.equal(3, statistics.median { 9, 1, 3 })
    assert.same({ median = 5, min = 1, q1 = 3, q3 = 7 }, statistics.summary { 9, 1, 7, 3, 5 })
    assert.same({ median = 3.5, min = 1, q1 = 1.75, q3 = 5.75 }, statistics.summary { 8, 1, 2, 5 })
  end)

  it("leave the list as it is", function()
    local list = { 3, 1, 2 }
    statistics.summary(list)
    assert.same({ 3, 1, 2 }, list)
  end)

  it("give an interval for a median by the sign test", function()
    local values = {}
    for i = 1, 10 do values[i] = 11 - i end
    -- At most one head of ten coins: 11 of 1024, on either side.
    local low, high, confidence = statistics.median_interval(values, 0.95)
    assert.same({ 2, 9 }, { low, high })
    assert.near(1 - 22 / 1024, confidence, 1e-12)
    low, high, confidence = statistics.median_interval({ 5, 6 }, 0.95)
    assert.same({ 5, 6 }, { low, high })
    assert.near(0.5, confidence, 1e-12)
  end)
end)
