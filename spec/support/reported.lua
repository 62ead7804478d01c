-- SPDX-License-Identifier: MIT
--- What the specs of reports share: rows, and readers of what is written. Random values are the same in each run of the
-- suite, other ones by `make long`; SPEC_SEED repeats those.

local reported = {}

local SEED = tonumber(os.getenv "SPEC_SEED") or os.getenv "LONG" and os.time() or 1
io.stderr:write("SPEC_SEED=", SEED, "\n")
math.randomseed(SEED)

--- What each format has a meaning for.
reported.EVIL = '<b>"x" & \'y\', | *z* [l](u) `c`\nnext'

reported.ROWS = {
  { name = "saxpy", params = { n = 1024, group = 64 }, device = "GPU α", value = 8.62e-3, q1 = 8.57e-3, q3 = 11.13e-3,
    gflops = 1.5, checked = true, status = "ok" },
  { name = "saxpy", params = { n = 2048 }, device = "CPU", value = 17.2e-3, q1 = 17e-3, q3 = 17.4e-3, gflops = 3.25,
    checked = false, status = "ok" },
  { name = "saxpy", params = { n = 4096 }, device = "CPU", status = "unsupported", reason = "no double" },
}

function reported.count(text, pattern)
  return select(2, text:gsub(pattern, ""))
end

function reported.lines_of(text)
  local list = {}
  for line in text:gmatch "([^\n]*)\n" do list[#list + 1] = line end
  return list
end

return reported
