-- SPDX-License-Identifier: MIT
--- What experiments of a device profile say of curves, for specs.

local assert = require "luassert"

local readings = {}

--- The sentences of a reading as one text.
function readings.text(reading)
  for _, sentence in ipairs(reading) do assert.is_string(sentence) end
  local text = table.concat(reading, " ")
  assert.is_nil(text:find("nan", 1, true), text)
  return text
end

--- Asserts that a reading holds each text.
function readings.says(reading, ...)
  local text = readings.text(reading)
  for _, part in ipairs { ... } do
    assert.truthy(text:find(part, 1, true), ("'%s' is not in: %s"):format(part, text))
  end
end

return readings
