-- SPDX-License-Identifier: MIT
--- The architecture, and the check that the code keeps to it: packages from the ground up. A package is a folder of
-- csrc/, of lua/clcompute/ or of both. Its face is the header named like it, or its init.lua; all else is its own.
-- A file uses its own package, and the faces of packages that stand earlier in this list.

local PACKAGES = {
  "base", -- errors, arguments, handles, element types, waiting; options, tables of text, child processes
  "files", -- plain files, new files, the cache of compiled programs
  "language", -- what the text of OpenCL C says, without a driver
  "worker", -- a second process, and what is said to it
  "device", -- contexts, queues, parts, events, what is in flight, what was counted, what is alive
  "buffer", -- typed memory: make, move, view, show
  "image", -- images and samplers
  "formats", -- files of arrays and of pictures: .npy, .npz, .csv, .pgm, .ppm, .png
  "kernel", -- signatures, ranges, launches, check mode
  "program", -- from text to a built program
  "answers", -- known answers of devices, and the verdicts kept of them
  "tuning", -- the numbers of every operation, by device
  "sequential", -- plain loops in C: what is compared with
  "operations", -- what every operation shares; saxpy, map, reduce, scan
  "operations/gemm", -- one product, one file a way to compute it
  "operations/gauss", -- factor, solve, judge
  "arrays", -- arrays: order, choose, move elements
  "mpi", -- clcompute.mpi: ranks of a job, and what goes from one to another
  "groups", -- several devices as one: spread buffers, and the operations on them
  "doctor", -- faults of a machine and their remedies
  "report", -- rows to text, tables, charts, pages; buffers and lists as plots and pictures
  "", -- csrc/core.c, lua/clcompute/init.lua: the public table
  "warm", -- all built before it is needed, and what first builds cost
  "peers", -- clcompute.blas: the libraries that are compared with
  "poly", -- clcompute.poly: isl
  "loops/tree", "loops/front", "loops/analysis", "loops/generation", "loops/runtime", "loops/explain",
  "loops", -- loop nests of Lua as kernels
  "bench", -- measure, compare, sweep
  "suite", -- what is measured, and against whom; the papers' tables
  "device_profile", -- experiments that read a device's architecture off
  "tune", -- the search for better numbers
  "reference", -- what library/ says of every public name
  "prompt", -- read, compute, print: locals that live on, completion, help
  "cli", -- one file a command
}

local LEVEL, faults = {}, 0
for level, name in ipairs(PACKAGES) do LEVEL[name] = level end

local function complain(...)
  faults = faults + 1
  io.stderr:write(string.format(...), "\n")
end

--- One file of a package uses a file of another.
local function check(path, package, used, is_face)
  if not LEVEL[used] then return complain("%s: uses '%s', which is no package of tools/layers.lua", path, used) end
  if LEVEL[used] > LEVEL[package] then complain("%s: uses '%s', which stands later in the list", path, used) end
  if not is_face then complain("%s: goes past the face of '%s'", path, used) end
end

local function check_c(path, package, text)
  for used, name in text:gmatch '#include "([%w_/]-)/?([%w_]+)%.h"' do
    if used ~= "" then check(path, package, used, used:match "[%w_]+$" == name) end
  end
end

-- The packages of modules in C; the core is that of all packages up to the public table.
local IN_C = { core = "base", ["core.internal"] = "base", native = "sequential", blas = "peers", ranks = "mpi" }

--- The package of a module, the longest part of its name that is one; and whether the module is its face.
local function package_of(module)
  local in_c = IN_C[module:match "^clcompute%.(.*)$"]
  if in_c then return in_c, true end
  local name = module:gsub("^clcompute%.?", ""):gsub("%.", "/")
  while not LEVEL[name] and name ~= "" do name = name:match "^(.*)/" or "" end
  return name, module == ("clcompute/" .. name):gsub("/", "."):gsub("%.$", "")
end

local function check_lua(path, package, text)
  for module in text:gmatch 'require[ (]*"(clcompute[%w_.]*)"' do
    local used, is_face = package_of(module)
    if used ~= package then check(path, package, used, is_face) end
  end
end

--- Checks the files of a tree: rooms, names that stand for one thing, and whom they use.
local function check_tree(root, extensions, check_file)
  local seen, pipe = {}, assert(io.popen(("find %s -type f | sort"):format(root)))
  for path in pipe:lines() do
    local package, name, extension = ("/" .. path:sub(#root + 2)):match "^/?(.-)/?([%w_]+)%.(%l+)$"
    if not LEVEL[package] then complain("%s: '%s' is no package of tools/layers.lua", path, package) end
    local key = name .. "." .. extension
    if name ~= "init" and seen[key] then complain("%s: %s has that name too", path, seen[key]) end
    seen[key] = path
    local file <close> = assert(io.open(path))
    if extensions[extension] and LEVEL[package] then check_file(path, package, file:read "a") end
  end
  pipe:close()
end

check_tree("csrc", { c = true, h = true }, check_c)
check_tree("lua/clcompute", { lua = true }, check_lua)
os.exit(faults == 0)
