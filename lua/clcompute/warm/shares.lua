-- SPDX-License-Identifier: MIT
--- The rows of `calls` shared among processes, as a process builds one kernel at a time: each takes the next row that
-- none has taken, which a file stands for that it renames.

local calls = require "clcompute.warm.calls"
local base = require "clcompute.base"
local code_process = require "clcompute.warm.code_process"
local internal = require "clcompute.core.internal"

local process = base.process

local shares = {}

local MOST = 8 -- processes: each is a driver with all it needs, some 200 MB

--- The rows whose name has a text.
local function rows_of(device, only)
  local list = {}
  for _, row in ipairs(calls.of(device)) do
    if row.name:find(only, 1, true) then list[#list + 1] = row end
  end
  return list
end

--- Runs a row, and keeps the binaries that it needs; those of light ones for others, who have no POCL cache of ours.
local function run_row(device, row)
  internal.store_later()
  internal.builds_all = not row.is_light or internal.fills_for_all
  row.run()
  device:wait()
  internal.store_launched()
end

--- Runs in this process the rows that no other process of the run has taken.
-- @tparam Device device
-- @string only a text that the names of the rows have
-- @string folder with a file for each row
-- @tparam function tell called with the name of each, before it is run
function shares.run(device, only, folder, tell)
  for i, row in ipairs(rows_of(device, only)) do
    local path = ("%s/%d"):format(folder, i)
    if os.rename(path, path .. " taken") then
      tell(row.name)
      run_row(device, row)
    end
  end
end

-- What a process of a share runs; it prints a line for each row, and one for its end.
local PROGRAM = [[
local function say(...)
  io.stdout:write(table.concat({ ... }, "\t"), "\n")
  io.stdout:flush()
end
local ok, fault = pcall(function()
  local cl = require 'clcompute'
  require 'clcompute.core.internal'.fills_for_all = %s
  local d = cl.device(%q, %s)
  require 'clcompute.warm'.share(d, %q, %q, function(name) say("row", name) end)
end)
say(ok and "ended" or "fault", (tostring(fault):gsub("%%s+", " ")))]]

-- Pinned, POCL's threads would share a processor with those of the other processes.
local VARIABLES = { POCL_AFFINITY = "0" }

local function command(device, only, folder, count)
  local code = PROGRAM:format(internal.fills_for_all or false, device.place,
    device.isolated and "{ isolated = true }" or "nil", only, folder)
  local one = code_process.command(code, VARIABLES) .. " & "
  return ("{ %swait; } 2>&1"):format(one:rep(count))
end

--- Runs all rows.
-- @tparam Device device
-- @string only
-- @tparam function tell called with the name of a row, how many have been, and the seconds that each takes somewhere
-- @treturn integer how many rows there are
function shares.run_all(device, only, tell)
  local list, weights, folder <close> = rows_of(device, only), {}, process.new_folder()
  for i, row in ipairs(list) do
    weights[i] = row.seconds
    base.write_file(("%s/%d"):format(folder.path, i), "")
  end
  local count = math.min(tonumber(process.tool "nproc") or 1, MOST, #list)
  local pipe <close> = code_process.open(command(device, only, folder.path, count))
  local begun, running, last = 0, count, nil
  for line in pipe:lines() do
    local word, rest = line:match "^(%l+)\t(.*)$"
    if word == "fault" then error(rest, 0) end
    if word == "row" then
      tell(rest, math.max(begun - count, 0), weights)
      begun = begun + 1
    elseif word == "ended" then
      running = running - 1
    else
      last = line
    end
  end
  if running > 0 then error(last or "a process that builds has ended", 0) end
  return #list
end

return shares
