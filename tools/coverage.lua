-- SPDX-License-Identifier: MIT
--- What the tests reach of the C code, from the counts that a build with --coverage left (`make coverage`): lines and
--- branches by file as a table, the lines that nothing reaches, and the exceptions with their reasons.
---
---     coverage.lua folder exceptions      exit code 1: a file is below what is asked of its lines, or all files
--                                         together below what is asked of their branches
---
--- A row of the file of exceptions is `file: line of code -- reason`; spaces count as one, "..." stands for any text.
--- With ` { ... }` at its end the code is how a function begins, all of whose lines are meant.

local json = require "dkjson"

local folder, exceptions_path = arg[1], arg[2]

-- What is asked, in percent, by which module a file is for: of each its lines (those of exceptions apart), of all of
-- them their branches.
local CORE, OTHERS = { name = "core", lines = 100, branches = 90 }, { name = "others", lines = 80, branches = 80 }

local OTHER_PACKAGES = { mpi = true, peers = true, poly = true, sequential = true }

local function limits_of(path)
  return OTHER_PACKAGES[path:match "^csrc/(%l+)"] and OTHERS or CORE
end

-- --- reading ------------------------------------------------------------------------------

local function lines_of(command)
  local list, pipe = {}, assert(io.popen(command))
  for line in pipe:lines() do list[#list + 1] = line end
  pipe:close()
  return list
end

--- Adds what one object file tells: files[path].lines[number] = { count, branches = { taken or not } }. A line of a
-- header belongs to several objects.
local function add(files, report)
  for _, source in ipairs(report.files) do
    local path = source.file:match "csrc/[%w_/]+%.%w+$"
    if path then
      local file = files[path] or { lines = {} }
      files[path] = file
      for _, line in ipairs(source.lines) do
        local known = file.lines[line.line_number] or { count = 0, branches = {} }
        file.lines[line.line_number] = known
        known.count = known.count + line.count
        for i, branch in ipairs(line.branches) do known.branches[i] = known.branches[i] or branch.count > 0 end
      end
    end
  end
end

local function read_counts()
  local files = {}
  for _, path in ipairs(lines_of(("find '%s' -name '*.gcda'"):format(folder))) do
    local command = "gcov --json-format --stdout --branch-probabilities '%s' 2>/dev/null"
    for _, text in ipairs(lines_of(command:format(path))) do
      local report = json.decode(text)
      if report then add(files, report) end
    end
  end
  return files
end

local function read_lines(path)
  local list = {}
  for line in io.lines(path) do list[#list + 1] = line end
  return list
end

local function squeeze(text) return (text:gsub("%s+", " "):gsub("^ ", ""):gsub(" $", "")) end

--- { path=, pattern=, of_function=, text=, reason= } of each row.
local function read_exceptions()
  local list = {}
  for row in io.lines(exceptions_path) do
    local path, text, reason = row:match "^(csrc/[%w_./]+): (.-) %-%- (.+)$"
    if path then
      local head = squeeze(text):match "^(.*) { %.%.%. }$"
      local pattern = (head or squeeze(text)):gsub("%.%.%.", "\0"):gsub("%p", "%%%0"):gsub("\0", ".*")
      list[#list + 1] = { path = path, pattern = "^" .. pattern .. (head and "" or "$"), of_function = head ~= nil,
        text = text, reason = reason, used = 0 }
    elseif row ~= "" and not row:find "^#" then
      error(exceptions_path .. ": not a row: " .. row, 0)
    end
  end
  return list
end

-- --- telling ------------------------------------------------------------------------------

--- The first line of the function that a line is of: the last one before it that is not indented.
local function head_of(code, number)
  for i = number, 1, -1 do
    if code[i]:find "^%a" then return code[i] end
  end
  return ""
end

local function find_exception(exceptions, path, code, number)
  local line, head = squeeze(code[number] or ""), squeeze(head_of(code, math.min(number, #code)))
  for _, e in ipairs(exceptions) do
    if e.path == path and (e.of_function and head or line):find(e.pattern) then return e end
  end
end

--- Counts of a file, and its lines that nothing reaches and no exception names.
local function judge(path, file, exceptions)
  local code = read_lines(path)
  local row = { path = path, lines = 0, reached = 0, excepted = 0, branches = 0, taken = 0, missed = {} }
  for number, line in pairs(file.lines) do
    row.lines = row.lines + 1
    for _, taken in ipairs(line.branches) do
      row.branches = row.branches + 1
      row.taken = row.taken + (taken and 1 or 0)
    end
    if line.count > 0 then
      row.reached = row.reached + 1
    else
      local e = find_exception(exceptions, path, code, number)
      if e then
        e.used = e.used + 1
        row.excepted = row.excepted + 1
      else
        row.missed[#row.missed + 1] = number
      end
    end
  end
  table.sort(row.missed)
  row.code = code
  return row
end

local function percent(part, whole) return whole == 0 and 100 or 100 * part / whole end

local function print_row(name, row, mark)
  print(("%-28s %6d %7.1f %% %5d %8d %7.1f %%%s"):format(name, row.lines, percent(row.reached, row.lines), row.excepted,
    row.branches, percent(row.taken, row.branches), mark or ""))
end

local files, exceptions = read_counts(), read_exceptions()
local paths, sums, bad = {}, {}, 0
for path in pairs(files) do paths[#paths + 1] = path end
table.sort(paths)
print(("%-28s %6s %9s %5s %8s %9s"):format("file", "lines", "reached", "exc.", "branches", "taken"))
local missed = {}
for _, path in ipairs(paths) do
  local row, limits = judge(path, files[path], exceptions), limits_of(path)
  local sum = sums[limits] or { lines = 0, reached = 0, excepted = 0, branches = 0, taken = 0 }
  sums[limits] = sum
  for key in pairs(sum) do sum[key] = sum[key] + row[key] end
  local is_low = percent(row.reached + row.excepted, row.lines) < limits.lines
  if is_low then bad = bad + 1 end
  local mark = is_low and "  lines" or percent(row.taken, row.branches) < limits.branches and "  branches" or ""
  print_row(path, row, mark)
  if #row.missed > 0 then missed[#missed + 1] = row end
end
for _, limits in ipairs { CORE, OTHERS } do
  if sums[limits] then
    local is_low = percent(sums[limits].taken, sums[limits].branches) < limits.branches
    if is_low then bad = bad + 1 end
    local name = ("%s (%d, %d)"):format(limits.name, limits.lines, limits.branches)
    print_row(name, sums[limits], is_low and "  branches" or "")
  end
end

print "\nreached by nothing:"
for _, row in ipairs(missed) do
  for _, number in ipairs(row.missed) do
    print(("%s:%d: %s"):format(row.path, number, squeeze(row.code[number] or "")))
  end
end
print "\nexceptions:"
for _, e in ipairs(exceptions) do
  print(("%s: %s -- %s%s"):format(e.path, e.text, e.reason, e.used == 0 and " (reached now, or gone)" or ""))
end
os.exit(bad == 0 and 0 or 1)
