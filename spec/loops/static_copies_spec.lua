-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local static_copies = require "clcompute.loops.explain.static_copies"
local storage = require "clcompute.loops.runtime.storage"

local OBJECTS = { "a", "b", "c" }

local function loop(body) return { kind = "loop", body = body } end

--- host "ab>c" reads a and b and writes c.
local function block(on, text)
  local operator = { kind = "block", on = on, reads = {}, writes = {} }
  local reads, writes = text:match "^(%a*)>?(%a*)$"
  for name in reads:gmatch "%a" do table.insert(operator.reads, name) end
  for name in writes:gmatch "%a" do table.insert(operator.writes, name) end
  return operator
end

local function host(text) return block("host", text) end
local function device(text) return block("device", text) end

--- As assert.is_true, which is slow; the message is made only when it is due.
local function check(condition, message, ...)
  if not condition then error(message:format(...), 2) end
end

-- --- the program as it runs -------------------------------------------------------

--- Runs a program with loops of random trip counts; calls visit.operator before each operator, visit.block in blocks.
local function execute(body, trips, visit)
  for _, operator in ipairs(body) do
    visit.operator(operator)
    if operator.kind == "block" then
      visit.block(operator)
    else
      for _ = 1, trips() do execute(operator.body, trips, visit) end
    end
  end
end

--- Trip counts 0 to 3, the same for a seed.
local function random_trips(seed)
  local state = seed
  return function()
    state = state * 6364136223846793005 + 1442695040888963407
    return (state >> 40) % 4
  end
end

--- Both sides of each object as the number of the last write that they have seen; `copies` counts.
local function new_memory()
  local memory = { host = {}, device = {}, latest = {}, copies = 0, writes = 0 }
  local function version(side, object) return memory[side][object] or (side == "host" and 0 or -1) end

  function memory.is_valid(side, object) return version(side, object) == (memory.latest[object] or 0) end

  function memory.copy(object, to)
    local from = to == "host" and "device" or "host"
    check(memory.is_valid(from, object), "copies %s from the %s, which has no valid one", object, from)
    memory[to][object] = version(from, object)
    memory.copies = memory.copies + 1
  end

  function memory.use(operator)
    for _, list in ipairs { operator.reads, operator.writes } do
      for _, object in ipairs(list) do
        check(memory.is_valid(operator.on, object), "uses %s, not valid on the %s", object, operator.on)
      end
    end
    for _, object in ipairs(operator.writes) do
      memory.writes = memory.writes + 1
      memory.latest[object], memory[operator.on][object] = memory.writes, memory.writes
    end
  end
  return memory
end

--- Runs a program with the copies that were placed, and checks the paper's four rules; returns the copies made.
local function run_placed(result, trips)
  local memory = new_memory()
  for _, object in ipairs(result.uploads) do memory.copy(object, "device") end
  execute(result.body, trips, {
    operator = function(operator)
      for _, copy in ipairs(result.before[operator]) do memory.copy(copy.object, copy.to) end
    end,
    block = function(operator)
      memory.use(operator)
      for object, valid in pairs(result.after[operator]) do
        for _, side in ipairs { "host", "device" } do
          if valid == side or valid == "both" then
            check(memory.is_valid(side, object), "%s is not valid on the %s as said", object, side)
          end
        end
      end
    end,
  })
  for _, object in ipairs(result.downloads) do memory.copy(object, "host") end
  for object in pairs(memory.latest) do
    check(memory.is_valid("host", object), "%s is not on the host at the end", object)
  end
  return memory.copies
end

--- Runs a program by the rules of the run time.
local function run_lazily(body, trips)
  local memory, arrays = new_memory(), {}
  for _, object in ipairs(OBJECTS) do
    arrays[object] = storage.coherent { host = true, device = false, bytes = 8, counters = storage.counters(),
      upload = function() memory.copy(object, "device") end, download = function() memory.copy(object, "host") end }
  end
  execute(body, trips, {
    operator = function() end,
    block = function(operator)
      local use, written = "to_" .. operator.on, "written_on_" .. operator.on
      for _, list in ipairs { operator.reads, operator.writes } do
        for _, object in ipairs(list) do arrays[object][use](arrays[object]) end
      end
      memory.use(operator)
      for _, object in ipairs(operator.writes) do arrays[object][written](arrays[object]) end
    end,
  })
  for _, object in ipairs(OBJECTS) do arrays[object]:to_host() end
  return memory.copies
end

-- --- random programs --------------------------------------------------------------

local function random_objects()
  local list = {}
  for _, object in ipairs(OBJECTS) do
    if math.random(3) == 1 then list[#list + 1] = object end
  end
  return list
end

local function random_body(depth)
  local body = {}
  for i = 1, math.random(0, 4) do
    if depth > 0 and math.random(2) == 1 then
      body[i] = loop(random_body(depth - 1))
    else
      body[i] = { kind = "block", on = math.random(2) == 1 and "host" or "device", reads = random_objects(),
        writes = random_objects() }
    end
  end
  return body
end

local function placed_text(body, initial)
  local lines = {}
  for line in static_copies.show(static_copies.place(body, { initial = initial })):gmatch "[^\n]+" do
    if not line:find "%-%-" then lines[#lines + 1] = line end
  end
  return lines
end

describe("the static placement of copies", function()
  it("keeps the four rules on random programs and trip counts, and the run-time rules never copy more", function()
    local fewer = 0
    for case = 1, 1000 do
      local body = random_body(3)
      for _, initial in ipairs { "both", "host" } do
        local result = static_copies.place(body, { initial = initial })
        for run = 1, 3 do
          local seed = helper.seed + case * 3 + run
          local ok, copies = pcall(run_placed, result, random_trips(seed))
          if not ok then error(("%s in\n%s"):format(copies, static_copies.show(result))) end
          local least = run_lazily(body, random_trips(seed))
          if least > copies then
            error(("%d copies at run time, %d placed in\n%s"):format(least, copies, static_copies.show(result)))
          end
          if least < copies then fewer = fewer + 1 end
        end
      end
    end
    assert.is_true(fewer > 0, "no program was found where the run time saves a copy")
  end)

  it("places a copy before the outermost loop that does not modify the object", function()
    assert.same({
      "copy a to device", "copy b to device",
      "host B1: writes a",
      "copy a to device",
      "loop L2",
      "  loop L3",
      "    device B4: reads a; writes b",
      "  copy b to host",
      "  host B5: reads b",
    }, placed_text { host ">a", loop { loop { device "a>b" }, host "b" } })
  end)

  it("uploads nothing that no kernel uses, and with initial=host nothing before its use", function()
    local body = { host "x>y", loop { device "a>b" } }
    assert.same({ "copy a to device", "copy b to device", "host B1: reads x; writes y", "loop L2",
      "  device B3: reads a; writes b", "copy b to host" }, placed_text(body))
    assert.same({ "host B1: reads x; writes y", "copy a to device", "copy b to device", "loop L2",
      "  device B3: reads a; writes b", "copy b to host" }, placed_text(body, "host"))
  end)

  it("sees what comes back round a loop", function()
    assert.same({
      "copy a to device",
      "loop L1",
      "  copy a to host",
      "  host B2: reads a",
      "  device B3: writes a",
      "copy a to host",
    }, placed_text { loop { host "a", device ">a" } })
  end)

  it("does not count on the body of a loop that may not run", function()
    assert.same({
      "copy a to device",
      "device B1: writes a",
      "loop L2",
      "  device B3: writes a",
      "  copy a to host",
      "  host B4: reads a",
      "copy a to host",
      "host B5: reads a",
    }, placed_text { device ">a", loop { device ">a", host "a" }, host "a" })
  end)

  it("never copies from a side that is not valid: it enters such a loop with both", function()
    assert.same({
      "copy a to device",
      "host B1: writes a",
      "copy a to device",
      "loop L2",
      "  copy a to host",
      "  host B3: reads a",
      "  device B4: writes a",
      "copy a to host",
    }, placed_text { host ">a", loop { host "a", device ">a" } })
  end)

  it("shows the paper's sets", function()
    local first, inner, last = host ">a", device "a>b", host "b"
    local outer = loop { loop { inner }, last }
    local result = static_copies.place { first, outer }
    assert.same({ [static_copies.START] = true }, result.pred[first])
    assert.same({ [first] = true, [last] = true, [inner] = true }, result.pred[inner])
    assert.same({ [first] = true, [last] = true, [inner] = true }, result.pred[last])
    assert.same({ [first] = true, [last] = true }, result.last[outer])
    assert.same({ b = true }, result.modify[outer])
    assert.same({ a = "both", b = "both" }, result.after[last])
    assert.matches("pred {start}; last {B1}; modify {a}; valid after it: a host, b both", static_copies.show(result),
      1, true)
  end)

  it("refuses options that it does not know", function()
    helper.raises("unknown option", static_copies.place, {}, { final = true })
    helper.raises("initial", static_copies.place, {}, { initial = "device" })
  end)
end)
