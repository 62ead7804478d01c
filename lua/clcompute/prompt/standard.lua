-- SPDX-License-Identifier: MIT

--- Lua's own functions, which the prompt calls too: a chunk may replace them, by `table = { 1, 2 }` for one. They are
-- put back where something fails then, or the next line would end the session.

local type, next, rawget, rawset = type, next, rawget, rawset

local standard = {}

local FUNCTIONS = "assert collectgarbage error getmetatable ipairs load next pairs pcall rawequal rawget rawlen rawset "
  .. "require select setmetatable tonumber tostring type xpcall"
local LIBRARIES = "coroutine debug io math os package string table utf8"

--- What there is now: a list of { table, key, value, name }.
-- @treturn table
function standard.keep()
  local kept = {}
  for name in (FUNCTIONS .. " " .. LIBRARIES):gmatch "%w+" do kept[#kept + 1] = { _G, name, _G[name], name } end
  for library in LIBRARIES:gmatch "%w+" do
    for key, value in next, _G[library] do
      if type(value) == "function" then kept[#kept + 1] = { _G[library], key, value, library .. "." .. key } end
    end
  end
  return kept
end

--- Puts back what was kept; calls nothing that may have been replaced.
-- @tparam table kept
-- @treturn ?string the names of what had been replaced, nil where nothing had
function standard.restore(kept)
  local names
  for i = 1, #kept do
    local one = kept[i]
    if rawget(one[1], one[2]) ~= one[3] then
      rawset(one[1], one[2], one[3])
      names = names and names .. ", " .. one[4] or one[4]
    end
  end
  return names
end

return standard
