-- SPDX-License-Identifier: MIT

--- What a parallel loop reads from one place in all its passes, although it writes the array: no pass writes what
-- another one reads, so the place keeps its value, which compilers cannot know.
-- @module clcompute.loops.generation.hoisting

local lua_text = require "clcompute.loops.tree.lua_text"
local rewrite = require "clcompute.loops.tree.rewrite"
local strides = require "clcompute.loops.tree.strides"
local walk = require "clcompute.loops.tree.walk"

local hoisting = {}

local function written_by(nodes)
  local is_written = {}
  for _, node in ipairs(nodes) do
    if node.kind == "assign" and node.target.array then is_written[node.target.array] = true end
  end
  return is_written
end

--- Whether an expression speaks of a local, which may be another one in each pass.
local function mentions_local(node)
  local found = false
  walk.node(node, function(part)
    if part.kind == "name" and part.variable.role == "local" then found = true end
  end)
  return found
end

--- Whether all that an expression reads is read whenever it is evaluated.
local function is_unconditional(node)
  local found = true
  walk.node(node, function(part)
    if part.kind == "binary" and (part.op == "and" or part.op == "or") then found = false end
  end)
  return found
end

--- The body of a loop with variables in place of such reads. A loop of one pass may write such a place itself: what is
-- read after that is left as it is.
-- @tparam {table,...} body statements without loops or conditions in them
-- @tparam table variable of the loop
-- @treturn {table,...} the body
-- @treturn {table,...} `{ variable=, value=, nodes= }`: what each new variable is, before the loop, and the reads that
-- it stands for, as keys
function hoisting.apply(body, variable)
  local is_written, is_past, result, list, by_text = written_by(body), {}, {}, {}, {}
  local function replace(node)
    if node.kind ~= "index" or not is_written[node.array] or is_past[node.array]
      or strides.of(node, variable) ~= 0 or mentions_local(node) then return nil end
    local text = lua_text.expression(node)
    if not by_text[text] then
      list[#list + 1] = { value = node, nodes = {}, variable = { type = node.type,
        id = ("%s_%s_at%d"):format(node.array.id, variable.id, #list + 1) } }
      by_text[text] = list[#list]
    end
    by_text[text].nodes[node] = true
    return { kind = "name", type = node.type, variable = by_text[text].variable }
  end
  for i, node in ipairs(body) do
    if node.kind ~= "assign" and node.kind ~= "local" then return body, {} end
    local value = is_unconditional(node.value) and rewrite.expression(node.value, replace) or node.value
    result[i] = value ~= node.value and rewrite.changed(node, { value = value }) or node
    if node.kind == "assign" and node.target.array then is_past[node.target.array] = true end
  end
  return result, list
end

return hoisting
