-- SPDX-License-Identifier: MIT
--- Runs the long forms of all that is tested, and tells of each gate its figure and whether it was passed. Arguments:
-- names of gates, which run one after the other; without any all of them, an hour and a half on two processors: the
-- suite alone, as it also measures time, then the others in two lanes beside each other, with half of the processors
-- each, which is why bounds of time have room. The output of each is kept in build/gates.

local MAKE = "make -s --no-print-directory "

--- The first number that a pattern finds; NaN, which is within no limit, where there is none.
local function number(output, pattern)
  return tonumber(output:match(pattern) or "nan") or 0 / 0
end

--- The last line with anything in it.
local function last_line(output)
  local last = ""
  for line in output:gmatch "[^\n]+" do last = line:find "%S" and line or last end
  return last
end

--- The line that a pattern finds.
local function line(pattern)
  return function(output) return output:match("(" .. pattern .. "[^\n]*)") or last_line(output) end
end

--- What all specs together come to.
local function total(output)
  return output:match ".*\n(%d+ passed, %d+ failed)" or last_line(output)
end

--- Lines and branches of the core and of the other modules, with what is asked of them.
local function coverage(output)
  local parts = {}
  for name, lines, branches in output:gmatch "\n(%l+) %(%d+, %d+%) +%d+ +([%d.]+) %% +%d+ +%d+ +([%d.]+) %%" do
    parts[#parts + 1] = ("%s %s %% of lines, %s %% of branches"):format(name, lines, branches)
  end
  return #parts > 0 and table.concat(parts, "; ") or last_line(output)
end

--- The sum of the numbers that a pattern finds.
local function sum_of(pattern)
  return function(output)
    local sum = 0
    for n in output:gmatch(pattern) do sum = sum + math.tointeger(n) end
    return ("%d inputs"):format(sum)
  end
end

-- name; what it shows; command; `figure`, from the output; `holds`, beyond a good end. Those that share the folder of
-- `make check` are in the same lane; `second`, the other one.
local GATES = {
  { "suite", "every spec on every driver, no handle leaked", "check", figure = total },
  { second = true, "faults", "every OpenCL call, allocation and call of the system fails once", "faults",
    figure = line "faults: ",
    holds = function(o) return number(o, "(%d+) of OpenCL") >= 5000 and number(o, "(%d+) of alloc") >= 3000
        and number(o, "(%d+) of the C lib") >= 1000 end },
  { "misuse", "the table of misuse", "check SPECS=spec/whole/misuse_spec.lua", figure = total,
    holds = function(o) return number(o, "(%d+) passed, 0 failed") >= 100 end },
  { second = true, "fuzz-api", "a million calls, at least 100 messages", "fuzz-api", figure = line "fuzz%-api: ",
    holds = function(o)
      return number(o, "fuzz%-api: (%d+)") >= 1000000 and number(o, "(%d+) distinct messages, 0 crashes") >= 100
    end },
  { second = true, "fuzz-c", "texts and files read in C", "fuzz-c", figure = sum_of "(%d+) inputs" },
  { second = true, "fuzz-files", "files that lie", "fuzz-files", figure = total },
  { second = true, "long", "random loop nests, every size of a work-group", "long", figure = total },
  { "isolated", "buffers, programs, kernels and ranges on isolated CPUs", "check-isolated", figure = total },
  { second = true, "properties", "products and solutions within their bounds", "properties",
    figure = function(o) return line "gemm: "(o) .. "; " .. line "gauss: "(o) end,
    holds = function(o)
      return number(o, "gemm: (%d+) shapes") >= 10000 and number(o, "worst ([%d.]+) of") <= 1
        and o:find "gauss: [^\n]*, 0 silently wrong" ~= nil
    end },
  { "kernels", "kernels under Oclgrind, with races and uninitialised reads",
    "check LONG=1 SPECS=spec/whole/oclgrind_spec.lua", figure = total },
  { "asan", "the suite under AddressSanitizer and UBSan", "asan", figure = total },
  { second = true, "stress", "the suite with the collector forced", "stress", figure = total },
  { "valgrind", "each public function under Valgrind", "valgrind", figure = last_line },
  { "tsan", "four threads under ThreadSanitizer", "tsan", figure = last_line },
  { "coverage", "lines and branches of csrc", "coverage-clean coverage", figure = coverage },
  { "lifetimes", "120 orders of release, exits, forgeries, threads", "check SPECS=spec/whole/lifetimes_spec.lua",
    figure = total },
  { "mutations", "faults put into the code", "mutations", figure = line "mutations: ",
    holds = function(o) return o:find "5 of 5 found" ~= nil end },
  { "ranges", "the library's groups against fixed ones and the driver's", "ranges", figure = line "ranges: " },
  { "memory", "1,000 dropped buffers of 64 MB below 600 MB", "memory", figure = line "1000 buffers of 64 MB",
    holds = function(o) return number(o, "1000 buffers of 64 MB, peak (%d+) MB") < 600 end },
}

--- Runs a gate with so many specs at a time: its figure, whether it was passed, the seconds it took.
local function run(gate, jobs)
  local log, start = ("build/gates/%s.log"):format(gate[1]), os.time()
  local ended = os.execute(("%sJOBS=%s %s >%s 2>&1 </dev/null"):format(MAKE, jobs, gate[3], log)) == true
  local file <close> = assert(io.open(log))
  local output = file:read "a"
  return gate.figure(output), ended and (not gate.holds or gate.holds(output)), os.time() - start
end

--- Runs gates one after the other; how many were not passed.
local function run_all(gates, jobs)
  local failed = 0
  for _, gate in ipairs(gates) do
    local figure, ok, seconds = run(gate, jobs)
    if not ok then failed = failed + 1 end
    print(("%-10s %-6s %s: %s (%d s)"):format(gate[1], ok and "passed" or "failed", gate[2], figure, seconds))
  end
  return failed
end

--- Those gates for which f(gate) is true.
local function only(f)
  local list = {}
  for _, gate in ipairs(GATES) do if f(gate) then list[#list + 1] = gate end end
  return list
end

local function named(names)
  local list = {}
  for i, name in ipairs(names) do
    list[i] = only(function(gate) return gate[1] == name end)[1] or error(("no gate '%s'"):format(name), 0)
  end
  return list
end

-- What the second lane's exit code is above, so that no other end of it passes for a number of gates.
local FAILED = 100

--- All of them; how many were not passed. The second lane is this program once more, which ends with that number.
local function run_lanes(processors)
  local failed, jobs = run_all(named { "suite" }, processors), math.max(processors // 2, 1)
  local second = {}
  for i, gate in ipairs(only(function(gate) return gate.second end)) do second[i] = gate[1] end
  local process = assert(io.popen(("%s %s --jobs %d %s"):format(arg[-1], arg[0], jobs, table.concat(second, " ")), "w"))
  failed = failed + run_all(only(function(gate) return not gate.second and gate[1] ~= "suite" end), jobs)
  local _, how, code = process:close()
  local ran = how == "exit" and code >= FAILED and code <= FAILED + #second
  return failed + (ran and code - FAILED or #second)
end

io.stdout:setvbuf "line"
os.execute "mkdir -p build/gates"
if arg[1] == "--jobs" then os.exit(FAILED + run_all(named { table.unpack(arg, 3) }, arg[2])) end
local nproc <close> = io.popen "nproc"
local processors = tonumber(os.getenv "JOBS") or nproc:read "n"
local failed = #arg == 0 and run_lanes(processors) or run_all(named(arg), processors)
local count = #arg == 0 and #GATES or #arg
print(("gates: %d of %d passed"):format(count - failed, count))
os.exit(failed == 0)
