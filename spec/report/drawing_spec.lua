-- SPDX-License-Identifier: MIT
--- Plots and pictures: buffers and lists as text for a terminal, and as SVG.

local cl = require "clcompute"
local helper = require "spec.helper"
local report = require "clcompute.report"
local terminal = require "spec.support.terminal"

local d = helper.device()
local nan, inf = 0 / 0, math.huge

--- Options of a drawing whose text is plain.
local function plain(more)
  local o = { ascii = true, colours = "none", width = 24, height = 3 }
  for key, value in pairs(more or {}) do o[key] = value end
  return o
end

local function lines_of(drawing)
  local lines = {}
  for line in (tostring(drawing) .. "\n"):gmatch "([^\n]*)\n" do lines[#lines + 1] = line end
  return lines
end

local function plotted(x, more) return lines_of(cl.plot(x, plain(more))) end
local function pictured(m, more) return lines_of(cl.picture(m, plain(more))) end

describe("a plot", function()
  it("is a line between its least and its largest element, over its index", function()
    assert.same({
      "3 +                *****",
      "  |      **********",
      "1 +******",
      "  +---------------------",
      "   1                   3",
    }, plotted { 1, 2, 3 })
  end)

  it("has two by four dots of Braille a character", function()
    local lines = plotted({ 1, 2 }, { ascii = false, height = 2, width = 20 })
    assert.equal("2 ┤        ⢀⣀⣀⠤⠤⠒⠒⠊⠉", lines[1])
    assert.equal("1 ┤⣀⡠⠤⠤⠒⠒⠉⠉⠁", lines[2])
    assert.equal("  └" .. ("─"):rep(17), lines[3])
  end)

  it("takes buffers of every dtype, rows of a matrix, and several of them", function()
    for _, dtype in ipairs(helper.dtypes(d)) do
      assert.same(plotted({ 5, 2, 9 }), (function(lines)
        for i, line in ipairs(lines) do lines[i] = line:gsub("%.0", "") end
        return lines
      end)(plotted(d:buffer({ 5, 2, 9 }, dtype))), dtype)
    end
    local m = d:buffer { { 1, 2 }, { 2, 1 } }
    assert.same(plotted { { 1.0, 2.0 }, { 2.0, 1.0 } }, plotted(m))
    assert.same(plotted { m[1], { 2, 1 } }, plotted(m))
    assert.equal("1.84467e+19", plotted(d:buffer({ 0, -1 }, "ulong"))[1]:match "^%S+")
  end)

  it("tells several lines apart by marks, or by colours, and names them", function()
    local lines = plotted({ { 1, 1 }, { 2, 2 } }, { names = { "low", "high" } })
    assert.matches("^2 %+o+$", lines[1])
    assert.matches("^1 %+%*+$", lines[3])
    assert.matches("^ +%* low  o high$", lines[6])
    assert.matches("* 1  o 2", plotted({ { 1, 1 }, { 2, 2 } })[6], 1, true)
    lines = plotted({ { 1, 1 }, { 2, 2 } }, { colours = "256", ascii = false })
    assert.matches("^2 ┤\27%[33m[^\27]+\27%[0m$", lines[1])
    assert.matches("^1 ┤\27%[36m[^\27]+\27%[0m$", lines[3])
    assert.matches("*", plotted({ { 1, 1 }, { 2, 2 } }, { ascii = false })[3], 1, true) -- without colours no Braille
  end)

  it("has gaps where elements are not finite, and may have no line at all", function()
    local lines = plotted { 1, nan, 1, inf, 1 }
    assert.matches("^1 %+%* +%* +%*$", lines[2])
    assert.same({ "(no elements)" }, plotted {})
    assert.same({ "(no elements)" }, plotted(d:zeros("float", 0)))
    assert.same({ "(no finite elements)" }, plotted { nan, -inf })
    assert.same({ "title", "(no elements)" }, plotted({}, { title = "title" }))
    assert.matches("^7 %+ +%*$", plotted({ 7 })[2])
    assert.matches("^ %-1e%+308 %+", plotted({ 1.7e308, -1e308 })[3])
  end)

  it("takes the places of its elements", function()
    local lines = plotted({ 1, 2, 3, 9 }, { x = { 0, 2, 4, 16 } })
    assert.equal("   0                  16", lines[5])
    assert.same(lines, plotted({ 1, 2, 3, 9 }, { x = d:buffer({ 0, 2, 4, 16 }, "int") }))
    assert.same({ "(no finite elements)" }, plotted({ 1 }, { x = { nan } }))
  end)

  it("shows the least and the largest of many", function()
    local x = d:zeros("float", 100003)
    x[777], x[99999] = -5, 8
    local lines = plotted(x)
    assert.matches("^ 8 %+ +%*+$", lines[1])
    assert.matches("^%-5 %+%*$", lines[3])
  end)

  it("becomes a line chart", function()
    local svg = cl.plot({ { 1, 2, nan, 4 }, { 3, 4, 5, 6 } }, { names = { "a", "b" }, title = "two" }):svg()
    assert.matches("^<svg.*data%-kind=\"line\".*<title[^>]*>two</title>.*</svg>$", svg)
    assert.equal(7, select(2, svg:gsub(" data%-x=", "")))
    local page = cl.plot({ 1, 2 }, { title = "a < b" }):html()
    assert.matches("^<!doctype html>.*<title>a &lt; b</title>.*<svg", page)
    assert.matches('viewBox="0 0 500 ', cl.plot({ 1, 2 }):svg { width = 500 }, 1, true)
    local several = cl.plot({ 1, 2 }, { title = "a" }):html(cl.plot { 3, 4 }, cl.picture({ { 1 } }, { title = "c" }))
    assert.matches("<h1>a</h1>.*<figcaption>a</.*<figcaption>Plot</.*<figcaption>c</", several)
    local ids = {}
    for id in several:gmatch ' id="(.-)"' do
      assert.is_nil(ids[id])
      ids[id] = true
    end
    helper.raises("html: drawing expected, got table", function() cl.plot({ 1, 2 }):html({}) end)
    helper.raises("svg: there is nothing to draw", function() cl.plot({ nan }):svg() end)
    helper.raises("html: there is nothing to draw", function() cl.plot({}):html() end)
    helper.raises("a drawing has no field 'save'; write matrix:save(path .. \".png\") or io.open(path .. \".html\"",
      function() cl.plot({ 1 }):save("x.svg") end)
    helper.raises("a drawing has no field 'svgg'; did you mean 'svg'?", function() return cl.plot({ 1 }).svgg end)
    helper.raises("svg: options: 'width': at least 280", function() cl.plot({ 1 }):svg { width = 2 } end)
  end)

  it("refuses what holds no numbers", function()
    helper.raises("plot: x: buffer or list expected, got nil", function() cl.plot() end)
    helper.raises("cl.plot(y, { x = x }) draws y over x", cl.plot, { 1, 2 }, { 3, 4 })
    helper.raises({ "plot: options: table of names expected, got numbers", "cl.plot(y, { x = x }) draws y over x" },
      cl.plot, { 1, 2 }, { 3, 4 }, { width = 40 })
    helper.raises("plot: at most 2 arguments expected, got 3", cl.plot, { 1, 2 }, {}, 3)
    helper.raises({ "plot: x: a list has no key 'x'; ", "cl.plot(y, { x = x }) draws" }, cl.plot, { x = { 1 } })
    helper.raises("plot: x: number expected at [2], got string", cl.plot, { 1, "2" })
    helper.raises("plot: x[2]: buffer or list expected, got number", cl.plot, { { 1 }, 2 })
    helper.raises("plot: x: a buffer of one dimension expected, got 2x2x2", cl.plot, d:zeros("int", 2, 2, 2))
    helper.raises("plot: x[1]: a buffer of one dimension expected, got 2x2", cl.plot, { d:zeros("int", 2, 2) })
    helper.raises("plot: x: at most 16 lines", cl.plot, d:zeros("int", 17, 2))
    helper.raises("plot: options: 'x': 2 numbers expected, as line 1 has, got 1", cl.plot, { 1, 2 }, { x = { 1 } })
    helper.raises("options: 'names': string expected at [1], got number", cl.plot, { 1 }, { names = { 1 } })
    helper.raises("options: 'width': an integer from 20 to 10000 expected, got 3", cl.plot, { 1 }, { width = 3 })
    helper.raises("options: 'height': an integer from 1 to 10000 expected, got 0.5", cl.plot, { 1 }, { height = 0.5 })
    helper.raises("options: 'height': an integer from 1 to 10000 expected, got 1e+300", cl.plot, { 1 },
      { height = 1e300 })
    helper.raises("options: 'colours': one of 24bit, 256, none expected, got 8", cl.plot, { 1 }, { colours = "8" })
    helper.raises("plot: unknown option 'log'; there are: ascii, colours", cl.plot, { 1 }, { log = 2 })
    assert.matches("^%S*drawing_spec%.lua:%d+: plot", helper.raises("x:", function() cl.plot(1) end))
  end)
end)

describe("a picture", function()
  it("is characters from light to dense where there are no colours", function()
    assert.same({ "    ++++@@@@", "    ++++@@@@", "0 [ .:-=+*#%@] 2   1 x 3" }, pictured { { 0, 1, 2 } })
    assert.same({ "++++", "++++", "7 [ .:-=+*#%@] 7   1 x 1" }, pictured { { 7 } })
    assert.same({ "@@", "  ", "1 [ .:-=+*#%@] 2   2 x 1" }, pictured({ { 2 }, { 1 } }, { height = 2 }))
  end)

  it("is half blocks in colours, two pixels a character", function()
    local m = { { 0, 1 }, { 1, 0 }, { 1, 1 } }
    local text = tostring(cl.picture(m, { colours = "24bit", ascii = false, map = "grey", height = 2, width = 20 }))
    local black, white = "0;0;0", "255;255;255"
    assert.equal(("\27[38;2;%s;48;2;%sm▀\27[38;2;%s;48;2;%sm▀\27[0m\n\27[38;2;%s;49m▀▀\27[0m\n")
      :format(black, white, white, black, white), text:match "^(.-)0 ")
    text = tostring(cl.picture(m, { colours = "256", ascii = false, map = "grey", height = 2, width = 20 }))
    assert.matches("^\27%[38;5;16;48;5;231m▀\27%[38;5;231;48;5;16m▀\27%[0m\n", text)
    text = tostring(cl.picture({ { 0, 1 } }, { colours = "24bit", ascii = false, height = 2, width = 20 }))
    assert.matches("^\27%[38;2;68;1;84;48;2;68;1;84m▀▀", text) -- the darkest of viridis
    assert.matches("253;231;37", text, 1, true)
  end)

  it("takes buffers of every dtype as it takes tables", function()
    for _, dtype in ipairs(helper.dtypes(d)) do
      local ours, theirs = pictured(d:buffer({ { 10, 14 }, { 18, 12 } }, dtype)), pictured { { 10, 14 }, { 18, 12 } }
      for i, line in ipairs(ours) do assert.equal(theirs[i], (line:gsub("%.0", "")), dtype) end
    end
    assert.same(pictured { { 0, 2.0 ^ 64 } }[1], pictured(d:buffer({ { 0, -1 } }, "ulong"))[1])
  end)

  it("of three or four channels has their colours, uchar as it is", function()
    local options = { colours = "24bit", ascii = false, width = 20, height = 1 }
    local function text(m) return tostring(cl.picture(m, options)) end
    assert.matches("^\27%[38;2;1;2;3;48;2;4;5;6m▀\27%[0m\n2 x 1 x 3$",
      text(d:buffer({ { { 1, 2, 3 } }, { { 4, 5, 6 } } }, "uchar")))
    assert.matches("38;2;0;128;255;", text(d:buffer { { { 0, 0.5, 1, 1 } } }), 1, true)
    assert.matches("38;2;0;0;255;", text { { { nan, 0, 1 } } }, 1, true)
    assert.matches("38;2;0;0;255;.*1 x 1 x 4$", text { { { 0, 0, 1, 1 } } })
    assert.same({ "@@", "1 x 1 x 3" }, pictured({ { { 255, 255, 255 } } }, { low = 0, high = 255, height = 1 }))
  end)

  it("is shown by means where it is larger than its room", function()
    local m = d:zeros("float", 300, 200)
    m:view(1, 150):fill(1)
    local lines = pictured(m, { height = 4 })
    assert.equal(5, #lines)
    for i = 1, 2 do assert.matches("^@+$", lines[i]) end
    for i = 3, 4 do assert.matches("^ +$", lines[i]) end
    local checkered = {}
    for i = 1, 100 do
      checkered[i] = {}
      for j = 1, 100 do checkered[i][j] = (i + j) % 2 end
    end
    assert.matches("^[=+]+$", pictured(checkered)[2])
    assert.matches("600 x 1$", tostring(cl.picture(d:random("float", 600, 1), plain())))
    assert.matches("1 x 600$", tostring(cl.picture(d:random("float", 1, 600), plain())))
  end)

  it("takes where its colours begin and end", function()
    assert.equal("    @@@@", pictured({ { -5, 5 } }, { low = 0, high = 1 })[1])
    assert.equal("0 [ .:-=+*#%@] 5   1 x 2", pictured({ { -5, 5 } }, { low = 0 })[3])
  end)

  it("may have no elements, or none that are finite", function()
    assert.same({ "(no elements)" }, pictured {})
    assert.same({ "(no elements)" }, pictured(d:zeros("int", 0, 4)))
    assert.same({ "(no elements)" }, pictured(d:zeros("int", 4, 0)))
    assert.same({ "(no elements)" }, pictured(d:zeros("int", 4, 0, 3)))
    assert.equal("1 x 2, no finite elements", pictured({ { nan, inf } })[3])
    assert.equal("    @@@@", pictured({ { nan, inf } })[1])
    assert.equal("    @@@@    ", pictured({ { -inf, 1, 0 } })[1])
    helper.raises("svg: there is nothing to draw", function() cl.picture({}):svg() end)
  end)

  it("holds its pixels as SVG", function()
    local svg = cl.picture(d:random("float", 30, 40), { title = "noise" }):svg { width = 400 }
    assert.matches('^<svg[^>]*viewBox="0 0 400 328"', svg)
    assert.matches("<title>noise</title>", svg, 1, true)
    local data = svg:match 'data:image/png;base64,([%w+/=]+)"'
    assert.matches("^iVBORw0KGgoAAAANSUhEUgAAACgAAAAeCAIAAA", data) -- a PNG of 40 x 30 with three channels
    assert.matches("^<!doctype html>.*<svg", cl.picture({ { 1 } }):html())
    assert.equal(1, select(2, cl.picture({ { nan } }):svg():gsub("<image", "")))
  end)

  it("refuses what is no matrix", function()
    helper.raises("picture: m: buffer or list of lists expected, got number", cl.picture, 1)
    helper.raises("picture: m: rows x columns, or rows x columns x 3 or 4 channels expected, got 7", cl.picture,
      d:zeros("int", 7))
    helper.raises("expected, got 2x2x2", cl.picture, d:zeros("int", 2, 2, 2))
    helper.raises("picture: m: a list of 2 expected at [2]", cl.picture, { { 1, 2 }, { 3 } })
    helper.raises("picture: m: a list of 0 expected at [1]", cl.picture, { 1, 2 })
    helper.raises("picture: m: number expected at [1][2]", cl.picture, { { 1, "2" } })
    helper.raises("picture: m: pixel expected at [1][2]", cl.picture, { { { 1, 2, 3 }, { 1, 2 } } })
    helper.raises("picture: m: pixels of 3 or 4 numbers expected", cl.picture, { { { 1, 2 } } })
    helper.raises("picture: m: pixels of 3 or 4 numbers expected", cl.picture, { { { 1, 2, 3, 4, 5 } } })
    helper.raises("picture: m: pixels of 3 or 4 numbers expected", cl.picture, { { {} } })
    helper.raises("picture: m: number expected at [1][1]", cl.picture, { { { 1 } } })
    helper.raises("options: 'low': a number below 'high' expected", cl.picture, { { 1 } }, { low = 1, high = 1 })
    helper.raises("options: 'low': a finite number expected", cl.picture, { { 1 } }, { low = nan })
    helper.raises("options: 'map': one of grey, viridis expected, got jet", cl.picture, { { 1 } }, { map = "jet" })
  end)
end)

describe("the text of a drawing", function()
  --- What a script prints without a terminal, in an environment.
  local function printed(environment)
    local _, output = helper.run([[print(require("clcompute").plot { 1, 2 })
      print(require("clcompute").picture { { 1, 2 } })]], environment)
    return output
  end

  it("is ASCII without colours where nothing else is known, and as wide as $COLUMNS says", function()
    local output = printed { LC_ALL = "C", COLORTERM = "truecolor", TERM = "xterm-256color", COLUMNS = "30" }
    assert.is_nil(output:find "[\27\x80-\xff]")
    assert.matches("\n  %+" .. ("-"):rep(27) .. "\n", output)
    output = printed { LC_ALL = "", LC_CTYPE = "", LANG = "de_DE.UTF-8", COLORTERM = "truecolor", COLUMNS = "30" }
    assert.matches("└", output, 1, true)
    assert.is_nil(output:find "\27") -- which a file would keep
  end)

  it("is as wide as the terminal, and in its colours", function()
    local path = helper.write(os.tmpname(), [[
      print(require("clcompute").plot { 1, 2 })
      print(require("clcompute").picture { { 1, 2 } })]])
    local function shown(environment)
      local t = terminal.open(("env -u COLUMNS -u NO_COLOR LC_ALL=C.UTF-8 %s %s %s"):format(environment, helper.lua,
        path), 44)
      assert.equal(0, t:finish())
      return t.bytes
    end
    local full = shown "TERM=xterm COLORTERM=truecolor"
    assert.matches("└" .. ("─"):rep(41) .. "\r\n", full, 1, true)
    assert.matches("\27[38;2;68;1;84;48;2;68;1;84m▀", full, 1, true)
    assert.matches("\27[38;5;53;48;5;53m▀", shown "TERM=xterm-256color COLORTERM=", 1, true)
    for _, environment in ipairs { "TERM=xterm COLORTERM=", "TERM=dumb COLORTERM=24bit", "NO_COLOR=1 TERM=xterm" } do
      assert.is_nil(shown(environment):find("\27[", 1, true), environment)
    end
    os.remove(path)
  end)

  it("needs no OpenCL for lists", function()
    local _, output = helper.run([[package.preload["clcompute.core"] = function() error "none" end
      local report = require "clcompute.report"
      print(report.plot({ 1, 2 }, { ascii = true, height = 2 }))
      print(report.picture({ { 1 } }, { ascii = true }))
      print(report.plot({ 1, 2 }):svg():sub(1, 4))]], {})
    assert.matches("^2 %+.*   1 x 1\n<svg\n$", output)
    assert.equal(tostring(cl.plot({ 1, 2 }, plain())), tostring(report.plot({ 1, 2 }, plain())))
  end)

  it("is of a drawing alone", function()
    local drawing = cl.plot { 1 }
    helper.raises("svg: drawing expected, got table", drawing.svg, {})
    helper.raises("svg: at most 1 argument expected, got 2", drawing.svg, drawing, {}, 1)
  end)
end)
