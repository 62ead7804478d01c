-- SPDX-License-Identifier: MIT

--- Reasons of refusals that are results, nil and the reason, and no errors: `f = loops.compile(...)` drops the reason
-- without a word. Who watches learns of those that nobody took.

local reasons = {}

local watched -- list of { text =, held = { reason } }, which does not keep the reason; nil where nobody watches

--- From now on refusals count.
function reasons.watch()
  watched = {}
end

--- A function returns nil and this.
-- @string where the function
-- @tparam table reason
function reasons.note(where, reason)
  if not watched then return end
  local text = ("%s: %s"):format(where, tostring(reason))
  watched[#watched + 1] = { text = text, held = setmetatable({ reason }, { __mode = "v" }) }
end

--- The text of a reason was asked for.
-- @tparam table reason
function reasons.tell(reason)
  for i, one in ipairs(watched or {}) do
    if one.held[1] == reason then return table.remove(watched, i) end
  end
end

--- The texts of the reasons since `watch` that nobody holds and whose text nobody asked for.
-- @treturn table a list
function reasons.lost()
  local texts = {}
  if #watched > 0 then collectgarbage() end
  for _, one in ipairs(watched) do
    if not one.held[1] then texts[#texts + 1] = one.text end
  end
  return texts
end

return reasons
