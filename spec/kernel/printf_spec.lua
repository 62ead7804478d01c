-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local isolated = require "spec.support.isolated"

local SOURCE = [[
kernel void tell(int n) { printf("%d of %d\n", (int)get_global_id(0), n); }
#define SAY(text) printf(text)
static void deep(void) { SAY("deep\n"); }
kernel void calls(int unused) { deep(); } // NVIDIA tells no types beside a kernel without parameters
kernel void silent(int n) { }
]]

--- The lines of a text, in order: work-items print in any.
local function lines(text)
  local list = {}
  for line in text:gmatch "([^\n]*)\n" do list[#list + 1] = line end
  table.sort(list)
  return list
end

local function describe_capture(d)
  local p = d:program(SOURCE)

  it("is a text on request", function()
    assert.same({ "0 of 7", "1 of 7", "2 of 7" }, lines(p.tell:capture(3, 7)))
    assert.same({ "0 of 9" }, lines(p.tell:capture({ 1, 1 }, { n = 9 })))
    assert.equal("deep\n", p.calls:capture(1, 0))
  end)

  it("has its line breaks in a text of C, not of Lua", function()
    helper.raises("write \\\\n, or put the program between [[ and ]]", d.program, d,
      "kernel void k(int n) { printf(\"%d\n\", n); }")
  end)

  it("is nothing of a kernel that prints nothing, or of no work-items", function()
    assert.equal("", p.silent:capture(3, 7))
    assert.equal("", p.tell:capture(0, 7))
  end)

  it("is whole, however much it is", function()
    local n = helper.is_simulator(d) and 100 or 2000
    local found = lines(p.tell:capture(n, 7))
    assert.equal(n, #found)
    for _, line in ipairs(found) do assert.truthy(line:find "^%d+ of 7$", line) end
  end)

  it("is captured again after an error", function()
    helper.raises("kernel 'tell' takes 1 argument, got 0", p.tell.capture, p.tell, 3)
    helper.raises("kernel 'tell' is called with a range first", p.tell.capture, p.tell)
    helper.raises({ "argument 1 'n'", "number expected, got string" }, p.tell.capture, p.tell, 1, "a")
    assert.equal("0 of 1\n", p.tell:capture(1, 1))
  end)
end

helper.describe_each("what a kernel prints", describe_capture)

if isolated.PLACE then
  describe("what a kernel of a worker prints", function() describe_capture(isolated.device(60)) end)
end

--- What a script prints in a process of its own, whose standard output is no terminal.
local function printed(isolation, body)
  return helper.output(([[
    local d = require "clcompute".device("%s", { isolated = %s })
    local p = d:program [=[%s]=]
  ]]):format(helper.device().place, isolation, SOURCE) .. body)
end

if isolated.PLACE then
  it("what a kernel printed that ended its worker is gone with that", function()
    local d = isolated.device(60)
    local p, x = d:program(isolated.FAULTS), d:buffer { 1 }
    helper.raises({ "kernel 'far'", "its worker process died of SIGSEGV" }, p.far.capture, p.far, 1, x)
    assert.equal("", p.twice:capture(1, x))
    assert.equal(2, x[1])
  end)
end

describe("the order of what is printed", function()
  it("is that of the script's calls", function()
    local script = [[
      print "a"; p.tell(1, 2); print "b"; io.write(p.tell:capture(1, 3)); print "c"; p.calls(1, 0); print "d"
    ]]
    for _, isolation in ipairs { false, isolated.PLACE == helper.device().place or nil } do
      assert.equal("a\n0 of 2\nb\n0 of 3\nc\ndeep\nd\n", printed(isolation, script))
    end
  end)

  it("is that of sequences and of saved programs too", function()
    assert.equal("a\n0 of 2\n0 of 2\nb\n0 of 3\nc\n", printed(false, [[
      local s = d:record(function() p.tell(1, 2) end)
      print "a"; s(2); print "b"
      local path = os.tmpname()
      p:save(path)
      local saved = d:program { binary = path }
      os.remove(path)
      saved.tell(1, 3)
      print "c"
    ]]))
  end)

  it("is captured by one launch at a time, and where there are files left", function()
    assert.equal("0 of 1\n0 of 2\n", printed(false, [[
      local refused
      p.tell:capture(1, 2)
      debug.sethook(function()
        local ok, message = pcall(p.tell.capture, p.tell, 1, 3)
        if not ok then refused = message end
      end, "c")
      local text = p.tell:capture(1, 1)
      debug.sethook()
      assert(refused:find("what another launch prints is captured now", 1, true), refused)
      os.execute "prlimit --pid $PPID --nofile=64"
      local files = {}
      for file in function() return (io.open "/dev/null") end do files[#files + 1] = file end
      for _ = 1, 2 do -- no file for what is printed, and then none for what the output was
        local ok, message = pcall(p.tell.capture, p.tell, 1, 2)
        assert(not ok and message:find("the output cannot be captured: Too many open files", 1, true), message)
        table.remove(files):close()
      end
      io.write(text, p.tell:capture(1, 2))
    ]]))
  end)

  it("is each Lua state's own", function()
    if helper.is_simulator(helper.device()) then return pending "Oclgrind itself is for one thread" end
    local states = helper.compile("states", "-lpthread")
    local good, message = states.run(2, 2, [[
      local d = require "clcompute".device((...))
      local f = d:program([=[kernel void f(int n) {
        for (volatile int i = 0; i < 30000000; i++);
        printf("%d\n", n);
      }]=]).f
      math.randomseed()
      for _ = 1, 3 do
        local n = math.random(1 << 30)
        assert(f:capture(1, n) == n .. "\n")
      end]], helper.device().place)
    assert.equal(4, good, message)
  end)

  it("is captured where there is no standard output", function()
    local path = os.tmpname()
    helper.write(path, ([[
      local d = require "clcompute".device("%s", { isolated = false })
      local text = d:program([=[%s]=]).tell:capture(1, 2)
      io.stderr:write("captured ", text)]]):format(helper.device().place, SOURCE))
    for _, closed in ipairs { ">&-", "<&- >&-" } do
      assert.equal("captured 0 of 2\n", isolated.output_of(("%s %s 2>&1 %s"):format(helper.lua, path, closed)))
    end
    os.remove(path)
  end)

  it("is kept where the standard output is closed and a launch fails", function()
    assert.equal("nothing\n", printed(false, [[
      assert(pcall(p.tell.capture, p.tell, 1) == false)
      d:record(function() assert(not pcall(p.tell.capture, p.tell, 1, 2)) end)
      print(p.silent:capture(1, 1) .. "nothing")
      io.stdout:close()
      assert(p.tell:capture(1, 2) == "0 of 2\n")
    ]]))
  end)
end)
