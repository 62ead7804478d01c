-- SPDX-License-Identifier: MIT
--- Shell commands, for what looks at the machine: the doctor, the command line, the suite. Of the library itself
-- clcompute.tuning.behind alone starts a process, in C.

local process = {}

--- A text as one word of a shell command.
function process.quote(text)
  return "'" .. text:gsub("'", "'\\''") .. "'"
end

-- The folders of the system's own tools come last: a broken PATH is what the doctor may have to report.
local WITH_TOOLS = 'PATH="$PATH:/usr/bin:/bin"; '

--- What a shell command prints on standard output, without the last newline; nil when there is no shell.
function process.output(command)
  local ok, pipe = pcall(io.popen, command)
  if not ok or not pipe then return nil end
  local text = pipe:read("a")
  pipe:close()
  return (text:gsub("%s+$", ""))
end

--- The same with the tools of the system, whatever PATH is.
function process.tool(command)
  return process.output(WITH_TOOLS .. command)
end

-- A process that Ctrl-C ended may still be writing there: then not all goes at once.
local REMOVE = "for i in 1 2 3 4 5 6 7 8 9 10; do rm -rf %s 2>/dev/null && break; sleep 0.1; done"

local FOLDER = { __close = function(self) process.tool(REMOVE:format(process.quote(self.path))) end }

--- A number that nobody else has: time and addresses may be the same in another process, or soon after.
local function any_number()
  local random <close> = assert(io.open("/dev/urandom", "rb"))
  return (string.unpack("<i8", random:read(8)))
end

--- A new folder, `path`, which goes away when it is closed, also by Ctrl-C: its name is known before it is there.
-- @raise where it cannot be made
function process.new_folder()
  local parent = os.getenv "TMPDIR" or ""
  if parent == "" then parent = "/tmp" end
  local path = ("%s/clcompute-%x"):format(parent, any_number())
  local unfinished <close> = setmetatable({}, { __close = function(_, fault) -- luacheck: no unused
    if fault then process.tool("rmdir 2>/dev/null " .. process.quote(path)) end
  end })
  if process.tool("mkdir -m 700 2>/dev/null " .. process.quote(path) .. " && echo made") ~= "made" then
    error(("mkdir: cannot make a folder in '%s'"):format(parent), 0)
  end
  return setmetatable({ path = path }, FOLDER)
end

--- The path of a program, or nil; `anywhere`: also where PATH does not lead.
function process.find(program, anywhere)
  local path = process.output((anywhere and WITH_TOOLS or "") .. "command -v " .. process.quote(program))
  return path ~= "" and path or nil
end

--- The path of this interpreter; a host that is none gets the one of the system, or nil.
function process.interpreter()
  local own = process.tool "readlink /proc/$PPID/exe" or ""
  if own:match "/lua[^/]*$" then return own end -- also one that was built with sanitizers
  return process.find("lua5.4", true) or process.find("lua", true)
end

return process
