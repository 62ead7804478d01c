-- SPDX-License-Identifier: MIT
--- Mutants: small faults drawn at random over csrc/ and lua/, each judged by the specs that reach its line. Each
-- verdict is a row of examples/results/mutants.jsonl, whose first row says from which commit all are drawn: a run that
-- is ended goes on where it was, on another machine too, with the specs of today. One that a person has judged is a
-- row behind its first: equivalent, by "hand: " and why, or killed, by "hand: " and the spec that was seen to fail;
-- specs of today that need more than the code of that commit has are not asked.
--
--     mutate.lua run [seconds]       judges further ones, for so many seconds; notes first what each spec reaches
--     mutate.lua again [seconds]     judges survivors once more, when there are new specs
--     mutate.lua report              counts the verdicts and lists the survivors
--
-- Run by `make mutate`, in copies of the tree, one for each of LANES mutants that are judged at once; environment:
-- SEED of the drawing, COUNT of mutants, PACKAGES ("base device") to draw from those alone, ROWS, another file of rows,
-- LIMIT, the seconds that specs of a mutant have: with an hour "again" gives survivors to the whole suite, as no spec
-- is asked that does not reach the line.

io.stdout:setvbuf "line"

local json = require "dkjson"
local sites = require "tools.mutate.sites"

local SEED, COUNT = tonumber(os.getenv "SEED") or 22, tonumber(os.getenv "COUNT") or 500
local PACKAGES = os.getenv "PACKAGES" -- nil: all
local SECONDS = tonumber(os.getenv "LIMIT") or 60 -- for the specs of a mutant
local SLOWER = 2.5 -- times as long a spec takes where its lines are counted
local FOLDER = "build/mutate"
local REACH, HEALTH = FOLDER .. "/reach", FOLDER .. "/health.jsonl"
local ROWS = os.getenv "ROWS" or "examples/results/mutants.jsonl"
local LANES, LANE = tonumber(os.getenv "LANES") or 2, tonumber(os.getenv "LANE") or 0 -- 0: none, of all
local TREE = ("%s/tree-%d"):format(FOLDER, LANE)

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
  local shell = ("cd %s && ulimit -v 16777216 && %s timeout -k 5 %d sh -c '%s' >../log-%d 2>&1 </dev/null"):format(TREE,
    apart, math.ceil(limit), command, LANE)
  local ended, _, code = os.execute(shell)
  return ended == true, code == 124 or code == 137
end

local function build()
  return (run("make -s all layer", 300))
end

--- Runs a spec; whether it passes, whether its time ran out, and the seconds it took.
local function try(spec, limit)
  local start = os.time()
  local passed, is_late = run("eval \"$(make -s env)\" && JOBS=1 FIRST=1 tools/test.sh " .. spec, limit)
  return passed, is_late, os.time() - start
end

-- --- rows --------------------------------------------------------------------------------------

local commit -- from which the mutants are drawn
local verdicts, healthy = {}, {} -- by name of a mutant, by spec

local function take(row)
  if row.commit then
    commit = row.commit
  elseif row.spec then
    healthy[row.spec] = row
  else
    verdicts[row.name] = row
  end
end

local function keep(row)
  local file <close> = assert(io.open(row.spec and HEALTH or ROWS, "a"))
  file:write(json.encode(row), "\n")
  take(row)
end

local function read_rows()
  for _, path in ipairs { ROWS, HEALTH } do
    local file <close> = io.open(path)
    for line in file and file:lines() or function() end do take(assert(json.decode(line))) end
  end
end

--- The copy of the tree: the code as the mutants are drawn from it, what tests it as it is today, and no mutant at
-- which a run was ended.
local function prepare()
  if not commit then keep { commit = lines("git rev-parse HEAD")[1] } end
  if not os.rename(TREE, TREE) then assert(os.execute("git clone -q . " .. TREE)) end
  assert(os.execute(([[cd %s && git fetch -q && git checkout -q -f %s &&
    git checkout -q origin/HEAD -- spec tools Makefile]]):format(TREE, commit)))
  assert(build(), "the tree does not build: " .. FOLDER)
end

-- --- which mutants -----------------------------------------------------------------------------

local function package_of(file)
  return file:gsub("^csrc/", ""):gsub("^lua/clcompute/", ""):match "^(.*)/" or ""
end

local function is_drawn(file)
  return not PACKAGES or (" %s "):format(PACKAGES):find((" %s "):format(package_of(file)), 1, true)
end

--- All sites in an order by the seed.
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

local reached = {} -- by spec, `{ seconds=, [path] = { { first, last },... } }`

--- Notes what each spec reaches that was changed since that was noted.
local function note_reach()
  local list = lines(([[mkdir -p %s && place=$PWD/%s && cd %s && find spec -name '*_spec.lua' | while read -r spec; do
    [ "$place/$(echo "$spec" | tr / _)" -nt "$spec" ] || echo "$spec"; done]]):format(REACH, REACH, TREE))
  if #list == 0 then return end
  print(("which lines specs reach: %d, a quarter of an hour for all"):format(#list))
  assert(run("make -s reach", 600), "no modules that count lines")
  assert(os.execute(([[place=$PWD/%s && cd %s && eval "$(make -s env)" && echo '%s' |
    xargs -n 1 -P %d tools/mutate/reach.sh "$place"]]):format(REACH, TREE, table.concat(list, " "), LANES)))
end

local function read_reach()
  for _, name in ipairs(lines("ls " .. REACH)) do
    local spec
    for line in io.lines(REACH .. "/" .. name) do
      local path, first, last = line:match "^(%S+) (%d+) ?(%d*)$"
      if not spec then
        spec, reached[path] = path, { seconds = tonumber(first) / SLOWER }
      else
        local ranges = reached[spec][path] or {}
        reached[spec][path] = ranges
        ranges[#ranges + 1] = { tonumber(first), tonumber(last) }
      end
    end
  end
end

--- The length of the shortest range of a spec around a line of a file; nil: it does not reach the line. Of a main
-- chunk of Lua, which is told as 0 to 0, more than any.
local function distance(spec, file, number)
  local least
  for _, range in ipairs(reached[spec][file] or {}) do
    local length = range[2] == 0 and math.huge or range[1] <= number and number <= range[2] and range[2] - range[1]
    least = length and math.min(least or length, length) or least
  end
  return least
end

--- The specs that reach a site: of Lua, those that call the innermost function around it that any calls. Quick ones
-- come before slow ones; that named like the file, and those of the package, are worth more time.
local function judges_of(site)
  local list, least, order = {}, math.huge, {}
  local is_c = site.file:find "%.c$"
  for spec in pairs(reached) do
    local length = distance(spec, site.file, site.line)
    if length and not is_c and length < least then list, least = {}, length end
    if length and (is_c or length == least) then list[#list + 1] = spec end
  end
  local own = "/" .. site.file:match "([^/]*)%.%l+$" .. "_spec.lua"
  local package = "spec/" .. package_of(site.file) .. "/"
  for _, spec in ipairs(list) do
    local likelihood = spec:find(own, 1, true) and 8 or spec:find(package, 1, true) and 3 or 1
    order[spec] = (reached[spec].seconds + 1) / likelihood
  end
  table.sort(list, function(a, b) return order[a] < order[b] or order[a] == order[b] and a < b end)
  return list
end

-- --- verdicts ----------------------------------------------------------------------------------

--- How a spec does without a mutant, as this lane or another one has found.
local function health_of(spec)
  if not healthy[spec] then read_rows() end
  if not healthy[spec] then
    local passed, _, seconds = try(spec, 300)
    keep { spec = spec, passed = passed, seconds = seconds }
  end
  return healthy[spec]
end

--- The first spec that fails, nil where none does in time; how many were asked, and the seconds that it had if it was
-- late. Specs that fail without a mutant are not asked, and none that needs more time than is left.
local function failing(specs)
  local start, asked = os.time(), 0
  for _, spec in ipairs(specs) do
    local left = SECONDS - (os.time() - start)
    local is_asked = (not healthy[spec] or healthy[spec].passed) and reached[spec].seconds < left
    if is_asked then
      local limit = math.max(left, 3 * reached[spec].seconds)
      local passed, is_late = try(spec, limit)
      asked = asked + 1
      if not passed then return spec, asked, is_late and limit or nil end
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
  local specs = judges_of(site)
  while true do
    local reason, spec, asked, late = with(site, function() return failing(specs) end)
    local row = { name = site.name, kind = site.kind, from = site.from, asked = asked, reach = #specs,
      verdict = reason or "survived" }
    if not spec then return row end
    if late or health_of(spec).passed then
      if not late or is_quick(spec, late) then row.verdict, row.by = "killed", spec end
      return row
    end
  end
end

local function verdict_of(site) return verdicts[site.name] and verdicts[site.name].verdict end

--- The mutants: as many as are wanted, without those that are no program or no other one.
local function wanted(list)
  local result, count = {}, 0
  for _, site in ipairs(list) do
    if count == COUNT then break end
    local verdict = verdict_of(site)
    if verdict ~= "invalid" and verdict ~= "equivalent" then result[#result + 1], count = site, count + 1 end
  end
  return result
end

local function is_judged(list)
  for _, site in ipairs(list) do
    if not verdict_of(site) then return false end
  end
  return true
end

--- Judges those of the mutants that are this lane's.
local function run_lane(list, seconds, is_again)
  local start = os.time()
  for i, site in ipairs(list) do
    if os.time() - start > seconds then break end
    local verdict = verdict_of(site)
    if i % LANES + 1 == LANE and (not verdict or is_again and verdict == "survived") then
      keep(row_of(site))
      print(verdicts[site.name].verdict, site.name)
    end
  end
end

--- All lanes side by side, each in a copy of the tree as it was built.
local function run_lanes(command, seconds)
  for lane = 1, LANES do
    local copy = ("%s/tree-%d"):format(FOLDER, lane)
    if not os.rename(copy, copy) then assert(os.execute(("cp -a %s %s"):format(TREE, copy))) end
  end
  assert(os.execute(("for lane in $(seq %d); do LANE=$lane %s tools/mutate.lua %s %s & done; wait"):format(LANES,
    os.getenv "LUA" or "lua5.4", command, seconds or "")))
end

local function report(list)
  local counts = { killed = 0, survived = 0 }
  for _, site in ipairs(list) do
    local verdict = verdict_of(site)
    if verdict then counts[verdict] = counts[verdict] + 1 end
    if verdict == "survived" then
      local row = verdicts[site.name]
      print(("%s:%d: %s: '%s' for '%s', %d of %d specs asked"):format(site.file, site.line, site.kind, site.to,
        site.from, row.asked, row.reach))
    end
  end
  local judged = counts.killed + counts.survived
  print(("mutants: %d of %d judged, %d killed (%.0f %%), %d survived; seed %d"):format(judged, COUNT, counts.killed,
    100 * counts.killed / math.max(1, judged), counts.survived, SEED))
end

assert(os.execute("mkdir -p " .. FOLDER))
read_rows()
prepare()
local all, command, seconds = draw(), arg[1] or "report", tonumber(arg[2])
if command == "run" or command == "again" then
  if LANE == 0 then note_reach() end
  read_reach()
  if LANE > 0 then return run_lane(wanted(all), seconds or math.huge, command == "again") end
  repeat -- others take the places of those that are no mutants
    run_lanes(command, seconds)
    read_rows()
  until seconds or command == "again" or is_judged(wanted(all))
end
report(wanted(all))
