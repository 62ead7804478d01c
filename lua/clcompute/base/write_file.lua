-- SPDX-License-Identifier: MIT

--- A text into a file, with the errors that show only when it is closed.
-- @module clcompute.base.write_file

--- Writes a file over what it held.
-- @tparam string path
-- @tparam string text any bytes
-- @raise when it cannot be written, with the path
return function(path, text)
  local file, message = io.open(path, "wb")
  if not file then error(message, 0) end
  local written, why = file:write(text)
  local closed, reason = file:close()
  if not (written and closed) then error(("%s: %s"):format(path, why or reason), 0) end
end
