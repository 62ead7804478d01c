-- SPDX-License-Identifier: MIT
--- Writes a page's measured figures: figures.lua PAGE prints the page with the tables between `<!-- figures: name -->`
-- and `<!-- end -->` made anew from the rows that are kept in examples/results. `make doc` puts them into place.

local report = require "clcompute.report"

local RESULTS = "examples/results/"
local peers, nests = report.read(RESULTS .. "peers-pocl.jsonl"), report.read(RESULTS .. "peers-loops-pocl.jsonl")
local gpu, nests_on_gpu = report.read(RESULTS .. "peers-nvidia.jsonl"), report.read(RESULTS .. "nests-nvidia.jsonl")

-- --- cells ------------------------------------------------------------------------------------------------

--- Three digits.
local function digits(value)
  return (value < 10 and "%.2f" or value < 100 and "%.1f" or "%.0f"):format(value)
end

local function time(seconds)
  if seconds >= 1 then return digits(seconds) .. " s" end
  if seconds >= 1e-3 then return digits(seconds * 1e3) .. " ms" end
  return digits(seconds * 1e6) .. " us"
end

local function ratio(times) return (times >= 10 and "%.0f" or "%.2f"):format(times) end

local function line(...) return "| " .. table.concat({ ... }, " | ") .. " |" end

local function head(...)
  return line(...) .. "\n" .. ("|---"):rep(select("#", ...)) .. "|"
end

local function find(rows, group, name)
  for _, row in ipairs(rows) do
    if row.group == group and row.line:find(name, 1, true) == 1 then return row end
  end
  error("no kept row of " .. group .. ", " .. name)
end

-- --- tables -----------------------------------------------------------------------------------------------

local figures = {}

--- Operations on a CPU beside other libraries; of doubles the means alone.
function figures.peers()
  local lines = { head("operation", "size", "ours", "theirs", "ratio") }
  for _, row in ipairs(peers) do
    local is_mean = row.line:find "^geometric mean"
    if is_mean then
      lines[#lines + 1] = line(row.group, "geometric mean", "", "", ratio(row.times))
    elseif not row.group:find "^dge" and not row.group:find "double" then
      lines[#lines + 1] = line(row.group, row.line, time(row.value),
        ("%s (%s)"):format(time(row.peer_value), row.against), ratio(row.times))
    end
  end
  return lines
end

--- Loop nests in Lua beside C and others.
function figures.loops()
  local lines = { head("nest, n x steps", "ours", "theirs", "launches", "ratio", "ratio, doubles") }
  for _, row in ipairs(nests) do
    if row.group ~= "loops in doubles" and not row.group:find "^further" then
      local is_gcc = row.group == "loops in floats"
      lines[#lines + 1] = line(row.line, time(row.value), ("%s (%s)"):format(time(row.peer_value), row.against),
        row.launches, ratio(row.times), is_gcc and ratio(find(nests, "loops in doubles", row.line).times) or "")
    end
  end
  return lines
end

--- Operations on a GPU beside NVIDIA's libraries; of random shapes the mean and the least ratio.
function figures.gpu()
  local lines = { head("operation", "size", "ours", "theirs", "ratio", "must, goal") }
  local title, sum, count, least = nil, 0.0, 0, math.huge
  for _, row in ipairs(gpu) do
    if row.group:find "random shapes" then
      title, sum, count, least = row.group, sum + math.log(row.times), count + 1, math.min(least, row.times)
    else
      lines[#lines + 1] = line(row.group, row.line, time(row.value),
        ("%s (%s)"):format(time(row.peer_value), row.against), ratio(row.times),
        row.must and ("%.2f, %.2f"):format(row.must, row.goal) or "")
    end
  end
  lines[#lines + 1] = line(title, ("geometric mean of %d; least %.2f"):format(count, least), "", "",
    ratio(math.exp(sum / count)), "")
  return lines
end

--- Loop nests on a GPU beside CUDA.
function figures.cuda()
  local lines = { head("nest, n x steps", "ours, doubles", "CUDA", "ratio", "ours, floats", "CUDA", "ratio",
    "launches") }
  for _, row in ipairs(nests_on_gpu) do
    if row.group == "nests in doubles" then
      local cells = { row.line }
      for _, group in ipairs { row.group, "nests in floats" } do
        local found, other = pcall(find, nests_on_gpu, group, row.line)
        local three = found and { time(other.value), time(other.peer_value), ratio(other.times) } or { "", "", "" }
        table.move(three, 1, 3, #cells + 1, cells)
      end
      cells[#cells + 1] = row.launches
      lines[#lines + 1] = line(table.unpack(cells))
    end
  end
  return lines
end

--- Functions beside C alone and with OpenMP.
function figures.further()
  local lines = { head("function, n x steps", "ours, doubles", "gcc", "OpenMP", "ours, floats", "gcc", "OpenMP") }
  for _, row in ipairs(nests) do
    if row.group == "further loops in doubles" then
      local cells = { row.line }
      for _, group in ipairs { row.group, "further loops in floats" } do
        local found, other = pcall(find, nests, group, row.line:match "^geometric mean" or row.line)
        other = found and other or nil
        cells[#cells + 1] = other and other.value and time(other.value) or ""
        cells[#cells + 1] = other and ratio(other.times) or ""
        cells[#cells + 1] = other and other.also_times and ratio(other.also_times) or ""
      end
      lines[#lines + 1] = line(table.unpack(cells))
    end
  end
  return lines
end

--- A few of each: the front page's.
function figures.summary()
  local lines = { head("operation", "ours", "theirs", "ratio") }
  local function add(title, rows, group, name)
    local row = find(rows, group, name)
    lines[#lines + 1] = line(title, time(row.value), ("%s (%s)"):format(time(row.peer_value), row.against),
      ratio(row.times))
  end
  local function add_rate(title, group, name)
    local row = find(gpu, group, name)
    lines[#lines + 1] = line(title, digits(row.gflops / 1e3) .. " TFLOP/s",
      ("%s TFLOP/s (%s)"):format(digits(row.peer_gflops / 1e3), row.against), ratio(row.times))
  end
  add("`cl.gemm`, n = 2048", peers, "sgemm", "n = 2048")
  add("`cl.gemm`, n = 1024", peers, "sgemm", "n = 1024")
  add("`cl.gemm`, n = 128", peers, "sgemm, n = 128", "n = 128")
  add("`cl.gemm`, n = 1024, in turns with CLBlast", peers, "sgemm and CLBlast", "n = 1024")
  add("`cl.lu` and `solve`, n = 2048", peers, "sgesv", "n = 2048")
  add("`cl.saxpy`, 2^24", peers, "saxpy", "n = 16777216")
  add("`cl.sum`, 2^24", peers, "sum", "n = 16777216")
  add("`cl.scan`, 2^24", peers, "scan", "n = 16777216")
  add("loop nest in Lua: Jacobi, 1024 x 1024, 100 steps", nests, "loops in floats", "jac2d")
  add("loop nest in Lua: LU, n = 1024", nests, "loops in floats", "lud 1024")
  add("loop nest in Lua: Gauss-Seidel, n = 512", nests, "loops in floats", "gs 512")
  add_rate("H200: `cl.gemm`, n = 8192", "sgemm", "n = 8192")
  add_rate('H200: `cl.gemm`, "float-tensor", n = 8192', "float-tensor", "n = 8192")
  add("H200: `cl.lu` and `solve`, n = 4096", gpu, "lu and solve", "n = 4096")
  add("H200: 2000 systems of 64 x 64 at once", gpu, "batches of systems", "2000 of n = 64")
  return lines
end

local file <close> = assert(io.open((assert(arg[1], "usage: figures.lua PAGE"))))
io.write((file:read "a":gsub("(<!%-%- figures: (%l[%w_]*) %-%->\n).-\n(<!%-%- end %-%->)", function(first, name, last)
  return first .. "\n" .. table.concat(figures[name](), "\n") .. "\n\n" .. last
end)))
