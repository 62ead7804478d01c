-- SPDX-License-Identifier: MIT
--- A program that computes beside us, in a process of its own, as NumPy does in Python. It answers each line on its
-- standard input by one on its standard output: "run" by the seconds of a computation; "save" by anything, when the
-- result stands in the file that its last argument names. Its first line says that it is there.

local process = require("clcompute.base").process
local write_file = require("clcompute.base").write_file

local Outsider = {}
Outsider.__index = Outsider

local function ask(self, word)
  self.input:write(word, "\n")
  self.input:flush()
  return self.output:read "l" or error(("%s ended"):format(self.name), 0)
end

--- Seconds of a computation, as the program measures them.
function Outsider:run() return tonumber(ask(self, "run")) end

--- What it computed, in bytes.
function Outsider:result()
  ask(self, "save")
  local file = assert(io.open(self.path, "rb"))
  local bytes = file:read "a"
  file:close()
  return bytes
end

--- Ends the process, and removes its files.
function Outsider:close()
  if self.input then self.input:close() end
  if self.output then self.output:close() end
  for _, path in ipairs(self.files) do os.remove(path) end
  self.input, self.output, self.files = nil, nil, {}
end

Outsider.__gc, Outsider.__close = Outsider.close, Outsider.close

local outsider = {}

--- Starts a program.
-- @string name in messages
-- @string command of the shell, with its arguments
-- @tparam table inputs packed operands; each is a file, whose path is an argument more
-- @treturn ?table with the methods `run`, `result` and `close`
-- @treturn ?string why there is none
function outsider.start(name, command, inputs)
  local base = os.tmpname()
  local self = setmetatable({ name = name, path = base, files = { base } }, Outsider)
  local words = { command }
  for k, bytes in ipairs(inputs) do
    self.files[k + 1] = ("%s.%d"):format(base, k)
    write_file(self.files[k + 1], bytes)
    words[#words + 1] = process.quote(self.files[k + 1])
  end
  local fifo = base .. ".in"
  self.files[#self.files + 1] = fifo
  assert(os.execute("mkfifo " .. process.quote(fifo)))
  self.output = assert(io.popen(("exec %s %s <%s 2>&1"):format(table.concat(words, " "), process.quote(base),
    process.quote(fifo))))
  self.input = assert(io.open(fifo, "r+")) -- with an end to read from, writing is no signal where the program ended
  local greeting = self.output:read "l"
  if greeting == "ready" then return self end
  self:close()
  return nil, ("%s: %s"):format(name, greeting or "it does not start")
end

return outsider
