-- SPDX-License-Identifier: MIT

--- `clcompute tune`: finds better numbers for the operations of a device, and keeps them.

local command_line = require "clcompute.cli.command_line"
local output = require "clcompute.cli.output"

local tune = {
  name = "tune",
  description = "Look for faster block sizes on a device, check and measure them, and keep what is clearly faster.",
  examples = {
    "clcompute tune                       # all operations, two minutes",
    "clcompute tune gemm --seconds 30 --device gpu",
    "clcompute tune gemm --dry-run        # keep nothing",
  },
}

tune.operations = { "gemm", "loops" } -- those of clcompute.tune, which needs the library

--- Adds the options.
function tune.configure(parser)
  parser:argument("operation", table.concat(tune.operations, " or ") .. "; all of them unless told."):args "*"
  parser:option("--device", "Device to tune for."):argname "<selector>"
  parser:option("--seconds", "Time after which nothing more is tried (120). Of loops a try may take minutes.")
    :argname "<s>":convert(command_line.seconds):default "120":show_default(false)
  parser:flag("--dry-run", "Measure, but keep nothing.")
end

local function row_text(row)
  local keys, words = {}, {}
  for key in pairs(row) do keys[#keys + 1] = key end
  table.sort(keys)
  for _, key in ipairs(keys) do
    local value = row[key]
    if type(value) == "table" then value = ("%dx%dx%d ..."):format(value[1].bm, value[1].bn, value[1].bk) end
    words[#words + 1] = ("%s=%s"):format(key, value)
  end
  return table.concat(words, " ")
end

local function describe(found)
  local lines = { ("%s, %s: %d candidates"):format(found.operation, found.dtype, #found.tried) }
  lines[#lines + 1] = "  before  " .. row_text(found.before)
  if found.after then lines[#lines + 1] = "  after   " .. row_text(found.after) end
  if found.ratio then
    lines[#lines + 1] = ("  %.3g ms before, %.3g ms after: %.2f times as fast"):format(found.before_seconds * 1e3,
      found.after_seconds * 1e3, 1 / found.ratio)
  end
  if found.reason then lines[#lines + 1] = "  " .. found.reason end
  if found.path then lines[#lines + 1] = "  kept in " .. found.path end
  return table.concat(lines, "\n") .. "\n"
end

function tune.run(options)
  local device, clock = command_line.device(options.device), command_line.library().clock
  local show <close> = output.progress()
  local start = clock()
  local found = require("clcompute.tune").run(device, {
    operations = #options.operation > 0 and options.operation or nil, seconds = options.seconds,
    keep = not options.dry_run,
    progress = function(event)
      show { name = ("%s %s: %s"):format(event.operation, event.dtype, event.name), done = clock() - start,
        total = options.seconds }
    end,
  })
  show:close()
  for _, each in ipairs(found) do output.print(describe(each)) end
  return 0
end

return tune
