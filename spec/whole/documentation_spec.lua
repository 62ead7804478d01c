-- SPDX-License-Identifier: MIT
--- Every public name has an LDoc block and a stub for editors, and every stub a name.

local helper = require "spec.helper"
local cl = require "clcompute"

local modules = {}
for _, name in ipairs { "bench", "blas", "device_profile", "loops", "poly", "report", "sequential" } do
  modules[name] = require("clcompute." .. name)
end

local function read_files(pattern)
  local texts, pipe = {}, assert(io.popen("find " .. pattern))
  for path in pipe:lines() do
    local file = assert(io.open(path))
    texts[path] = file:read("a")
    file:close()
  end
  pipe:close()
  return texts
end

local kinds = { "Device", "Buffer", "Program", "Kernel", "Event", "Factors", "Array", "OpenBLAS", "CLBlast" }

--- One object of each kind; the libraries only where they are installed.
local function make_objects(d)
  local program = d:program "kernel void nothing(global int *x) { x[0] = 1; }"
  local buffer = d:zeros("int", 1)
  return {
    Device = d, Buffer = buffer, Program = program, Kernel = program.nothing,
    Event = program.nothing(1, buffer),
    Array = modules.blas.array(1), OpenBLAS = modules.blas.openblas(), CLBlast = modules.blas.clblast(),
  }
end

--- What scripts can call: "gemm", "Buffer:read", "sequential.gemm".
local function public_names()
  local names = {}
  for name, value in pairs(cl) do
    if type(value) == "function" then names[name] = true end
  end
  for module, functions in pairs(modules) do
    for name in pairs(functions) do names[module .. "." .. name] = true end
  end
  for name in pairs(getmetatable(modules.loops.compile "function() end").__index) do
    if not name:find "^__" then names["Compiled:" .. name] = true end
  end
  for _, kind in ipairs(kinds) do
    for name in pairs(debug.getregistry()["clcompute." .. kind].methods) do names[kind .. ":" .. name] = true end
  end
  return names
end

--- What LDoc documents, by its own name for each.
local function documented_names()
  local names = {}
  for path, text in pairs(read_files "csrc lua -name '*.c' -o -name '*.lua'") do
    local module = text:match "@module clcompute%.([%w_]+)"
    local prefix = modules[module] and module .. "." or ""
    for name in text:gmatch("\n[%- ]*@function ([%w_:]+)") do
      local full = name:find(":", 1, true) and name or prefix .. name
      assert.is_nil(names[full], path .. " documents a name again: " .. name)
      names[full] = true
    end
  end
  names["Kernel:__call"] = nil -- a metamethod
  return names
end

local function stub_names()
  local names = {}
  for _, text in pairs(read_files "library -name '*.lua'") do
    for name in text:gmatch("\nfunction ([%w_.:]+)%(") do
      name = name:gsub("^cl%.", "")
      assert.is_nil(names[name], "a second stub: " .. name)
      names[name] = true
    end
  end
  return names
end

local function texts(files)
  local list = {}
  for _, text in pairs(files) do list[#list + 1] = text end
  return list
end

--- The fields that the stub of a class names.
local function stub_fields(class)
  local text = table.concat(texts(read_files "library -name '*.lua'"), "\n")
  local block = assert(text:match("%-%-%-@class clcompute%." .. class .. "%f[^%w][^\n]*\n(.-)\nlocal "), class)
  local fields = {}
  for name in ("\n" .. block):gmatch("\n%-%-%-@field ([%a_][%w_]*)") do fields[name] = true end
  return fields
end

describe("the documentation", function()
  it("has an LDoc block for every public name and for nothing else", function()
    assert.same(public_names(), documented_names())
  end)

  it("has a stub for every public name and for nothing else", function()
    assert.same(public_names(), stub_names())
  end)

  it("has stubs that are Lua, and describe each parameter", function()
    for path, text in pairs(read_files "library -name '*.lua'") do
      assert.is_function(load(text, "@" .. path))
      for comment, name, parameters in text:gmatch("\n(%-%-%-[^\n]*\n[%-].-)\nfunction ([%w_.:]+)%((.-)%)") do
        comment = comment:match(".*\n\n(.-)$") or comment -- from the last blank line on
        for parameter in parameters:gmatch("[^, ]+") do
          assert.truthy(comment:find("@param " .. parameter, 1, true), name .. ": " .. parameter)
        end
        assert.truthy(comment:find("@return", 1, true), name)
      end
    end
  end)

  it("has a stub for every field, and every field of a stub exists", function()
    local d = helper.device()
    local known = { limit = true, compute_capability = true } -- of isolated devices alone, of NVIDIA's
    for name in pairs(d:info()) do known[name] = true end
    assert.same(known, stub_fields "Device")
    for kind, object in pairs(make_objects(d)) do
      for name in pairs(stub_fields(kind)) do assert.is_true((pcall(function() return object[name] end)), name) end
    end
    for kind, fields in pairs { Buffer = "dtype shape bytes device", Event = "status seconds device",
      Program = "kernels device", Kernel = "name args device" } do
      for name in fields:gmatch "%S+" do assert.is_true(stub_fields(kind)[name], kind .. "." .. name) end
    end
  end)

  it("is understood by LDoc without a warning", function()
    if not os.execute "command -v ldoc >/dev/null" then return pending "lua-ldoc is not installed" end
    local pipe = io.popen "ldoc --quiet --fatalwarnings --dir build/doc . 2>&1"
    local output = pipe:read("a")
    assert.is_true(pipe:close(), output)
    local pages = table.concat(texts(read_files "build/doc -name '*.html'"))
    for name in pairs(documented_names()) do
      name = name:match "^[%l_]+%.(.+)$" or name
      assert.truthy(pages:find('name = "' .. name .. '"', 1, true), name)
    end
  end)
end)
