-- SPDX-License-Identifier: MIT

--- `clcompute bench`: the prebuilt operations on every device, against the sequential program and, if asked for, the
-- libraries that are installed.

local command_line = require "clcompute.cli.command_line"
local output = require "clcompute.cli.output"

local bench = {
  name = "bench",
  description = "Measure the operations on every device against the sequential program; every result is checked.",
  examples = {
    "clcompute bench                             # all operations",
    "clcompute bench gemm --size 2048 --dtype double",
    "clcompute bench gemm --against              # OpenBLAS and CLBlast on the same data",
    "clcompute bench saxpy --device gpu --html saxpy.html",
  },
}

local OPERATIONS = { "saxpy", "gemm", "gauss" }
local SIZES = { saxpy = 1 << 24, gemm = 1024, gauss = 1000 }
local WEIGHTS = { saxpy = 10, gemm = 30, gauss = 15 } -- seconds on two cores, of these sizes
local MOST = { saxpy = 1 << 40, gemm = 1 << 29, gauss = 1 << 29 } -- whose bytes are counted by an integer
local TITLES = {
  saxpy = "saxpy, %d elements, %s", gemm = "Matrix product, %d rows and columns, %s",
  gauss = "Gauss elimination, %d equations, %s",
}

--- Adds the options.
function bench.configure(parser)
  parser:argument("operation", "saxpy, gemm or gauss; all of them unless told."):args "?":choices(OPERATIONS)
  parser:option("--size", "Elements of a vector, rows of a matrix."):argname "<n>"
    :convert(command_line.positive_integer)
  parser:option("--dtype", "float or double."):choices { "float", "double" }:default "float"
  parser:option("--seconds", "Of warm runs of each candidate."):argname "<s>":default "1":convert(command_line.seconds)
  parser:flag("--against", "Measure OpenBLAS and CLBlast too, where they are installed.")
  output.configure(parser)
end

--- What is wrong with the options: a size that no memory holds.
-- @treturn ?string
function bench.misuse(options)
  for _, name in ipairs(options.operation and { options.operation } or OPERATIONS) do
    if options.size and options.size > MOST[name] then
      return ("--size: at most %d expected for %s, got %d"):format(MOST[name], name, options.size)
    end
  end
end

--- Runs the command.
function bench.run(options)
  output.check(options)
  local library, devices = command_line.library(), command_line.devices(options)
  local suite = require "clcompute.suite"
  local show <close> = output.progress()
  local operations, sections, weights = options.operation and { options.operation } or OPERATIONS, {}, {}
  for i, name in ipairs(operations) do weights[i] = WEIGHTS[name] end
  for i, name in ipairs(operations) do
    local size = options.size or SIZES[name]
    sections[i] = suite.section(suite.workload(name, { n = size }, options.dtype), {
      title = TITLES[name]:format(size, options.dtype), devices = devices, against = options.against,
      seconds = options.seconds, peak = true,
      progress = function(state)
        show { name = ("%s: %s, %s"):format(name, state.name, state.stage), done = i - 1 + (state.share or 0),
          weights = weights }
      end,
    })
  end
  show:close()
  local facts = { { "version", library._VERSION } }
  for i, device in ipairs(devices) do facts[i + 1] = { "device", tostring(device) } end
  return output.document({ title = "clcompute bench", facts = facts, sections = sections }, options)
end

return bench
