-- SPDX-License-Identifier: MIT

--- Names that are nearly right, and which one is meant.

local spelling = {}

--- How many letters differ, are missing or are exchanged with their neighbours, of two short words.
-- @tparam string a
-- @tparam string b
-- @treturn integer
function spelling.distance(a, b)
  local before, row = nil, {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local below = { [0] = i }
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      below[j] = math.min(row[j - 1] + cost, row[j] + 1, below[j - 1] + 1)
      local exchanged = i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j)
      if exchanged then below[j] = math.min(below[j], before[j - 2] + 1) end
    end
    before, row = row, below
  end
  return row[#b]
end

--- The distance of two words where one may be meant by the other, nil where they are too far from each other.
-- @tparam string word as it was written
-- @tparam string name
-- @treturn ?integer
function spelling.near(word, name)
  local distance = spelling.distance(name, word)
  return distance <= math.max(1, #word // 3) and distance or nil
end

--- What a message says of a word that is no name: "; did you mean 'gemm'?", or nothing.
-- @param word
-- @tparam table members whose keys are the names
-- @treturn string
function spelling.suggestion(word, members)
  local best, least
  if type(word) ~= "string" or word == "" or #word > 40 then return "" end
  for name in next, members do
    local distance = type(name) == "string" and not name:find "^__" and spelling.near(word, name)
    if distance and (not least or distance < least or distance == least and name < best) then
      best, least = name, distance
    end
  end
  return best and ("; did you mean '%s'?"):format(best) or ""
end

return spelling
