-- SPDX-License-Identifier: MIT
--- What completes a word.

local catalogue = require "clcompute.prompt.catalogue"
local completer = require "clcompute.prompt.completer"
local helper = require "spec.helper"
local session = require "clcompute.prompt.session"

_G.cl = require "clcompute"
_G.d = helper.device()
local chunks = session.new()
local function run(text) return assert(chunks:compile(text))() end
local complete = completer.new(chunks, catalogue.new())

run 'local program = d:program "kernel void square(global float *x) { x[0] = 1; }"'
run "local buffer, deep = d:zeros('int', 3), { inner = { leaf = 1, left = print }, ['no name'] = 1 }"

--- The completions of the end of a text, whose word begins as readline has it.
local function words(text, before)
  local first = #text - #text:match "[^%s\"\\'`@$><=;|&{(]*$" + 1
  return complete(before or "", text, first, #text + 1)
end

local function has(list, ...)
  local set = {}
  for _, word in ipairs(list) do set[word] = true end
  for _, word in ipairs { ... } do assert.is_true(set[word], word .. " is not in: " .. table.concat(list, " ")) end
  return set
end

describe("completion", function()
  it("knows globals, locals and keywords", function()
    assert.same({ "program" }, words "prog")
    assert.same({ "print", "program" }, (function(list)
      return { list[1], list[2] }
    end)(words "pr"))
    has(words "x = fun", "function")
    has(words "f(buf", "buffer")
    has(words "x=1+pri", "1+print")
  end)

  it("knows fields of tables, and their functions behind a colon", function()
    assert.same({ "cl.gemm" }, words "cl.gem")
    assert.same({ "deep.inner.leaf", "deep.inner.left" }, words "deep.inner.le")
    assert.same({ "deep.inner:left" }, words "deep.inner:le")
    assert.same({}, words "deep.no")
    assert.same({ "string.format" }, words "string.form")
    run "local text = 'abc'"
    has(words "text:", "text:upper", "text:rep")
  end)

  it("knows methods and fields of objects, and kernels of programs", function()
    assert.same({ "buffer:fill" }, words "buffer:fi")
    has(words "buffer.", "buffer.dtype", "buffer.shape")
    assert.same({ "buffer.device.compute_units" }, words "buffer.device.compute_u")
    assert.same({ "buffer.device:zeros" }, words "buffer.device:ze")
    assert.same({ "program.square" }, words "program.sq")
    local methods = has(words "d:", "d:zeros", "d:close")
    assert.is_nil(methods["d:__gc"])
  end)

  it("knows the options of a call", function()
    assert.same({ "transa = ", "transb = " }, words "cl.gemm(a, b, { tr")
    assert.same({ "transa = " }, words "cl.gemm(a, b, { alpha = 2, transa")
    assert.same({ "isolated = " }, words 'cl.device("cpu", {is')
    has(words "d:random('float', 3, { ", "seed = ", "low = ")
    has(words "loops.compile(f, { mo") -- a global that there is not
    run "local loops = require 'clcompute.loops'"
    assert.same({ "mode = " }, words "loops.compile(f, { mo")
    run "local bench = require 'clcompute.bench'"
    assert.same({ "seconds = " }, words "bench.measure(f, { secon")
    has(words "program.square({ ", "global = ", "group = ")
    assert.same({ "global = ", "group = ", "offset = ", "remainder = " }, words "cl.range {")
    assert.same({ "driver" }, words 'cl.range { global = 4, group = "')
    assert.same({ "binary = ", "file = ", "files = " }, words "d:program { ")
    assert.same({ "transb = " }, words("  transb", "cl.gemm(a, b, {\n  transa = true,\n"))
    assert.same({}, words "cl.gemm(a, b, { transa = tra")
  end)

  helper.on_cpu("knows strings that a call takes: selectors, dtypes, choices, modules", function()
    has(words 'cl.device("', "cpu", helper.device().place)
    has(words "cl.device 'c", "cpu")
    assert.same({ "double" }, words 'd:zeros("dou')
    assert.same({ "tiled" }, words 'cl.gemm(a, b, { kernel = "ti')
    assert.same({ "clcompute.bench" }, words 'require "clcompute.be')
    assert.same({ "bgra unorm8" }, words 'd:image("b')
    assert.same({ "unorm16", "unorm8" }, words 'd:image("rgba un') -- the word begins behind the blank
    assert.same({}, words 'print("cp')
    assert.same({}, words '"cp')
  end)

  it("knows the files of a folder where a call takes one", function()
    local folder = helper.folder()
    finally(function() os.execute("rm -r " .. folder) end)
    helper.write(folder .. "/values.npy", "")
    helper.write(folder .. "/two words.npy", "")
    assert(os.execute("mkdir " .. folder .. "/vast"))
    for _, call in ipairs { "d:load '", "buffer:save('", "d:program { file = '", "io.open '", "dofile('",
      "d:program { binary = '", "d:program { files = { '", "d:program { files = { 'a.cl', '" } do
      assert.same({ folder .. "/values.npy", folder .. "/vast/" }, words(call .. folder .. "/va"), call)
    end
    helper.write(folder .. "/vast/inner.npy", "")
    assert.same({}, words("d:buffer { '" .. folder .. "/va"))
    assert.same({ folder .. "/vast/inner.npy" }, words("d:load '" .. folder .. "/vas"))
    assert.same({ "words.npy" }, words("d:load '" .. folder .. "/two wo")) -- the word begins behind the blank
    assert.same({}, words("d:load '/nowhere/"))
    has(words "d:load 'READ", "README.md")
  end)

  it("knows what help tells of", function()
    _G.help = function() end
    finally(function() _G.help = nil end)
    has(words 'help "gem', "gemm")
    has(words 'help("Buffer:re', "Buffer:read", "Buffer:reshape")
    has(words "help 'De", "Device", "Device:buffer")
  end)

  it("asks the library for devices, whatever a script put in its place", function()
    local library, place = require "clcompute", helper.device().place
    local own = library.devices
    finally(function() library.devices = own end)
    library.devices = function() error "called" end
    has(words 'cl.device "', place)
  end)

  it("runs no code of the user, and takes any text", function()
    run "local trap = setmetatable({}, { __index = function() error 'called' end })"
    assert.same({}, words "trap.x.y")
    assert.same({}, words "trap:")
    for _, text in ipairs { "", ".", ":", "a.", "a..b.", "f(", "f().", "{", "[[", "--[[", "'", '"\\', ")", "a[1].x",
      "1.", "cl..gemm", "::a", "f{}.x", "cl.gemm{{{", "}}}(((", "...", ".x.y", ":a:b", ".x(\"" } do
      assert.is_table(words(text), text)
    end
  end)
end)
