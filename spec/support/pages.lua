-- SPDX-License-Identifier: MIT
--- The Lua of a page, and whether it runs and prints what the page says.
--
-- The Lua blocks of a page are one script: each may use what the blocks above it made. Behind `-->` stands what the
-- line prints, where "..." is any text.

local helper = require "spec.helper"

local pages = {}

--- The files that a shell's pattern names.
function pages.files(pattern)
  local list, pipe = {}, assert(io.popen("ls -d " .. pattern))
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

function pages.read(path)
  local file <close> = assert(io.open(path))
  return (file:read "a")
end

--- Lua blocks in place of a page, each line where it was, so that errors name the page's own; `first` and `last` stand
-- in the place of the fences.
function pages.script(text, first, last)
  local lines, fence = {}, nil
  for line in (text .. "\n"):gmatch "([^\n]*)\n" do
    local word = line:match "^```(.*)"
    if word then
      local opens = not fence
      lines[#lines + 1] = (word == "lua" and first) or (fence == "lua" and last) or ""
      fence = opens and word or nil
    else
      lines[#lines + 1] = fence == "lua" and line or ""
    end
  end
  return table.concat(lines, "\n")
end

--- What the lines of a script are to print, in order.
local function promised(script)
  local list = {}
  for text in script:gmatch "%-%->%s*([^\n]*)" do list[#list + 1] = text end
  return list
end

--- Raises unless the output has what was promised, in order.
function pages.check_output(script, output)
  local from = 1
  for _, text in ipairs(promised(script)) do
    local pattern = text:gsub("%p", "%%%0"):gsub(" *%%%.%%%.%%%. *", ".-"):gsub("%s+", "%%s+")
    local at, stop = output:find(pattern, from)
    if not at then error(("'%s' is not printed in its turn:\n%s"):format(text, output), 0) end
    from = stop + 1
  end
end

--- Whether the devices are here that a script names by what they are.
function pages.has_devices(script)
  return helper.device().type == "cpu" or not script:find '[( ]"cpu"'
end

--- Runs a script in a process of its own, at a device's speed and with a pool of memory; returns what it printed.
-- `command`: what reads it.
function pages.run(script, name, command)
  local path = os.tmpname()
  local file = assert(io.open(path, "w"))
  file:write(script):close()
  local place = helper.device().place
  local pipe = assert(io.popen(("CLCOMPUTE_POOL=on CLCOMPUTE_DEVICE=%s %s %s 2>&1")
    :format(place, command or helper.lua, path)))
  local output = pipe:read "a":gsub(path:gsub("%p", "%%%0"), name)
  local ok = pipe:close()
  os.remove(path)
  if not ok then error(output, 0) end
  return output
end

return pages
