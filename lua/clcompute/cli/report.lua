-- SPDX-License-Identifier: MIT

--- `clcompute report`: the measurements of a paper, repeated here; or rows that were kept.

local command_line = require "clcompute.cli.command_line"
local output = require "clcompute.cli.output"

local report = {
  name = "report",
  description = "Repeat the measurements of a paper on the devices here, or show rows that were kept in a file.",
  examples = {
    "clcompute report borisov                   # Borisov 2015: saxpy, products",
    "clcompute report gauss --quick --html gauss.html   # Baranov & Vlatskaya 2013, in minutes",
    "clcompute report polykernels               # GRAPHITE-OpenCL, 2012: loop nests in Lua as kernels",
    "clcompute report peers --groups sgemm,dot  # against OpenBLAS and CLBlast",
    "clcompute report peers --groups arrays     # arrays against NumPy and std::sort",
    "clcompute report peers --groups loops      # loop nests against the same in C",
    "clcompute report peers --device nvidia     # against cuBLAS, cuSOLVER and CUB, in a checkout with CUDA",
    "POCL_DEVICES='pthread pthread' clcompute report scaling --quick   # more devices of a process",
    "mpirun -n 2 clcompute report scaling       # ranks of a job, beside one of them",
    "clcompute report gauss --rows kept          # called again, it goes on where it was cut off",
    "clcompute report kept/group_size_5_0.0.jsonl",
  },
}

report.names = { "borisov", "gauss", "polykernels", "peers", "scaling" }

local PAPERS = {}
for _, name in ipairs(report.names) do PAPERS[name] = true end

-- The options that not every report takes, as on the command line, and the reports that do.
local TAKEN_BY = {
  { "quick", "--quick", PAPERS },
  { "rows", "--rows", PAPERS },
  { "device", "--device", PAPERS },
  { "groups", "--groups", { peers = true } },
  { "limit", "--limit", { gauss = true, scaling = true } },
  { "sizes", "--sizes", { gauss = true, scaling = true } },
  { "large_sizes", "--large-sizes", { gauss = true } },
  { "cores", "--cores", { gauss = true } },
}

--- Adds the options.
function report.configure(parser)
  parser:argument("name", table.concat(report.names, ", ") .. ", or a file of rows (.jsonl)."):argname "<name>"
  parser:flag("--quick", "Small sizes; of peers few rounds, small loops, on a GPU few sizes.")
  parser:option("--rows", "Keep what is measured in this folder; gauss goes on from what is there.")
    :argname "<folder>"
  parser:option("--limit", "Seconds of a figure (gauss), of an operation at a size (scaling); the rest is skipped.")
    :argname "<s>":convert(command_line.seconds)
  parser:option("--sizes", "N of figures 3 and 4 (gauss), of matrices (scaling), with commas."):argname "<n,..>"
    :convert(command_line.positive_integers)
  parser:option("--large-sizes", "N of figures 5 and 6, with commas (gauss)."):argname "<n,..>"
    :convert(command_line.positive_integers)
  parser:option("--cores", "Cores of a compute unit, which OpenCL cannot tell (gauss)."):argname "<n>"
    :convert(command_line.positive_integer)
  parser:option("--groups", "Parts of the titles of what is measured, with commas (peers)."):argname "<name,..>"
    :convert(command_line.names)
  output.configure(parser)
end

local function is_file(name)
  return name:find "%.jsonl$" ~= nil
end

--- What is wrong with the options: one that the report does not take.
-- @treturn ?string
function report.misuse(options)
  local name = options.name
  if not PAPERS[name] and not is_file(name) then return nil end -- run says what there is
  for _, option in ipairs(TAKEN_BY) do
    local key, shown, names = table.unpack(option)
    if options[key] and not names[name] then
      return ("%s does not take %s"):format(PAPERS[name] and "report " .. name or "a file of rows", shown)
    end
  end
end

local function kept(path)
  command_line.module("dkjson", "lua-dkjson")
  local found, rows = pcall(require "clcompute.report".read, path)
  if not found then error(rows, 0) end
  for i, row in ipairs(rows) do
    if row.name == nil and row.value == nil and row.status == nil then
      error(("%s: row %d is no measurement: it has no name, value or status"):format(path, i), 0)
    end
  end
  return { title = path, sections = { { title = ("%d rows"):format(#rows), rows = rows } } }
end

local function measured(options)
  local show <close> = output.progress()
  return require "clcompute.suite".report(options.name, {
    devices = command_line.devices(options), selector = options.device, quick = options.quick, rows = options.rows,
    limit = options.limit, sizes = options.sizes, large_sizes = options.large_sizes, cores = options.cores,
    groups = options.groups, progress = show,
  })
end

--- Runs the command.
function report.run(options)
  local paper = PAPERS[options.name]
  if not paper and not is_file(options.name) then
    error(("no report '%s'; there are borisov, gauss, polykernels, peers and scaling, and files of rows (.jsonl)")
      :format(options.name), 0)
  end
  output.check(options)
  local document
  if paper then document = measured(options) else document = kept(options.name) end
  return document and output.document(document, options) or 0 -- one rank of a job shows it
end

return report
