-- SPDX-License-Identifier: MIT
--- Runs the long forms of all that is tested, and tells of each gate its figure and whether it was passed. Arguments:
-- names of gates; without any all of them, which takes an hour or more. The output of each is kept in build/gates.

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

-- name; what it shows; command; `figure`, from the output; `holds`, beyond a good end.
local GATES = {
  { "suite", "every spec on every driver, no handle leaked", "check", figure = total },
  { "faults", "every OpenCL call, allocation and call of the system fails once", "faults", figure = line "faults: ",
    holds = function(o) return number(o, "(%d+) of OpenCL") >= 5000 and number(o, "(%d+) of alloc") >= 3000
        and number(o, "(%d+) of the C lib") >= 1000 end },
  { "misuse", "the table of misuse", "check SPECS=spec/misuse_spec.lua", figure = total,
    holds = function(o) return number(o, "(%d+) passed, 0 failed") >= 100 end },
  { "fuzz-api", "a million calls, at least 100 messages", "fuzz-api", figure = line "fuzz%-api: ",
    holds = function(o)
      return number(o, "fuzz%-api: (%d+)") >= 1000000 and number(o, "(%d+) distinct messages, 0 crashes") >= 100
    end },
  { "fuzz-c", "texts and files read in C", "fuzz-c", figure = sum_of "(%d+) inputs" },
  { "fuzz-files", "files that lie", "fuzz-files", figure = total },
  { "long", "random loop nests, every size of a work-group", "long", figure = total },
  { "properties", "products and solutions within their bounds", "properties",
    figure = function(o) return line "gemm: "(o) .. "; " .. line "gauss: "(o) end,
    holds = function(o)
      return number(o, "gemm: (%d+) shapes") >= 10000 and number(o, "worst ([%d.]+) of") <= 1
        and o:find "gauss: [^\n]*, 0 silently wrong" ~= nil
    end },
  { "kernels", "kernels under Oclgrind, with races and uninitialised reads", "check SPECS=spec/oclgrind_spec.lua",
    figure = total },
  { "asan", "the suite under AddressSanitizer and UBSan", "asan", figure = total },
  { "stress", "the suite with the collector forced", "stress", figure = total },
  { "valgrind", "each public function under Valgrind", "valgrind", figure = last_line },
  { "tsan", "four threads under ThreadSanitizer", "tsan", figure = last_line },
  { "coverage", "lines and branches of csrc", "coverage-clean coverage", figure = coverage },
  { "lifetimes", "120 orders of release, exits, forgeries, threads", "check SPECS=spec/lifetimes_spec.lua",
    figure = total },
  { "mutations", "faults put into the code", "mutations", figure = line "mutations: ",
    holds = function(o) return o:find "5 of 5 found" ~= nil end },
  { "memory", "1,000 dropped buffers of 64 MB below 600 MB", "memory", figure = line "1000 buffers of 64 MB",
    holds = function(o) return number(o, "1000 buffers of 64 MB, peak (%d+) MB") < 600 end },
}

local function chosen()
  if #arg == 0 then return GATES end
  local by_name, list = {}, {}
  for _, gate in ipairs(GATES) do by_name[gate[1]] = gate end
  for i, name in ipairs(arg) do list[i] = by_name[name] or error(("no gate '%s'"):format(name), 0) end
  return list
end

--- Runs a gate: its figure, whether it was passed, the seconds it took.
local function run(gate)
  local log, start = ("build/gates/%s.log"):format(gate[1]), os.time()
  local ended = os.execute(("%s%s >%s 2>&1"):format(MAKE, gate[3], log)) == true
  local file <close> = assert(io.open(log))
  local output = file:read "a"
  return gate.figure(output), ended and (not gate.holds or gate.holds(output)), os.time() - start
end

io.stdout:setvbuf "line"
os.execute "mkdir -p build/gates"
local gates, passed = chosen(), 0
for _, gate in ipairs(gates) do
  local figure, ok, seconds = run(gate)
  passed = passed + (ok and 1 or 0)
  print(("%-10s %-6s %s: %s (%d s)"):format(gate[1], ok and "passed" or "failed", gate[2], figure, seconds))
end
print(("gates: %d of %d passed"):format(passed, #gates))
os.exit(passed == #gates)
