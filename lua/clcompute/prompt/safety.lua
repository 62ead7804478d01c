-- SPDX-License-Identifier: MIT

--- Devices that no kernel takes the process away from: the CPUs that `cl.device` returns are isolated, and buffers are
-- made in check mode, unless its options say otherwise.

local safety = {}

--- Puts its own function in the place of `library.device`.
-- @tparam table library
function safety.guard(library)
  local device, seen = library.device, setmetatable({}, { __mode = "k" })
  function library.device(selector, given, ...)
    local told = type(given) == "table" and given or {}
    local ok, found = pcall(device, selector, given, ...)
    if ok and found.type == "cpu" and told.isolated == nil then
      local options = { isolated = true }
      for key, value in pairs(told) do options[key] = value end
      ok, found = pcall(device, found.place, options)
    end
    if not ok then error(found, 2) end
    if not seen[found] then -- what `d:check(false)` said since stays
      seen[found] = true
      if told.check == nil then found:check(true) end
    end
    return found
  end
end

return safety
