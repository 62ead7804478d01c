-- SPDX-License-Identifier: MIT
--- Where the code can be made wrong by a small change: the sites of a file, each with the text that takes its place.

local sites = {}

-- --- what is code ------------------------------------------------------------------------------

-- What is no code, by how it begins: a pattern of where it ends (with its "\n" or without).
local ASIDES = {
  c = { { "/%*", "%*/" }, { "//", "%f[\n\0]" }, { '"', '[^\\]"' }, { "'", "[^\\]'" }, { "\n#", "[^\\]%f[\n]" } },
  lua = { { "%-%-%[%[", "%]%]" }, { "%-%-", "%f[\n\0]" }, { "%[%[", "%]%]" }, { '"', '[^\\]"' } },
}

--- The aside that begins first at or after a place: its first and last byte.
local function next_aside(text, language, from)
  local first, last
  for _, aside in ipairs(ASIDES[language]) do
    local at, open = text:find(aside[1], from)
    if at and (not first or at < first) then
      local _, close = text:find(aside[2], aside[1]:match '^["\']$' and open or open + 1)
      first, last = at, close or #text
    end
  end
  return first, last
end

--- The text with blanks for comments, strings and lines of the preprocessor.
local function code_of(text, language)
  local parts, from = {}, 1
  while true do
    local first, last = next_aside(text, language, from)
    if not first then break end
    parts[#parts + 1] = text:sub(from, first - 1)
    parts[#parts + 1] = text:sub(first, last):gsub("[^\n]", " ")
    from = last + 1
  end
  parts[#parts + 1] = text:sub(from)
  return table.concat(parts)
end

-- --- what no result depends on -----------------------------------------------------------------
--
-- How fast something is, or how much of it is measured and against what: a spec that notices such a choice can only
-- repeat it. The code around it is drawn as any other.

-- Data, and nothing else.
local CHOICES = { ["lua/clcompute/suite/gpu_limits.lua"] = true, ["lua/clcompute/suite/limits.lua"] = true,
  ["lua/clcompute/tuning/candidates.lua"] = true, ["lua/clcompute/tuning/known.lua"] = true }

-- Packages that measure: a number in a constant at the top of a file is of sizes, rounds or seconds.
local MEASURES = { bench = true, device_profile = true, suite = true, tune = true }

--- The code without such numbers, at its places.
local function without_sizes(code, path)
  if not MEASURES[path:match "^lua/clcompute/(.-)/"] then return code end
  local is_constant = false
  return (code:gsub("[^\n]+", function(line)
    is_constant = line:find "^local %u[%u%d_, ]*=" or is_constant and line:find "^[ }]"
    is_constant = is_constant and not line:find "%f[%w]function%f[%W]"
    return is_constant and line:gsub("%d", "_") or nil
  end))
end

-- --- changes -----------------------------------------------------------------------------------

local function by(replacement)
  return function() return replacement end
end

local function next_number(digits) return ("%.0f"):format(digits + 1) end

-- A pattern, of which `()` are the first byte that is replaced and the one behind the last, and what takes their place.
local BOTH = {
  { "order", "() <= ()", by " < " }, { "order", "() >= ()", by " > " }, { "order", "() < ()", by " <= " },
  { "order", "() > ()", by " >= " }, { "sign", "() %+ ()", by " - " }, { "sign", "() %- ()", by " + " },
  { "product", "() %* ()", by " + " }, { "number", "%f[%w_.]()%d+()%f[^%w_.]", next_number },
}

local CHANGES = {
  c = {
    { "equality", "() == ()", by " != " }, { "equality", "() != ()", by " == " }, { "logic", "() && ()", by " || " },
    { "logic", "() || ()", by " && " }, { "condition", "if ()%b()()", function(text) return "(!" .. text .. ")" end },
    { "statement", "\n +()[%w_>.%-]+%b();()%f[\n]", by ";" }, -- a call
    { "statement", "\n +()[%w_>.%-]+ = [^;\n]*;()%f[\n]", by ";" },
  },
  lua = {
    { "equality", "() == ()", by " ~= " }, { "equality", "() ~= ()", by " == " }, { "logic", "() and ()", by " or " },
    { "logic", "() or ()", by " and " }, { "condition", "%f[%w]if ()[^\n]-() then\n", function(text)
      return "not (" .. text .. ")"
    end },
    { "negation", "%f[%w]()not ()", by "" }, { "truth", "%f[%w]()true()%f[%W]", by "false" },
    { "truth", "%f[%w]()false()%f[%W]", by "true" }, { "statement", "\n +()[%w_.:]+%b()()%f[\n]", by "" },
    { "statement", "\n +()[%w_.]+ = [^\n{]*()%f[\n]", by "" },
  },
}

--- The sites of a file.
-- @string path
-- @string text
-- @treturn {table,...} `{ file=, line=, kind=, first=, last=, from=, to= }`, in the order of the text for each kind
function sites.of(path, text)
  local language, list = path:match "%.(%w+)$", {}
  if CHOICES[path] then return list end
  local code = without_sizes(code_of(text, language), path)
  for _, changes in ipairs { BOTH, CHANGES[language] } do
    for _, change in ipairs(changes) do
      for first, behind in code:gmatch(change[2]) do
        local from = text:sub(first, behind - 1)
        list[#list + 1] = { file = path, line = select(2, text:sub(1, first):gsub("\n", "")) + 1, kind = change[1],
          first = first, last = behind - 1, from = from, to = change[3](from) }
      end
    end
  end
  return list
end

--- The text with a site changed.
function sites.changed(text, site)
  return text:sub(1, site.first - 1) .. site.to .. text:sub(site.last + 1)
end

return sites
