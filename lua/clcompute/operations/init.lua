-- SPDX-License-Identifier: MIT
--- Operations written in Lua, as scripts call them.
-- @module clcompute.operations

local operations = { map = require "clcompute.operations.map", scan = require "clcompute.operations.scan" }
for name, f in pairs(require "clcompute.operations.reductions") do operations[name] = f end

return operations
