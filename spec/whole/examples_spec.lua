-- SPDX-License-Identifier: MIT
local cl = require "clcompute"
local helper = require "spec.helper"

-- Examples whose kernels are the library's own, which other specs run on a simulator.
local AT_SPEED = { elementwise = true, precision = true, solve = true, mandelbrot = true, heat_map = true,
  nbody = true, life = true, kmeans = true }

local function run_example(name, arguments)
  local device = AT_SPEED[name] and "CLCOMPUTE_DEVICE=" .. helper.device().place or ""
  local pipe = assert(io.popen(("%s %s examples/%s.lua %s 2>&1"):format(device, helper.lua, name, arguments or "")))
  local output = pipe:read("a")
  local ok = pipe:close()
  assert.is_true(ok, output)
  return output
end

--- What examples print, whatever the device: a sentence, the arguments, patterns.
local FACTS = {
  solve = { "finds the parabola and refuses the singular system", "",
    "a = 3%.0000, b = 2%.0000, c = 1%.0000", "matrix is singular: column 3 has no pivot" },
  npy = { "saves and loads an array, a view and a row", "", "rows 11 to 20: 10 x 300\nrow 17: 300 elements",
    "refused: 300 double elements are 2400 bytes, but 2416 follow", "everything came back as it was saved" },
  loops = { "computes the same in Lua and compiled", "120",
    "n = 120: Lua [%d.]+ s, compiled, on tables, [%d.]+ s; 0 elements differ",
    "10: +for k +sequential: s %(line 10%) reads what s %(line 10%) wrote" },
  elementwise = { "computes the statistics of a signal and picks elements", "100000",
    "100000 elements: mean %-?0%.%d+, deviation 0%.%d+, norm %d+%.%d+\nfrom %-1%.%d+ to 1%.%d+",
    "%d+ elements above 0%.9, their mean 0?1?%.%d+",
    "map: unknown name 'z'; there are: a, i, x, in \"a%*x%[i%] %+ z%[i%]\"" },
  structs = { "passes a packed struct and a buffer of them", "",
    "particle 7 flew to %(7%.0, 1%.4, %-0%.5%), speed %-14%.0, on the ground" },
  views = { "writes through views, and makes rows that a kernel may take", "",
    "row 2 <%- 10 row 1 %+ row 2: \t10%.0 20%.0 30%.0 40%.0", "row 2 negated: \t%-10%.0 %-20%.0 %-30%.0 %-40%.0" },
  life3d = { "lives as the sequential program does", "8 13",
    "4 generations of edge 7 are those of the sequential program",
    "3 generations of edge 12 are those of the sequential program",
    "\n *8 +%d+%.%d+ +%d+%.%d+\n *13 +%d+%.%d+ +%d+%.%d+\n$" },
}

--- What the captions of a page's pictures say.
local function captions_of(path, pattern)
  local list = {}
  for caption in helper.read(path):gmatch "<svg.-data:image/png.-</svg><figcaption>(.-)</figcaption>" do
    list[#list + 1] = caption:match(pattern)
  end
  return list
end

--- The Game of Life on rows of 0 and 1 with dead cells around.
local function next_generation(cells)
  local function at(i, j) return cells[i] and cells[i][j] or 0 end
  local made = {}
  for i = 1, #cells do
    made[i] = {}
    for j = 1, #cells[i] do
      local around = -at(i, j)
      for down = -1, 1 do for right = -1, 1 do around = around + at(i + down, j + right) end end
      made[i][j] = (around == 3 or around == 2 and at(i, j) == 1) and 1 or 0
    end
  end
  return made
end

describe("the example", function()
  for name, facts in pairs(FACTS) do
    it(name .. " " .. facts[1], function()
      local output = run_example(name, facts[2])
      for i = 3, #facts do assert.matches(facts[i], output) end
    end)
  end

  it("user_kernel draws the Mandelbrot set, symmetric about the real axis", function()
    local lines = {}
    for line in run_example("user_kernel"):gmatch("([^\n]*)\n") do lines[#lines + 1] = line end
    assert.equal(24, #lines)
    for i = 2, 24 do assert.equal(lines[i], lines[26 - i]) end
    assert.matches("##########", lines[13])
  end)

  it("isolation survives its kernels, and tells what a launch costs", function()
    local found = pcall(cl.device, "cpu")
    if not found then return pending "isolation needs a CPU device" end
    local output = run_example("isolation", 3)
    assert.matches("kernel 'far': its worker process", output, 1, true)
    assert.matches("kernel 'endless': not done within the limit of 0.5 seconds", output, 1, true)
    assert.matches("y is 8.0 10.0 12.0.*y is 16.0 20.0 24.0.*16777216", output)
  end)

  it("report shows a checked row and a bar for each size, and writes a page", function()
    local path = os.tmpname()
    local output = run_example("report", path)
    local file <close> = assert(io.open(path))
    local page = file:read "a"
    os.remove(path)
    local _, rows = output:gsub("saxpy +%d+ +sequential[^\n]* ok ", "")
    local _, points = page:gsub('<circle[^>]* data%-value=', "")
    assert.equal(11, rows)
    assert.equal(2 * 11, points) -- laid out for a screen and for a phone
  end)

  it("precision keeps what each precision promises", function()
    local output, count = run_example("precision", "33"), 0
    local bounds = { float = 1e-6, ["float-tensor"] = 2e-6, tf32 = 1e-3 }
    for name, off in output:gmatch "  (%l[%w-]+) +[%d.]+ GFLOP/s   error ([^\n]+)" do
      count = count + 1
      local value = tonumber(off)
      assert(value and value < bounds[name] or not value and off:find "no doubles", off)
    end
    assert.equal(9, count)
  end)

  it("ndrange shows the remainder in each way, and draws the picture that was kept", function()
    local path = os.tmpname()
    local output = run_example("ndrange", path)
    assert.matches("\n   4 +4, 2 +0, 0 +0, 0 +1, 1 +1, 1 ", output)
    assert.matches('"split": 1900 groups\npart 1: 50 x 37 groups of 16 x 16\npart 2: 50 x 1 groups of 16 x 8',
      output, 1, true)
    assert.matches("17 of 32 work-items are outside the range", output, 1, true)
    assert.matches("50 x 38 groups of 16 x 16\n6400 of 486400 work-items are outside the range", output, 1, true)
    if cl.device().has_nonuniform_groups then
      assert.matches('"native": 1900 groups\n50 x 37 groups of 16 x 16\n50 x 1 groups of 16 x 8', output, 1, true)
    else
      assert.matches("this device has no groups of different sizes", output, 1, true)
    end
    local drawn, kept = assert(io.open(path)), assert(io.open "examples/results/ndrange.svg")
    assert.equal(kept:read("a"), drawn:read("a"))
    kept:close()
    drawn:close()
    os.remove(path)
  end)

  it("overhead, pictures and timelines say in a sentence what they need", function()
    local function fails_with(sentence, environment, command)
      local pipe = assert(io.popen(("%s %s 2>&1"):format(environment, command:gsub("^LUA", helper.lua))))
      local output, _, _, code = pipe:read "a", pipe:close()
      assert.equal(1, code)
      assert.matches("^" .. sentence .. "\n$", output)
    end
    local NO_MODULE, NO_DEVICE = "LUA_PATH_5_4=./?.x LUA_CPATH_5_4=./?.x", "OCL_ICD_VENDORS=/dev/null"
    local needs = '%w+%.lua: needs clcompute: make && eval "%$%(make %-s env%)"'
    for _, name in ipairs { "overhead", "pictures", "timelines" } do
      fails_with(needs, NO_MODULE, ("LUA examples/%s.lua"):format(name))
    end
    for _, name in ipairs { "pictures", "timelines" } do
      local file = ("%s.lua: "):format(name)
      fails_with(file .. "needs the folder to draw in: lua5.4 examples/" .. file:gsub(": ", " FOLDER"), "",
        ("LUA examples/%s.lua"):format(name))
      fails_with(file .. "cannot draw there: /nowhere/[%w_]+%.svg: No such file or directory", "",
        ("LUA examples/%s.lua /nowhere"):format(name))
    end
    local path = os.tmpname()
    assert(os.execute(("cp examples/pictures.lua %s"):format(path)))
    fails_with("pictures%.lua: needs the rows that were kept: .*%.jsonl: No such file or directory", "",
      ("LUA %s /nowhere"):format(path))
    os.remove(path)
    fails_with("overhead%.lua: needs the same calls in C: `make build/overhead%.so`, and to be run where that was made",
      'here="$PWD"; cd / &&', 'LUA "$here/examples/overhead.lua"')
    assert(os.execute "make -s build/overhead.so")
    fails_with("overhead%.lua: no OpenCL device on this machine: install the driver[^\n]*", NO_DEVICE,
      "LUA examples/overhead.lua")
  end)

  it("gemm_model compares the model's choice with every plan of blocks that it has", function()
    local path = os.tmpname()
    helper.write(path, [[
      local tuning = require "clcompute.tuning"
      local of, block = tuning.of, { bm = 16, bn = 16, bk = 4, tm = 4, tn = 4, held = 2, alone = 10, full = 15 }
      function tuning.of(...) -- a device without blocks has some for the example
        local asks = debug.getinfo(2, "S").source:find "gemm_model"
        return asks and { kernel = "blocks", stream = 1, blocks = { block } } or of(...)
      end
      arg = { arg[1], 1, 3 }
      dofile "examples/gemm_model.lua"]])
    local output = assert(helper.shell(("%s %s %s"):format(helper.lua, path, helper.device().place)))
    os.remove(path)
    assert.matches("\n +%d+ x +%d+ x +%d+ +%d+%.%d us +%d+%.%d +[01]%.%d+ +%S[^\n]*\nmean of 1: [01]%.%d+", output)
  end)

  it("life and kmeans end in a picture, and in a file", function()
    local path = os.tmpname()
    local output = run_example("life", "7 " .. path .. ".html")
    local cells = cl.lt(helper.device():random("float", 96, 128, { seed = 3 }), 0.3):read()
    for _ = 1, 7 do cells = next_generation(cells) end
    local count = 0
    for _, row in ipairs(cells) do for _, cell in ipairs(row) do count = count + cell end end
    assert.equal(count, tonumber(output:match "^(%d+) cells live after 7 generations\nLife, generation 7\n"))
    assert.matches("\n0 %[.*%] 1   96 x 128\n$", output)
    assert.same({ "0", "3", "5", "7" }, captions_of(path .. ".html", "Life, generation (%d+)"))
    output = run_example("kmeans", path .. ".pgm")
    local found = {}
    for x, y in output:gmatch "cluster %d around (%S+), (%S+)" do
      found[#found + 1] = ("%.1f %.1f"):format(x * 2 // 1 / 2 + 0.25, y * 2 // 1 / 2 + 0.25)
      assert.is_true(math.abs(x % 0.5 - 0.25) < 0.02 and math.abs(y % 0.5 - 0.25) < 0.02, output)
    end
    table.sort(found)
    assert.same({ "0.2 0.2", "0.2 0.8", "0.8 0.2", "0.8 0.8" }, found)
    assert.matches("\n0 %[.*%] 4   64 x 96\n$", output)
    for _, name in ipairs { path, path .. ".pgm", path .. ".html" } do os.remove(name) end
  end)

  it("mandelbrot, heat_map and nbody end in a picture, and in a file", function()
    local folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder))
    local path = folder .. "/picture"
    local output = run_example("mandelbrot", path .. ".html")
    assert.matches("^The Mandelbrot set.*\n0 %[.*%] 5.29%d+   480 x 640\n$", output)
    local lines = {}
    for line in output:gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
    assert.equal(26, #lines)
    assert.same({ "3.2", "0.2", "0.01" }, captions_of(path .. ".html", "around .-, (%S+) wide"))
    output = run_example("heat_map", path .. ".svg")
    assert.matches("^down: N = 32, 64, 96; across: groups of 1, 4, 16, 64\n.*\n1 %[.*%] %d[%d.]*   3 x 4\n$", output)
    local _, cells = helper.read(path .. ".svg"):gsub('class="cell"', "")
    assert.equal(3 * 4, cells)
    output = run_example("nbody", path .. ".pgm")
    assert.matches("\n0 %[.*%] %d%.%d+   48 x 96\n$", output)
    assert.matches("^P5\n96 48\n255\n\0", helper.read(path .. ".pgm"))
    os.execute("rm -r " .. folder)
  end)

  it("pictures draws the rows that were kept", function()
    local folder = os.tmpname()
    os.remove(folder)
    assert(os.execute("mkdir " .. folder))
    local output = run_example("pictures", folder)
    for name in ("life group_choice group_size range wavefront banks memory roofline"):gmatch "%S+" do
      assert.matches(("written: %s/%s.svg"):format(folder, name), output, 1, true)
      local file = assert(io.open(("%s/%s.svg"):format(folder, name)))
      local text = file:read("a")
      file:close()
      assert.matches("^<svg", text)
      assert.matches("NVIDIA H200", name == "life" and text or "NVIDIA H200", 1, true)
      local kept = assert(io.open(("examples/results/h200/%s.svg"):format(name)))
      assert.equal(text, kept:read("a"))
      kept:close()
    end
    os.execute("rm -r " .. folder)
  end)
end)
