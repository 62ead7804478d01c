-- SPDX-License-Identifier: MIT

--- Straight lines through points, and which of several laws a curve follows.
-- @module clcompute.device_profile.fit

local fit = {}

local function mean(list)
  local sum = 0
  for _, value in ipairs(list) do sum = sum + value end
  return sum / #list
end

--- The line y = a + b x of least squares.
-- @tparam table xs
-- @tparam table ys as many
-- @treturn table `a`, `b`, and `unexplained`, the share of the variation of y that it leaves: 1 where there is nothing
--  to be explained, or nothing to explain it by
function fit.line(xs, ys)
  local middle_x, middle_y = mean(xs), mean(ys)
  local xx, xy, yy = 0, 0, 0
  for i, x in ipairs(xs) do
    local dx, dy = x - middle_x, ys[i] - middle_y
    xx, xy, yy = xx + dx * dx, xy + dx * dy, yy + dy * dy
  end
  if not (xx > 0 and yy > 0) then return { a = middle_y, b = 0, unexplained = 1 } end
  local b = xy / xx
  return { a = middle_y - b * middle_x, b = b, unexplained = math.max(0, 1 - b * xy / yy) }
end

--- The law that explains most of a curve: of the candidates c the one whose line y = a + b law(x, c) fits best.
-- @tparam table points a list of { x=, y= }
-- @tparam table candidates
-- @tparam function law law(x, candidate)
-- @treturn ?table that of `line`, with `candidate`; nil of fewer than three points
-- @treturn ?number what the next best leaves unexplained; 1 where there is no other
function fit.best(points, candidates, law)
  if #points < 3 then return nil end
  local best, next_best
  for _, candidate in ipairs(candidates) do
    local xs, ys = {}, {}
    for i, point in ipairs(points) do xs[i], ys[i] = law(point.x, candidate), point.y end
    local line = fit.line(xs, ys)
    line.candidate = candidate
    if not best or line.unexplained < best.unexplained then
      best, next_best = line, best
    elseif not next_best or line.unexplained < next_best.unexplained then
      next_best = line
    end
  end
  return best, next_best and next_best.unexplained or 1
end

return fit
