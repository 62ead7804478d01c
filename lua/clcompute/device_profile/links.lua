-- SPDX-License-Identifier: MIT

--- A chain of links through a piece of memory, followed by one work-item: the latency of a read.
-- @module clcompute.device_profile.links

local chain = require "clcompute.device_profile.chain"

local WORD = 4 -- bytes
local A, B = 1664525, 1013904223 -- of kernels/probe_table.cl
local LEAST_LINE = 64
local LEAST, MOST = 1 << 10, 1 << 18 -- steps
local GROUP = 64

local Links = {}
Links.__index = Links

--- The line of the cache in words: a power of two; what the driver tells, where it tells.
local function line_words(device)
  local words = LEAST_LINE // WORD
  while 2 * words * WORD <= device.cache_line do words = 2 * words end
  return words
end

--- Chains through the start of a buffer.
-- @tparam table lab
-- @tparam Buffer buffer of uint, that is written over
-- @treturn table
function Links.new(lab, buffer)
  local line = line_words(lab.device)
  return setmetatable({
    lab = lab, line = line, chain = buffer, at = lab.device:zeros("uint", 1), n = LEAST,
    link = lab:kernel "probe_table", follow = lab:kernel "probe_links",
  }, Links)
end

function Links:__close()
  self.at:release()
end

--- Bytes of the smallest piece that is worth a chain: a line for each work-item of a small group.
function Links:least()
  return GROUP * self.line * WORD
end

--- Lays the chain; the next walk begins at its start.
local function lay(self, bytes)
  self.places = bytes // (WORD * self.line)
  self.link({ global = { self.places }, group = { GROUP } }, self.places - 1, self.line, self.chain)
  self.at:fill(0)
end

local function walk(self, n)
  return self.follow({ global = { 1 }, group = { 1 } }, n, self.chain, self.at)
end

--- How it walks, in words.
-- @treturn string
function Links:how()
  return ("One work-item follows a chain of links through the piece, %d or fewer in a launch: each address is what the "
    .. "read before it returned, and places lie %d bytes apart."):format(self.n, self.line * WORD)
end

--- Makes walks long enough to be timed, through the smallest piece.
function Links:fit_size(bytes)
  lay(self, bytes)
  self.n = self.lab:size(self.lab:choose(LEAST, 16), MOST, function(n) walk(self, n) end)
end

--- Measures a walk through a piece; each goes on where the last one ended.
-- @tparam integer bytes a power of two
-- @treturn table the row: `each` is the latency
function Links:row(bytes)
  lay(self, bytes)
  local n = self.n
  return self.lab:time {
    name = "latency", params = { bytes = bytes }, operations = n,
    launch = function() return walk(self, n) end,
    check = function()
      local _, place = chain.power(A, B, n)
      local right = (place & self.places - 1) * self.line
      local found = self.at:get(1)
      return found == right, ("the walk ended at %d, not at %d"):format(found, right)
    end,
  }
end

--- Halves the steps of walks that last longer than they need.
-- @tparam number seconds of the last one
-- @tparam number enough
function Links:shorten(seconds, enough)
  while seconds > 2 * enough and self.n > LEAST do self.n, seconds = self.n // 2, seconds / 2 end
end

return Links
