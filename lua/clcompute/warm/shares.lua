-- SPDX-License-Identifier: MIT
--- The rows of `calls` shared among processes, as a process builds one kernel at a time. A lock keeps two from
-- building the same.

local calls = require "clcompute.warm.calls"
local code_process = require("clcompute.base").code_process
local internal = require "clcompute.core.internal"
local process = require("clcompute.base").process

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

--- Runs a share of the rows in this process.
-- @tparam Device device
-- @string only a text that the names of the rows have
-- @tparam integer first the first row of the share
-- @tparam integer step from one to the next
-- @tparam function tell called with the name of each, before it is run
function shares.run(device, only, first, step, tell)
  local list = rows_of(device, only)
  internal.store_later()
  for i = first, #list, step do
    tell(list[i].name)
    internal.builds_all = not list[i].is_light
    list[i].run()
    device:wait()
    internal.store_launched()
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
  require 'clcompute.warm'.share(d, %q, %d, %d, function(name) say("row", name) end)
end)
say(ok and "ended" or "fault", (tostring(fault):gsub("%%s+", " ")))]]

-- Pinned, POCL's threads would share a processor with those of the other processes.
local VARIABLES = { POCL_AFFINITY = "0" }

local function command(device, only, count)
  local words = {}
  for i = 1, count do
    local code = PROGRAM:format(internal.fills_for_all or false, device.place,
      device.isolated and "{ isolated = true }" or "nil", only, i, count)
    words[i] = code_process.command(code, VARIABLES) .. " & "
  end
  return ("{ %swait; } 2>&1"):format(table.concat(words))
end

--- Runs all rows.
-- @tparam Device device
-- @string only
-- @tparam function tell called with the name of a row, how many have been, and the seconds that each takes somewhere
-- @treturn integer how many rows there are
function shares.run_all(device, only, tell)
  local list, weights = rows_of(device, only), {}
  for i, row in ipairs(list) do weights[i] = row.seconds end
  local count = math.min(tonumber(process.tool "nproc") or 1, MOST, #list)
  local pipe <close> = code_process.open(command(device, only, count))
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
