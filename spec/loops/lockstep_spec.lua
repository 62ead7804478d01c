-- SPDX-License-Identifier: MIT
-- Rows that go through their sequential loops side by side, with locals for what the pass before stored.

local helper = require "spec.helper"
local loops = require "clcompute.loops"

local N = 40

describe("rows side by side", function()
  local device = helper.device()

  local function matrix() return helper.matrix(N, N, function() return math.random() + 0.5 end) end

  local function are_side_by_side(compiled) return compiled:source():find("_row4", 1, true) ~= nil end

  -- Heads of a loop within a row, and how an element of the pass before is written there.
  local HEADS = { { "for j = 3, m do", "j - 1" }, { "for j = m, 3, -1 do", "j + 1" },
    { "for j = 4, m, 2 do", "j - 2" } }

  -- Bodies of it; `@` stands for the place of the pass before.
  local BODIES = {
    "a[i][j] = 0.5 * (a[i][@] + b[i][j])", "a[i][j] = 0.25 * a[i][@] + 0.5 * a[i][j]; b[i][j] = a[i][@]",
    "local p = b[i][j] - 0.125 * a[i][@]; a[i][j] = a[i][j] / p; c[i][j] = (c[i][j] - 0.25 * c[i][@]) / p",
    "s = s + a[i][j] * b[i][j]", "s = 0.5 * s + a[i][j]; a[i][j] = s", "a[i][2] = a[i][2] * 0.5 + b[i][j]",
    "c[i][2] = 0.5 * c[i][2] + b[i][j]; b[i][j] = c[i][2]", "a[i][j] = a[i][@] * 0.5 + b[j][i]",
    "c[i][1] = math.max(c[i][1], a[i][j]); a[i][j] = 0.5 * a[i][@]", "b[i][j] = math.exp(-b[i][j]); s = s + b[i][j]",
    "a[i][j] = c[i][@] > 1 and a[i][@] or 0.5; c[i][j] = 0.5 * c[i][@] + 0.25",
    "for k = 1, 3 do a[i][j] = a[i][j] * 0.5 + 0.125 * a[i][@] + 0.01 * k end",
    "for k = 3, m do s = 0.5 * s + a[i][k] * b[i][j] end",
    "if a[i][j] > 1 then s = 0.25 * s + a[i][@] end", "local p = @; a[i][j] = 0.5 * (a[i][p] + b[i][j])",
  }

  local OTHERS = { "local t = c[i][1] * 0.5; c[i][1] = t", "for j = 1, m do b[i][j] = 0.5 * (b[i][j] + s) end",
    "for j = 1, m do s = math.max(s, a[i][j]) end", "b[i][1] = s", "for j = 1, i % 4 do s = s + a[i][j] end" }

  --- Rows each of which computes with its own elements alone.
  local function random_rows()
    local lines = {}
    for k = 1, math.random(1, 3) do
      local head, before = table.unpack(HEADS[math.random(#HEADS)])
      lines[k] = ("%s %s end"):format(head, (BODIES[math.random(#BODIES)]:gsub("@", before)))
      if math.random(2) == 1 then lines[k] = ("do %s end %s"):format(OTHERS[math.random(#OTHERS)], lines[k]) end
    end
    return ("local s = 0.25; %s; c[i][2] = s"):format(table.concat(lines, " "))
  end

  --- Runs a function on buffers of a type by `run` and in Lua; both must do the same, until a float is too large for a
  -- buffer, which a device makes infinite.
  local function compare(text, dtype, run)
    local f, values, buffers, given = assert(load("return " .. text))(), {}, {}, {}
    for k = 1, 3 do
      values[k] = matrix()
      buffers[k] = device:buffer(values[k], dtype)
      given[k] = buffers[k]:read() -- rounded
    end
    for _, size in ipairs { { 1, 9 }, { 3, 12 }, { 4, 2 }, { 7, 3 }, { 13, 5 }, { N - 4, N - 2 } } do
      local on_host = { device:buffer(given[1], dtype), device:buffer(given[2], dtype), device:buffer(given[3], dtype) }
      local ok, message = pcall(f, on_host[1], on_host[2], on_host[3], table.unpack(size))
      if not ok then return assert(message:find("does not fit float", 1, true), message) end
      run(buffers[1], buffers[2], buffers[3], table.unpack(size))
      for k, buffer in ipairs(buffers) do
        given[k] = on_host[k]:read()
        assert.same(given[k], buffer:read(), text)
      end
    end
  end

  --- A function without what differs from Lua in its last digits.
  local function random_text(form)
    local text
    repeat text = form:format(random_rows()) until not text:find("exp", 1, true)
    return text
  end

  helper.on_cpu("have the results of Lua", function()
    local count = 0
    for k = 1, helper.long(400) or 40 do
      local text = random_text "function(a, b, c, n, m) for i = 1, n do %s end end"
      local compiled = assert(loops.compile(text, { device = device, force = true }))
      compare(text, k % 2 == 0 and "double" or "float", compiled)
      count = count + (are_side_by_side(compiled) and 1 or 0)
    end
    assert.is_true(count > 20)
  end)

  helper.on_cpu("have them in tasks, too", function()
    local count = 0
    for k = 1, helper.long(200) or 20 do
      local text = random_text [[function(a, b, c, n, m)
        for t = 1, 3 do for i = 1, n do %s end; a[1][1] = a[1][2] end
      end]]
      local compiled = assert(loops.compile(text, { device = device }))
      compare(text, k % 2 == 0 and "double" or "float", function(...)
        assert(helper.call_on_device(20, compiled, ...))
      end)
      count = count + (are_side_by_side(compiled) and 1 or 0)
    end
    assert.is_true(count > 10)
  end)

  local SUMS = { "for j = 2, m do t = t + a[i][j] * b[1][j] end", "for j = m, 2, -1 do t = 0.5 * t + a[j][i] end",
    "for j = 2, m do t = t + a[i][j]; c[3][j] = 0.5 * c[3][j] + t end",
    "for j = 2, m do t = t + 0.25 * a[i][j]; c[i][j] = t + c[i + 1][j] end",
    "for j = 2, m do t = t + 0.25 * a[i][j] + 0.1 * c[1][j - 1] end" }
  local UPDATES = { "for j = 1, m do c[1][j] = c[1][j] * 0.5 + a[i][j] * t end", "b[1][i] = t", "b[2][i] = t",
    "a[i + 1][3] = t", "a[i][3] = t", "s = 0.5 * s + t", "a[3][i] = 0.5 * t", "a[i + 4][2] = t" }

  helper.on_cpu("have the results of Lua where rows are sequential, and are side by side if that is right", function()
    local count, total = 0, helper.long(300) or 40
    for _ = 1, total do
      local text = ([[function(a, b, c, n, m)
        local s = 0.5
        for i = 1, n do local t = 0.25; %s %s %s end
        c[2][2] = s
      end]]):format(SUMS[math.random(#SUMS)], UPDATES[math.random(#UPDATES)], UPDATES[math.random(#UPDATES)])
      local compiled = assert(loops.compile(text, { device = device }))
      compare(text, "double", function(...) assert(helper.call_on_device(20, compiled, ...)) end)
      count = count + (are_side_by_side(compiled) and 1 or 0)
    end
    assert.is_true(count > total / 10 and count < total * 0.9, count)
  end)

  local function source_of(body, options)
    local text = ("function(a, b, n) for i = 1, n do %s end end"):format(body)
    local compiled = assert(loops.compile(text, options or { device = device, force = true }))
    compiled(device:random("double", N, N), device:random("double", N, N), N)
    return compiled:source(), compiled
  end

  helper.on_cpu("keep what the pass before stored", function()
    local source, compiled = source_of "for j = 2, n do a[i][j] = 0.5 * (a[i][j - 1] + b[i][j]) end"
    assert.matches("if %(2 <= n_%d+%) {\n +double j_%d+_kept1_row1 = a_1%[%(i_%d+_row %- 1%) %* a_1_d2 %+ 0%];", source)
    assert.matches("nest_1, line 1: work%-items %(i%) in tiles, rows side by side;", compiled:explain())
    assert.not_matches("kept", (source_of [[for j = 2, n do
      a[i][j] = 0.5 * (a[i][j - 1] + b[i][j])
      a[i][1] = a[i][j]
    end]]))
    assert.not_matches("kept", (source_of "for j = 2, n do a[i][j] = j > 3 and a[i][j - 1] or 0.5 end"))
    source = source_of "for j = 2, n do a[i][j] = b[i][j] > 0.5 and a[i][j - 1] or 0.5 end"
    assert.matches("choose_real%(b_2[^\n]+ > 0.5, j_%d+_kept1_row1, 0.5%)", source)
  end)

  helper.on_cpu("have locals for what no other row stores in the first pass they share", function()
    local text = [[function(a, b, n)
      for i = 1, n do
        a[1][i] = a[2][i]
        for j = 5, 8 do
          a[i + 1][3 * j - 7] = b[j][i]
          a[i][2 * j] = a[i][2 * j - 2] * 0.5 + b[i][j]
        end
      end
    end]]
    local compiled, values, other = assert(loops.compile(text, { device = device })), matrix(), matrix()
    local a, b = device:buffer(values, "double"), device:buffer(other, "double")
    assert(helper.call_on_device(4, compiled, a, b, 9))
    assert(load("return " .. text))()(values, other, 9)
    assert.same(values, a:read())
    assert.matches("_row %+= 4%)", compiled:source())
    assert.not_matches("kept2", compiled:source()) -- of the first row alone, in which no other one stores
  end)

  helper.on_cpu("leave lanes and largest values to vectors", function()
    local source = source_of [[local m = a[i][1]
      for j = 2, n do m = math.max(m, a[i][j]) end
      local s = 0.0
      for j = 1, n do b[i][j] = math.exp(a[i][j] - m); s = s + b[i][j] end
      for j = 1, n do b[i][j] = b[i][j] / s end]]
    assert.matches("kept = select%(kept, value", source)
    assert.matches("VECTORS_4\n[^\n]*\n[^\n]*\n[^\n]*\n[^\n]*exp_double", source)
    assert.matches("s_%d+_row4 = s_%d+_row4 %+ b_2", source)
  end)

  it("go one by one where they would share a set of the cache", function()
    local text = [[function(a, b, c, n, m)
      for i = 1, n do
        for j = 2, m do
          local p = b[i][j] - 0.125 * a[i][j - 1]
          a[i][j] = a[i][j] / p
          c[i][j] = (c[i][j] - 0.25 * c[i][j - 1]) / p
        end
      end
    end]]
    local f = assert(loops.compile(text, { device = device, force = true }))
    for _, width in ipairs { 1024, 1030, 512 } do
      local values, buffers = {}, {}
      for k = 1, 3 do
        values[k] = helper.matrix(9, width, function() return math.random() + 0.5 end)
        buffers[k] = device:buffer(values[k], "double")
      end
      f(buffers[1], buffers[2], buffers[3], 9, width)
      assert(load("return " .. text))()(values[1], values[2], values[3], 9, width)
      for k, buffer in ipairs(buffers) do assert.same(values[k], buffer:read()) end
    end
    if device.type == "cpu" then assert.matches("_d2 <= 660 || [^\n]*_d2 %% 512 != 0", f:source()) end
  end)

  helper.on_cpu("are none where data decide the passes, or a row's last pass is its own", function()
    for _, body in ipairs { "local s = 0.0; for j = 1, i do s = s + a[i][j] end b[i][1] = s",
      "local s = 1.0; while s < 9 do s = s * 2 + a[i][1] end b[i][1] = s" } do
      local _, compiled = source_of(body)
      assert.is_false(are_side_by_side(compiled), body)
    end
  end)
end)
