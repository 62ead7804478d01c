-- SPDX-License-Identifier: MIT

--- Measures how a device executes: experiments, each a curve with its reading in words and the sentence of the
-- literature that it illustrates. Every result is checked; what a device does not show is said to be not visible.

local Lab = require "clcompute.device_profile.lab"
local arity = require("clcompute.base").arity
local cl = require "clcompute"
local host_costs = require "clcompute.device_profile.host_costs"
local interrupt = require("clcompute.base").interrupt
local options = require("clcompute.base").options
local raising = require("clcompute.base").raising
local summary = require "clcompute.device_profile.summary"

local device_profile = {}

-- The experiments in their order; one that comes later may use what earlier ones found. Each is a table of
--
-- - `name`, that of its file but for those of host_costs; `title`; `teaches`, the sentence that it illustrates, and
--   where that stands;
-- - `measure(lab)`, which returns a list of sections, each { title=, how=, rows=, columns=, chart=, reading={...} },
--   `title` only where there are several, and a table of facts, or nil.
local EXPERIMENTS = {}
for i, name in ipairs { "peaks", "divergence", "long_loop", "whole_wavefronts", "packing", "functions", "local_memory",
  "bank_conflicts", "constant_memory", "latency_hiding", "occupancy", "coalescing", "working_set", "transfers",
  "group_size", "launch", "barrier", "atomics", "compile", "roofline" } do
  EXPERIMENTS[i] = host_costs[name] or require("clcompute.device_profile." .. name)
end

-- Seconds that some take, about, on two cores; the others take a few.
local WEIGHTS, FEW = { peaks = 6, latency_hiding = 9, coalescing = 18, working_set = 11, transfers = 6, group_size = 6,
  compile = 20 }, 3

local SOURCE = "ATI HD Graphics and OpenCL (CSDN, 2012), after AMD's guide to programming with OpenCL"
local TIMES = "medians of several runs, between their quartiles, and all rates are those of the medians; only peaks "
  .. "are the best of several runs"
local SECONDS = 0.05 -- of a point

local MEASURE = { only = "table", seconds = "number", quick = "boolean", progress = "function" }

function device_profile.names()
  local names = {}
  for i, experiment in ipairs(EXPERIMENTS) do names[i] = experiment.name end
  return names
end

--- The experiments that are asked for, in their order.
local function chosen(only)
  if not only then return EXPERIMENTS end
  local wanted, list = {}, {}
  for _, name in ipairs(only) do wanted[tostring(name)] = true end
  for _, experiment in ipairs(EXPERIMENTS) do
    if wanted[experiment.name] then list[#list + 1], wanted[experiment.name] = experiment, nil end
  end
  local unknown = next(wanted)
  if unknown ~= nil then
    error(("measure: option 'only': no experiment '%s'; there are: %s"):format(unknown,
      table.concat(device_profile.names(), ", ")), 0)
  end
  if #list == 0 then error("measure: option 'only': names of experiments expected, got {}", 0) end
  return list
end

--- What stands for an experiment that could not be done.
local function failure(experiment, reason)
  local text = interrupt.text(reason)
  return { { rows = { { name = experiment.name, status = "failed", reason = text } },
    reading = { "This could not be measured: " .. text } } }
end

--- Does one; what it finds is known to those that follow. Where all is quick, times say nothing, and so nothing is
-- found.
local function run(experiment, lab)
  local start = cl.clock()
  local ok, sections, found = pcall(experiment.measure, lab)
  if not ok then
    interrupt.pass_on(sections)
    sections, found = failure(experiment, sections), nil
  end
  for key, value in pairs(not lab.quick and found or {}) do lab.found[key] = value end
  return { name = experiment.name, title = experiment.title, teaches = experiment.teaches, sections = sections,
    seconds = cl.clock() - start }
end

function device_profile.measure(device, given)
  given = options.check("measure", given or {}, MEASURE)
  if options.type_of(device) ~= "Device" then
    error("measure: Device expected, got " .. options.type_of(device), 0)
  end
  options.positive("measure", given, "seconds")
  local list, weights, start, current, done = chosen(given.only), {}, cl.clock(), nil, 0
  for i, experiment in ipairs(list) do weights[i] = WEIGHTS[experiment.name] or FEW end
  local function show(what)
    if not given.progress then return end
    given.progress { name = what and ("%s: %s"):format(current, what) or current, done = done, total = #list,
      weights = weights }
  end
  local lab = Lab.new(device, { seconds = given.seconds or SECONDS, quick = given.quick, progress = show })
  local profile = { device = tostring(device), date = os.date "!%Y-%m-%dT%H:%M:%SZ", quick = given.quick,
    experiments = {} }
  for i, experiment in ipairs(list) do
    current, done = experiment.name, i - 1
    show()
    profile.experiments[i] = run(experiment, lab)
  end
  profile.found, profile.seconds = lab.found, cl.clock() - start
  return profile
end

--- A section for a report: what it teaches and how it was measured above, what was read off below its chart.
local function as_section(from, section, is_first)
  local text = { is_first and from.teaches or nil }
  text[#text + 1] = section.how
  return {
    title = section.title and ("%s: %s"):format(from.title, section.title) or from.title,
    text = text, rows = section.rows, columns = section.columns, chart = section.chart,
    caption = table.concat(section.reading or {}, " "),
  }
end

--- The experiments as they are read: the roofline belongs to the summary.
local function in_reading_order(experiments)
  local list = {}
  for _, experiment in ipairs(experiments) do
    table.insert(list, experiment.name == "roofline" and 1 or #list + 1, experiment)
  end
  return list
end

local function is_profile(value)
  return type(value) == "table" and type(value.experiments) == "table" and type(value.found) == "table"
    and type(value.seconds) == "number"
end

function device_profile.document(profile)
  if not is_profile(profile) then error("document: a profile, as measure returns it, expected", 0) end
  local sections, facts_found = {}, summary(profile)
  if not profile.quick and #facts_found.rows > 0 then sections[1] = facts_found end
  for _, from in ipairs(in_reading_order(profile.experiments)) do
    for i, section in ipairs(from.sections) do sections[#sections + 1] = as_section(from, section, i == 1) end
  end
  local facts = { { "version", cl._VERSION }, { "device", profile.device }, { "date", profile.date },
    { "took", ("%.0f s"):format(profile.seconds) }, { "times", TIMES }, { "source 4", SOURCE } }
  if profile.quick then facts[#facts + 1] = { "quick", "the least sizes, once: the times say nothing" } end
  return { title = "How this device executes", subtitle = profile.device, facts = facts, sections = sections }
end

return raising.guarded(arity.functions(device_profile))
