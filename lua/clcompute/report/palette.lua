-- SPDX-License-Identifier: MIT
--- Colours of values: a perceptually even ramp from dark blue to yellow (viridis, CC0), and legible ink on it.
-- @module clcompute.report.palette

local palette = {}

--- The ramp, evenly spaced.
palette.STOPS = { "#440154", "#472d7b", "#3b528b", "#2c728e", "#21918c", "#28ae80", "#5ec962", "#addc30", "#fde725" }

local DARK, LIGHT = "#000000", "#ffffff"

local function channels(colour)
  local list = {}
  for pair in colour:gmatch "%x%x" do list[#list + 1] = tonumber(pair, 16) end
  return list
end

--- Relative luminance after WCAG 2.
local function luminance(colour)
  local sum = 0
  for i, value in ipairs(channels(colour)) do
    local share = value / 255
    local linear = share <= 0.04045 and share / 12.92 or ((share + 0.055) / 1.055) ^ 2.4
    sum = sum + linear * ({ 0.2126, 0.7152, 0.0722 })[i]
  end
  return sum
end

--- The contrast of two colours after WCAG 2, from 1 to 21.
function palette.contrast(a, b)
  local light, dark = luminance(a), luminance(b)
  if light < dark then light, dark = dark, light end
  return (light + 0.05) / (dark + 0.05)
end

--- The colour at a share from 0 to 1 of the ramp, and the ink that is legible on it.
function palette.colour(share)
  local at = math.max(0, math.min(1, share)) * (#palette.STOPS - 1)
  local index = math.min(math.floor(at), #palette.STOPS - 2)
  local from, to = channels(palette.STOPS[index + 1]), channels(palette.STOPS[index + 2])
  local mixed = {}
  for i = 1, 3 do mixed[i] = math.floor(from[i] + (to[i] - from[i]) * (at - index) + 0.5) end
  local colour = ("#%02x%02x%02x"):format(table.unpack(mixed))
  local ink = palette.contrast(colour, LIGHT) >= palette.contrast(colour, DARK) and LIGHT or DARK
  return colour, ink
end

return palette
