-- SPDX-License-Identifier: MIT
--- Faults put into the C code on purpose, one at a time: each must be found by a test that passes without it. A fault
-- is a text of a file of csrc and what stands in its place, in a copy of the file that is built into a core of its own.
-- Run by `make mutations`.

local campaign = require "spec.support.fuzz.campaign"

local FOLDER = "build/mutations"

campaign.prepare "build/fuzz" -- where Oclgrind is the only platform

local FUZZ = "FUZZ_TRIES=0 LUA_CPATH_5_4=$CPATH lua5.4 tools/fuzz_api.lua 40000 4 4"
local LIVES = "OCL_ICD_VENDORS=build/fuzz/simulated LUA_CPATH_5_4=$CPATH build/lua-faults "
  .. "spec/support/faults/lives.lua oclgrind"
local BUFFERS = "LUA_CPATH_5_4=$CPATH lua5.4 /usr/bin/busted spec/buffer/buffer_spec.lua"

local mutations = {
  { name = "a handle that is made before its userdata", file = "buffer/memory", found_by = LIVES,
    old = [[
  clc_Buffer *b = clc_pushbuffer(L, d, dtype, shape);
  lua_remove(L, -2);
  clc_allocate(L, d, &b->h, create_memory, bytes, &b->allocated);
]],
    new = [[
  const cl_mem early = clCreateBuffer(d->context->cl, CL_MEM_READ_WRITE, bytes, NULL, NULL);
  clc_Buffer *b = clc_pushbuffer(L, d, dtype, shape);
  lua_remove(L, -2);
  b->mem = early;
  d->context->bytes += b->allocated = bytes;
]] },
  { name = "a release that is missing", file = "device/event", found_by = FUZZ,
    old = "  if (e->first != e->last) clReleaseEvent(e->first);\n", new = "" },
  { name = "a release too many", file = "kernel/kernel", found_by = FUZZ,
    old = "  if (k->kernel != NULL) clReleaseKernel(k->kernel);\n",
    new = "  if (k->kernel != NULL) clReleaseKernel(k->kernel), clReleaseKernel(k->kernel);\n" },
  { name = "a check that is missing", file = "base/args", found_by = FUZZ,
    old = "if (hi < lo - 1 || hi > (lua_Integer)n)", new = "if (hi < lo - 1)" },
  { name = "a size that is off by one", file = "buffer/buffer", found_by = BUFFERS,
    old = "rows.dim[0] = last + 1 - first;", new = "rows.dim[0] = last - first;" },
}

local function read_file(path)
  local file <close> = assert(io.open(path, "rb"))
  return file:read "a"
end

local function write_file(path, text)
  local file <close> = assert(io.open(path, "wb"))
  file:write(text)
end

--- The text with the fault in place of what must be there once.
local function mutate(m)
  local text = read_file(("csrc/%s.c"):format(m.file))
  local first, last = text:find(m.old, 1, true)
  assert(first and not text:find(m.old, last, true), m.name .. ": its text is not there once")
  return text:sub(1, first - 1) .. m.new .. text:sub(last + 1)
end

--- Builds a core with the text of one file; returns the folder for require.
local function build(name, m, text)
  local folder = ("%s/%s"):format(FOLDER, name)
  assert(os.execute("mkdir -p " .. folder .. "/clcompute " .. folder .. "/" .. m.file:match "^(.*)/"))
  write_file(("%s/%s.c"):format(folder, m.file), text)
  assert(os.execute(("make -s mutant FROM=%s FILE=%s"):format(folder, m.file)))
  return folder
end

--- Whether a test passes with the core of a folder.
local function passes(test, folder)
  assert(os.execute("mkdir -p " .. FOLDER))
  local paths = ("\"$PWD/%s/?.so;$PWD/build/?.so;;\""):format(folder)
  local command = test:gsub("%$CPATH", paths)
  return os.execute(("%s >%s.log 2>&1"):format(command, folder)) == true
end

local healthy, found = {}, 0
for i, m in ipairs(mutations) do
  if healthy[m.found_by] == nil then -- a core built in the same way
    healthy[m.found_by] = passes(m.found_by, build("healthy" .. i, m, read_file(("csrc/%s.c"):format(m.file))))
  end
  local is_found = healthy[m.found_by] and not passes(m.found_by, build(i, m, mutate(m)))
  found = found + (is_found and 1 or 0)
  local missed = healthy[m.found_by] and "NOT FOUND" or "its test fails without it"
  print(("%s: %s"):format(m.name, is_found and "found" or missed))
end
print(("mutations: %d of %d found"):format(found, #mutations))
os.exit(found == #mutations)
