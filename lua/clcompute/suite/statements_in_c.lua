-- SPDX-License-Identifier: MIT
--- Reads the C texts of rows as statements: what stands in a loop, and which loops are parallel.
--
-- A statement is a table of `kind`, `text` (all of it, as written) and what the kind has:
--
-- - "for": `variable`, `first`, `compare` ("<" or "<="), `last` where it counts up by one; `head`, `body`; and where it
--   is parallel `threads`, the names of the loops whose iterations are threads;
-- - "if": `head`, `body` and perhaps `otherwise`; "while": `head`, `body`; "block": `list`;
-- - "define": a line of the preprocessor; "function": a function; "plain": anything else up to its semicolon.
--
-- A loop is parallel that stands under `#pragma omp parallel for`, or under a comment `// threads: i, j`, which may end
-- the line of the pragma: perfectly nested loops, outermost first, all of which are parallel.

local statements_in_c = {}

local statement -- for what stands within a statement

local function trim(text) return text:match "^%s*(.-)%s*$" end

local function names_of(line)
  local listed, names = line:match "//%s*threads:%s*([%w_,%s]+)", {}
  for name in (listed or ""):gmatch "[%w_]+" do names[#names + 1] = name end
  return listed and names
end

-- --- what is no statement -----------------------------------------------------------

--- Goes past blanks, comments, and marks of a parallel loop.
-- @treturn integer where the statement starts
-- @treturn ?table the threads; empty where the pragma names none
local function skip(text, at)
  local threads
  while true do
    at = text:find("%S", at) or #text + 1
    local line = text:match("^[^\n]*", at)
    if line:find "^#pragma omp parallel for" or line:find "^//" then
      threads = names_of(line) or threads or line:find "^#" and {} or nil
      at = at + #line
    else
      local _, last = text:find("^/%*.-%*/", at)
      if not last then return at, threads end
      at = last + 1
    end
  end
end

-- --- kinds ----------------------------------------------------------------------------

--- The header of a loop that counts up by one; nothing of others.
local function counted(head)
  local start, condition, step = head:match "^%((.-);(.-);(.*)%)$"
  local name, first = start:match "^%s*long%s+([%a_][%w_]*)%s*=%s*(.-)%s*$"
  if not name or trim(step) ~= name .. "++" then return {} end
  local left, compare, last = trim(condition):match "^([%a_][%w_]*)%s*(<=?)%s*(.+)$"
  if left ~= name then return {} end
  return { variable = name, first = first, compare = compare, last = last }
end

local READERS = {}

READERS["for"] = function(text, at)
  local head, after = text:match("^for%s*(%b())()", at)
  local node = counted(head)
  node.kind, node.head = "for", head
  node.body, after = statement(text, after)
  return node, after
end

READERS["while"] = function(text, at)
  local head, after = text:match("^while%s*(%b())()", at)
  local body
  body, after = statement(text, after)
  return { kind = "while", head = head, body = body }, after
end

READERS["if"] = function(text, at)
  local head, after = text:match("^if%s*(%b())()", at)
  local node = { kind = "if", head = head }
  node.body, after = statement(text, after)
  local other = text:match("^%s*else%f[^%w_]()", after)
  if other then node.otherwise, after = statement(text, other) end
  return node, after
end

local function block(text, at)
  local inner, after = text:match("^(%b{})()", at)
  return { kind = "block", list = statements_in_c.read(inner:sub(2, -2)) }, after
end

--- Up to the semicolon; of a function up to the end of its block.
local function plain(text, at)
  local after = text:match("^[%a_][%w_]*%s+[%a_][%w_]*%s*%b()%s*%b{}()", at)
  if after then return { kind = "function" }, after end
  after = text:match("^[^;]*;()", at)
  if not after then error("no statement: " .. text:sub(at, at + 40), 0) end
  return { kind = "plain" }, after
end

--- One statement.
-- @treturn table
-- @treturn integer where the text goes on
function statement(text, at)
  local start, threads = skip(text, at)
  local word = text:match("^%a+", start)
  local node, after
  if text:find("^#define", start) then
    node, after = { kind = "define" }, text:match("^[^\n]*()", start)
  elseif text:find("^{", start) then
    node, after = block(text, start)
  else
    node, after = (READERS[word] or plain)(text, start)
  end
  node.text = text:sub(start, after - 1)
  if threads then
    if not node.variable then error("no loop that counts up by one: " .. node.text:match "^[^\n]*", 0) end
    node.threads = #threads > 0 and threads or { node.variable }
  end
  return node, after
end

-- --- the face ---------------------------------------------------------------------------

--- The statements of a text.
-- @string text
-- @treturn table
-- @raise for what it cannot read, and where a mark of a parallel loop stands before anything else
function statements_in_c.read(text)
  local list, at = {}, 1
  while skip(text, at) <= #text do list[#list + 1], at = statement(text, at) end
  return list
end

--- Whether a statement is a parallel loop, or holds one.
-- @tparam table node
-- @treturn boolean
function statements_in_c.is_parallel(node)
  if node.threads then return true end
  for _, part in ipairs(node.list or { node.body, node.otherwise }) do
    if statements_in_c.is_parallel(part) then return true end
  end
  return false
end

return statements_in_c
