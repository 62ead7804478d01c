-- SPDX-License-Identifier: MIT

--- Places in an index space as text, and the fields of the rows of clcompute.trace_range in the order of reading.

local places = {}

--- A field's value as a text: lists such as ids as "4, 2", and "yes" or "no".
-- @param value
-- @treturn string
function places.text(value)
  if value == true then return "yes" end
  if value == false then return "no" end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for i, item in ipairs(value) do parts[i] = tostring(item) end
  return table.concat(parts, ", ")
end

--- A size: "16 x 8".
-- @tparam table size list of integers
-- @treturn string
function places.size(size)
  return table.concat(size, " x ")
end

--- Fields and their titles; a row has those of a work-item or those of a work-group. What follows from the others is a
-- detail, which a report leaves out unless asked.
places.FIELDS = {
  { "part", "part" },
  { "first_id", "first id" },
  { "global_id", "global id" },
  { "local_id", "local id" },
  { "group_id", "group id" },
  { "num_groups", "groups" },
  { "local_size", "local size" },
  { "enqueued_local_size", "enqueued", is_detail = true },
  { "global_size", "global size" },
  { "global_offset", "offset" },
  { "global_linear_id", "global linear", is_detail = true },
  { "local_linear_id", "local linear", is_detail = true },
  { "items", "items" },
  { "active_items", "active items" },
  { "active", "active" },
}

return places
