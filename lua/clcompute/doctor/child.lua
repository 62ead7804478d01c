-- SPDX-License-Identifier: MIT
--- A child process that examines what may end it: a broken driver does not end the doctor. The child prints records;
-- the parent reads them, and how the child ended.

local process = require("clcompute.base").process

local child = {}

local MARK = "clcompute\t" -- begins the lines that are records; drivers print others

local SIGNALS = { [4] = "illegal instruction", [6] = "abort", [7] = "bus error", [8] = "arithmetic exception",
  [9] = "killed", [11] = "segmentation fault" }

local ESCAPES = { ["\\"] = "\\\\", ["\t"] = "\\t", ["\n"] = "\\n" }
local UNESCAPES = { ["\\\\"] = "\\", ["\\t"] = "\t", ["\\n"] = "\n" }

--- In the child: hands a record, texts, to the parent.
function child.put(...)
  local words = {}
  for i = 1, select("#", ...) do words[i] = tostring((select(i, ...))):gsub("[\\\t\n]", ESCAPES) end
  io.stdout:write("\n", MARK, table.concat(words, "\t"), "\n")
  io.stdout:flush()
end

-- What a child runs: the program, in which `probe` is the doctor's, `...` the arguments.
local CHILD = [[package.path = %q package.cpath = %q
local probe, child = require "clcompute.doctor.probe", require "clcompute.doctor.child"
local function run(...) %s end
run(%s)
child.put "end"]]

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

--- Runs a program in a child with this process's paths; its arguments are texts.
-- @tparam number limit seconds
-- @tparam string program Lua code that calls functions of `clcompute.doctor.probe` as those of `probe`
-- @treturn table the records it put
-- @treturn string|nil how it ended, unless it came to its end, with the last line that is no record
function child.call(limit, program, ...)
  local lua = process.interpreter()
  if not lua then return {}, "no Lua interpreter in PATH to run the check in a process of its own" end
  local arguments = {}
  for i, argument in ipairs { ... } do arguments[i] = ("%q"):format(argument) end
  local code = CHILD:format(package.path, package.cpath, program, table.concat(arguments, ", "))
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
function child.last_begun(records)
  for i = #records, 1, -1 do
    if records[i][1] == "begin" then return records[i][2] end
  end
end

return child
