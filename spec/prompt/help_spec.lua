-- SPDX-License-Identifier: MIT
--- What `help` tells, and that each of its examples runs at the prompt.

local catalogue = require "clcompute.prompt.catalogue"
local cl = require "clcompute"
local command = require "spec.support.command"
local help = require "clcompute.prompt.help"
local helper = require "spec.helper"
local reference = require "clcompute.reference"

local known = catalogue.new()

--- What help prints.
local function told(...)
  local path = os.tmpname()
  io.output(path)
  local ok, message = pcall(help.new(known, function() return 80 end), ...)
  io.close()
  io.output(io.stdout)
  assert.is_true(ok, message)
  local text = helper.read(path)
  os.remove(path)
  return text
end

local function has(text, ...)
  for _, part in ipairs { ... } do
    assert.truthy(text:find(part, 1, true), ("'%s' is not in:\n%s"):format(part, text))
  end
end

describe("help", function()
  it("says where its texts are missing", function()
    local folder, path <const> = helper.folder(), package.path
    assert(os.execute(("mkdir -p %s/clcompute/reference"):format(folder)))
    helper.write(folder .. "/clcompute/reference/init.lua", "")
    package.path = folder .. "/?/init.lua"
    local ok, message = pcall(reference.folder)
    package.path = path
    assert.is_false(ok)
    assert.equal(("the stubs (library/clcompute.lua) are missing beside %s/clcompute/"):format(folder), message)
    os.execute("rm -r " .. folder)
  end)

  it("lists all names", function()
    local text = told()
    for _, entry in ipairs(reference.read()) do
      if entry.signature then has(text, entry.name:match "[%w_]+$") end
    end
    has(text, 'help "gemm"', 'bench = require "clcompute.bench"')
    assert.equal(text, told "help")
  end)

  it("tells of a function by its value or its name: what it takes, returns and raises, an example", function()
    for _, topic in ipairs { cl.gemm, "gemm", "cl.gemm", "GEMM", " gemm " } do
      has(told(topic), "cl.gemm(a, b [, options])\n", "transa? boolean", "returns Buffer: c", "Errors: shapes",
        "Example:\n  local a = d:buffer")
    end
    has(told "gemm", "See also: OpenBLAS:gemm")
    has(told(require("clcompute.bench").measure), "bench.measure(")
  end)

  it("tells of methods and objects", function()
    local d = helper.device()
    local b = d:buffer { 1, 2 }
    for _, topic in ipairs { b.read, "Buffer:read", "buffer.read", "read" } do
      has(told(topic), "Buffer:read([first")
    end
    has(told(b), tostring(b), "dtype Dtype", "Buffer:fill(value [, first [, last]])")
    has(told(d), "Device:zeros(dtype, n, ...)  A new buffer of zeros.")
    has(told(cl), "cl.saxpy(alpha, x, y [, options])")
    has(told "clcompute.bench", "bench.compare(")
    has(told(require("clcompute.loops").compile "function(A) A[1] = 2 end"), "Compiled:explain()")
  end)

  it("tells of objects of Lua, and of their methods by value", function()
    local compiled = require("clcompute.loops").compile "function(A) A[1] = 2 end"
    local struct = cl.struct("pair", "int a; float2 b;")
    has(told(struct), "struct pair, 16 bytes aligned on 8: int a, float2 b\n\nStruct\n")
    has(told(struct), "offsets table", "Struct:pack(values)")
    has(told(struct.pack), "Struct:pack(values)")
    has(told(compiled.explain), "Compiled:explain()")
    has(told(compiled.close), "Compiled:close()")
  end)

  it("shows all names where it stands alone", function()
    assert.equal(told(), tostring(help.new(known, function() return 80 end)) .. "\n")
  end)

  it("tells of options and fields", function()
    has(told "transa", "transa of cl.gemm: boolean: true: op(A)")
    has(told "compute_units", "compute_units of Device: integer")
    has(told "remainder", "remainder of RangeTable: ")
    has(told "backward_error", "sequential.backward_error(", "backward_error of GaussInfo: ") -- a function's name too
  end)

  it("names what else speaks of a word", function()
    has(told "solve", "cl.solve(", "See also: ", "Factors:solve")
    has(told "gauss", "See also: ", "cl.lu") -- which speaks of it first
    for topic, other in pairs { T = "trim", dot = "cl.plot", mean = "cl.devices", check = "cl.range" } do
      assert.is_nil((told(topic):match "See also: (.*)" or ""):find(other, 1, true), topic) -- parts of words
    end
  end)

  it("finds names that are half remembered", function()
    for topic, name in pairs { gem = "cl.gemm(", redcue = "cl.reduce(", ["buffer:raed"] = "Buffer:read(",
      npy = "Device:load(", arg = "cl.argmax(", singular = "cl.gauss(", ["product of matrices"] = "cl.gemm(" } do
      has(told(topic), ("'%s' is not in the reference"):format(topic), name)
    end
    has(told "matrix multiplication", "cl.gemm(") -- of which one word is there
    has(told "cumsum", "'cumsum' is a name of other libraries; write cl.scan(\"a + b\", x)")
    has(told "np.vstack", "'np.vstack' is a name of other libraries; write cl.concat(a, b)")
    has(told "cumulative", "write cl.scan(")
    has(told "fft", "there is no 'fft' here; near is examples/ported/fft.lua")
    has(told "sparse", "near is examples/ported/sparse.lua")
    has(told "cv2.blur", "near is examples/ported/image_filter.lua")
    has(told "np.eigenvalues", "there is no 'np.eigenvalues' here; near is power iteration: cl.matmul")
    has(told "zzzzzzzz", "'zzzzzzzz' is not in the reference; help() lists what is")
    has(told "", "help() lists what is")
  end)

  it("lists names that hold what is asked for and no other ones, and takes a dot or brackets behind a name", function()
    for _, topic in ipairs { "gem", "cl.gem" } do
      has(told(topic), "cl.gemm(")
      for line in told(topic):gmatch "\n([^\n]+)" do has(line, "gemm(") end
    end
    assert.is_nil(told "median":find "\n.", 1)
    has(told "matrix", "\n  and ", " more: help()\n")
    assert.is_nil(told "gem":find("more: help()", 1, true))
    for _, topic in ipairs { "gemm.", "gemm()", "gemm(" } do assert.equal(told "gemm", told(topic)) end
  end)

  it("shows how a launch has groups", function()
    has(told "range", "{ global = 1024, group = 64 }")
    has(told "group", "{ global = 1024, group = 64 }")
  end)

  it("leads to what finds races and barriers", function()
    has(told "race", "Device:check(on)")
    has(told "barrier", "Device:check")
    has(told "Device:check", "oclgrind --data-races lua5.4 script.lua", "docs/isolation.md")
  end)

  it("takes any text, and a long one soon", function()
    for character in ("%[]().+-*?^$\\\0\xff"):gmatch "." do told(character .. "gemm" .. character) end
    local start = os.clock()
    for _, topic in ipairs { "", "%", "[^", "%b", "%f[", "(", "cl.%1", "gemm\xff", ("x"):rep(1e6), ("word "):rep(1e5),
      ("."):rep(1e6) } do
      told(topic)
    end
    assert.is_true(os.clock() - start < 10)
    assert.equal("'\\x1B[2J' is not in the reference; help() lists what is\n", told "\27[2J")
  end)

  it("says so where a value is none of the library's", function()
    for _, topic in ipairs { print, 7, {}, true } do has(told(topic), "nothing in the reference is about this") end
    has(told(nil), "about this nil")
  end)

  it("parts what it says by one empty line", function()
    for _, entry in ipairs(reference.read()) do
      local text = entry.signature and told(entry.name) or ""
      assert.is_nil(text:match "\n\n\n" or text:match "\n\n$", entry.name)
    end
  end)

  it("keeps to the terminal", function()
    for _, topic in ipairs { "gemm", "Device", "bench.measure", "gem" } do
      for line in told(topic):gsub("Example:.*", ""):gmatch "[^\n]+" do
        assert.is_true(require("clcompute.base").width.of(line) <= 80, line)
      end
    end
  end)

  it("is no wider than people read with ease, however wide the terminal", function()
    for _, topic in ipairs { "gemm", "Device", "transa" } do
      assert.equal(help.text(known, topic, 100), (help.text(known, topic, 300)))
    end
    assert.equal(help.overview(known, 100), help.overview(known, 300))
  end)

  -- A sample: spec/whole/documentation_spec.lua runs all of them as scripts, and README.md at the prompt.
  it("has examples that run at the prompt", function()
    local path, lines, stride = os.tmpname(), {}, helper.long(1) or 12
    for i, entry in ipairs(reference.read()) do
      if i % stride == 0 then lines[#lines + 1] = entry.example end
    end
    assert.is_true(#lines > 10)
    helper.write(path, table.concat(lines, "\n") .. "\n'all of them'\n")
    local output, ok = helper.shell(("%srepl --device %s <%s"):format(command.text, helper.device().place, path))
    os.remove(path)
    assert.is_true(ok, output)
    has(output, '"all of them"')
  end)
end)
