-- SPDX-License-Identifier: MIT
--- What the checks of cl.gauss cost above cl.lu and its solve.
-- @module clcompute.suite.peers.gauss

local cl = require "clcompute"
local lu = require "clcompute.suite.peers.lu"

--- Solves with all checks; what they found is not needed here.
local function solve(a, b)
  return (cl.gauss(a, b))
end

--- As `clcompute.peers.lu`, with `cl.gauss`.
return function(line, dtype, device)
  return lu(line, dtype, device, solve)
end
