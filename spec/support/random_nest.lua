-- SPDX-License-Identifier: MIT
--- Random functions of nested loops, as text, and what they really do: the text run by plain Lua on arrays that keep a
-- log of each access and of the passes of the loops around it.

local random_nest = {}

local RANKS = { A = 1, B = 2, C = 2 }

local function one_of(list) return list[math.random(#list)] end

--- An integer expression in the loop variables in scope.
local function subscript(loops)
  local i = #loops > 0 and one_of(loops) or nil
  if not i or math.random(10) == 1 then return tostring(math.random(2)) end
  return one_of { i, i, i, i .. " + 1", i .. " - 1", "n - " .. i, "2 * " .. i, i .. " // 2 + 1", i .. " % 3 + 1",
    i .. " + " .. one_of(loops), i .. " + m" }
end

local function element(loops)
  local name = one_of { "A", "B", "C" }
  local text = name
  for _ = 1, RANKS[name] do text = ("%s[%s]"):format(text, subscript(loops)) end
  return text
end

local function comparison(loops)
  return ("%s %s %s"):format(subscript(loops), one_of { "==", "~=", "<", "<=", ">", ">=" },
    one_of { "1", "2", "n", "m", subscript(loops) })
end

--- An affine condition; with `data`, now and then one that depends on an array.
local function condition(loops, data, depth)
  local kind = math.random(depth > 0 and 6 or 3)
  if kind <= 3 then
    return data and math.random(3) == 1 and element(loops) .. " > 0.5" or comparison(loops)
  elseif kind == 4 then
    return ("not (%s)"):format(condition(loops, data, depth - 1))
  end
  return ("(%s) %s (%s)"):format(condition(loops, data, depth - 1), kind == 5 and "and" or "or",
    condition(loops, data, depth - 1))
end

local function header(loops)
  local outer = #loops > 0 and one_of(loops) or "1"
  return one_of {
    "1, n", "1, n", "2, n - 1", "1, m", "n, 1, -1", "m, 1, -2", "1, n, 2", "2, n, 3", outer .. ", n",
    "1, " .. outer, outer .. " + 1, n", "n, " .. outer .. ", -1", "1, #A", "1, n // 2", "3, 2",
  }
end

local Generator = {}
Generator.__index = Generator

function Generator:emit(depth, text, ...)
  self.lines[#self.lines + 1] = (" "):rep(2 * depth + 2) .. text:format(...)
end

function Generator:loop(loops, depth)
  self.count = self.count + 1
  local number, variable = self.count, "i" .. self.count
  self:emit(depth, "for %s = %s do --[[enter %d %d %s]]", variable, header(loops), number, depth + 1, variable)
  local inner = table.move(loops, 1, #loops, 1, {})
  inner[#inner + 1] = variable
  self:body(inner, depth + 1)
  self:emit(depth, "end --[[leave %d]]", depth)
end

function Generator:branch(loops, depth)
  self:emit(depth, "if %s then", condition(loops, self.data, 2))
  self:store(loops, depth + 1)
  if math.random(2) == 1 then
    self:emit(depth, "elseif %s then", condition(loops, self.data, 1))
    self:store(loops, depth + 1)
  end
  if math.random(2) == 1 then
    self:emit(depth, "else")
    self:store(loops, depth + 1)
  end
  self:emit(depth, "end")
end

function Generator:store(loops, depth)
  local value = element(loops)
  if math.random(2) == 1 then value = value .. " + " .. element(loops) end
  if math.random(6) == 1 then value = ("(%s) and %s or 1.0"):format(condition(loops, self.data, 1), value) end
  self:emit(depth, "%s = %s", element(loops), value)
end

function Generator:body(loops, depth)
  for _ = 1, math.random(2) do
    local kind = math.random(8)
    if depth < self.deepest and (depth == 0 or kind <= 4) then
      self:loop(loops, depth)
    elseif kind <= 5 then
      self:branch(loops, depth)
    else
      self:store(loops, depth)
    end
  end
end

--- A function's text.
-- @tparam table options `deepest` (loops in each other), `data` (whether conditions may depend on arrays)
function random_nest.text(options)
  local self = setmetatable({ lines = {}, count = 0, deepest = options.deepest, data = options.data }, Generator)
  self:body({}, 0)
  return ("function(A, B, C, n, m)\n%s\nend"):format(table.concat(self.lines, "\n"))
end

-- --- what it does -------------------------------------------------------------

--- An array without end whose elements are pseudo-random, or what was stored.
local function logging(log, name, size)
  local stored = {}
  local function touch(key, write)
    local passes = table.move(log.passes, 1, #log.passes, 1, {})
    log[#log + 1] = { array = name, key = key, write = write, passes = passes }
  end
  local function proxy(prefix, left)
    return setmetatable({}, {
      __len = function() return size[#prefix + 1] end,
      __index = function(_, i)
        local path = table.move(prefix, 1, #prefix, 1, {})
        path[#path + 1] = i
        if left > 1 then return proxy(path, left - 1) end
        local key = table.concat(path, ",")
        touch(path, false)
        return stored[key] or (i * 7 + #key * 3) % 11 / 10
      end,
      __newindex = function(_, i, value)
        local path = table.move(prefix, 1, #prefix, 1, {})
        path[#path + 1] = i
        stored[table.concat(path, ",")] = value
        touch(path, true)
      end,
    })
  end
  return proxy({}, RANKS[name])
end

--- Runs a text, and gives its accesses in order: `{ array=, key={subscripts}, write=, passes={ {loop=, value=}, ... }
-- }`, where loops are numbered in the order of the text, and passes are outermost first.
-- @string text
-- @tparam table values `n`, `m`
-- @tparam table sizes name of array to its sizes
function random_nest.run(text, values, sizes)
  local log = { passes = {} }
  local environment = {
    enter = function(number, depth, value)
      for d = #log.passes, depth, -1 do log.passes[d] = nil end
      log.passes[depth] = { loop = number, value = value }
    end,
    leave = function(depth)
      for d = #log.passes, depth + 1, -1 do log.passes[d] = nil end
    end,
  }
  text = text:gsub("%-%-%[%[enter (%d+) (%d+) (%w+)%]%]", "enter(%1, %2, %3)")
    :gsub("%-%-%[%[leave (%d+)%]%]", "leave(%1)")
  local f = assert(load("return " .. text, "=nest", "t", environment))()
  f(logging(log, "A", sizes.A), logging(log, "B", sizes.B), logging(log, "C", sizes.C), values.n, values.m)
  log.passes = nil
  return log
end

return random_nest
