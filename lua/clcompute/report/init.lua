-- SPDX-License-Identifier: MIT
--- Rows of measurements as text, Markdown, CSV, JSON, and one self-contained HTML page with charts.
-- Needs neither OpenCL nor the C core; JSON needs lua-dkjson.

local arity = require("clcompute.base").arity
local chart = require "clcompute.report.chart"
local document = require "clcompute.report.document"
local html = require "clcompute.report.html"
local plot = require "clcompute.report.plot"
local raster = require "clcompute.report.raster"
local serialization = require "clcompute.report.serialization"
local text = require "clcompute.report.text"

local report = {}

local TEXT_OPTIONS = { width = "number", ascii = "boolean", bar = "boolean" }
local SVG_OPTIONS = { width = "number" }
local LEAST_WIDTH, LEAST_SVG = 20, 280

--- Calls f(...) and raises its errors in the name of the script that called the function.
local function guard(name, f, ...)
  local ok, result, more = pcall(f, ...)
  if ok then return result, more end
  if type(result) ~= "string" then error(result, 0) end
  error(("%s: %s"):format(name, result), 3)
end

local function width_option(given, default, least)
  local width = given or default
  if not (width >= least and width < math.huge) then
    error(("options: 'width': at least %d expected, got %s"):format(least, width), 0)
  end
  return math.floor(width)
end

function report.text(given, options)
  return (guard("text", function()
    local o = document.check_keys("options", options or {}, TEXT_OPTIONS)
    local settings = { width = width_option(o.width, 100, LEAST_WIDTH), ascii = o.ascii, bar = o.bar ~= false }
    return text.plain(document.new(given), settings)
  end))
end

function report.markdown(given)
  return (guard("markdown", function() return text.markdown(document.new(given)) end))
end

function report.csv(given)
  return (guard("csv", function() return serialization.csv(document.new(given)) end))
end

function report.json(given)
  return (guard("json", function()
    document.new(given) -- checks it
    return serialization.json(given)
  end))
end

function report.jsonl(rows)
  return (guard("jsonl", function()
    document.refuse_row(rows)
    return serialization.jsonl(document.check_tables("rows", rows))
  end))
end

function report.html(given)
  return (guard("html", function() return html.write(document.new(given)) end))
end

function report.svg(section, options)
  local svg, note = guard("svg", function()
    local o = document.check_keys("options", options or {}, SVG_OPTIONS)
    if type(section) ~= "table" or not section.chart then error("section with 'rows' and 'chart' expected", 0) end
    local made = document.new { sections = { section } }
    return chart.svg(made.sections[1], width_option(o.width, 760, LEAST_SVG), "chart", html.CHART_STYLE)
  end)
  return svg, note
end

function report.plot(x, options, ...)
  guard("plot", plot.check_single, options) -- first: what stands behind two lists is no argument too many
  if select("#", ...) > 0 then arity.check("plot", 2, 2, x, options, ...) end
  return (guard("plot", plot.new, x, options))
end

function report.picture(m, options)
  return (guard("picture", raster.new, m, options))
end

function report.read(path)
  return (guard("read", function()
    if type(path) ~= "string" then error(("path expected, got %s"):format(type(path)), 0) end
    return serialization.read(path)
  end))
end

return arity.functions(report)
