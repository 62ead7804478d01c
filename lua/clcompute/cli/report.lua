-- SPDX-License-Identifier: MIT

--- `clcompute report`: the measurements of a paper, repeated here; or rows that were kept.
-- @module clcompute.cli.report

local progress = require "clcompute.cli.progress"
local publish = require "clcompute.cli.publish"

local report = {
  name = "report",
  description = "Repeat the measurements of a paper on the devices here, or show rows that were kept in a file.",
  examples = {
    "clcompute report borisov                    # Borisov 2015: saxpy, the matrix product",
    "clcompute report gauss --quick --html gauss.html   # Baranov & Vlatskaya 2013, in minutes",
    "clcompute report gauss --rows kept          # called again, it goes on where it was cut off",
    "clcompute report kept/group_size_5_0.0.jsonl",
  },
}

local PAPERS = { borisov = "clcompute.papers.borisov", gauss = "clcompute.papers.gauss" }

local function integers(text)
  local list = {}
  for word in text:gmatch "[^,]+" do
    local n = math.tointeger(tonumber(word))
    if not n or n < 1 then return nil, ("positive integers with commas expected, got '%s'"):format(text) end
    list[#list + 1] = n
  end
  return list
end

local function positive(text)
  local n = tonumber(text)
  if not n or not (n > 0 and n < math.huge) then return nil, ("number above 0 expected, got '%s'"):format(text) end
  return math.tointeger(n) or n
end

--- Adds the options.
function report.configure(parser)
  parser:argument("name", "borisov, gauss, or a file of rows (.jsonl)."):argname "<name>"
  parser:flag("--quick", "Small sizes.")
  parser:option("--rows", "Keep what is measured in this folder, and do not repeat what is there (gauss).")
    :argname "<folder>"
  parser:option("--limit", "Seconds a figure may take; the rest is skipped (gauss)."):argname "<s>":convert(positive)
  parser:option("--sizes", "N of figures 3 and 4, with commas (gauss)."):argname "<n,..>":convert(integers)
  parser:option("--large-sizes", "N of figures 5 and 6, with commas (gauss)."):argname "<n,..>":convert(integers)
  parser:option("--cores", "Cores of a compute unit, which OpenCL cannot tell (gauss)."):argname "<n>":convert(positive)
  publish.configure(parser)
end

local function kept(path)
  local rows = require "clcompute.report".read(path)
  return { title = path, sections = { { title = ("%d rows"):format(#rows), rows = rows } } }
end

local function measured(paper, options)
  local show <close> = progress.new()
  if options.rows then os.execute(("mkdir -p -- '%s'"):format((options.rows:gsub("'", "'\\''")))) end
  return require(paper).measure {
    devices = publish.devices(options), quick = options.quick, rows = options.rows, limit = options.limit,
    sizes = options.sizes, large_sizes = options.large_sizes, cores = options.cores, progress = show,
  }
end

--- Runs the command.
function report.run(options)
  local paper = PAPERS[options.name]
  if not paper and not options.name:find "%.jsonl$" then
    error(("no report '%s'; there are borisov and gauss, and files of rows (.jsonl)"):format(options.name), 0)
  end
  return publish.document(paper and measured(paper, options) or kept(options.name), options)
end

return report
