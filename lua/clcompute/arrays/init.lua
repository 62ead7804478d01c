-- SPDX-License-Identifier: MIT
--- Arrays: what orders, chooses and moves the elements of buffers.

local choosing = require "clcompute.arrays.choosing"
local counting = require "clcompute.arrays.counting"
local moving = require "clcompute.arrays.moving"
local operations = require "clcompute.operations"
local sorting = require "clcompute.arrays.sort"

return operations.public {
  sort = sorting.sort, argsort = sorting.argsort, unique = require "clcompute.arrays.unique",
  compact = choosing.compact, count = counting.count, any = counting.any, all = counting.all, where = counting.where,
  histogram = require "clcompute.arrays.histogram", gather = moving.gather, scatter = moving.scatter,
  concat = moving.concat,
}
