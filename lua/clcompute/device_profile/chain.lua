-- SPDX-License-Identifier: MIT

--- Chains of steps that wait for each other: of arithmetic, of loads by groups side by side, of loads by one work-item.

local cl = require "clcompute"
local format = require("clcompute.base").format

local chain = {}

local MASK = 0xffffffff

-- --- arithmetic --------------------------------------------------------------------
--
-- x = a x + b modulo 2^32: no compiler finds what comes out. Here it is found in as many squarings as n has bits, which
-- is what the results are checked against.

-- The factor and the summand of kernels/probe_uneven.cl and kernels/probe_barrier.cl.
chain.FACTOR, chain.SUMMAND = 1664525, 1

--- The factor and the summand of n steps at once.
-- @tparam integer a
-- @tparam integer b
-- @tparam integer n
-- @treturn integer factor
-- @treturn integer summand
function chain.power(a, b, n)
  local factor, summand = 1, 0
  while n > 0 do
    if n & 1 == 1 then factor, summand = factor * a & MASK, (summand * a + b) & MASK end
    a, b, n = a * a & MASK, (a * b + b) & MASK, n >> 1
  end
  return factor, summand
end

--- What n steps make of x.
-- @tparam integer a
-- @tparam integer b
-- @tparam integer n
-- @treturn function of x
function chain.after(a, b, n)
  local factor, summand = chain.power(a, b, n)
  return function(x) return factor * x + summand & MASK end
end

--- Whether a buffer of uint holds the results of chains.
-- @tparam Buffer buffer
-- @tparam integer count of elements that are looked at
-- @tparam function expected expected(i), i from 0, of element i + 1
-- @treturn boolean
-- @treturn ?string which is wrong
function chain.check(buffer, count, expected)
  for i, value in ipairs(buffer:read(1, count)) do
    local right = expected(i - 1)
    if value ~= right then return false, ("element %d is %d, not %d"):format(i, value, right) end
  end
  return true
end

-- --- loads of groups -----------------------------------------------------------------
--
-- Each load finds the place of the next in a table (kernels/probe_table.cl). Groups walk side by side and hide each
-- other's wait; an experiment chooses their number, registers and local memory (kernels/probe_chase.cl).

local FACTOR, SUMMAND = 1664525, 1013904223 -- of kernels/probe_table.cl
local GROUP = 64

local Groups = {}
Groups.__index = Groups

-- Of the number of elements: 64 MiB exceed most caches of a core, 256 MiB those of a GPU.
local CPU_BITS, GPU_BITS, QUICK_BITS = 24, 26, 10
local STRIDE = 7919 -- elements, odd, between the starts of neighbouring groups
local ADVANCE = 0x9e3779b1 -- elements between the starts of launches: odd, and far

--- Work-items of a group. A processor runs them one after the other, and all but the first would find the table in the
-- cache: there a group has one.
local function group_of(device)
  return device.type == "cpu" and 1 or math.min(GROUP, device.max_group_size)
end

--- Groups that walk side by side.
-- @tparam table lab
-- @tparam integer groups the most that a launch will have
-- @treturn table
function chain.groups(lab, groups)
  local device = lab.device
  local bits = lab:choose(device.type == "cpu" and CPU_BITS or GPU_BITS, QUICK_BITS)
  while 4 << bits > math.min(device.max_allocation, device.global_memory // 16) do bits = bits - 1 end
  local self = setmetatable({ lab = lab, group = group_of(device), first = 0 }, Groups)
  self.mask = (1 << bits) - 1
  self.next = device:empty("uint", 1 << bits)
  self.out = device:empty("uint", groups * self.group)
  lab:kernel "probe_table"({ global = { 1 << bits }, group = { math.min(GROUP, device.max_group_size) } }, self.mask,
    1, self.next)
  return self
end

--- How its launches walk, in words.
-- @treturn string
function Groups:how()
  return ("Each group of %d walks through a table of %s, all its work-items the same way: x = next[x], so that each "
    .. "load waits for the one before."):format(self.group, format.size(4 * (self.mask + 1)))
end

function Groups:__close()
  self.next:release()
  self.out:release()
end

--- What a work-item computes, step for step.
local function walk(self, item, loops, registers)
  local x, r = self.first + item // self.group * STRIDE & self.mask, {}
  for j = 0, registers - 1 do r[j] = j end
  for _ = 1, loops do
    for j = 0, registers - 1 do
      x = (FACTOR * x + SUMMAND) & self.mask
      r[j] = r[j] + x & MASK
    end
  end
  local sum = 0
  for j = 0, registers - 1 do sum = sum * 3 + r[j] & MASK end
  return sum * 3 + x & MASK
end

--- The first and the last item of a launch; those between walk no other way than these two kinds.
local function check(self, items, loops, registers)
  for _, item in ipairs { 0, items - 1 } do
    local found, right = self.out:get(item + 1), walk(self, item, loops, registers)
    if found ~= right then return false, ("element %d is %d, not %d"):format(item + 1, found, right) end
  end
  return true
end

--- A function launch(loops), which walks that many times `registers` steps.
-- @tparam table how `groups`; `registers` (8) that an item keeps; `scratch`, elements of local memory of a group (as
--  many as it has items)
function Groups:launcher(how)
  local range = { global = { how.groups * self.group }, group = { self.group } }
  local scratch = cl.scratch("uint", how.scratch or self.group)
  return function(loops)
    local kernel = self.lab:kernel("probe_chase", { REGISTERS = how.registers or 8 })
    self.first = self.first + ADVANCE & self.mask
    return kernel(range, loops, self.first, self.group, STRIDE, self.mask, self.next, self.out, scratch)
  end
end

--- A launch as the lab's `times` takes it; its operations are the steps of its groups.
-- @tparam table how as above, with `name`, `params` and `loops`
function Groups:point(how)
  local registers, launch = how.registers or 8, self:launcher(how)
  return {
    name = how.name, params = how.params, operations = how.groups * how.loops * registers,
    launch = function() return launch(how.loops) end,
    check = function() return check(self, how.groups * self.group, how.loops, registers) end,
  }
end

-- --- loads of one work-item --------------------------------------------------------------------
--
-- It follows a chain of links through a piece of memory (kernels/probe_links.cl): the latency of a read.

local WORD = 4 -- bytes
local LEAST_LINE = 64
local LEAST, MOST = 1 << 10, 1 << 18 -- steps

local Links = {}
Links.__index = Links

--- The line of the cache in words: a power of two; what the driver tells, where it tells.
local function line_words(device)
  local words = LEAST_LINE // WORD
  while 2 * words * WORD <= device.cache_line do words = 2 * words end
  return words
end

--- One work-item that follows chains of links through the start of a buffer.
-- @tparam table lab
-- @tparam Buffer buffer of uint, that is written over
-- @treturn table
function chain.links(lab, buffer)
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

local function follow(self, n)
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
  self.n = self.lab:size(self.lab:choose(LEAST, 16), MOST, function(n) follow(self, n) end)
end

--- Measures a walk through a piece; each goes on where the last one ended.
-- @tparam integer bytes a power of two
-- @treturn table the row: `each` is the latency
function Links:row(bytes)
  lay(self, bytes)
  local n = self.n
  return self.lab:time {
    name = "latency", params = { bytes = bytes }, operations = n,
    launch = function() return follow(self, n) end,
    check = function()
      local _, place = chain.power(FACTOR, SUMMAND, n)
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

return chain
