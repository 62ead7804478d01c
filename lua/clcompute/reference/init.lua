-- SPDX-License-Identifier: MIT
--- The reference of every public name, read from the stubs of library/: what `make doc` writes into docs/api.md, what
-- the specs check, and what a prompt can show.
--
-- A stub is a function or class behind a comment with the annotations of the Lua language server. The comment's text
-- ends with a paragraph "Errors: ...", where there is something to say of them, and an example between ``` fences,
-- which runs where `cl` is the library and `d` a device.

local reference = {}

--- The folder of the stubs: in lua/clcompute when installed, at the top of a checkout.
function reference.folder()
  local own = assert(package.searchpath("clcompute.reference", package.path))
  local base = own:match "^(.*)reference/init%.lua$"
  for _, folder in ipairs { base .. "library", base .. "../../library" } do
    local file <close> = io.open(folder .. "/clcompute.lua")
    if file then return folder end
  end
  error("the stubs (library/clcompute.lua) are missing beside " .. base, 0)
end

--- The stubs' files, in the order of the reference.
reference.FILES = {
  "clcompute", "clcompute/device", "clcompute/buffer", "clcompute/image", "clcompute/program", "clcompute/operators",
  "clcompute/operations", "clcompute/arrays", "clcompute/groups", "clcompute/bench", "clcompute/blas",
  "clcompute/device_profile", "clcompute/doctor",
  "clcompute/loops", "clcompute/mpi", "clcompute/poly", "clcompute/report", "clcompute/sequential", "clcompute/tune",
}

--- Splits "name? type words" behind an annotation: a type has no space, but in brackets and round bars.
local function split(text)
  local name, optional, rest = text:match "^(%[[%w_]+%]*)(%??) +(.*)"
  if not name then name, optional, rest = text:match "^([%w_.]+)(%??) +(.*)" end
  local depth, stop = 0, #rest + 1
  for at = 1, #rest do
    local c = rest:sub(at, at)
    if c:find "[%(%[{<]" then depth = depth + 1 elseif c:find "[%)%]}>]" then depth = depth - 1 end
    local joins = rest:sub(at - 1, at - 1):find "[:,|]" or rest:sub(at + 1, at + 1) == "|"
    if c == " " and depth == 0 and not joins then
      stop = at
      break
    end
  end
  return { name = name, is_optional = optional == "?", type = rest:sub(1, stop - 1),
    text = rest:sub(stop + 1):gsub("^# *", "") }
end

--- A comment of lines without their dashes: text, errors, example, annotations.
local function read_comment(lines)
  local entry = { params = {}, returns = {}, fields = {}, choices = {}, overloads = {} }
  local text, example
  for _, line in ipairs(lines) do
    local tag, rest = line:match "^@(%l+) ?(.*)"
    if line:find "^```" then
      if not example then example = {} else entry.example, example = table.concat(example, "\n"), false end
    elseif example then
      example[#example + 1] = line
    elseif tag == "param" then
      entry.params[#entry.params + 1] = split(rest)
    elseif tag == "return" then
      entry.returns[#entry.returns + 1] = split("_ " .. rest)
    elseif tag == "field" then
      entry.fields[#entry.fields + 1] = split(rest)
    elseif tag == "class" or tag == "alias" then
      entry.kind, entry.name, entry.parents = tag, rest:match "^([%w_.]+):? *(.*)"
    elseif tag == "overload" then
      entry.overloads[#entry.overloads + 1] = rest
    elseif line:find "^|" then
      entry.choices[#entry.choices + 1] = line:match '^| *"?([^"]+)'
    elseif not tag then
      text = (text and text .. "\n" or "") .. line
    end
  end
  entry.text, entry.errors = (text or ""):match "^(.-)\n*Errors: (.*)$"
  entry.text = (entry.text or text or ""):gsub("%s+$", "")
  return entry
end

--- How a call is written: the object in small letters, what may be left out in brackets.
local function signature(name, params)
  local words, open = {}, 0
  for i, param in ipairs(params) do
    local word = param.name
    if param.is_optional then
      word, open = (i > 1 and " [, " or "[") .. word, open + 1
    elseif i > 1 then
      word = ", " .. word
    end
    words[i] = word
  end
  return name .. "(" .. table.concat(words) .. ("]"):rep(open) .. ")"
end

--- The entries of a stub file, in order. An entry has `kind`: "function", "method", "class" or "alias"; `name`, of a
-- call as in a script ("cl.gemm", "Buffer:read", "bench.measure"); `text`, `errors` and `example`; of a call
-- `signature`, `params` and `returns`; of a class `fields` and `parents`; of an alias `choices`. Params, returns and
-- fields are lists of { name =, type =, is_optional =, text = }.
function reference.parse(source)
  local entries, comment = {}, {}
  for line in (source .. "\n"):gmatch "([^\n]*)\n" do
    local words = line:match "^%-%-%-(.*)"
    local name = line:match "^function ([%w_.:]+)%("
    if words then
      comment[#comment + 1] = words
    else
      local entry = #comment > 0 and read_comment(comment)
      if name then
        entry = entry or read_comment {}
        entry.kind, entry.name = name:find(":", 1, true) and "method" or "function", name
        entry.signature = signature(name, entry.params)
      end
      if entry and entry.name then entries[#entries + 1] = entry end
      comment = {}
    end
  end
  return entries
end

--- All entries, in the order of the reference; each has the field `module`, "clcompute" or "clcompute.bench".
function reference.read(folder)
  local all = {}
  for _, name in ipairs(reference.FILES) do
    local file <close> = assert(io.open(("%s/%s.lua"):format(folder or reference.folder(), name)))
    local source = file:read "a"
    local module = source:match "^%-%-%-@meta (%a[%w_.]*)" or "clcompute"
    for _, entry in ipairs(reference.parse(source)) do
      entry.module = module
      all[#all + 1] = entry
    end
  end
  return all
end

return reference
