-- SPDX-License-Identifier: MIT

--- The chunks that were typed, kept from one session to the next: each a line of a file, in which a control character
-- that nobody types parts the lines of a chunk.

local files = require "clcompute.files"

local history = {}

local MOST = 1000 -- chunks that are kept
local LINE_END = "\31" -- within a chunk

--- Where they are kept: $XDG_STATE_HOME/clcompute/history or ~/.local/state/clcompute/history.
-- @treturn ?string nil where there is no such folder
local function path()
  local state, home = os.getenv "XDG_STATE_HOME", os.getenv "HOME"
  if state and state:find "^/" then return state .. "/clcompute/history" end
  return home and home:find "^/" and home .. "/.local/state/clcompute/history" or nil
end

local function read(name)
  local opened, file = pcall(files.open, name)
  if not opened then return {} end
  local lines = {}
  for line in file:lines() do lines[#lines + 1] = line end
  file:close()
  return lines
end

--- The chunks that were kept, the oldest first. Of many the oldest are forgotten.
-- @treturn table a list
function history.read()
  local name = path()
  local lines = name and read(name) or {}
  if #lines > 2 * MOST then
    lines = table.move(lines, #lines - MOST + 1, #lines, 1, {})
    pcall(files.replace, name, function(file) return file:write(table.concat(lines, "\n"), "\n") end)
  end
  for i, line in ipairs(lines) do lines[i] = line:gsub(LINE_END, "\n") end
  return lines
end

--- Keeps a chunk at once, so that it outlasts whatever ends the session. Where that cannot be done, nothing is said.
-- @tparam string chunk
function history.add(chunk)
  local name = path()
  if not name then return end
  files.make_folders(name)
  files.append(name, chunk:gsub("\n", LINE_END) .. "\n")
end

return history
