-- SPDX-License-Identifier: MIT
--- Lua code in a process of its own, and shell commands: what a broken driver ends is not this process.
-- @module clcompute.base.process

local process = {}

local MARK = "clcompute\t" -- begins the lines that are records; drivers print others

local SIGNALS = { [4] = "illegal instruction", [6] = "abort", [7] = "bus error", [8] = "arithmetic exception",
  [9] = "killed", [11] = "segmentation fault" }

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

local ESCAPES = { ["\\"] = "\\\\", ["\t"] = "\\t", ["\n"] = "\\n" }
local UNESCAPES = { ["\\\\"] = "\\", ["\\t"] = "\t", ["\\n"] = "\n" }

--- In the child: hands a record, texts, to the parent.
function process.put(...)
  local words = {}
  for i = 1, select("#", ...) do words[i] = tostring((select(i, ...))):gsub("[\\\t\n]", ESCAPES) end
  io.stdout:write("\n", MARK, table.concat(words, "\t"), "\n")
  io.stdout:flush()
end

local CHILD = [[package.path = %q package.cpath = %q
require(%q)[%q](%s)
require "clcompute.base.process".put "end"]]

local function parse(line)
  local record = {}
  for word in (line:sub(#MARK + 1) .. "\t"):gmatch "(.-)\t" do
    record[#record + 1] = word:gsub("\\[\\tn]", UNESCAPES)
  end
  return record
end

--- In words; `seconds` tell a kill by `timeout` from one by others.
local function how_it_ended(kind, code, seconds, limit)
  if kind == "signal" then code = 128 + code end
  if code == 124 or (code == 137 and seconds >= limit) then return ("did not end within %g s"):format(limit) end
  if code > 128 then return ("the process died: %s"):format(SIGNALS[code - 128] or "signal " .. code - 128) end
  return ("the process ended with exit code %d"):format(code)
end

--- Runs `require(module)[f](...)`, whose arguments are texts, in a child with this process's paths.
-- @treturn table the records it put
-- @treturn string|nil how it ended, unless it came to its end, with the last line that is no record
function process.call(limit, module, f, ...)
  local lua = process.interpreter()
  if not lua then return {}, "no Lua interpreter in PATH to run the check in a process of its own" end
  local arguments = {}
  for i, argument in ipairs { ... } do arguments[i] = ("%q"):format(argument) end
  local code = CHILD:format(package.path, package.cpath, module, f, table.concat(arguments, ", "))
  local timeout = process.find("timeout", true)
  local guard = timeout and ("%s -k 2 %.3f "):format(process.quote(timeout), limit) or ""
  local pipe = io.popen(("%s%s -e %s 2>&1 </dev/null"):format(guard, process.quote(lua), process.quote(code)))
  local records, last, start = {}, nil, os.time()
  for line in pipe:lines() do
    if line:sub(1, #MARK) == MARK then
      records[#records + 1] = parse(line)
    elseif line:find "%S" then
      last = line
    end
  end
  local _, kind, code_or_signal = pipe:close()
  local final = records[#records]
  if final and final[1] == "end" then
    records[#records] = nil
    return records
  end
  local ended = how_it_ended(kind, code_or_signal, os.time() - start, limit)
  return records, last and ("%s (%s)"):format(ended, last) or ended
end

--- The last step that a child began, of its records { "begin", step }.
function process.last_begun(records)
  for i = #records, 1, -1 do
    if records[i][1] == "begin" then return records[i][2] end
  end
end

return process
