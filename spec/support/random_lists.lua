-- SPDX-License-Identifier: MIT
--- Random functions of two arrays and a number that fill lists, go through them, and return some.

local random_lists = {}

local function one_of(list) return list[math.random(#list)] end

local RANGES = { "1, #x", "1, n", "2, n - 1", "n, 1, -1", "1, n, 2", "1, 3" }

local Generator = {}
Generator.__index = Generator

function Generator:emit(text, ...)
  self.lines[#self.lines + 1] = ("  "):rep(self.depth) .. text:format(...)
end

function Generator:name(letter)
  self.names = self.names + 1
  return letter .. self.names
end

--- Emits a statement around what a function emits.
function Generator:block(head, body, ...)
  self:emit("%s", head)
  self.depth = self.depth + 1
  body(self, ...)
  self.depth = self.depth - 1
end

-- --- of a pass ---------------------------------------------------------------------------------

local function value_at(i)
  return (one_of { "x[i]", "2 * x[i]", "i", "1.5", "y[i] + x[i]", "y[i]" }):gsub("%f[%w]i%f[%W]", i)
end

local function condition_at(i)
  return (one_of { "x[i] > 0", "y[i] % 2 == 0", "i % 3 == 1", "x[i] < y[i]", "x[i] > 9" }):gsub("%f[%w]i%f[%W]", i)
end

--- A list whose elements a local counts grows by that.
function Generator:append(list, value)
  local counter = self.counters[list]
  if counter then
    self:emit("%s = %s + 1", counter, counter)
    self:emit("%s[%s] = %s", list, counter, value)
  else
    local text = one_of { "list[#list + 1] = value", "table.insert(list, value)", "push(list, value)",
      "list[#list + 1], s = value, s + 1" }
    self:emit("%s", (text:gsub("%f[%w]%l+%f[%W]", { list = list, value = value })))
  end
end

function Generator:append_one_at(i) self:append(one_of(self.lists), value_at(i)) end

function Generator:append_some_at(i, list)
  self:block(("if %s then"):format(condition_at(i)), self.append, list or one_of(self.lists), value_at(i))
  if math.random(3) == 1 then self:block("else", self.append_one_at, i) end
  self:emit "end"
end

-- --- loops -------------------------------------------------------------------------------------

function Generator:loop(body, ...)
  local i = self:name "i"
  self:block(("for %s = %s do"):format(i, one_of(RANGES)), body, i, ...)
  self:emit "end"
end

function Generator:append_within(i)
  self:loop(function(_, j) self:append_some_at(one_of { i, j }) end)
end

function Generator:append_until(i)
  self:append_some_at(i)
  self:emit("if x[%s] > 0.4 then break end", i)
end

--- A loop along a list: sums, changes, or another list of it.
function Generator:follow()
  local list, k = one_of(self.lists), self:name "k"
  local length = self.counters[list] or "#" .. list
  local text = one_of { "s = s + list[k]", "s = s + list[k] - list[k - 1]", "list[k] = list[k] + 1",
    "new[k] = 2 * list[k]", "new[#new + 1] = 2 * list[k]" }
  if text:find "new" then
    local new = self:name "t"
    self:emit("local %s = {}", new)
    table.insert(self.lists, new)
    text = text:gsub("new", new)
  end
  text = text:gsub("list", list):gsub("%f[%w]k%f[%W]", k)
  self:emit("for %s = %d, %s do %s end", k, text:find("- 1]", 1, true) and 2 or 1, length, text)
end

local PARTS = {
  function(self) self:loop(self.append_one_at) end, function(self) self:loop(self.append_some_at) end,
  function(self) self:loop(self.append_until) end, function(self) self:loop(self.append_within) end,
  function(self) self:append(one_of(self.lists), one_of { "n", "3.5", "s", "#x" }) end, Generator.follow,
}

local PUSHES = {
  "local function push(list, v) list[#list + 1] = v end",
  "local function push(list, v) if v > 0 then table.insert(list, v) end end",
  "local function push(list, v) if v < 0 then return end list[#list + 1] = v end",
}

-- --- functions ---------------------------------------------------------------------------------

--- Makes a list, in which something may be already, and appends to it.
function Generator:make_list()
  local list = self:name "t"
  table.insert(self.lists, list)
  if math.random(3) == 1 then
    self.counters[list] = self:name "n"
    self:emit("local %s, %s = {}, 0", list, self.counters[list])
  else
    self:emit("local %s = %s", list, one_of { "{}", "{}", "{ 1, 2.5 }" })
  end
  self:loop(self.append_some_at, list)
end

--- The text of a function of the arrays x and y and the number n.
function random_lists.text()
  local self = setmetatable({ lines = {}, depth = 1, names = 0, lists = {}, counters = {} }, Generator)
  for _ = 1, math.random(3) do self:make_list() end
  for _ = 1, math.random(4) do one_of(PARTS)(self) end
  local results = {}
  for _, list in ipairs(self.lists) do
    if math.random(2) == 1 then results[#results + 1] = one_of { list, list, self.counters[list] or "#" .. list } end
  end
  results[#results + 1] = "s"
  return ("return function(x, y, n)\n  local s = 0.0\n  %s\n%s\n  return %s\nend\n"):format(one_of(PUSHES),
    table.concat(self.lines, "\n"), table.concat(results, ", ", math.max(#results - 2, 1)))
end

return random_lists
