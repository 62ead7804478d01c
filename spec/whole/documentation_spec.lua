-- SPDX-License-Identifier: MIT
--- Every public name has a stub, which is its reference, and every stub a name; what pages and stubs show runs.

local command = require "spec.support.command"
local helper = require "spec.helper"
local cl = require "clcompute"
local pages = require "spec.support.pages"
local reference = require "clcompute.reference"

local entries = reference.read "library"

local modules = {}
for _, entry in ipairs(entries) do
  local name = entry.module:match "^clcompute%.(.+)"
  if name then modules[name] = require(entry.module) end
end

local kinds = { "Device", "Buffer", "Host", "Image", "Sampler", "Program", "Kernel", "Event", "Sequence", "Factors",
  "Array", "OpenBLAS", "CLBlast" }

--- One object of each kind; the libraries only where they are installed.
local function make_objects(d)
  local program = d:program "kernel void nothing(global int *x) { x[0] = 1; }"
  local buffer = d:timing(true):zeros("int", 1)
  return {
    Device = d, Buffer = buffer, Host = d:host("int", 1), Image = d:image("r float", 1), Sampler = d:sampler(),
    Program = program, Kernel = program.nothing,
    Event = program.nothing(1, buffer), Sequence = d:record(function() end),
    Array = modules.blas.array(1), OpenBLAS = modules.blas.openblas(), CLBlast = modules.blas.clblast(),
  }
end

--- What scripts can call: "cl.gemm", "Buffer:read", "sequential.gemm".
local function public_names()
  local names = {}
  for name, value in pairs(cl) do
    if type(value) == "function" then names["cl." .. name] = true end
  end
  for module, functions in pairs(modules) do
    for name in pairs(functions) do names[module .. "." .. name] = true end
  end
  for kind, object in pairs { Compiled = modules.loops.compile "function() end", Struct = cl.struct("s", "int a;"),
    Drawing = cl.plot {} } do
    for name in pairs(getmetatable(object).__index) do names[kind .. ":" .. name] = true end
  end
  local group = cl.group { helper.device() }
  for kind, object in pairs { Group = group, Spread = group:zeros("int", 1), World = modules.mpi.world,
    SpreadFactors = cl.lu(cl.group({ helper.device(), helper.device() }):eye(1)) } do
    for name in pairs(getmetatable(object).methods) do names[kind .. ":" .. name] = true end
  end
  for _, kind in ipairs(kinds) do
    for name in pairs(debug.getregistry()["clcompute." .. kind].methods) do names[kind .. ":" .. name] = true end
  end
  return names
end

--- The fields that the stub of a class names.
local function stub_fields(class)
  local fields = {}
  for _, entry in ipairs(entries) do
    if entry.name == "clcompute." .. class then
      for _, field in ipairs(entry.fields) do
        if not field.name:find "^%[" then fields[field.name] = true end
      end
    end
  end
  return fields
end

--- Whether a page is what its generator prints.
local function written(line, path)
  local pipe = assert(io.popen(helper.lua .. " " .. line))
  local text = pipe:read "a"
  return pipe:close() and text == pages.read(path)
end

describe("the reference", function()
  it("has every public name once, and nothing else", function()
    local names = {}
    for _, entry in ipairs(entries) do
      if entry.signature then
        assert.is_nil(names[entry.name], "a second stub: " .. entry.name)
        names[entry.name] = true
      end
    end
    assert.same(public_names(), names)
  end)

  it("says of every function what it does, takes and returns, with an example", function()
    for _, path in ipairs(pages.files "library/*.lua library/clcompute/*.lua") do
      local text = pages.read(path)
      assert.is_function(load(text, "@" .. path))
      for name, parameters in text:gmatch "\nfunction ([%w_.:]+)%((.-)%)" do
        for _, entry in ipairs(entries) do
          if entry.name == name then
            local described = {}
            for i, param in ipairs(entry.params) do described[i] = param.name end
            assert.equal(parameters, table.concat(described, ", "), name)
            assert.truthy(entry.text ~= "" and entry.example, name)
            assert.truthy(entry.returns[1] or name == "Compiled:close" or name == "cl.seed", name)
          end
        end
      end
    end
  end)

  it("has every field, and every field that it has exists", function()
    local d = helper.device()
    local known = { compute_capability = true, il_version = true } -- of some devices alone
    for _, name in ipairs { "limit", "build_limit", "sandbox" } do known[name] = true end -- of isolated devices
    known.parent = true -- of parts
    for name in pairs(d:info()) do known[name] = true end
    assert.same(known, stub_fields "Device")
    for kind, object in pairs(make_objects(d)) do
      for name in pairs(stub_fields(kind)) do assert.is_true((pcall(function() return object[name] end)), name) end
    end
    for kind, fields in pairs { Buffer = "dtype shape count bytes device", Event = "status seconds device",
      Program = "kernels device", Kernel = "name args device" } do
      for name in fields:gmatch "%S+" do assert.is_true(stub_fields(kind)[name], kind .. "." .. name) end
    end
  end)

  for _, path in ipairs(pages.files "library/*.lua library/clcompute/*.lua") do
    it("has examples that run and print what they say: " .. path, function()
      local text = ("\n" .. pages.read(path)):gsub("\n%-%-%-", "\n"):sub(2)
      local script = pages.script(text, "do", "end")
      if not pages.has_devices(script) then return pending "it names a CPU, and none is here" end
      local output = pages.run("cl = require 'clcompute' d = cl.device() " .. script, path)
      pages.check_output(script, output)
    end)
  end

  it("is docs/api.md, as `make doc` writes it", function()
    assert.is_true(written("tools/reference.lua", "docs/api.md"), "make doc")
  end)
end)

describe("the manual page", function()
  it("is docs/clcompute.1, as `make doc` writes it", function()
    assert.is_true(written("tools/manual.lua", "docs/clcompute.1"), "make doc")
  end)
end)

-- Folders of which pages name files.
local OURS = { csrc = true, lua = true, kernels = true, spec = true, examples = true, docs = true, tools = true }

-- What the passes of the compiler return; spec/loops compares it with them.
local SHOWN = { ["docs/compiler.md"] = true }

describe("the guide", function()
  for _, path in ipairs(pages.files "docs/*.md") do
    if path ~= "docs/api.md" and not SHOWN[path] then
      it("has Lua that runs and prints what it says: " .. path, function()
        local script = pages.script(pages.read(path))
        if not pages.has_devices(script) then return pending "it names a CPU, and none is here" end
        if script:find "%S" then pages.check_output(script, pages.run(script, path)) end
      end)
    end
  end

  it("links to files and headings that are there", function()
    local function anchors(path)
      local found, text = {}, pages.read(path):gsub("\n```.-\n```", "")
      for title in ("\n" .. text):gmatch "\n#+ ([^\n]+)" do
        found[title:lower():gsub("[^%w_%- ]", ""):gsub(" ", "-")] = true
      end
      for id in text:gmatch '<a id="([^"]+)">' do found[id] = true end
      return found
    end
    for _, path in ipairs(pages.files "README.md CONTRIBUTING.md docs/*.md") do
      local text = pages.read(path):gsub("\n```.-\n```", "")
      for link in text:gmatch "%]%(([^)%s]+)%)" do
        local file, anchor = link:match "^([^#]*)#?(.*)$"
        if not link:find "^https?:" then
          local target = file == "" and path or path:match "^(.*/?)[^/]*$":gsub("[^/]*$", "") .. file
          assert.truthy(io.open(target), path .. ": " .. link)
          if anchor ~= "" then assert.is_true(anchors(target)[anchor], path .. ": " .. link) end
        end
      end
    end
  end)

  it("names files that are there", function()
    for _, path in ipairs(pages.files "README.md CONTRIBUTING.md docs/*.md") do
      for name in pages.read(path):gmatch "`(%l+/[%w_./-]+%.%l+)`" do
        assert.truthy(not OURS[name:match "^%l+"] or io.open(name), path .. ": " .. name)
      end
    end
  end)

  it("has figures as they were measured, drawn from the kept rows", function()
    for _, path in ipairs { "README.md", "docs/performance.md" } do
      assert.is_true(written("tools/figures.lua " .. path, path), "make doc")
    end
  end)
end)

describe("README.md", function()
  local text = pages.read "README.md"

  it("is a page", function()
    local _, lines = text:gsub("\n", "\n")
    assert.is_true(lines <= 180, lines .. " lines")
  end)

  it("has Lua each block of which runs alone, as a script and at the prompt", function()
    local count = 0
    for block in text:gmatch "\n```lua\n(.-\n)```" do
      count = count + 1
      pages.check_output(block, pages.run(block, "README.md"))
      local output = pages.run(block, "README.md", command.text .. "repl <")
      assert.falsy(output:find "stdin:%d", output)
      pages.check_output(block, output)
    end
    assert.is_true(count >= 3)
  end)
end)
