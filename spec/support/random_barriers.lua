-- SPDX-License-Identifier: MIT
--- Random kernels with barriers, for groups of 64 work-items: loops, branches and stores in local memory without a
-- race, so that every compiler must make the same of them. All control flow around a barrier is uniform in the group.

local random_barriers = {}

random_barriers.group = 64

local function one_of(list) return list[math.random(#list)] end

-- Values that are the same in the whole group: sizes, powers of two up to 64, and counts, up to 4.
local SIZES = { "64u", "n", "n", "m", "get_local_size(0)", "get_local_size(0)", "32 * get_num_groups(0)",
  "get_global_size(0) / 2", "64 * get_work_dim()", "(32u << (get_group_id(0) & 1))", "64 - get_global_offset(0)",
  "max(n, 16u)", "abs((int)m)", "(uint)exp2(6.0f)", "in[1]" }
local COUNTS = { "3u", "m / 16", "n / 32 + 1", "get_num_groups(0) + 1", "get_work_dim() * 3",
  "get_global_size(0) / 64 + 1", "get_group_id(0) + 2", "get_global_offset(0) + 2",
  "get_local_size(0) / 16", "in[2]", "(u & 3)", "rotate(m, 29u) / 2" }
local UNIFORM = { "get_group_id(0) == 0", "get_group_id(0) & 1", "m > 8", "in[3] > 8", "in[3] < 8", "(u & 1) == 0",
  "u > 100", "get_num_groups(0) == 2", "n > 32" }
-- Of one work-item.
local OWN = { "t < 32", "t > 40", "(t & 3) == 0", "t == 0", "in[g] > 10", "(a & 1)", "t != 5" }

local Generator = {}
Generator.__index = Generator

function Generator:emit(text, ...)
  self.lines[#self.lines + 1] = ("  "):rep(self.depth) .. text:format(...)
end

-- --- races: what was written and read by others since the last barrier ---------------------

--- Emits a barrier and forgets the accesses before it.
function Generator:barrier()
  self:emit "barrier(CLK_LOCAL_MEM_FENCE);"
  self.written, self.shared = {}, {}
end

--- A barrier before an access that would race. `writes`: each work-item its element; `reads`: any element.
function Generator:access(writes, reads)
  local races = false
  for name in writes:gmatch "%a" do races = races or self.shared[name] end
  for name in reads:gmatch "%a" do races = races or self.written[name] end
  if races then self:barrier() end
  for name in writes:gmatch "%a" do self.written[name] = true end
  for name in reads:gmatch "%a" do self.shared[name] = true end
end

local function union(a, b)
  local all = {}
  for key in pairs(a) do all[key] = true end
  for key in pairs(b) do all[key] = true end
  return all
end

--- What is known of the accesses here, and after what joins two ways.
function Generator:state() return { self.written, self.shared } end
function Generator:join(state)
  self.written, self.shared = union(self.written, state[1]), union(self.shared, state[2])
end

--- A uniform value or condition of a list; one that reads u is an access. Of plain kernels without calls and memory.
function Generator:uniform(list)
  local text
  repeat text = one_of(list) until not self.plain or not text:find "%w%(" and not text:find "[[_]"
  if text:find "%f[%w]u%f[%W]" then self:access("", "u") end
  return text
end

-- --- statements ------------------------------------------------------------------------------

local STATEMENTS = {}

function STATEMENTS.store(self)
  local name = one_of { "s", "r" }
  local other = name == "s" and "r" or "s"
  local value, reads = one_of { "a + t", "in[g]", "7 * t + m", name .. "[t] * 3 + 1", "#" }, ""
  if value == "#" then value, reads = ("%s[(t + %d) & 63]"):format(other, math.random(40)), other end
  self:access(name, reads)
  local store = ("%s[t] %s %s;"):format(name, one_of { "=", "+=", "+=", "^=" }, value)
  if math.random(2) == 1 then store = ("if (%s) %s"):format(one_of(OWN), store) end
  self:emit("%s", store)
end

function STATEMENTS.private(self)
  local value, reads = one_of { "s[t]", "r[t] + 1", "a * 5 + t", "#", "u" }, ""
  if value == "#" then value, reads = ("s[(t ^ %d) & 63]"):format(math.random(63)), "s" end
  if value == "u" then reads = "u" end
  self:access("", reads)
  local condition = math.random(3) == 1 and ("if (%s) "):format(one_of(OWN)) or ""
  self:emit("%sa %s %s;", condition, one_of { "+=", "^=", "=" }, value)
end

-- What is stored in the scalar of a group, and the array that is read for it.
local SCALARS = { { "s[t]", "" }, { "a", "" }, { "r[t] & 7", "" }, { "in[g]", "" }, { "s[0] + s[63]", "s" } }

--- A scalar of the group that one work-item writes.
function STATEMENTS.scalar(self)
  local value = one_of(SCALARS)
  self:access("", value[2])
  if self.shared.u or self.written.u then self:barrier() end
  self.written.u, self.shared.u = true, true
  self:emit("if (t == %s) u %s %s;", one_of { "0", "n - 1", "17" }, one_of { "=", "+=" }, value[1])
end

function STATEMENTS.output(self)
  self:emit("%sout[g] %s %s;", math.random(2) == 1 and ("if (%s) "):format(one_of(OWN)) or "", one_of { "=", "+=" },
    one_of { "a", "s[t]", "r[t] + a", "in[g]" })
end

function STATEMENTS.barrier(self) self:barrier() end

--- Statements of a block.
function Generator:block(most)
  self.depth = self.depth + 1
  for _ = 1, math.random(most) do self:statement() end
  self.depth = self.depth - 1
end

STATEMENTS["if"] = function(self)
  if self.plain then return STATEMENTS.store(self) end
  self:emit("if (%s) {", self:uniform(UNIFORM))
  local before = self:state()
  self:block(3)
  local first = self:state()
  self.written, self.shared = before[1], before[2]
  if math.random(3) > 1 then
    self:emit "} else {"
    self:block(3)
  end
  self:join(first)
  self:emit "}"
end

--- Steps of a tree or a scan in local memory whose stride is k.
local TREES = {
  up = function(self)
    self:access("", "s")
    if self.written.s then self:barrier() end
    self:emit("if ((t & (2 * k - 1)) == 0 && t + k < 64) s[t] += s[t + k];")
    self.written.s, self.shared.s = true, true
  end,
  down = function(self)
    self:access("", "s")
    if self.written.s then self:barrier() end
    self:emit("if (t < k && t + k < 64) s[t] += s[t + k];")
    self.written.s, self.shared.s = true, true
  end,
  scan = function(self)
    self:access("", "s")
    self:emit("const uint v%d = t >= k ? s[t - k] : 0;", self.loops)
    self:barrier()
    self:access("s", "")
    self:emit("s[t] += v%d;", self.loops)
  end,
  segments = function(self)
    self:access("", "sr")
    self:emit("uint v%d = s[t], q%d = r[t];", self.loops, self.loops)
    self:emit("if (t >= k) { if (!q%d) v%d += s[t - k]; q%d |= r[t - k]; }", self.loops, self.loops, self.loops)
    self:barrier()
    self:access("sr", "")
    self:emit("s[t] = v%d;", self.loops)
    self:emit("r[t] = q%d;", self.loops)
  end,
}

-- The heads of a loop over $k and what ends its body; a `while` and a late `break` have their step or test there.
local FORMS = {
  ["for"] = { "for (uint $k = $start; $test; $step) {", "", "" },
  ["while"] = { "uint $k = $start; while ($test) {", "$step;", "" },
  ["do"] = { "uint $k = $start; do {", "", "while ($step, $test);" },
  ["break"] = { "for (uint $k = $start;; $step) { if (!($test)) break;", "", "" },
  ["late break"] = { "for (uint $k = $start;; $step) {", "if (!($test)) break;", "" },
}
local FORM_NAMES = { "for", "for", "for", "while", "do", "break", "late break" }
local PLAIN_NAMES = { "for", "for", "while" }

local DOWN_TESTS = { "k > 0", "k > 0", "k >= get_work_dim()", "k > get_global_offset(0)" }

--- What a loop counts by: { k =, start =, test =, step = } and, for strides, the step of a tree.
function Generator:counting(strides)
  local limit = self:uniform(strides and SIZES or COUNTS)
  local kind = strides and one_of { "up", "down", "scan", "segments" } or "count"
  local c = { k = strides and "k" or "i" .. self.loops, start = "0", kind = kind, reads_u = limit:find "u &" ~= nil }
  c.test, c.step = c.k .. " < " .. limit, c.k .. "++"
  if kind == "down" then
    c.start, c.test, c.step = limit .. " / 2", self.plain and "k > 0" or one_of(DOWN_TESTS), "k /= 2"
  elseif strides then
    c.start, c.step = "1", one_of { "k *= 2", "k <<= 1", "k += k" }
  end
  local also = self.plain and 0 or math.random(5)
  if also == 1 then c.test = ("%s && (in[4] > 0 || %s < 2)"):format(c.test, c.k) end
  if also == 2 and kind ~= "down" then c.test = ("%s || (%s < 2 && in[3] > 0)"):format(c.test, c.k) end
  return c
end

--- The barrier that every pass must have stands at its start or its end, so that passes do not race.
function STATEMENTS.loop(self)
  if self.nesting == 2 then return STATEMENTS.store(self) end
  self.nesting, self.loops = self.nesting + 1, self.loops + 1
  local strides, had = not self.has_k and math.random(3) > 1, self.has_k
  local c, name = self:counting(strides), one_of(self.plain and PLAIN_NAMES or FORM_NAMES)
  local form = {}
  for i, text in ipairs(FORMS[name]) do form[i] = text:gsub("%$(%a+)", c) end
  self:barrier() -- what the condition reads
  local before = self:state()
  self:emit("%s", "{ " .. form[1])
  self.has_k, self.depth = had or strides, self.depth + 1
  local first = c.reads_u or math.random(3) == 1
  if first then self:barrier() end
  if first and name == "for" and not self.plain and math.random(8) == 1 then
    self:emit("if (%s == 2) continue;", c.k)
  end
  local continued = self:state()
  if strides then TREES[c.kind](self) end
  for _ = strides and 2 or 1, math.random(3) do self:statement() end
  if not self.plain and math.random(6) == 1 then
    self:emit("if (%s) break;", self:uniform(UNIFORM))
    continued = { union(continued[1], self.written), union(continued[2], self.shared) }
  end
  if c.reads_u or not first then self:barrier() end
  if form[2] ~= "" then self:emit("%s", form[2]) end
  self.has_k, self.depth, self.nesting = had, self.depth - 1, self.nesting - 1
  self:emit("%s", "} " .. form[3] .. "}")
  self:join(before)
  self:join(continued)
  if c.reads_u then self.shared.u = true end
end

local WEIGHTS = { "store", "store", "store", "private", "scalar", "output", "barrier", "if", "loop", "loop" }

function Generator:statement()
  local kind = one_of(WEIGHTS)
  if self.depth > 4 and (kind == "if" or kind == "loop") then kind = "store" end
  STATEMENTS[kind](self)
end

--- The text of a kernel of that name, `(global uint *out, global const uint *in, uint m)` with m = 64.
-- @tparam integer seed which makes the same kernel each time
-- @tparam string name
-- @tparam[opt] boolean plain whether its barriers stand in no branch, and in loops that compare values alone
function random_barriers.kernel(seed, name, plain)
  math.randomseed(seed, 22)
  local g = { plain = plain, lines = {}, depth = 1, nesting = 0, loops = 0, written = {}, shared = {} }
  setmetatable(g, Generator)
  g:emit "local uint s[64], r[64], u;"
  g:emit "const uint t = get_local_id(0), g = get_global_id(0), n = get_local_size(0);"
  g:emit "uint a = t;"
  g:emit("s[t] = %s;", one_of { "1", "in[g]", "t" })
  g:emit("r[t] = %s;", one_of { "t", "in[g] & 1", "(t & 15) == 0" })
  g:emit "if (t == 0) u = in[3];"
  g:barrier()
  for _ = 1, math.random(2, 4) do g:statement() end
  STATEMENTS.loop(g)
  for _ = 1, math.random(0, 2) do g:statement() end
  g:barrier()
  g:emit "out[g] += s[t] + 3 * r[t] + 5 * a + 7 * u;"
  return ("kernel void %s(global uint *out, global const uint *in, uint m) {\n%s\n}\n"):format(name,
    table.concat(g.lines, "\n"))
end

--- What `in` holds: sizes and counts in the first elements, then small numbers.
function random_barriers.input(n)
  local list = { 9, 64, 3, 11, 5 }
  for i = #list + 1, n do list[i] = i * 7919 % 23 end
  return list
end

return random_barriers
