-- SPDX-License-Identifier: MIT
--- Elements as what moves them takes them: unsigned integers of their size, for what is not computed with; and the
-- launches of what moves them.

local enqueue = require("clcompute.core.internal").enqueue
local operations = require "clcompute.operations"

local macros, operands = operations.macros, operations.operands

local elements = {}

local KERNEL = {} -- where it is at its place
local UNSIGNED = { [1] = "uchar", [2] = "ushort", [4] = "uint", [8] = "ulong" }

--- The unsigned dtype that has the size of another one.
function elements.unsigned(dtype)
  return UNSIGNED[operands.sizes[dtype]]
end

--- Whether elements have one byte, as those of comparisons.
function elements.is_narrow(dtype)
  return operands.sizes[dtype] == 1
end

--- A buffer on the same memory, of elements without a shape that are unsigned integers of the same size. Who makes one
-- closes it: else it holds the memory until it is collected.
function elements.of(buffer)
  local dtype, count = enqueue.facts(buffer)
  local flat <close> = buffer:reshape(count)
  return flat:as(UNSIGNED[operands.sizes[dtype]])
end

--- The dtype of numbers of up to n elements.
function elements.index_dtype(n)
  return n < 1 << 32 and "uint" or "ulong"
end

--- A new buffer of the shape of a described one, on the device that computes it: that may be another queue.
function elements.like(device, described, dtype)
  return device:empty(dtype, table.unpack(described.value.shape))
end

--- Raises unless a described buffer can be used with a device, of which it may be another queue's.
function elements.check_device(where, what, described, device)
  local complaint = enqueue.complaint(described.value, device)
  if complaint then error(("%s: %s: %s"):format(where, what, complaint), 0) end
end

--- The kernel of a file with macros, which the row of an operation keeps under the file's name and a key.
function elements.kernel(device, row, name, key, defines)
  local place = macros.place(row, {}, name, key)
  place[KERNEL] = place[KERNEL] or device:kernel(name, { defines = defines })
  return place[KERNEL]
end

--- Queues a kernel whose groups do chunks of n > 0 elements as those of reductions do; the rest is its arguments.
function elements.launch(device, n, name, key, defines, ...)
  local row, items, _, chunk = enqueue.spread(device, "reduce", n)
  defines.GROUP = row.group
  enqueue.launch(elements.kernel(device, row, name, key, defines), items, row.group, n, chunk, ...)
end

--- Queues out[i] = x[indices[i] - 1], for indices that are known to be right.
function elements.gather(x, indices, out)
  local dtype, n, _, device = enqueue.facts(out)
  if n == 0 then return end
  local key, index = elements.unsigned(dtype), (enqueue.facts(indices))
  local from <close> = elements.of(x)
  local to <close> = elements.of(out)
  elements.launch(device, n, "gather", key .. " " .. index, { KEY = key, INDEX = index }, from, indices, to)
end

return elements
