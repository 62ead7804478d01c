-- SPDX-License-Identifier: MIT
--- Mutants: small faults drawn at random over csrc/ and lua/, each judged by the specs of its package and of the
-- packages that use it. Each verdict is a row of build/mutate/rows.jsonl: a run that is ended goes on where it was.
--
--     mutate.lua run [seconds]       judges further ones, for so many seconds
--     mutate.lua suite               gives survivors to the whole suite, half a batch at a time where one is killed
--     mutate.lua report              counts the verdicts and lists the survivors
--
-- Run by `make mutate`, in a copy of the tree; environment: SEED of the drawing, COUNT of mutants, PACKAGES
-- ("base device") to draw from those alone.

io.stdout:setvbuf "line"

local json = require "dkjson"
local sites = require "tools.mutate.sites"

local SEED, COUNT = tonumber(os.getenv "SEED") or 22, tonumber(os.getenv "COUNT") or 500
local PACKAGES = os.getenv "PACKAGES" -- nil: all
local SECONDS = 60 -- for the specs of a mutant
local BATCH = 16 -- survivors that meet the suite together
local FOLDER = "build/mutate"
local TREE, ROWS = FOLDER .. "/tree", FOLDER .. "/rows.jsonl"

-- --- files and processes -----------------------------------------------------------------------

local function read_file(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local function write_file(path, text)
  local file <close> = assert(io.open(path, "wb"))
  assert(file:write(text))
end

local function lines(command)
  local pipe <close>, list = assert(io.popen(command)), {}
  for line in pipe:lines() do list[#list + 1] = line end
  return list
end

--- Runs a command in the copy of the tree; whether it ended well, and whether its time ran out. In a process space of
-- its own: what is wrong may end processes.
local function run(command, limit)
  local apart = "unshare " .. (lines("id -u")[1] == "0" and "" or "-r ") .. "-p -f --kill-child --mount-proc "
  local shell = ("cd %s && ulimit -v 16777216 && %s timeout -k 5 %d sh -c '%s' >../log 2>&1 </dev/null"):format(TREE,
    apart, math.ceil(limit), command)
  local ended, _, code = os.execute(shell)
  return ended == true, code == 124 or code == 137
end

local function build()
  return (run("make -s all layer", 300))
end

local took = {} -- seconds, by spec, when it was last tried

--- Runs a spec; whether it passes, whether its time ran out, and the seconds it took.
local function try(spec, limit)
  local start = os.time()
  local passed, is_late = run("make -s check JOBS=1 SPECS=" .. spec, limit)
  took[spec] = os.time() - start
  return passed, is_late, took[spec]
end

-- --- rows --------------------------------------------------------------------------------------

local verdicts, healthy, met = {}, {}, {} -- by name of a mutant, by spec, by name of a survivor

local function take(row)
  if row.spec then
    healthy[row.spec], took[row.spec] = row, row.seconds
  elseif row.suite then
    met[row.name] = row
  else
    verdicts[row.name] = row
  end
end

local function keep(row)
  local file <close> = assert(io.open(ROWS, "a"))
  file:write(json.encode(row), "\n")
  take(row)
end

local function read_rows()
  local file <close> = io.open(ROWS)
  for line in file and file:lines() or function() end do take(assert(json.decode(line))) end
end

-- --- which mutants -----------------------------------------------------------------------------

local function package_of(file)
  return file:gsub("^csrc/", ""):gsub("^lua/clcompute/", ""):match "^(.*)/" or ""
end

local function is_drawn(file)
  return not PACKAGES or (" %s "):format(PACKAGES):find((" %s "):format(package_of(file)), 1, true)
end

--- All sites in an order by the seed. The copy of the tree stays as it was when it was made, so names hold.
local function draw()
  local list = {}
  for _, path in ipairs(lines(("cd %s && find csrc lua -name '*.c' -o -name '*.lua' | LC_ALL=C sort"):format(TREE))) do
    for _, site in ipairs(is_drawn(path) and sites.of(path, read_file(TREE .. "/" .. path)) or {}) do
      site.name = ("%s:%d:%d %s"):format(path, site.line, site.first, site.to)
      list[#list + 1] = site
    end
  end
  math.randomseed(SEED)
  for i = #list, 2, -1 do
    local j = math.random(i)
    list[i], list[j] = list[j], list[i]
  end
  return list
end

--- Changes the files of sites, of the last first; returns what puts them back.
local function apply(list)
  local before = {}
  table.sort(list, function(a, b) return a.first > b.first end)
  for _, site in ipairs(list) do
    local path = TREE .. "/" .. site.file
    local text = read_file(path)
    before[path] = before[path] or text
    write_file(path, sites.changed(text, site))
  end
  return function()
    for path, text in pairs(before) do write_file(path, text) end
  end
end

-- --- which specs -------------------------------------------------------------------------------

--- The specs of a package, or of the one around it.
local function specs_of(package)
  repeat
    local list = lines(("cd %s && find spec/%s -maxdepth 1 -name '*_spec.lua' 2>/dev/null"):format(TREE, package))
    if #list > 0 then return list end
    package = package:match "^(.*)/"
  until not package
  return {}
end

--- The packages whose files include or require one.
local function users_of(package)
  local pattern = ("'#include \"%s/|require \"clcompute.%s[.\"]'"):format(package, (package:gsub("/", ".")))
  local list, has = {}, { [package] = true }
  for _, file in ipairs(lines(("cd %s && grep -rlE %s csrc lua"):format(TREE, pattern))) do
    local user = package_of(file)
    if not has[user] then list[#list + 1], has[user] = user, true end
  end
  return list
end

--- The specs of a file's name come first. Those that take long come last, so that many are asked; of others the
-- larger ones.
local function quick_first(specs, file)
  local cost, own = {}, "/" .. file:match "([^/]*)%.%l+$" .. "_spec.lua"
  for _, spec in ipairs(specs) do
    cost[spec] = { spec:find(own, 1, true) and 0 or 1, took[spec] or 0, #read_file(TREE .. "/" .. spec), spec }
  end
  table.sort(specs, function(a, b)
    for i, part in ipairs(cost[a]) do
      if part ~= cost[b][i] then return part < cost[b][i] end
    end
    return false
  end)
  return specs
end

--- The specs that judge a file: first those of its package.
local function judges_of(file)
  local package, list, has, others = package_of(file), {}, {}, {}
  local function add(specs)
    for _, spec in ipairs(specs) do
      if not has[spec] then list[#list + 1], has[spec] = spec, true end
    end
  end
  add(quick_first(specs_of(package), file))
  for _, user in ipairs(users_of(package)) do
    local specs = specs_of(user)
    table.move(specs, 1, #specs, #others + 1, others)
  end
  add(quick_first(others, file))
  return list
end

-- --- verdicts ----------------------------------------------------------------------------------

--- How a spec does without a mutant.
local function health_of(spec)
  if not healthy[spec] then
    local passed, _, seconds = try(spec, 300)
    keep { spec = spec, passed = passed, seconds = seconds }
  end
  return healthy[spec]
end

--- The first spec that fails, nil where none does in time; how many were asked, and the seconds that it had if it was
-- late. Specs that fail without a mutant are not asked.
local function failing(specs)
  local start, asked = os.time(), 0
  for _, spec in ipairs(specs) do
    local left = SECONDS - (os.time() - start)
    if left <= 0 then break end
    if not healthy[spec] or healthy[spec].passed then
      local passed, is_late = try(spec, left)
      asked = asked + 1
      if not passed then return spec, asked, is_late and left or nil end
    end
  end
  return nil, asked
end

local function object_of(file)
  return ("%s/build/objects/%s"):format(TREE, file:gsub("^csrc/", ""):gsub("c$", "o"))
end

--- Runs f with a mutant in the tree; returns what f does, or why there is nothing to ask: "invalid" is no program,
-- "equivalent" one of which the compiler makes what it made of the file.
local function with(site, f)
  local is_c = site.file:find "%.c$"
  local before = is_c and read_file(object_of(site.file))
  local restore, reason, result = apply { site }, nil, nil
  if is_c then
    reason = not build() and "invalid" or read_file(object_of(site.file)) == before and "equivalent" or nil
  elseif not loadfile(TREE .. "/" .. site.file) then
    reason = "invalid"
  end
  if not reason then result = table.pack(f()) end
  restore()
  if is_c then assert(build(), "the tree does not build without the mutant") end
  return reason, table.unpack(result or {})
end

--- Whether a spec that ran out of so many seconds with a mutant needs far fewer without.
local function is_quick(spec, seconds)
  return seconds > 10 and (try(spec, (seconds - 10) / 4))
end

--- The row of a mutant. A spec kills it that fails, or takes far longer than it does without the mutant.
local function row_of(site)
  local specs = judges_of(site.file)
  while true do
    local reason, spec, asked, late = with(site, function() return failing(specs) end)
    local row = { name = site.name, kind = site.kind, from = site.from, asked = asked, verdict = reason or "survived" }
    if not spec then return row end
    if late or health_of(spec).passed then
      if not late or is_quick(spec, late) then row.verdict, row.by = "killed", spec end
      return row
    end
  end
end

local function run_mutants(list, seconds)
  local start, count = os.time(), 0
  for _, site in ipairs(list) do
    if count == COUNT or os.time() - start > seconds then break end
    if not verdicts[site.name] then
      keep(row_of(site))
      print(verdicts[site.name].verdict, site.name)
    end
    local verdict = verdicts[site.name].verdict
    if verdict ~= "invalid" and verdict ~= "equivalent" then count = count + 1 end
  end
end

--- Gives survivors to the whole suite together; where it fails, halves of them.
local function meet_suite(list)
  if #list == 0 then return end
  local restore = apply(table.move(list, 1, #list, 1, {}))
  local survived = build() and run("make -s check", 7200)
  restore()
  if not survived and #list > 1 then
    local half = #list // 2
    meet_suite(table.move(list, 1, half, 1, {}))
    return meet_suite(table.move(list, half + 1, #list, 1, {}))
  end
  for _, site in ipairs(list) do keep { suite = true, name = site.name, survived = survived } end
end

local function run_suite(list)
  local batch = {}
  for _, site in ipairs(list) do
    local row = verdicts[site.name]
    if row and row.verdict == "survived" and not met[site.name] then batch[#batch + 1] = site end
    if #batch == BATCH then
      meet_suite(batch)
      batch = {}
    end
  end
  meet_suite(batch)
end

local function report(list)
  local counts = { killed = 0, survived = 0, equivalent = 0, invalid = 0 }
  for _, site in ipairs(list) do
    local row = verdicts[site.name]
    local verdict = row and (met[site.name] and not met[site.name].survived and "killed" or row.verdict)
    if verdict then counts[verdict] = counts[verdict] + 1 end
    if verdict == "survived" then
      print(("%s:%d: %s: '%s' for '%s'"):format(site.file, site.line, site.kind, site.to, site.from))
    end
  end
  local judged = counts.killed + counts.survived
  print(("mutants: %d of %d judged, %d killed (%.0f %%), %d survived; seed %d"):format(judged, COUNT, counts.killed,
    100 * counts.killed / math.max(1, judged), counts.survived, SEED))
end

assert(os.execute("mkdir -p " .. FOLDER))
if not os.rename(TREE, TREE) then assert(os.execute("git clone -q . " .. TREE)) end
assert(os.execute(("git -C %s checkout -q ."):format(TREE))) -- without the mutant at which a run was ended
assert(build(), "the tree does not build: " .. FOLDER .. "/log")
read_rows()
local list, command = draw(), arg[1] or "report"
if command == "run" then run_mutants(list, tonumber(arg[2]) or math.huge) end
if command == "suite" then run_suite(list) end
report(list)
