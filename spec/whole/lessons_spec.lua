-- SPDX-License-Identifier: MIT
--- Every lesson runs and prints what it teaches, the course knows every lesson, and its pictures are as they are drawn.

local helper = require "spec.helper"

local device = helper.device()

-- What each lesson must print: patterns, none of which depends on the device.
local FACTS = {
  ["01_hello_device"] = { "0 1 4 9 16 %.%.%. 3969", "processing elements in all +1600 ",
    "compute units %(NVIDIA: SMs%) +20 +" .. device.compute_units .. "\n", "lanes of a wavefront %(warp%) +64 +%d+ %(",
    "local memory %(LDS%), KiB +32 +" .. device.local_memory // 1024 .. "\n" },
  ["02_eleven_steps"] = { "\n3%. built; its kernels: kernel1\n", "\n10%. all 1000 elements are right\n",
    "\n9%. read; the launch took %d+ us, the same again %d+ us\n", "\n11%. released; buffers alive: 0\n" },
  ["03_saxpy"] = { "0%.1 became 0%.100000001490", "refused: .*'buffer' .*2%.5",
    "\na kernel of one's own +%d[%d.]* +%d[%d.]* +1%.0", "\ncl%.saxpy +%d[%d.]* +%d[%d.]* +%d[%d.]*",
    "\nplain loops on one core +%d", "\nx to the device: write +%d" },
  ["04_index_space"] = { "^4 x 6 elements doubled", "{columns, rows}[^\n]*\n  %(0,0%) %(1,0%) %(2,0%)",
    "{rows, columns}[^\n]*\n  %(0,0%) %(1,0%) %(2,0%) %(3,0%) %(0,1%)" },
  ["05_ranges"] = { "600 is no multiple of the group's 16 in dimension 1",
    "50 x 38 groups, which are 800 x 608 work%-items; 6400 of them had no pixel",
    "473600 pixels by groups of 16 x 16, 6400 by groups of 16 x 8", "\nnative: " },
  ["06_barrier"] = { "all zeros", "8%.0 12%.0 16%.0 20%.0 24%.0 28%.0 24%.0 12%.0",
    "two dependent launches: right" },
  ["07_work_group_all"] = { "group 1: 8 of 8 fall: all true, any true\n",
    "group 2: 7 of 8 fall: all false, any true\n", "group 3: 0 of 8 fall: all false, any false\n" },
  ["08_scan"] = { "inclusive scan: 3 4 8 9 14 23 25 31\n", "4096 numbers scanned in three launches; .*: right\n",
    "64 floats: group %d" },
  ["09_local_memory"] = { "65%.000 32%.500 21%.667 %.%.%. 1%.016",
    "\nlocalMemoryExample +%d[%d.]* +0%.%d+ +1%.0",
    "\nfromGlobal +%d[%d.]* +0%.%d+ +%d[%d.]*" },
  ["10_divergence"] = { "256 elements are right", "\nall take the same +%d[%d.]* +1%.0",
    "\nalong: [^\n]+%) +%d[%d.]* +%d[%d.]*", "\nacross: [^\n]+%) +%d[%d.]* +%d[%d.]*",
    "\none of each 64 goes 10000 +%d[%d.]* +%d[%d.]*" },
  ["11_latency_hiding"] = { "\n +1 +%d+%.%d+ M +%d+%.%d+ ns  the bare latency\n",
    "\n +4096 [^\n]+ times the rate of one", "\n +%d+ bytes +%d+ +%d+%.%d+ M" },
  ["12_reduction"] = { "8 adds   ########%.%.%.%.%.%.%.%.   #%.#%.#%.#%.", "\nhalving +%d[%d.]* +1%.0",
    "\ndoubling +%d[%d.]* +%d[%d.]*", "128 ones sum to %d+ with" },
  ["13_two_queues"] = { "\none queue, two launches +%d[%d.]* +1%.0",
    "\ntwo queues, two launches each +%d[%d.]* +%d[%d.]*",
    "second queue +%d[^\n]+launch 1\nfirst queue +%d[^\n]+launch 2\n",
    "in order: a = 63%d%.%d+, b = one step" },
  ["14_gemm"] = { "\nnaive +%d+%.?%d* +%d+%.?%d* +1%.0", "\ntiles of 16 x 16 +%d", "\ncl%.gemm by itself +%d",
    "the best of the plain kernels here: %w+" },
  ["15_groups"] = { "^%d devices in a grid of %d x %d", "\npart 2 holds %d+ elements",
    "on the group as on one device\n", " = (%d+) bytes; %1 moved in all\n", "two of them win from n = %d+ on" },
}

local function read(path)
  local file <close> = assert(io.open(path))
  return (file:read "a")
end

local function run(command)
  local pipe = assert(io.popen(command .. " 2>&1"))
  local output = pipe:read "a"
  assert.is_true(pipe:close(), output)
  return output
end

--- The names of the files of the folder, in order.
local function lessons()
  local names = {}
  for name in run("ls examples/lessons"):gmatch "([^\n]+)%.lua\n" do names[#names + 1] = name end
  return names
end

describe("the lesson", function()
  for number, name in ipairs(lessons()) do
    it(name .. " runs and prints what it teaches", function()
      assert.truthy(FACTS[name], "this spec does not know what it teaches")
      local output = run(("CLCOMPUTE_DEVICE=%s %s examples/lessons/%s.lua"):format(device.place, helper.lua, name))
      for _, pattern in ipairs(FACTS[name]) do
        assert.truthy(output:find(pattern), ("'%s' is not in:\n%s"):format(pattern, output))
      end
    end)

    it(name .. " says its number and its purpose at its head", function()
      assert.matches(("^%%-%%- SPDX%%-License%%-Identifier: MIT\n%%-%%-%%- Lesson %d: %%l"):format(number),
        read(("examples/lessons/%s.lua"):format(name)))
    end)
  end

  it("13_two_queues draws when its launches ran", function()
    local path = os.tmpname()
    run(("CLCOMPUTE_DEVICE=%s %s examples/lessons/13_two_queues.lua %s"):format(device.place, helper.lua, path))
    local _, spans = read(path):gsub('data%-series="launch %d"', "")
    os.remove(path)
    assert.equal(4, spans)
  end)
end)

describe("the course", function()
  local text = read "docs/lessons.md"

  it("has a chapter for every lesson, in order, and for nothing else", function()
    local chapters = {}
    local head = "\n## (%d+)%. [^\n]*\n\n%[`([%w_]+)%.lua`%]%(%.%./examples/lessons/([%w_]+)%.lua%)"
    for number, name, file in text:gmatch(head) do
      assert.equal(name, file)
      chapters[tonumber(number)] = name
    end
    assert.same(lessons(), chapters)
  end)

  it("says of every lesson what to see, to try, and where it comes from", function()
    local count = 0
    for chapter in text:gsub("\n## ", "\0"):gmatch "%z(%d+%. [^\0]*)" do
      for _, part in ipairs { "\n**See.** ", "\n**Try.** ", "\nSource " } do
        assert.truthy(chapter:find(part, 1, true), part .. " is missing in: " .. chapter)
      end
      count = count + 1
    end
    assert.equal(#lessons(), count)
  end)

  it("has an answer to every exercise, and a link to it", function()
    for number = 1, #lessons() do
      local link, anchor = ("](#answer-%d))"):format(number), ('\n%d. <a id="answer-%d"></a>'):format(number, number)
      assert.truthy(text:find(link, 1, true), link)
      assert.truthy(text:find(anchor, 1, true), anchor)
    end
  end)

  it("explains the words that it uses", function()
    local glossary = text:match "\n## Glossary\n(.*)\n## Answers\n"
    for _, word in ipairs { "compute unit", "SM", "stream core", "processing element", "VLIW", "lane", "wavefront",
      "warp", "LDS", "bank", "work-item", "work-group", "NDRange", "divergence", "occupancy", "rank" } do
      assert.truthy(glossary:find("**" .. word .. "**", 1, true), word)
    end
  end)
end)

--- The spans of a kept timeline from their tooltips: { lane, state, start, finish }.
local function spans(name)
  local list = {}
  for lane, state, start, finish in read(("docs/pictures/%s.svg"):format(name))
    :gmatch "<title>([%w, ]-): ([^,<]+), (%d+) to (%d+) cycles</title>" do
    list[#list + 1] = { lane = lane, state = state, start = tonumber(start), finish = tonumber(finish) }
  end
  assert.is_true(#list > 0)
  return list
end

describe("the pictures of the course", function()
  it("are as they are drawn now", function()
    local folder = os.tmpname()
    os.remove(folder)
    run("mkdir " .. folder)
    local output = run(("%s examples/timelines.lua %s"):format(helper.lua, folder))
    local count = 0
    for path, name in output:gmatch "written: (%S+/([%w_]+)%.svg)\n" do
      assert.equal(read(("docs/pictures/%s.svg"):format(name)), read(path))
      count = count + 1
    end
    run("rm -r " .. folder)
    assert.equal(3, count)
  end)

  it("let a barrier go when the last item of its group has come, and a kernel begin when the one before has ended",
    function()
      local met, begins, ends = {}, math.huge, 0
      for _, span in ipairs(spans "barrier") do
        if span.state == "kernel 1" then begins = math.min(begins, span.start) end
        if span.state == "kernel 0" then ends = math.max(ends, span.finish) end
        if span.state == "at the barrier" then
          local group = span.lane:match "group %d"
          met[group] = met[group] or {}
          met[group][span.finish] = true
        end
      end
      assert.equal(ends, begins)
      local groups = 0
      for _, moments in pairs(met) do
        local count = 0
        for _ in pairs(moments) do count = count + 1 end
        assert.equal(2, count) -- one for each launch
        groups = groups + 1
      end
      assert.equal(4, groups)
    end)

  it("show a stream core that idles only where memory takes longer than all others run", function()
    local function idle(name)
      local sum = 0
      for _, span in ipairs(spans(name)) do
        if span.state == "idle" then sum = sum + span.finish - span.start end
      end
      return sum
    end
    assert.equal(0, idle "latency_hidden")
    assert.is_true(idle "latency_stall" > 0)
    for _, name in ipairs { "latency_hidden", "latency_stall" } do
      local first = spans(name)[1]
      assert.same({ "T0", "executing", 0, 20 }, -- as the source says
        { first.lane, first.state, first.start, first.finish })
    end
  end)

  it("have titles and both schemes of colours", function()
    for path in run("ls docs/pictures/*.svg"):gmatch "%S+" do
      local picture = read(path)
      assert.matches("<title", picture, 1, true)
      assert.matches("<desc", picture, 1, true)
      assert.matches("prefers-color-scheme:dark", picture, 1, true)
    end
  end)
end)
