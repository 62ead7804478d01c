-- SPDX-License-Identifier: MIT
--- Turns: calls that each wait for a device of their own, at once. A call passes its turn when it has queued what it
-- will wait for, so that all devices compute before the first one is waited for.

local turns = {}

local takers = setmetatable({}, { __mode = "k" }) -- the coroutines that take turns, and no other one's

--- Before a wait: the turn of the next call, where there are several.
function turns.pass()
  if takers[coroutine.running()] and coroutine.isyieldable() then coroutine.yield() end
end

--- Goes on with a call; on an error the others end.
local function go_on(threads, k, ...)
  local found = table.pack(coroutine.resume(threads[k], ...))
  if found[1] then return found[2] end
  for _, thread in ipairs(threads) do coroutine.close(thread) end
  error(found[2], 0)
end

--- Calls f(1), f(2) ... f(count) in turns.
-- @treturn table the first result of each
function turns.take(count, f)
  local threads, results = {}, {}
  for k = 1, count do
    threads[k] = coroutine.create(f)
    takers[threads[k]] = true
  end
  for k = 1, count do results[k] = go_on(threads, k, k) end
  local is_waiting
  repeat
    is_waiting = false
    for k = 1, count do
      if coroutine.status(threads[k]) == "suspended" then
        results[k], is_waiting = go_on(threads, k), true
      end
    end
  until not is_waiting
  return results
end

return turns
