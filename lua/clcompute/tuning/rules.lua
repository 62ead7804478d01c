-- SPDX-License-Identifier: MIT

--- What the kernels ask of the numbers they are built and launched with. With others they would divide by zero, never
-- end, or write where nothing is theirs.

local rules = {}

local MANY = 1 << 20

local function check(condition, text, ...)
  if not condition then error(text:format(...), 0) end
end

local function integer(row, name, low, high)
  local value = row[name]
  check(math.type(value) == "integer" and value >= low and value <= high, "%s: integer from %d to %d expected, got %s",
    name, low, high, value)
  return value
end

local function multiple(row, name, of, high)
  check(integer(row, name, 1, high) % of == 0, "%s: multiple of %d expected, got %d", name, of, row[name])
  return row[name]
end

local function one_of(row, name, values)
  for _, value in ipairs(values) do
    if row[name] == value then return value end
  end
  check(false, "%s: one of %s expected, got %s", name, table.concat(values, ", "), row[name])
end

local function check_memory(elements, facts)
  check(elements * facts.size <= facts.local_memory, "%d bytes of local memory, of which there are %d",
    elements * facts.size, facts.local_memory)
end

-- --- gemm -----------------------------------------------------------------------

local function check_panels(row, facts)
  local vector = one_of(row, "vector", { 4, 8, 16 })
  one_of(row, "rows", { 6, 14 })
  multiple(row, "nc", 2 * vector, MANY)
  integer(row, "direct", 0, 1 << 30)
  check_memory((integer(row, "mc", 1, MANY) + 4) * integer(row, "kc", 1, MANY) + vector, facts)
end

--- How many groups a multiprocessor holds, its rates with one and with all, and the parts of k that are asked for.
local function check_rates(block)
  for _, name in ipairs { "held", "alone", "full" } do integer(block, name, 1, MANY) end
  if block.parts ~= nil then integer(block, "parts", 1, MANY) end
end

local function check_block(block, facts)
  check(type(block) == "table", "blocks: tables expected, got %s", type(block))
  local tm, tn = multiple(block, "tm", 4, 16), multiple(block, "tn", 4, 16)
  local bm, bn, bk = multiple(block, "bm", tm, 1024), multiple(block, "bn", tn, 1024), multiple(block, "bk", 4, 1024)
  local items = bm // tm * (bn // tn)
  check(items <= facts.max_group, "blocks: %d work-items a group, of which there are %d", items, facts.max_group)
  check(bm * bk % (4 * items) == 0 and bn * bk % (4 * items) == 0,
    "blocks: slices of %d x %d and %d x %d do not go round among %d work-items", bm, bk, bk, bn, items)
  check_memory(2 * bk * (bm + bn + 8), facts)
  check_rates(block)
end

local function check_blocks(row, facts)
  check(type(row.blocks) == "table" and row.blocks[1] ~= nil, "blocks: list of at least one expected")
  for _, block in ipairs(row.blocks) do check_block(block, facts) end
end

--- A warp is 8 x 4 work-items, each of which copies the same number of quads of both slices.
local function check_shape(shape, facts)
  check(type(shape) == "table", "shapes: tables expected, got %s", type(shape))
  local tm, tn = multiple(shape, "tm", 4, 16), multiple(shape, "tn", 4, 16)
  local bm, bn = multiple(shape, "bm", 8 * tm, 1024), multiple(shape, "bn", 4 * tn, 1024)
  local ways = shape.ways == nil and 1 or integer(shape, "ways", 1, 8)
  local bk, items = multiple(shape, "bk", 4 * ways, 1024), bm // tm * (bn // tn) * ways
  check(items <= facts.max_group, "shapes: %d work-items a group, of which there are %d", items, facts.max_group)
  check(bm * bk % (4 * items) == 0 and bn * bk % (4 * items) == 0,
    "shapes: slices of %d x %d and %d x %d do not go round among %d work-items", bm, bk, bk, bn, items)
  check_memory(integer(shape, "stages", 2, 8) * bk * (bm + bn), facts)
  check(ways == 1 or bn <= shape.stages * bk, "shapes: the sums of a block of %d columns have no room", bn)
  check_rates(shape)
  if shape.two ~= nil then integer(shape, "two", 1, MANY) end
  if shape.along == nil then return end
  integer(shape, "along", 0, 100)
  check_memory(shape.stages * (bm * (bk + 4) + bk * bn), facts)
end

local LARGEST = 1 << 18 -- bytes of local memory: some drivers grant kernels more than the device says

--- A row with `is_tried` is used where the device got right with it what it should, so its memory is there.
local function check_shapes(row, check_one, facts, parts)
  if row.is_tried then facts = setmetatable({ local_memory = LARGEST }, { __index = facts }) end
  check(type(row.shapes) == "table" and row.shapes[1] ~= nil, "shapes: list of at least one expected")
  for _, shape in ipairs(row.shapes) do check_one(shape, facts, parts) end
  integer(row, "least", 0, 1 << 30)
end

--- The check of a row of kernels that leave small products to blocks.
local function check_large(check_one)
  return function(row, facts)
    check_shapes(row, check_one, facts)
    check_blocks(row, facts)
  end
end

--- The rows of slices are 8 elements longer, and a work-item has 8 columns at least.
local function check_tensor(shape, facts)
  check_shape(shape, facts)
  check(shape.ways == nil, "ways: not of tensor cores")
  multiple(shape, "tn", 8, 16)
  multiple(shape, "bk", 8, 1024)
  check_memory(shape.stages * shape.bk * (shape.bm + shape.bn + 16), facts)
end

--- Copies go by pairs and whole lines of slices, whose lines are up to 4 elements longer than the slice is deep.
local function check_doubles(shape, facts)
  check(type(shape) == "table", "shapes: tables expected, got %s", type(shape))
  check(shape.parts == nil, "parts: not of doubles")
  local tm, tn = multiple(shape, "tm", 4, 16), multiple(shape, "tn", 2, 16)
  local bm, bn = multiple(shape, "bm", 4 * tm, 1024), multiple(shape, "bn", 8 * tn, 1024)
  local bk = multiple(shape, "bk", 16, 1024)
  one_of(shape, "depth", { 4, 8 })
  local items = bm // tm * (bn // tn)
  check(items <= facts.max_group, "shapes: %d work-items a group, of which there are %d", items, facts.max_group)
  for _, line in ipairs { bm, bn, bk } do
    check(2 * items % line == 0, "shapes: %d work-items do not copy whole lines of %d", items, line)
  end
  check(bm * bk % (2 * items) == 0 and bn * bk % (2 * items) == 0,
    "shapes: slices of %d x %d and %d x %d do not go round among %d work-items", bm, bk, bk, bn, items)
  check_memory(integer(shape, "stages", 2, 8) * (bk + 4) * (bm + bn), facts)
  check_rates(shape)
end

local TILE, DEEP = 64, 32 -- rows and depth of a tile of gemm_warpgroups

--- Blocks are 128 columns wide; of numbers in one part also 256.
local function check_warpgroups(shape, facts, parts)
  check(type(shape) == "table", "shapes: tables expected, got %s", type(shape))
  one_of(shape, "bn", parts == 1 and { 128, 256 } or { 128 })
  local warpgroups = integer(shape, "warpgroups", 1, 8)
  local items = 2 * TILE * warpgroups
  check(items <= facts.max_group, "shapes: %d work-items a group, of which there are %d", items, facts.max_group)
  integer(shape, "band", 1, 1024)
  integer(shape, "tile", 1, MANY)
  local elements = DEEP * (TILE * warpgroups + parts * shape.bn)
  check_memory(integer(shape, "stages", 2, 8) * elements, facts)
end

local TENSOR = { warpgroups = check_warpgroups, tensor = check_tensor }

--- The check of a class of precision, whose elements are in so many parts.
local function check_class(parts)
  return function(row, facts)
    if row.kernel == "float" then return end
    check(TENSOR[row.kernel], "kernel: 'warpgroups', 'tensor' or 'float' expected, got %s", row.kernel)
    check_shapes(row, TENSOR[row.kernel], facts, parts)
    integer(row, "depth", 0, 1 << 30)
  end
end

local MOST_VECTORS, MOST_ROWS_OF_TEAM = 16, 8

local function check_thin(thin, facts)
  check(type(thin) == "table", "thin: table expected, got %s", type(thin))
  local along, rows = integer(thin, "along", 0, MOST_VECTORS), integer(thin, "rows", 1, MOST_ROWS_OF_TEAM)
  integer(thin, "beside", 0, MOST_VECTORS)
  local group = one_of(thin, "group", { 32, 64, 128, 256, 512, 1024 })
  check(group <= facts.max_group, "group: %d work-items, of which there are %d", group, facts.max_group)
  for _, name in ipairs { "team", "across" } do
    check(one_of(thin, name, { 4, 8, 16, 32, 64, 128, 256 }) <= group, "%s: at most the group expected", name)
  end
  integer(thin, "ahead", 1, 16)
  for _, name in ipairs { "held", "least" } do integer(thin, name, 1, MANY) end
  integer(thin, "worth", 0, MANY)
  check_memory(group * math.max(along * rows, 4), facts)
end

local GEMM = { panels = check_panels, blocks = check_blocks, pipelined = check_large(check_shape),
  doubles = check_large(check_doubles), tiled = function() end }

local function check_gemm(row, facts)
  check(GEMM[row.kernel], "kernel: 'panels', 'blocks', 'pipelined', 'doubles' or 'tiled' expected, got %s", row.kernel)
  GEMM[row.kernel](row, facts)
  if row.thin ~= nil then check_thin(row.thin, facts) end
  for _, name in ipairs { "launch", "stream", "part" } do
    if row[name] ~= nil then integer(row, name, 0, MANY) end
  end
end

-- --- elementwise operations ------------------------------------------------------

local POWERS = { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024 }

local LANES = { map_chunks = POWERS, map_vectors = { 4 }, reduce_chunks = POWERS, reduce_groups = { 1, 4 },
  scan_chunks = { 16 } }

-- Kernels whose groups are one work-item, which has a chunk.
local ALONE = { reduce_chunks = { 1 }, scan_chunks = { 1 }, sort_move_chunks = { 1 } }

local LINE = 64 -- bytes of a line that goes past the caches, so that chunks of any dtype begin on one

--- The check of an operation with a kernel for a CPU and others.
local function check_elementwise(...)
  local kernels = { ... }
  return function(row, facts)
    one_of(row, "kernel", kernels)
    integer(row, "group", 1, facts.max_group)
    one_of(row, "group", ALONE[row.kernel] or POWERS)
    one_of(row, "lanes", LANES[row.kernel] or { 1 })
    integer(row, "ahead", 0, MANY)
    local fewest = row.kernel == "map_vectors" and 0 or 1 -- it alone has no chunks
    for _, name in ipairs { "granule", "least", "per_unit" } do integer(row, name, fewest, fewest * MANY) end
    if row.stream ~= nil then
      integer(row, "stream", 1, 1 << 40)
      check(row.kernel ~= "map_chunks" or row.lanes % LINE == 0, "lanes: with stream multiple of %d expected, got %d",
        LINE, row.lanes)
      check(row.granule % LINE == 0, "granule: with stream multiple of %d expected, got %d", LINE, row.granule)
    end
  end
end

local SCAN_LINE = 16 -- values that a work-item of scan_lookback combines

--- A scan in one pass has a tile in local memory, `share` elements of four bytes or half as many of eight for each
-- work-item, and a result of each.
local function check_scan(row, facts)
  check_elementwise("scan_chunks", "scan_groups")(row, facts)
  if not row.one_pass then return end
  one_of(row, "kernel", { "scan_groups" })
  multiple(row, "group", SCAN_LINE, facts.max_group)
  multiple(row, "block", SCAN_LINE, row.group)
  local bytes = 4 * row.group * (integer(row, "share", 1, 64) + 5)
  check(bytes <= facts.local_memory, "share: %d bytes of local memory, of which there are %d", bytes,
    facts.local_memory)
end

--- Digits go from the first to the last bit; a tile of a GPU's group and its counts are in local memory.
local function check_sort(row, facts)
  check_elementwise("sort_move_chunks", "sort_move_groups", "sort_move_warps")(row, facts)
  integer(row, "bits", 2, 11)
  if row.kernel == "sort_move_chunks" then return end
  local share = integer(row, "share", 1, 64)
  check(row.group * share < 1 << 16, "share: tiles of less than 65536 elements expected, got %d", row.group * share)
  if row.kernel == "sort_move_warps" then
    check(row.group >= 1 << row.bits and row.group % 32 == 0, "group: whole warps, and a work-item a digit, expected")
    check((row.group // 16 + 16 << row.bits) + row.group * 12 <= facts.local_memory - 64,
      "bits: counts of %d bits are more than the local memory holds", row.bits)
    return
  end
  check(row.group * (16 + 2 * (1 << row.bits) + 8) + 8 * (1 << row.bits) <= facts.local_memory,
    "bits: counts of %d bits are more than the local memory holds", row.bits)
end

-- --- LU -------------------------------------------------------------------------

local BELOW = 128 -- work-items of a group of lu_below

--- The groups of a round, or with "last" and "last_share" of the last one.
local function check_round(row, facts, rows_name, share_name)
  local columns, warp = row.columns, row.warp
  local rows, share = multiple(row, rows_name, math.max(warp, columns), MANY), row[share_name] or 1
  check(rows >= 2 * columns, "%s: twice the columns expected at least, got %d", rows_name, rows)
  check(share == 1 or (share == 2 or share == 4) and warp > 1, "%s: 1, or with warps 2 or 4, expected, got %s",
    share_name, share)
  check(rows % (share * warp) == 0 and rows // share >= columns and rows // share <= facts.max_group,
    "%s: groups of whole warps, of a work-item for each column and of %d at most, expected, got %d rows, %d an item",
    rows_name, facts.max_group, rows, share)
  local board = warp == 1 and 2 * rows + 128 or 2 * rows // (warp * share) * (columns + 3)
  check_memory(board + columns * (2 * columns + 16), facts)
  return rows // share
end

--- In local memory are what the warps of a tournament, or all of its items, show one another, and the panel's own rows;
-- then the rows of U above those that are updated; then the columns of a block.
local function check_tournament(row, facts)
  local columns = one_of(row, "columns", { 4, 8, 16, 32 })
  one_of(row, "warp", { 1, 32 })
  local block = multiple(row, "block", columns, facts.max_group)
  local items = check_round(row, facts, "rows", "share")
  if row.last then items = check_round(row, facts, "last", "last_share") end
  check(facts.max_group >= BELOW, "rows: groups of %d work-items expected, of which there are %d at most", BELOW,
    facts.max_group)
  check(block >= 32, "block: 32 columns expected at least, got %d", block)
  check(2 * columns * block % items == 0, "rows: divisor of %d, twice a panel's rows in a block, expected, got %d",
    2 * columns * block, items)
  check_memory((block + columns) * (columns + 4) + 32 * columns, facts)
  check_memory(columns * (columns + 34 + math.max(block, 64)), facts)
end

local function check_lu(row, facts)
  local vector = one_of(row, "vector", { 1, 4, 8, 16 })
  local columns = multiple(row, "columns", 2 * vector, 4096)
  multiple(row, "block", columns, MANY)
  integer(row, "group", 1, facts.max_group)
  integer(row, "large", 0, 1 << 30)
  integer(row, "few", 0, 1 << 30)
  if row.rows ~= nil then check_tournament(row, facts) end
  for _, name in ipairs { "small", "items" } do
    if row[name] ~= nil then integer(row, name, 0, MANY) end
  end
end

-- --- loop nests ------------------------------------------------------------------

local MOST_LANE = 4096 -- passes that a work-item keeps numbers of in its private memory

local MOST_DEPTH = 64 -- passes of a slice in local memory

local LOOPS = { kernel = true, vector = true, rows = true, columns = true, lane = true, block = true, least = true,
  small = true, blocks = true, passes = true, cache = true, jam = true, group = true, depth = true, few = true,
  slices = true, terms = true, together = true, spread = true, paired = true, units = true, where = true }

local function check_loops(row)
  for name in pairs(row) do check(LOOPS[name], "there is no number '%s'", name) end
  one_of(row, "kernel", { "tiles", "items" })
  one_of(row, "vector", { 1, 2, 4, 8, 16 })
  integer(row, "rows", 1, 16)
  integer(row, "columns", 1, 8)
  integer(row, "jam", 1, 16)
  integer(row, "lane", 1, MOST_LANE)
  for _, name in ipairs { "block", "least", "small", "blocks", "passes" } do integer(row, name, 1, MANY) end
  integer(row, "cache", 1, 1 << 40)
  if row.kernel == "items" then integer(row, "group", 1, MANY) end
  if row.depth ~= nil then integer(row, "depth", 1, MOST_DEPTH) end
  if row.few ~= nil then integer(row, "few", 0, 1 << 40) end
  if row.slices ~= nil then one_of(row, "slices", { 1, 2, 4, 8, 16, 32, 64, 128, 256 }) end
  for _, name in ipairs { "terms", "together" } do
    if row[name] ~= nil then integer(row, name, 1, MANY) end
  end
  for _, name in ipairs { "spread", "paired" } do
    if row[name] ~= nil then integer(row, name, 1, 1 << 40) end
  end
end

local OPERATIONS = { gemm = check_gemm, ["gemm float-tensor"] = check_class(2), ["gemm tf32"] = check_class(1),
  lu = check_lu, loops = check_loops, saxpy = check_elementwise("map_chunks", "map_vectors"),
  map = check_elementwise("map_chunks", "map_vectors"), reduce = check_elementwise("reduce_chunks", "reduce_groups"),
  histogram = check_elementwise("reduce_chunks", "reduce_groups"), scan = check_scan, sort = check_sort }

--- What is wrong with a row of numbers.
-- @string operation a key of `clcompute.tuning.known`
-- @param row what was given for a row
-- @tparam table facts of `clcompute.tuning.facts`
-- @treturn ?string nil: nothing
function rules.fault(operation, row, facts)
  if type(row) ~= "table" then return "table of numbers expected, got " .. type(row) end
  local ok, message = pcall(OPERATIONS[operation], row, facts)
  return not ok and message or nil
end

return rules
