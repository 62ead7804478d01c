-- SPDX-License-Identifier: MIT
--- Files that lie, made by seeds: .npy, .npz and .csv files, compiled programs that were kept, kept numbers, rows of
-- measurements. What they hold is an error in words or what was written; nothing crashes, hangs or is believed. LONG=1
-- (`make fuzz-files`) tries a hundred times as many.

local cl = require "clcompute"
local helper = require "spec.helper"
local read_header = require("clcompute.formats.npy").read_header
local report = require "clcompute.report"

local TIMES = os.getenv "LONG" and 100 or 1

local random = math.random

local function pick(list) return list[random(#list)] end

local shell, folder = helper.shell, helper.folder()

teardown(function() shell("rm -rf " .. folder) end)

local write_file = helper.write

-- --- damage --------------------------------------------------------------------------------------

local DAMAGE = {
  function(s) -- a bit
    local i = random(#s)
    return s:sub(1, i - 1) .. string.char(s:byte(i) ~ (1 << random(0, 7))) .. s:sub(i + 1)
  end,
  function(s) return s:sub(1, random(0, #s)) end,
  function(s) -- a piece twice
    local i, j = random(#s), random(#s)
    return s:sub(1, i) .. s:sub(math.min(i, j), math.max(i, j)) .. s:sub(i + 1)
  end,
  function(s) -- a piece left out
    local i = random(#s)
    return s:sub(1, i - 1) .. s:sub(i + random(1, 20))
  end,
  function(s) -- a number of eight bytes
    local i = random(#s)
    return s:sub(1, i - 1) .. string.pack("<i8", pick { 0, -1, 1 << 62, math.mininteger, 1 << 31, 7 }) .. s:sub(i + 8)
  end,
  function(s) -- an exchange
    local i, j = random(#s), random(#s)
    return s:sub(i) .. s:sub(1, j)
  end,
  function(s) return s .. ("\0"):rep(random(0, 100)) end,
  function(s) -- noise
    local bytes = {}
    for i = 1, random(0, 40) do bytes[i] = string.char(random(0, 255)) end
    local i = random(#s)
    return s:sub(1, i) .. table.concat(bytes) .. s:sub(i + 1)
  end,
}

local function damage(bytes)
  for _ = 1, random(3) do if #bytes > 0 then bytes = pick(DAMAGE)(bytes) end end
  return bytes
end

-- --- .npy ----------------------------------------------------------------------------------------

local NUMBERS = { "0", "1", "2", "3", "-1", "00", "4294967296", "9223372036854775807", "9223372036854775808", "1.5",
  "1e3", "0x10", "True", "''", "None", "", "99999999999999999999999999", "3L", "(1,)", "+1" }
local DESCRS = { "<f4", "<f8", ">i2", "|u1", "=f4", "<f2", "<i8", "O", "|O", "V8", "<U3", "<c16", "", "<f4\0", "f4",
  "<f16", "[('a','<i4')]" }

--- A header with some truth in it.
local function random_header()
  local extents = {}
  for i = 1, random(0, 6) do extents[i] = random(3) == 1 and pick(NUMBERS) or tostring(random(0, 4)) end
  local shape = "(" .. table.concat(extents, ", ") .. pick { ",", ",", "", ", ," } .. pick { ")", ")", ")", "", "]" }
  local fields = { ("'descr': '%s'"):format(random(3) == 1 and pick(DESCRS) or pick { "<f4", "<i2", "|u1", ">f8" }),
    "'fortran_order': " .. pick { "False", "False", "True", "1", "false", "None" }, "'shape': " .. shape }
  if random(5) == 1 then table.remove(fields, random(#fields)) end
  if random(5) == 1 then fields[#fields + 1] = pick { fields[1] or "", "'x': 1", "__import__('os')", "'shape': ()" } end
  local text = "{" .. table.concat(fields, pick { ", ", ", ", "," }) .. pick { ", }", "}", "", "}}" }
    .. (" "):rep(random(0, 70)) .. "\n"
  if random(20) == 1 then text = ("("):rep(random(1, 65000)) .. text end
  local version = pick { 1, 1, 1, 2, 3, 0, 4 }
  local length = random(8) == 1 and random(0, 70000) or #text
  return "\x93NUMPY" .. string.char(version % 256, random(20) == 1 and 1 or 0)
    .. (version == 1 and string.pack("<I2", length & 0xffff) or string.pack("<I4", length)) .. text
end

--- A string read as a file is.
local function as_file(bytes)
  local at = 1
  return { read = function(_, n)
    local piece = bytes:sub(at, at + n - 1)
    at = at + n
    return piece ~= "" and piece or nil
  end }
end

--- What is wrong with the outcome for these bytes, or nil.
local function judge_header(bytes)
  local ok, result = pcall(read_header, as_file(bytes))
  if not ok then
    local is_inside = type(result) ~= "string" or result:find "%.lua:%d+:" or result:find "attempt to"
    return is_inside and tostring(result) or nil
  end
  local count = 1
  for _, n in ipairs(result.shape) do
    if math.type(n) ~= "integer" or n < 0 then return "a strange extent" end
    count = count * n
  end
  if #result.shape < 1 or #result.shape > 4 or count ~= result.count then return "a strange shape" end
  if count > math.maxinteger // result.size then return "an overflow" end
end

describe("headers of .npy files", function()
  it("that lie are refused in words, or hold what they say", function()
    for _ = 1, 5000 * TIMES do
      local bytes = random_header()
      if random(2) == 1 then bytes = damage(bytes) end
      local wrong = judge_header(bytes)
      if wrong then error(("%s: %q"):format(wrong, bytes)) end
    end
  end)
end)

helper.describe_each(".npy files", function(d)
  it("that lie are refused with their path, or have as many bytes as they say", function()
    local path = folder .. "/a.npy"
    d:random("short", 3, 4):save(path)
    local whole = helper.read(path)
    for _ = 1, 300 * math.min(TIMES, 30) do
      local bytes = random(2) == 1 and damage(whole) or random_header() .. ("x"):rep(random(0, 64))
      write_file(path, bytes)
      local ok, result = pcall(d.load, d, path)
      if ok then
        assert.is_true(result.bytes <= #bytes)
        result:release()
      else
        assert.truthy(result:find(path .. ": ", 1, true), result)
        assert.is_nil(result:find "attempt to" or result:find("CL_", 1, true), result)
      end
    end
  end)
end)

-- --- .npz and .csv --------------------------------------------------------------------------------

describe("files of several buffers, and of numbers", function()
  local d = helper.device()

  --- The bytes of all buffers that a file gave.
  local function bytes_of(result)
    if type(result) == "userdata" then return result.bytes end
    local sum = 0
    for _, buffer in pairs(result) do sum = sum + buffer.bytes end
    return sum
  end

  for _, extension in ipairs { "npz", "csv" } do
    it("that lie are refused with their path, or hold no more than they have: " .. extension, function()
      local path = folder .. "/a." .. extension
      local m = d:random("short", 3, 4)
      if extension == "npz" then cl.save_npz(path, { a = m, b = d:random("int", 5) }) else m:save(path) end
      local whole = helper.read(path)
      for _ = 1, 500 * math.min(TIMES, 30) do
        local bytes = damage(whole)
        write_file(path, bytes)
        local before = cl.live().bytes
        local ok, result = pcall(d.load, d, path)
        if ok then
          assert.is_true(bytes_of(result) <= 4 * #bytes)
        else
          assert.truthy(result:find(path .. ": ", 1, true), result)
          assert.is_nil(result:find "attempt to" or result:find("CL_", 1, true), result)
          collectgarbage()
          assert.is_true(cl.live().bytes <= before)
        end
      end
    end)
  end
end)

-- --- the cache -----------------------------------------------------------------------------------

describe("kept programs", function()
  local device = helper.device()

  it("that were damaged anyhow are built anew, and never believed", function()
    local cache = folder .. "/cache"
    local script = ([[
      local cl = require "clcompute"
      local d = cl.device "%s"
      local function build(n)
        local x = d:zeros("int", 1)
        d:program(("kernel void k(global int *x) { x[0] = %%d; }"):format(n)).k(1, x)
        return x[1]
      end
      for n = 1, 3 do assert(build(n) == n) end]]):format(device.place)
    local function run()
      local ok, output, code = helper.run(script, { CLCOMPUTE_CACHE = cache }, 60)
      assert.is_true(ok, ("exit code %s: %s"):format(code, output))
    end
    run()
    local paths, whole = {}, {}
    for name in shell("ls " .. cache):gmatch "%x+%.bin" do
      paths[#paths + 1] = cache .. "/" .. name
      whole[#paths] = helper.read(paths[#paths])
    end
    assert.equal(3, #paths)
    for _ = 1, 6 * math.min(TIMES, 10) do
      for i, path in ipairs(paths) do
        local act = random(6)
        if act == 1 then
          write_file(path, whole[i % #paths + 1]) -- another's
        elseif act == 2 then
          shell(("rm -rf %s; ln -s %s %s"):format(path, pick { "/dev/zero", paths[i % #paths + 1], "/nowhere" }, path))
        elseif act == 3 then
          write_file(path, damage(whole[i]))
          shell("chmod 666 " .. path)
        else
          write_file(path, damage(whole[i]))
        end
      end
      shell("chmod " .. pick { "700", "777" } .. " " .. cache) -- a folder that others may write
      run()
      for _, path in ipairs(paths) do assert.matches("^%-rw%-%-%-%-%-%-%-", (shell("ls -l " .. path))) end
    end
  end)
end)

-- --- numbers and rows ----------------------------------------------------------------------------

describe("kept numbers", function()
  it("that are damaged, or code, are refused and never run", function()
    local path = folder .. "/tuning.lua"
    local whole = 'return {\n  ["P | D | 1 | gemm | float"] = {\n    ["rows"] = 4,\n    ["lane"] = 256,\n  },\n}\n'
    local hostile = { "return {os.exit(1)}", "while 1 do end", "return {} .. {}", "return setmetatable({}, {})",
      "return { [1] = ('x'):rep(1e9) }", "return " .. ("{"):rep(100000), "\27Lua", "return {\"\\\"..os.exit(1)..\"}" }
    for i = 1, 100 * math.min(TIMES, 20) do
      write_file(path, hostile[i] or damage(whole))
      local ok, output, code = helper.run([[
        local store = require "clcompute.tuning.store"
        local rows, fault = store.read()
        assert(type(rows) == "table" and (fault == nil or fault:find(store.path(), 1, true)), fault)
        print "read"]], { CLCOMPUTE_TUNING = path }, 20)
      assert.is_true(ok and output:find "read" ~= nil, ("exit code %s: %s"):format(code, output))
    end
  end)
end)

describe("kept rows", function()
  it("that are damaged are errors with path and line, or rows", function()
    local path = folder .. "/rows.jsonl"
    local whole = report.jsonl { { name = "saxpy", value = 1.5, params = { n = 4 } }, { name = "\1\"\\", value = 2 } }
    for i = 1, 500 * TIMES do
      write_file(path, i == 1 and ("["):rep(100000) or i == 2 and ('{"a":'):rep(50000) or damage(whole))
      local ok, result = pcall(report.read, path)
      if ok then
        for _, row in ipairs(result) do assert.is_table(row) end
      else
        assert.truthy(tostring(result):find(path .. ":", 1, true), result)
        assert.is_nil(tostring(result):find "attempt to", result)
      end
    end
  end)
end)

describe("files", function()
  it("named by a script never reach a shell", function()
    local bait = folder .. "/owned"
    local b = cl.device():buffer { 1, 2 }
    local texts = { "$(touch %s)", "`touch %s`", "; touch %s;", "' ; touch %s ; '", "| touch %s", "\ntouch %s\n" }
    for _, name in ipairs(texts) do
      local text = name:format(bait)
      pcall(b.save, b, text)
      os.remove(text)
      pcall(b.device.load, b.device, text)
      pcall(b.device.program, b.device, { file = text })
      pcall(b.device.program, b.device, "kernel void k(global int *x) { x[0] = 1; }",
        { include = { text }, name = text })
      pcall(b.device.kernel, b.device, text)
      pcall(cl.device, text)
      pcall(cl.doctor, { device = text, answers = false, limit = 1 })
      helper.run("require 'clcompute'.device()", { CLCOMPUTE_CACHE = "off", CLCOMPUTE_TUNING = bait .. "/x" }, 20)
    end
    assert.is_nil(io.open(bait))
  end)
end)
