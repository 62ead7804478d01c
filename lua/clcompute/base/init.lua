-- SPDX-License-Identifier: MIT

--- What all packages stand on; none of it needs the C core.

local base = {
  arity = require "clcompute.base.arity",
  columns = require "clcompute.base.columns",
  format = require "clcompute.base.format",
  interrupt = require "clcompute.base.interrupt",
  options = require "clcompute.base.options",
  places = require "clcompute.base.places",
  process = require "clcompute.base.process",
  raising = require "clcompute.base.raising",
  reasons = require "clcompute.base.reasons",
  spelling = require "clcompute.base.spelling",
  statistics = require "clcompute.base.statistics",
  version = "clcompute 1.0.0", -- the only place: the Makefile reads it, a spec compares the rockspec
  width = require("clcompute.base.columns").width,
}

--- What calls a function when it is closed, however the block ends: also where a debug hook raises.
-- @tparam function f
-- @treturn table to be closed
function base.at_close(f) return setmetatable({}, { __close = f }) end

--- Writes a text over what a file held. Some errors show only when it is closed.
-- @tparam string path
-- @tparam string text any bytes
-- @raise when it cannot be written, with the path
function base.write_file(path, text)
  local file, message = io.open(path, "wb")
  if not file then error(message, 0) end
  local written, why = file:write(text)
  local closed, reason = file:close()
  if not (written and closed) then error(("%s: %s"):format(path, why or reason), 0) end
end

return base
