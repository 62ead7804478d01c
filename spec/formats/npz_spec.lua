-- SPDX-License-Identifier: MIT
--- Several buffers in a .npz file.

local cl = require "clcompute"
local crc = require "spec.support.crc"
local helper = require "spec.helper"

local folder = helper.folder()
local path = folder .. "/arrays.npz"

teardown(function() os.execute("rm -rf " .. folder) end)

local d = helper.device()
local has_zlib, zlib = pcall(require, "zlib")

--- An archive of entries { name=, bytes= } with further fields, which may lie.
local function archive(entries, comment, more)
  local parts, directory, at = {}, {}, 0
  for i, e in ipairs(entries) do
    local packed, extra = e.packed or e.bytes, e.extra or ""
    local fields = string.pack("<I2I2I2I2I4I4I4I2", e.flags or 0, e.method or 0, 0, 33, e.crc or crc(e.bytes),
      e.packed_size or #packed, e.size or #e.bytes, #e.name)
    local start = e.start or at
    parts[i] = "PK\3\4\20\0" .. (e.head or fields) .. string.pack("<I2", #extra) .. (e.own_name or e.name) .. extra
      .. packed
    directory[i] = "PK\1\2\20\0\20\0" .. fields .. string.pack("<I2I2I2I2I4I4", 0, 0, 0, 0, 0, start) .. e.name
    at = at + #parts[i]
  end
  local text = table.concat(directory)
  more = more or {}
  return table.concat(parts) .. text .. "PK\5\6" .. string.pack("<I2I2I2I2I4I4I2", more.disk or 0, 0,
    more.here or #entries, more.count or #entries, more.size or #text, more.start or at, #(comment or ""))
    .. (comment or "")
end

--- The bytes of a .npy file.
local function npy(buffer)
  return helper.read(buffer:save(folder .. "/one.npy") and folder .. "/one.npy")
end

local function load(bytes)
  helper.write(path, bytes)
  return d:load(path)
end

helper.describe_each("a .npz file", function(device)
  it("gives back what was saved, in every dtype and shape, by name", function()
    local buffers = {}
    for _, dtype in ipairs(helper.dtypes(device)) do
      for i, shape in ipairs { { 1 }, { 7 }, { 0 }, { 3, 5 }, { 2, 3, 4 } } do
        buffers[dtype .. i] = device:random(dtype, table.unpack(shape))
      end
    end
    assert.equal(path, cl.save_npz(path, buffers))
    local loaded, count = device:load(path), 0
    for name, b in pairs(loaded) do
      count = count + 1
      assert.equal(buffers[name].dtype, b.dtype)
      assert.same(buffers[name].shape, b.shape)
      assert.equal(buffers[name]:string(), b:string())
    end
    for _ in pairs(buffers) do count = count - 1 end
    assert.equal(0, count)
  end)
end)

describe("a .npz file", function()
  local b = d:buffer({ 1, 2, 3 }, "short")
  local bytes = npy(b)

  it("has exactly these bytes, whatever the order of the table and the day", function()
    cl.save_npz(path, { z = b, a = b })
    assert.equal(archive({ { name = "a.npy", bytes = bytes, flags = 0x800 }, { name = "z.npy", bytes = bytes,
      flags = 0x800 } }), helper.read(path))
    local names = helper.shell("unzip -t " .. path)
    if names:find "testing" then assert.matches("No errors detected", names) end
  end)

  it("may be empty, and may have names of any bytes", function()
    cl.save_npz(path, {})
    assert.same({}, d:load(path))
    cl.save_npz(path, { ["ä/../ b\n"] = b, ["x.npy"] = b })
    assert.equal(b:string(), d:load(path)["ä/../ b\n"]:string())
    assert.equal(b:string(), d:load(path)["x.npy"]:string())
  end)

  it("has the same checksums without lua-zlib", function()
    local script = ([[package.preload.zlib = function() error "none" end
      local cl = require "clcompute"
      local d = cl.device()
      cl.save_npz(%q, { a = d:random("int", 3000, { seed = 1 }) })
      assert(d:load(%q).a:string() == d:random("int", 3000, { seed = 1 }):string())
      io.write("done")]]):format(path, path)
    local ok, output = helper.run(script)
    assert.is_true(ok, output)
    assert.equal(d:random("int", 3000, { seed = 1 }):string(), d:load(path).a:string())
  end)

  it("may have a comment and further fields", function()
    local e = { name = "a.npy", bytes = bytes, extra = "\1\0\4\0abcd" }
    assert.equal(b:string(), load(archive({ e }, "a comment PK\5\6")).a:string())
    assert.equal(b:string(), load(archive({ e }, ("c"):rep(65535))).a:string())
  end)

  it("may be compressed, where lua-zlib is", function()
    if not has_zlib then return pending "no lua-zlib" end
    local large = d:zeros("float", 300000)
    for _, one in ipairs { b, large, d:random("uchar", 100000), d:zeros("int", 0) } do
      local text = npy(one)
      local e = { name = "a.npy", bytes = text, method = 8, packed = zlib.deflate(6, -15)(text, "finish") }
      if one.bytes < 200000 then
        assert.equal(one:string(), load(archive { e, { name = "b.npy", bytes = bytes } }).a:string())
      else
        e.crc = zlib.crc32()(text) | 0
        assert.is_true(one:string() == load(archive { e }).a:string())
      end
    end
    local script = ([[package.preload.zlib = function() error "none" end
      print(pcall(function() return require("clcompute").device():load(%q) end))]]):format(path)
    local _, output = helper.run(script)
    assert.matches("entry 'a.npy' is compressed: to read it takes the Lua module zlib: apt install lua-zlib", output,
      1, true)
  end)

  it("that lies is refused, and leaves nothing behind", function()
    local function refused(message, text)
      collectgarbage()
      local before = cl.live().bytes
      helper.raises({ path .. ": ", message }, load, text)
      assert.is_true(cl.live().bytes <= before)
    end
    local function with(fields, more)
      local e = { name = "a.npy", bytes = bytes }
      for key, value in pairs(fields) do e[key] = value end
      return archive({ { name = "first.npy", bytes = bytes }, e }, nil, more)
    end
    refused("the checksum of entry 'a.npy' is wrong", with { crc = 7 })
    refused("the checksum of entry 'a.npy' is wrong", with { bytes = bytes:sub(1, -2) .. "x", crc = crc(bytes) })
    refused("entry 'a.npy' is encrypted", with { flags = 1 })
    refused("compression method 12", with { method = 12 })
    refused("is stored in 134 bytes, but has 135", with { size = 135 })
    refused("zip64", with { size = 0xffffffff })
    refused("zip64", with({}, { count = 0xffff }))
    refused("zip64", with({}, { start = 0xffffffff }))
    refused("an archive of several files", with({}, { disk = 1 }))
    refused("an archive of several files", with({}, { here = 1 }))
    refused("damaged directory", with({}, { count = 3, here = 3 }))
    refused("damaged directory", with({}, { count = 1, here = 1 }))
    refused("its directory reaches beyond its place", with({}, { start = 0xfffffffe }))
    refused("reaches beyond its place", with { start = 0xfffff })
    refused("reaches beyond its place", with { packed_size = 5000, size = 5000 })
    refused("reaches beyond its place", with { start = 0 }) -- two entries in one place
    refused("the head of entry 'a.npy' has another name", with { own_name = "b.npy" })
    refused("the head of entry 'a.npy' is not what", with { start = 3 })
    refused("entry 'first.npy' comes twice", with { name = "first.npy" })
    refused("entry 'a.txt' is no .npy file", with { name = "a.txt" })
    refused("entry 'a.npy': no .npy", with { bytes = "hello" })
    refused("entry 'a.npy': 3 short elements are 6 bytes, but 5 follow", with { bytes = bytes:sub(1, -2) })
    refused("it has no directory at its end", with({}):sub(1, -2))
    refused("it has no directory at its end", with {} .. "x")
    if not has_zlib then return end
    local packed = zlib.deflate(6, -15)(bytes, "finish")
    refused("entry 'a.npy' has more than its 134 bytes",
      with { method = 8, size = #bytes, packed = zlib.deflate(6, -15)(bytes .. ("\0"):rep(1 << 20), "finish") })
    refused("do not decompress", with { method = 8, packed = "\7\7\7\7\7" })
    refused("the file became shorter", with { method = 8, packed = packed:sub(1, -8) })
  end)

  it("is made of buffers by name", function()
    helper.raises({ "#1", "path expected, got none" }, function() cl.save_npz() end)
    helper.raises("table of buffers by name expected, got nil", function() cl.save_npz(path) end)
    helper.raises("table of buffers by name expected, got Buffer", function() cl.save_npz(path, b) end)
    helper.raises("table of buffers by name expected, got one at [1]", function() cl.save_npz(path, { b }) end)
    helper.raises("table of buffers by name expected, got one at []", function() cl.save_npz(path, { [""] = b }) end)
    helper.raises("buffer expected at 'a', got table", function() cl.save_npz(path, { a = { 1 } }) end)
    helper.raises("a name of 70004 bytes", function() cl.save_npz(path, { [("n"):rep(70000)] = b }) end)
    helper.raises("a .npz file holds buffers by name: cl.save_npz", function() b:save(path) end)
    local message = helper.raises("No such file", function() cl.save_npz(folder .. "/none/a.npz", { a = b }) end)
    assert.matches("^%S*npz_spec%.lua:%d+: ", message)
    local gone = d:zeros("int", 1):release()
    helper.write(path, "old")
    helper.raises("buffer is released", function() cl.save_npz(path, { a = gone }) end)
    assert.equal("old", helper.read(path))
    assert.is_nil(io.popen("ls -A " .. folder .. " | grep clcompute-"):read("a"):match "%S")
  end)
end)
