-- SPDX-License-Identifier: MIT

--- Numbers and names of a command line. Each function takes a word and returns the value, or nil and what was expected,
-- as argparse wants it.
-- @module clcompute.cli.convert

local convert = {}

local function to_positive_integer(text)
  local n = math.tointeger(tonumber(text))
  return n and n > 0 and n or nil
end

local function refuse(expected, text)
  return nil, ("%s expected, got '%s'"):format(expected, text)
end

--- An integer above 0: "64".
function convert.positive_integer(text)
  local n = to_positive_integer(text)
  if n then return n end
  return refuse("positive integer", text)
end

--- Integers above 0: "100,200".
function convert.positive_integers(text)
  local list = {}
  for word in (text .. ","):gmatch "([^,]*)," do
    local n = to_positive_integer(word)
    if not n then return refuse("positive integers with commas", text) end
    list[#list + 1] = n
  end
  return list
end

--- Words: "sgemm,dot".
function convert.names(text)
  local list = {}
  for word in text:gmatch "[^,]+" do list[#list + 1] = word end
  if #list > 0 then return list end
  return refuse("names with commas", text)
end

--- A finite number of seconds above 0: "0.5".
function convert.seconds(text)
  local s = tonumber(text)
  if s and s > 0 and s < math.huge then return s end
  return refuse("seconds above 0", text)
end

return convert
