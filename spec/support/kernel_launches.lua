-- SPDX-License-Identifier: MIT
--- By kernel file a script that launches it with odd shapes: 1, primes, and what lies about tiles and vectors, mostly
-- up to 33, in every variant; padded as the library pads them, with operands that end where the last element does. They
-- run in a process of their own behind PREAMBLE, which defines what they use; T is the dtype.

local launches = {}

--- Fresh operands for each launch, written as a whole and never released: after fills, partial
-- writes and reused memory Oclgrind 21.10 takes what was written for uninitialised.
launches.PREAMBLE = [[
  local cl = require "clcompute"
  local d = cl.device "oclgrind"
  local keep = {}
  local function buffer(n, value, dtype)
    local t = {}
    for i = 1, n do t[i] = value(i) end
    keep[#keep + 1] = d:buffer(t, dtype or T)
    return keep[#keep]
  end
  local function empty(n, dtype) -- what a kernel may write and not read
    keep[#keep + 1] = d:empty(dtype or T, n)
    return keep[#keep]
  end
  local function reals(n) return buffer(n, function(i) return i % 7 - 3.5 end) end
  local function random(n) return buffer(n, function() return math.random() - 0.5 end) end
  local function zeros(n, dtype) return buffer(n, function() return 0 end, dtype) end
  local function ints(n) return buffer(n, function(i) return i - 1 end, "int") end
  local function words(n) return buffer(n, function(i) return i * 2654435761 & 0xffffffff end, "uint") end
  local function up(n, to) return (n + to - 1) // to * to end
  -- Elements of a buffer with a matrix in it.
  local function part(rows, cols, ld, first) return first + (rows - 1) * ld + cols end
  local function padded(n, ld) -- a matrix with zeros around it
    return buffer(ld * ld, function(i)
      local row, col = (i - 1) // ld, (i - 1) % ld
      return row < n and col < n and math.random() - 0.5 + (row == col and 4 or 0) or 0
    end)
  end
  local function run(name, range, defines)
    return function(...) d:kernel(name, { dtype = T, defines = defines })(range, ...) end
  end
  local function over(n, group) return { global = n, group = group, remainder = "pad" } end
  local function over2(columns, rows, group) return { global = { columns, rows }, group = group, remainder = "pad" } end
  local SIZES = { 1, 2, 7, 8, 9, 13, 16, 17, 31, 32, 33 }
  local SHAPES = { { 1, 1, 1 }, { 1, 7, 3 }, { 5, 1, 2 }, { 7, 13, 1 }, { 8, 8, 8 }, { 9, 7, 17 }, { 17, 16, 15 },
    { 3, 33, 31 } }
  local function transposes(f) for ta = 0, 1 do for tb = 0, 1 do f(ta, tb) end end end
  local function operand(transposed, rows, cols, ld, first) -- the size of one that may be stored transposed
    if transposed == 1 then rows, cols = cols, rows end
    return part(rows, cols, cols + ld, first), cols + ld
  end
]]

local by_kernel = {}
launches.by_kernel = by_kernel

-- Kernels that nothing runs with doubles.
launches.of_floats = { gemm_tensor = true, gemm_pack_tiles = true, gemm_warpgroups = true, probe_functions = true,
  permutation = true }

-- --- products -------------------------------------------------------------------------------

by_kernel.gemm_naive = [[for _, shape in ipairs(SHAPES) do for beta = 0, 1 do transposes(function(ta, tb)
  local m, n, k = table.unpack(shape)
  local size_a, lda = operand(ta, m, k, 2, 3)
  local size_b, ldb = operand(tb, k, n, 1, 0)
  local size_c = part(m, n, n + 3, 1)
  run("gemm_naive", over2(n, m, { 16, 4 }), { TRANSA = ta, TRANSB = tb })(m, n, k, 2, reals(size_a), 3, lda,
    reals(size_b), 0, ldb, beta, beta == 0 and empty(size_c) or reals(size_c), 1, n + 3) end) end end]]

by_kernel.gemm_tiled = [[for _, shape in ipairs { { 1, 1, 1 }, { 3, 5, 4 }, { 4, 4, 4 }, { 5, 3, 9 }, { 7, 13, 6 },
  { 15, 17, 16 } } do for beta = 0, 1 do transposes(function(ta, tb)
  local m, n, k = table.unpack(shape)
  local size_a, lda = operand(ta, m, k, 2, 3)
  local size_b, ldb = operand(tb, k, n, 1, 0)
  local size_c, ts = part(m, n, n + 3, 1), m > 9 and 16 or 4
  run("gemm_tiled", { up(n, ts), up(m, ts) }, { TRANSA = ta, TRANSB = tb, TS = ts })(m, n, k, 2, reals(size_a), 3, lda,
    reals(size_b), 0, ldb, beta, beta == 0 and empty(size_c) or reals(size_c), 1, n + 3) end) end end]]

-- PACK is 1, MULTIPLY 2, PACKED 4, IN_PLACE 8; a batch of two.
-- Oclgrind takes some of what the kernel itself packs for unwritten, so `packed` is written before: filled with NaN, it
-- brought none into C.
by_kernel.gemm_panels = [[for _, shape in ipairs { { 1, 1, 1 }, { 5, 7, 3 }, { 6, 8, 5 }, { 7, 9, 6 }, { 11, 19, 9 },
  { 13, 17, 11 } } do for _, steps in ipairs { 2, 3, 6, 10 } do transposes(function(ta, tb)
  local m, n, k = table.unpack(shape)
  if steps & 5 == 0 and (tb == 1 or n < 8) or steps == 10 and ta == 1 then return end
  local mc, nc, kc = steps == 3 and up(m, 6) or 6, steps == 3 and 16 or 8, 5
  local size_a, lda = operand(ta, m, k, 2, 0)
  local size_b, ldb = operand(tb, k, n, 1, 0)
  local size_c, beta = part(m, n, n + 3, 0), k % 2
  local packed = reals(2 * up(n, 8) * (steps == 3 and kc or k))
  local a, b, c = reals(3 + 2 * size_a), reals(1 + 2 * size_b), (beta == 0 and empty or reals)(1 + 2 * size_c)
  local defines = { V = 4, ROWS = 6, BLOCK = 114 }
  local function launch(step, down)
    run("gemm_panels", { global = { (n + nc - 1) // nc, down, 2 }, group = { 1, 1, 1 } }, defines)(
      step, m, n, k, mc, nc, kc, 2, a, 3, lda, size_a, ta, b, 1, ldb, size_b, tb, packed, beta, c, 1, n + 3, size_c)
  end
  if steps == 6 then launch(1, (k + kc - 1) // kc) end
  launch(steps, (m + mc - 1) // mc) end) end end]]

by_kernel.gemm_blocks = [[for _, shape in ipairs { { 1, 1, 1 }, { 5, 7, 3 }, { 16, 16, 4 }, { 15, 17, 5 },
  { 17, 19, 12 }, { 33, 4, 7 } } do for aligned = 0, 1 do transposes(function(ta, tb)
  local m, n, k = table.unpack(shape)
  local function extent(transposed, rows, cols) -- elements of one, and from row to row
    if transposed == 1 then rows, cols = cols, rows end
    local ld = aligned == 1 and up(cols, 4) or cols + 1
    return aligned == 1 and rows * ld or part(rows, cols, ld, 0), ld
  end
  local size_a, lda = extent(ta, m, k)
  local size_b, ldb = extent(tb, k, n)
  local size_c, ldc = extent(0, m, n)
  local first, beta = aligned == 1 and 4 or 3, k % 2
  run("gemm_blocks", { global = { up(n, 16) // 4, up(m, 16) // 4, 2 }, group = { 4, 4, 1 } },
    { TRANSA = ta, TRANSB = tb, ALIGNED = aligned, BM = 16, BN = 16, BK = 4, TM = 4, TN = 4, BAND = 1 })(m, n, k, 1, k,
    2, reals(first + 2 * size_a), first, lda, size_a, reals(2 * size_b), 0, ldb, size_b, beta,
    beta == 0 and empty(first + 2 * size_c) or reals(first + 2 * size_c), first, ldc, size_c)
  local parts = (k + 3) // 4
  run("gemm_blocks", { global = { up(n, 16) // 4, up(m, 16) // 4, 2 * parts }, group = { 4, 4, 1 } },
    { TRANSA = ta, TRANSB = tb, ALIGNED = aligned, BM = 16, BN = 16, BK = 4, TM = 4, TN = 4 })(m, n, k, parts, 4, 1,
    reals(first + 2 * size_a), first, lda, size_a, reals(2 * size_b), 0, ldb, size_b, 0, empty(2 * parts * m * n), 0, n,
    m * n) end) end end]]

by_kernel.gemm_sum = [[for _, shape in ipairs(SHAPES) do for down = 1, 8, 7 do
  local m, n, parts = table.unpack(shape)
  local size_c, beta = part(m, n, n + 3, 0), parts % 2
  run("gemm_sum", { global = { up(m * n, 8), down, 2 }, group = { 8, down, 1 } }, { ACROSS = 8, DOWN = down })(m, n,
    parts, 2, reals(2 * parts * m * n), beta, (beta == 0 and empty or reals)(1 + 2 * size_c), 1, n + 3, size_c)
  end end]]

by_kernel.gemm_thin_rows = [[for _, shape in ipairs(SHAPES) do for wide = 0, 1 do for team = 4, 16, 12 do
  local rows, count, k = table.unpack(shape)
  local ld = wide == 1 and up(k, 4) or k + 1
  local size, of_vectors, parts, beta = part(rows, k, ld, 0), part(count, k, ld, 0), (k + 7) // 8, rows % 2
  if wide == 1 then size, of_vectors = rows * ld, count * ld end
  run("gemm_thin_rows", { global = { up(rows, 16 // team * 2) // 2 * team, 1, 2 * parts }, group = { 16, 1, 1 } },
    { GROUP = 16, ROWS = 2, COUNT = count, WIDE = wide })(rows, k, team, parts, 8, 2, reals(4 + 2 * size), 4, ld, size,
    reals(2 * of_vectors), 0, ld, of_vectors, beta, (beta == 0 and empty or reals)(2 * parts * rows * count), 0, count,
    1, rows * count) end end end]]

by_kernel.gemm_thin_columns = [[for _, shape in ipairs(SHAPES) do for wide = 0, 1 do for ahead = 1, 2 do
  local columns, count, k = table.unpack(shape)
  if wide == 1 then columns = up(columns, 4) end
  local ld, parts, beta = wide == 1 and columns or columns + 1, (k + 7) // 8, columns % 2
  local size, across = part(k, columns, ld, 0), wide == 1 and 16 or 4
  run("gemm_thin_columns", { global = { up(columns, across) // across * 16, 1, 2 * parts }, group = { 16, 1, 1 } },
    { GROUP = 16, ACROSS = 4, COUNT = count, WIDE = wide, AHEAD = ahead })(columns, k, parts, 8, 2, reals(4 + 2 * size),
    4, ld, size, reals(1 + 2 * k * count), 1, count, 1, k * count, beta,
    (beta == 0 and empty or reals)(2 * parts * columns * count), 0, 1, columns, columns * count)
  run("gemm_thin_columns", { global = { up(columns, across) // across * 16, 1, 2 }, group = { 16, 1, 1 } },
    { GROUP = 16, ACROSS = 4, COUNT = count, WIDE = wide, AHEAD = ahead, ONE_LAUNCH = 1 })(columns, k, 1, k, 2,
    reals(4 + 2 * size), 4, ld, size, reals(1 + 2 * k * count), 1, count, 1, k * count, beta,
    (beta == 0 and empty or reals)(2 * columns * count), 0, 1, columns, columns * count,
    empty(2 * up(columns, across) * count), zeros(2 * up(columns, across) // across, "uint")) end end end]]

by_kernel.gemm_pipelined = [[for _, shape in ipairs { { 1, 1, 1 }, { 32, 16, 2 }, { 33, 41, 3 }, { 31, 17, 4 } } do
  for stages = 2, 3 do for wide = 0, 1 do
  local m, n, slices = table.unpack(shape)
  local along, ways = slices % 2, m == 33 and 2 or 1
  local deep = 8 * ways
  local rows, cols, k = up(m, 32), up(n, 16), deep * slices
  local ldc, beta = wide == 1 and up(n, 4) or n + 1, slices % 2
  local size_c = wide == 1 and m * ldc or part(m, n, ldc, 0)
  local range = { global = { rows // 32 * (cols // 16) * 32 * ways, 1, 2 }, group = { 32 * ways, 1, 1 } }
  local defines = { BM = 32, BN = 16, BK = deep, TM = 4, TN = 4, STAGES = stages, WIDE = wide, ALONG = along,
    WAYS = ways }
  local c = (beta == 0 and empty or reals)(2 * size_c)
  run("gemm_pipelined", range, defines)(m, n, slices, 2, reals(4 + 2 * k * rows), 4, along == 1 and k or rows, k * rows,
    reals(2 * k * cols), 0, cols, k * cols, beta, c, 0, ldc, size_c)
  defines.EDGES = 1
  local depth, wide_n = k - 3, up(n, 4)
  local lda = along == 1 and up(depth, 4) or up(m, 4)
  local size_a, size_b = lda * (along == 1 and m or depth), wide_n * depth
  run("gemm_pipelined", range, defines)(m, n, slices, 2, reals(4 + 2 * size_a), 4, lda, size_a, reals(2 * size_b), 0,
    wide_n, size_b, beta, c, 0, ldc, size_c, depth, 1, slices, c, zeros(1, "uint"))
  for unit = 1, 2 do
    defines.UNIT_A, defines.UNIT_B = unit, 3 - unit
    lda = up(along == 1 and depth or m, unit) + unit
    local ldb = up(n, 3 - unit) + 3 - unit
    size_a, size_b = lda * (along == 1 and m or depth), ldb * depth
    run("gemm_pipelined", range, defines)(m, n, slices, 2, reals(unit + 2 * size_a), unit, lda, size_a,
      reals(2 * size_b), 0, ldb, size_b, beta, c, 0, ldc, size_c, depth, 1, slices, c, zeros(1, "uint"))
  end
  end end end]]

by_kernel.gemm_pack = [[for _, shape in ipairs { { 1, 1 }, { 67, 9 }, { 8, 36 } } do
  transposes(function(transpose, wide)
  local rows, cols = table.unpack(shape)
  local to_rows, to_cols, across = up(rows, 4), up(cols, 16), T == "double" and 32 or 64
  local size, lda = operand(transpose, rows, cols, 2, 0)
  if wide == 1 then size, lda = up(rows, 4) * up(cols, 4), up(transpose == 1 and rows or cols, 4) end
  run("gemm_pack", { global = { up(to_cols, across) // across * 256, up(to_rows, 64) // 64, 2 },
    group = { 256, 1, 1 } },
    { TRANSPOSE = transpose, WIDE = wide })(rows, cols, to_rows, to_cols, reals(4 + 2 * size), 4, lda, size,
    empty(2 * to_rows * to_cols)) end) end]]

by_kernel.gemm_tensor = [[for _, shape in ipairs { { 1, 1, 1 }, { 33, 41, 3 } } do
  for products = 1, 3, 2 do for wide = 0, 1 do
  local m, n, slices = table.unpack(shape)
  local rows, cols, k = up(m, 32), up(n, 32), 8 * slices
  local ldc, beta = wide == 1 and up(n, 4) or n + 1, slices % 2
  local size_c = wide == 1 and m * ldc or part(m, n, ldc, 0)
  run("gemm_tensor", { global = { rows // 32 * (cols // 32) * 32, 1, 2 }, group = { 32, 1, 1 } },
    { PRODUCTS = products, WIDE = wide })(m, n, slices, 2, reals(4 + 2 * k * rows), 4, rows, k * rows,
    reals(2 * k * cols), 0, cols, k * cols, beta, (beta == 0 and empty or reals)(2 * size_c), 0, ldc, size_c)
  end end end]]

by_kernel.gemm_tensor_double = [[for _, shape in ipairs { { 1, 1, 1 }, { 33, 41, 9 } } do
  for wide = 0, 1 do transposes(function(ta, tb)
  local m, n, k = table.unpack(shape)
  local size_a, lda = operand(ta, m, k, 0, 0)
  local size_b, ldb = operand(tb, k, n, 1, 0)
  local ldc, beta = wide == 1 and up(n, 4) or n + 1, k % 2
  local size_c = wide == 1 and m * ldc or part(m, n, ldc, 0)
  run("gemm_tensor_double", { global = { up(m, 32) // 32 * (up(n, 32) // 32) * 128, 1, 2 }, group = { 128, 1, 1 } },
    { TRANSA = ta, TRANSB = tb, WIDE = wide })(m, n, k, 2, reals(3 + 2 * size_a), 3, lda, size_a, reals(2 * size_b), 0,
    ldb, size_b, beta, (beta == 0 and empty or reals)(2 * size_c), 0, ldc, size_c) end) end end]]

by_kernel.gemm_pack_tiles = [[for _, shape in ipairs { { 1, 1, 1 }, { 33, 8, 65 }, { 4, 70, 31 } } do
  for parts = 1, 2 do transposes(function(ta, tb)
  local m, n, k = table.unpack(shape)
  local depths, squares = (k + 31) // 32, up(m, 64) // 64
  local size_a, lda = operand(ta, m, k, 0, 0)
  local size_b, ldb = operand(tb, k, n, 1, 0)
  local wide = size_b % 4 == 0 and ldb % 4 == 0 and 1 or 0
  local tiles_a, tiles_b = squares * depths * 2048, up(n, 128) * depths * 32 * parts
  run("gemm_pack_tiles", { global = { 256 * depths, squares + up(n, 128) // 64, 2 }, group = { 256, 1, 1 } },
    { PARTS = parts, ALONG_A = 1 - ta, ALONG_B = tb, WIDE_B = wide })(m, n, k, depths, squares,
    reals(3 + 2 * size_a), 3, lda, size_a, empty(2 * tiles_a), tiles_a, reals(size_b), 0, ldb, 0, empty(2 * tiles_b),
    tiles_b) end) end end]]

-- Its plain form: tensor cores are not simulated.
by_kernel.gemm_warpgroups = [[for wide, products in pairs { [0] = 3, 1 } do
  local m, n, k, ldc = 65, 3, 5, wide == 1 and 4 or 5
  local tile_b = (products == 3 and 2 or 1) * 128 * 32
  run("gemm_warpgroups", { global = { 128 * 2, 1, 1 }, group = { 128, 1, 1 } },
    { WARPGROUPS = 1, PRODUCTS = products, WIDE = wide })(m, n, k, 1, 2, reals(2 * 64 * 32), 0, reals(tile_b), 0,
    reals(m * k), 0, k, 1, 0, reals(k * n), 0, 1, n, 0, wide, (wide == 0 and empty or reals)(m * ldc), 0, ldc, 0)
  end]]

-- --- linear equations -----------------------------------------------------------------------

by_kernel.gauss_fwd_pre = [[for _, n in ipairs(SIZES) do for k = 0, n - 2, 3 do
  run("gauss_fwd_pre", n)(n, k, reals(n * (n + 1)), empty(n))
  run("gauss_fwd_pre", n - k - 1, { SHRINK = 1 })(n, k, reals(n * (n + 1)), empty(n)) end end]]

by_kernel.gauss_fwd = [[for _, n in ipairs(SIZES) do for k = 0, n - 2, 7 do
  run("gauss_fwd", { n + 1, n })(n, k, reals(n * (n + 1)), reals(n))
  run("gauss_fwd", { n - k, n - k - 1 }, { SHRINK = 1 })(n, k, reals(n * (n + 1)), reals(n))
  run("gauss_fwd", { n + 1, n }, { RECORD = "if (get_global_id(0) + get_global_id(1) == 0) *group = get_local_size(0);",
    RECORD_TO = ", __global uint *group" })(n, k, reals(n * (n + 1)), reals(n), empty(1, "uint")) end end]]

by_kernel.gauss_bwd_prepare = [[for _, n in ipairs(SIZES) do
  run("gauss_bwd_prepare", 1)(n, n // 2, reals(n * (n + 1)), empty(n)) end]]

by_kernel.gauss_bwd = [[for _, n in ipairs(SIZES) do for k = 0, n - 1, 5 do
  run("gauss_bwd", n)(n, k, reals(n * (n + 1)), reals(n))
  if k > 0 then run("gauss_bwd", k, { SHRINK = 1 })(n, k, reals(n * (n + 1)), reals(n)) end end end]]

by_kernel.lu_pivot = [[for _, n in ipairs { 1, 2, 7, 16, 33, 63, 64, 65 } do for k = 0, n - 1, 31 do
  run("lu_pivot", 64)(n, k, reals(part(n, n, n + 2, 0)), n + 2, empty(n, "int"), empty(n)) end end]]

by_kernel.lu_swap = [[for _, n in ipairs(SIZES) do for k = 0, n - 1, 4 do for row = k, n - 1, 6 do
  local ld = n + 1
  run("lu_swap", over(n + n - k - 1, 16))(n, k, 0, n, random(part(n, n, ld, 0)), ld,
    buffer(n, function() return row end, "int"), random(n)) end end end
  run("lu_swap", 64)(9, 2, 1, 8, reals(90), 10, buffer(9, function() return 6 end, "int"), reals(9))]]

by_kernel.lu_update = [[for _, n in ipairs(SIZES) do for k = 0, n - 2, 7 do
  run("lu_update", over2(n - k - 1, n - k - 1, { 8, 4 }))(n, k, n, reals(part(n, n, n + 1, 0)), n + 1) end end
  run("lu_update", { 16, 16 })(9, 2, 8, reals(90), 10)]]

by_kernel.lu_batch = [[for _, n in ipairs { 1, 2, 3, 7, 8, 9, 13, 17 } do for group = 1, 8, 7 do for v = 1, 4, 3 do
  if v <= n then run("lu_batch", 2 * group, { GROUP = group, V = v })(n, random(1 + 2 * n * n), 1, empty(2 * n * n),
    empty(2 * n, "int"), empty(2 * n), empty(4)) end end end end]]

by_kernel.lu_batch_rows = [[for _, n in ipairs { 1, 2, 7, 8, 9, 17, 32, 33, 41 } do
  local rows = n <= 32 and 32 or 64
  run("lu_batch_rows", 2 * rows, { ROWS = rows, BLOCKED = n > 8 and 1 or 0 })(n, random(1 + 2 * n * n), 1,
    empty(2 * n * n), empty(2 * n, "int"), empty(2 * n, "int"), empty(2 * n), empty(4), empty(1, "int")) end]]

by_kernel.lu_batch_sweep = [[for _, n in ipairs { 1, 2, 7, 8, 9, 31, 32, 33 } do for columns = 1, 3, 2 do
  local rows = n <= 32 and 32 or 64
  run("lu_batch_sweep", { global = { 2 * rows, columns }, group = { rows, 1 } }, { ROWS = rows })(n, columns,
    reals(2 * n * n), buffer(2 * n, function(i) return (i - 1) % n end, "int"), reals(2 * n * columns + 1), 1,
    empty(2 * n * columns)) end end]]

by_kernel.lu_batch_condition = [[for _, n in ipairs { 1, 2, 7, 9, 33 } do
  local rows = n <= 32 and 32 or 64
  run("lu_batch_condition", 2 * rows, { ROWS = rows })(n, random(2 * n * n),
    buffer(2 * n, function(i) return (i - 1) % n end, "int"), empty(4)) end]]

by_kernel.lu_batch_residual = [[for _, n in ipairs { 1, 2, 7, 8, 9, 31, 32, 33 } do for columns = 1, 3, 2 do
  local rows = n <= 32 and 32 or 64
  run("lu_batch_residual", { global = { 2 * rows, columns }, group = { rows, 1 } }, { ROWS = rows })(n, columns,
    reals(2 * n * n + 1), 1, reals(2 * n * columns), reals(2 * n * columns + 1), 1, empty(2 * n * columns),
    empty(6 * columns)) end end]]

by_kernel.lu_start = [[for _, n in ipairs(SIZES) do for columns = 0, 3, 3 do
  run("lu_start", over(n, 8))(n, 0.5, columns, ints(n), reals(n * columns + 2), 2, empty(n * (columns + 2))) end end]]

by_kernel.lu_walk = [[for _, n in ipairs(SIZES) do for turn = 0, 2 do for first = 0, 3, 3 do
  run("lu_walk", 16)(n, 2.0, turn, first, reals(n * (first + 2)), ints(n), reals(n), reals(1)) end end end]]

by_kernel.residual_lanes = [[for _, n in ipairs(SIZES) do for columns = 1, 3, 2 do
  run("residual_lanes", { global = { up(8 * n, 16), columns, 2 }, group = { 16, 1, 1 } })(n, columns,
    reals(2 * n * n + 1), 1, reals(2 * n * columns + 2), 2, reals(2 * n * columns + 3), 3,
    empty(2 * n * columns)) end end]]

by_kernel.solution_sums = [[for _, n in ipairs(SIZES) do for columns = 1, 3, 2 do
  run("solution_sums", { global = { 16, columns }, group = { 16, 1 } })(n, columns, reals(n * columns),
    reals(n * columns), empty(3 * columns)) end end]]

by_kernel.lu_batch_solve = [[for _, n in ipairs { 1, 2, 3, 7, 8, 9, 17 } do
  for group = 1, 8, 7 do for columns = 1, 9, 4 do
  run("lu_batch_solve", 2 * group, { GROUP = group })(n, columns, random(2 * n * n),
    buffer(2 * n, function(i) return (i - 1) % n end, "int"), reals(2 * n * columns + 1), 1,
    empty(2 * n * columns)) end end end]]

by_kernel.lu_load = [[for _, n in ipairs(SIZES) do for v = 1, 4, 3 do
  local ld, rows = up(n, v), up(n, 2 * v)
  local down = up(rows, 16) // 16
  run("lu_load", { up(ld, 2 * v) // (2 * v), down }, { V = v, VECTORS = 2, SPAN = 1, CHUNK = 16 })(n, rows,
    reals(2 + n * n), 2, empty(rows * ld), ld, empty((1 + down) * ld)) end end]]

by_kernel.lu_panel = [[for _, n in ipairs { 1, 2, 7, 8, 9, 15, 16, 17, 31, 33 } do for first = 0, 8, 8 do
  for columns = 1, math.min(9, n - first), 3 do
    local ld = up(n, 8)
    run("lu_panel", 1, { V = 4 })(n, first, columns, padded(n, ld), ld, empty(ld * up(columns, 8)), ld,
      empty(n, "int"), empty(n)) end end end]]

by_kernel.lu_rows = [[for _, n in ipairs { 1, 2, 7, 8, 9, 17 } do for lower = 0, 1 do for v = 1, 4, 3 do
  local ld, width = up(n, 8), 2 * v
  run("lu_rows", over(up(n, width) // width, 4), { V = v, LOWER = lower })(0, n, n, padded(n, ld), ld,
    buffer(n, function(i) return i - 1 + (n - i) // 2 end, "int"), random(n * 24), 24, 0, 0, 0, n) end end end
  for lower = 0, 1 do run("lu_rows", 4, { V = 4, LOWER = lower })(8, 7, 7, random(576), 24,
    buffer(24, function(i) return (i + 7) % 16 end, "int"), random(768), 32, 0, 1, 16, 27) end
  run("lu_rows", 8, { V = 1 })(8, 7, 7, random(576), 24, ints(24), random(768), 32, 0, 4, 16, 22)]]

by_kernel.lu_vector = [[for _, n in ipairs { 1, 2, 3, 4, 5, 7, 8, 9, 17, 33 } do for transposed = 0, 1 do
  local ld = up(n, 4)
  local w = buffer(ld * ld, function(i)
    local row, col = (i - 1) // ld, (i - 1) % ld
    return row == col and (row < n and 2 or 1) or row < n and col < n and 0.5 or 0
  end)
  run("lu_vector", 2, { V = 4 })(n, w, ld, ints(n), transposed, 2, reals(2 * n + 1), 1, empty(2 * ld), ld,
    empty(2 * n)) end end]]

by_kernel.lu_sweep = [[for _, n in ipairs { 1, 3, 8, 9, 17 } do for lower = 0, 1 do for unit = 0, 1 do
  for transpose = 0, 1 do
    local blocks, ld = (n + 7) // 8, up(n, 4)
    for known = lower == 1 and -1 or 1, lower == 1 and blocks - 2 or blocks do
      local beyond = lower == 1 and blocks - 1 - known or known
      run("lu_sweep", { global = { 8 * beyond, 2 }, group = { 8, 1 } },
        { BLOCK = 8, SIDE = 4, LOWER = lower, UNIT = unit, TRANSPOSE = transpose })(n, known, 2, padded(n, ld), ld,
        reals(2 * n)) end end end end end]]

-- A round of rows by groups of 16, one of those of a list, and the last one.
by_kernel.lu_tournament = [[for _, case in ipairs { { 1, 0, 1 }, { 4, 0, 4 }, { 9, 4, 4 }, { 20, 4, 4 }, { 19, 16, 3 },
  { 24, 8, 4 } } do
  local n, first, columns = table.unpack(case)
  local ld, count = up(n, 16), n - first
  local w, lists = padded(n, ld), buffer(64, function(i) return first + (i - 1) % count end, "int")
  run("lu_tournament", up(count, 16))(count, first, 0, w, ld, lists, 0, 16)
  if count >= 8 then run("lu_tournament", 16)(8, first, 1, w, ld, lists, 16, 0) end
  local k = first // 16 * 16
  run("lu_tournament", 16, { FINAL = 1 })(math.min(16, count), first, 0, w, ld, lists, 0, 48, columns, k,
    math.min(n, k + 16), empty(n, "int"), empty(n))
  run("lu_tournament", 8, { FINAL = 1, SHARE = 2 })(math.min(16, count), first, 0, w, ld, lists, 0, 48, columns, k,
    math.min(n, k + 16), empty(n, "int"), empty(n)) end]]

by_kernel.lu_below = [[for _, case in ipairs { { 5, 0, 4 }, { 9, 4, 4 }, { 20, 4, 4 }, { 40, 16, 4 } } do
  local n, first, columns = table.unpack(case)
  local ld, left = up(n, 16), first // 16 * 16
  local right, groups = math.min(n, left + 16), (n - first - columns + 7) // 8
  local moves = buffer(16, function(i)
    local k = (i - 1) % 4
    return i <= 4 and first + k or i <= 8 and -1 or i <= 12 and first + (k + 1) % 4 or first
  end, "int")
  run("lu_below", (groups + (left + n - right + 7) // 8) * 8, { ACROSS = 16 })(n, first, columns, right, padded(n, ld),
    ld, groups, moves, 0, left, right) end]]

by_kernel.lu_right = [[for _, n in ipairs { 17, 24, 40 } do
  local ld = up(n, 16)
  run("lu_right", up(n - 16, 8) * 2)(0, padded(n, ld), ld, 16, n) end]]

by_kernel.residual = [[for _, n in ipairs(SIZES) do for columns = 1, 3, 2 do
  run("residual", { global = { columns, n, 2 }, group = { 4, 4, 1 }, remainder = "pad" })(n, columns,
    reals(2 * n * n + 1), 1, reals(2 * n * columns + 1), 1,
    reals(2 * n * columns + 2), 2, empty(2 * n * columns)) end end]]

by_kernel.residual_vectors = [[for _, n in ipairs(SIZES) do for _, columns in ipairs { 1, 3, 4, 5 } do
  for across = 0, 1 do for wide = 0, T == "float" and 1 or 0 do
    local items = across == 1 and (columns + 3) // 4 or columns
    run("residual_vectors", { items, (n + 3) // 4 }, { V = 4, ACROSS = across, WIDE = wide })(n, columns,
      reals(n * n + 1), 1, reals(n * columns + 1), 1, reals(n * columns + 2), 2, empty(n * columns))
  end end end end]]

-- --- moving elements ------------------------------------------------------------------------

by_kernel.gather_rows = [[for _, shape in ipairs(SHAPES) do
  local rows, cols = table.unpack(shape)
  run("gather_rows", over2(cols, rows, { 16, 4 }))(rows, cols, ints(rows), reals(2 + rows * cols), 2,
    empty(part(rows, cols, cols + 1, 0)), cols + 1) end]]

by_kernel.lu_move_rows = [[for _, shape in ipairs(SHAPES) do
  local rows, cols = table.unpack(shape)
  local moves = {}
  for i = 0, rows - 1 do moves[2 * i + 1], moves[2 * i + 2] = rows - 1 - i, i end
  run("lu_move_rows", over2(cols, rows, { 16, 4 }))(rows, cols, d:buffer(moves, "int"), reals(rows * cols),
    empty(rows * cols)) end]]

by_kernel.lu_exchange = [[for _, shape in ipairs(SHAPES) do
  local rows, cols = table.unpack(shape)
  local pivots = {}
  for k = 0, rows - 1 do pivots[k + 1] = k + (k * 7) % (rows - k) end
  run("lu_exchange", over(cols, 16))(rows, cols, 0, d:buffer(pivots, "int"), reals(rows * cols))
  run("lu_exchange", over((cols + 15) // 16, 4), { LANES = 16 })(rows, cols, 0, d:buffer(pivots, "int"),
    reals(rows * cols)) end]]

by_kernel.copy_matrix = [[for _, shape in ipairs(SHAPES) do
  local rows, cols = table.unpack(shape)
  run("copy_matrix", over2(cols, rows, { 16, 4 }))(rows, cols, reals(part(rows, cols, cols + 2, 3)), 3, cols + 2,
    empty(part(rows, cols, cols + 1, 2)), 2, cols + 1) end]]

by_kernel.reverse_axes = [[for _, n in ipairs { { 1, 1, 1, 1 }, { 3, 4, 5, 1 }, { 2, 3, 5, 7 }, { 17, 33, 1, 1 } } do
  local count = n[1] * n[2] * n[3] * n[4]
  run("reverse_axes", over(count, 16))(0, count, n, reals(count), empty(count))
  if count > 9 then run("reverse_axes", over(count - 9, 16))(9, count, n, reals(count), empty(count)) end end]]

by_kernel.transpose = [[for _, shape in ipairs { { 1, 1 }, { 3, 20 }, { 33, 17 }, { 16, 32 }, { 36, 68 } } do
  local rows, columns = table.unpack(shape)
  local count = rows * columns
  local strides = { 3 * count, count, columns, 3 * count, count, rows }
  local function turn(tall, wide, group, share, lanes)
    local tiles = (rows + tall - 1) // tall * ((columns + wide - 1) // wide)
    local defines = { TALL = tall, WIDE = wide, GROUP = group > 1 and group or nil, LANES = lanes,
      TASK = lanes and "uint", MOVED = lanes and (T == "double" and "ulong" or "uint") }
    local range = group == 1 and (6 * tiles + share - 1) // share
      or { global = { 6 * tiles * group }, group = { group } }
    run("transpose", range, defines)(rows, columns, 3, strides[1], strides[2], columns, strides[4], strides[5], rows,
      6 * tiles, share, reals(4 + 6 * count), lanes or 1, empty(4 + 6 * count), lanes or 2)
  end
  turn(32, 32, 1, 2)
  for _, tile in ipairs { { 32, 32 }, { 64, 8 }, { 8, 64 }, { 8, 8 } } do
    turn(tile[1], tile[2], 48, 1)
    if rows % 4 + columns % 4 == 0 then turn(tile[1], tile[2], 48, 1, 4) end
  end end]]

by_kernel.column_sums = [[for _, shape in ipairs(SHAPES) do
  local rows, cols = table.unpack(shape)
  run("column_sums", over(cols, 16))(rows, cols, reals(5 + rows * cols), 5, empty(cols)) end]]

-- --- elements, reductions, scans ------------------------------------------------------------

by_kernel.saxpy = [[for _, n in ipairs(SIZES) do
  run("saxpy", over(n, 16))(n, 2, reals(n + 1), 1, reals(n), 0, empty(n + 2), 2) end]]

local RANDOM = [[for _, n in ipairs { 1, 7, 31, 32, 33, 70 } do
  local blocks = %d
  local function launch(dtype, words, defines, ...)
    local chunk = blocks * 4 // words * (n %% 2 + 1)
    defines.WORDS, defines.BLOCKS = words, blocks
    d:kernel("random", { dtype = dtype, defines = defines })((n + chunk - 1) // chunk, n, chunk, empty(n + 3, dtype), 3,
      42, n %% 3 * 4, ...)
  end
  for normal = 0, 1 do launch(T, T == "double" and 2 or 1, { NORMAL = normal }, 1, 2, 3, 2.5, 1) end
  for normal = 0, 1 do launch("half", 1, { HALF = 1, NORMAL = normal }, 1, 2, 3, 2.5, 1) end
  launch("uchar", 2, { FLOATING = 0 }, 1, 6)
  launch("ulong", 4, { FLOATING = 0 }, 1, 6) end]]
by_kernel.random = RANDOM:format(1)

by_kernel.permutation = [[for _, n in ipairs { 1, 15, 16, 17, 70 } do for lanes = 1, 16, 15 do
  local chunk, rows = lanes * (n % 2 + 1), math.ceil(n ^ 0.5)
  for _, dtype in ipairs { "uint", "ulong" } do
    d:kernel("permutation", { dtype = dtype, defines = { LANES = lanes, ROUNDS = 2 } })((n + chunk - 1) // chunk, n,
      chunk, empty(n + 2, dtype), 2, 42, rows, (n + rows - 1) // rows) end end end]]

by_kernel.map_chunks = [[for _, n in ipairs { 1, 7, 63, 64, 65, 129 } do for _, chunk in ipairs { 64, 67, n } do
  run("map_chunks", (n + chunk - 1) // chunk)(n, chunk, empty(n + 2), 2, reals(n + 1), 1) end end]]

by_kernel.map_vectors = [[for _, n in ipairs(SIZES) do
  run("map_vectors", over(n, 16))(n, empty(n + 2), 2, reals(n + 1), 1)
  run("map_vectors", over((n + 3) // 4, 8), { LANES = 4, EXPRESSION = "arg_x",
    PARAMETERS = ", __global const REAL *x, const ulong x_first", LOADS = "const REAL arg_x = x[x_first + i];",
    VECTORS = "REAL lanes_x[4]; vstore4(vload4(0, x + x_first + first), 0, lanes_x);",
    LANE_LOADS = "const REAL arg_x = lanes_x[lane];" })(n, empty(n + 8), 8, reals(n + 4), 4) end]]

by_kernel.map_rows = [[for _, shape in ipairs(SHAPES) do for lanes = 1, 5, 4 do for _, span in ipairs { 1, 3, 17 } do
  local rows, inner = shape[1], shape[2]
  local parts = (inner + span - 1) // span
  run("map_rows", over(rows * parts, 16), { LANES = lanes, INTERLEAVED = lanes == 1 and span or 0,
    BASES = "ROW_BASE(x, row * arg_step)", PARAMETERS = "NUMBER(ulong, step) BUFFER(REAL, x)", LOADS = "",
    EXPRESSION = "arg_x" })(
    rows, inner, span, parts, empty(rows * inner + 2), 2, inner + 1, reals(rows * (inner + 1)), 1) end end end]]

by_kernel.reduce_chunks = [[for _, n in ipairs { 1, 7, 16, 17, 33, 97, 301 } do for ordered = 0, 1 do
  local chunk = math.min(n, 200)
  run("reduce_chunks", (n + chunk - 1) // chunk, { LANES = 16, BLOCK = 3, ORDERED = ordered })(
    n, chunk, empty(1 + (n + chunk - 1) // chunk), 1, 1, 2, reals(n + 1), 1) end end]]

by_kernel.reduce_groups = [[for _, n in ipairs { 1, 7, 15, 16, 17, 33, 65, 301 } do for ordered = 0, 1 do
  local chunk = math.min(n, 200)
  run("reduce_groups", { global = { (n + chunk - 1) // chunk * 16 }, group = { 16 } },
    { GROUP = 16, AT_ONCE = 4, ORDERED = ordered })(n, chunk, empty(1 + (n + chunk - 1) // chunk), 1, 1, 2,
    reals(n + 1), 1) end
  local chunk = math.min(n, 200)
  run("reduce_groups", { global = { (n + chunk - 1) // chunk * 16 }, group = { 16 } },
    { GROUP = 16, AT_ONCE = 8, LANES = 4 })(n, chunk, empty(1 + (n + chunk - 1) // chunk), 1, 1, 2, reals(n + 4), 4)
  run("reduce_groups", { global = { (n + chunk - 1) // chunk * 16 }, group = { 16 } },
    { GROUP = 16, AT_ONCE = 8, LANES = 4, TURNS = 1 })(n, chunk, empty(1 + (n + chunk - 1) // chunk), 1, 1, 2,
    reals(n + 4), 4)
  end]]

by_kernel.reduce_rows = [[for _, n in ipairs { 1, 3, 15, 16, 17, 33 } do for rows = 1, 37, 9 do
  run("reduce_rows", (rows + 19) // 20, { ROW = n < 16 and n or 0 })(rows, n, 20, empty(1 + rows), 1, 1, 2,
    reals(rows * n + 1), 1)
  for _, team in ipairs { 1, 4 } do
    run("reduce_rows", { global = { up(rows * team, 16) }, group = { 16 } }, { GROUP = 16 })(rows, n,
      team, empty(1 + rows), 1, 1, 2, reals(rows * n + 1), 1)
    if n % 4 == 0 then
      run("reduce_rows", { global = { up(rows * team, 16) }, group = { 16 } }, { GROUP = 16, LANES = 4 })(rows, n,
        team, empty(1 + rows), 1, 1, 2, reals(rows * n + 4), 4)
    end
  end end end]]

by_kernel.reduce_columns = [[for _, case in ipairs { { 1, 1, 1 }, { 7, 3, 1 }, { 33, 5, 4 }, { 5, 17, 1 },
  { 9, 41, 1 } } do
  local n, inner, fold = table.unpack(case)
  for chunk = 3, 40, 36 do
    local strips, parts = fold > 1 and 1 or (inner + 19) // 20, (n + chunk - 1) // chunk
    local tasks, width = 2 * strips * parts, fold > 1 and inner or math.min(inner, 20)
    run("reduce_columns", (tasks + 2) // 3, { LANES = 8, WIDE = 24, FOLDED = fold > 1 and 1 or 0 })(n, inner, chunk,
      width, fold, tasks, 3, empty(1 + 2 * parts * inner), 1, 1, 2, reals(2 * n * inner + 1), 1)
    run("reduce_columns", { global = { tasks * 32 }, group = { 32 } }, { GROUP = 32 })(n, inner, chunk, width, fold,
      empty(1 + 2 * parts * inner), 1, 1, 2, reals(2 * n * inner + 1), 1)
  end end
  for _, case in ipairs { { 1, 4, 1 }, { 37, 4, 8 }, { 33, 44, 2 } } do
    local n, inner, fold = table.unpack(case)
    local parts, width = (n + 20) // 21, math.min(inner, 20)
    run("reduce_columns", { global = { 2 * ((inner + width - 1) // width) * parts * 32 }, group = { 32 } },
      { GROUP = 32, LANES = 4, AT_ONCE = 2 })(n, inner, 21, width, fold, empty(1 + 2 * parts * inner), 1, 1, 2,
      reals(2 * n * inner + 4), 4)
  end]]

by_kernel.scan_columns = [[for _, shape in ipairs { { 1, 1 }, { 7, 3 }, { 5, 17 }, { 9, 41 } } do
  for exclusive = 0, 1 do for lanes = 1, 8, 7 do for chunk = 3, 9, 6 do
    local n, inner, width = shape[1], shape[2], lanes == 1 and 1 or 20
    local parts, strips = (n + chunk - 1) // chunk, (inner + width - 1) // width
    local tasks = 2 * parts * strips
    run("scan_columns", (tasks + 2) // 3, { LANES = lanes, WIDE = width, AT_ONCE = lanes == 1 and 2 or 1,
      EXCLUSIVE = exclusive })(n, inner, chunk, width, tasks, 3, empty(2 + 2 * n * inner), 2,
      reals(1 + 2 * parts * inner), 1, 1, 2, reals(1 + 2 * n * inner), 1)
  end end end end]]

by_kernel.scan_rows = [[for _, shape in ipairs { { 1, 1 }, { 4, 3 }, { 7, 17 }, { 13, 8 } } do for exclusive = 0, 1 do
  local rows, n = table.unpack(shape)
  run("scan_rows", (rows + 5) // 6, { EXCLUSIVE = exclusive })(rows, n, 6, empty(2 + rows * n), 2, exclusive, 2,
    reals(1 + rows * n), 1)
end end]]

--- Kept apart: what goes through elements one by one, and what shifts vectors of sixteen.
local SCAN = [[for _, n in ipairs { 1, 7, 15, 16, 17, 33, 301 } do for exclusive = 0, 1 do
  local chunk = math.min(n, 200)
  run("scan_chunks", (n + chunk - 1) // chunk, { EXCLUSIVE = exclusive%s })(n, chunk, empty(n + 2), 2, reals(3), 1, 1,
    2, reals(n + 1), 1) end end]]

by_kernel.scan_chunks = SCAN:format ', OPERATION = "a + b"'

by_kernel.scan_groups = [[for _, n in ipairs { 1, 7, 15, 16, 17, 33, 120, 301 } do for exclusive = 0, 1 do
  local chunk = math.min(n, 120)
  run("scan_groups", { global = { (n + chunk - 1) // chunk * 16 }, group = { 16 } },
    { GROUP = 16, SHARE = 3, EXCLUSIVE = exclusive })(n, chunk, empty(n + 2), 2, reals(4), 1, 1, 2, reals(n + 1), 1)
  end end]]

by_kernel.scan_lookback = [[for _, n in ipairs { 1, 7, 47, 48, 49, 301, 48 * 17 + 5 } do for exclusive = 0, 1 do
  for patience = 0, 9, 9 do
    local tiles = (n + 47) // 48
    run("scan_lookback", { global = { tiles * 16 }, group = { 16 } },
      { GROUP = 16, SHARE = 3, BLOCK = 16, PATIENCE = patience, EXCLUSIVE = exclusive })(n,
      zeros(5 + 4 * tiles + 4, "ulong"), 1, empty(n + 2), 2, 1, 2, reals(n + 1), 1)
  end end end]]

-- --- arrays ---------------------------------------------------------------------------------

by_kernel.sort_bits = [[for _, n in ipairs { 1, 7, 33, 301 } do for group = 1, 9, 8 do for kind = 0, 2 do
  local chunk = math.min(n, 200)
  run("sort_bits", { global = { (n + chunk - 1) // chunk * group }, group = { group } }, { GROUP = group,
    KIND = kind })(n, chunk, words(n + 1), 1, zeros(2, "uint"), 1) end end end]]

by_kernel.sort_count = [[for _, n in ipairs { 1, 7, 33, 301 } do for group = 1, 9, 8 do for pass = 0, 1 do
  local chunk = math.min(n, 200)
  local chunks = (n + chunk - 1) // chunk
  run("sort_count", { global = { chunks * group }, group = { group } }, { GROUP = group, BITS = 4 })(n, chunk, 0, pass,
    buffer(1, function() return 3 end, "uint"), 0, empty(1 + 16 * chunks, "uint"), 1, words(n + 1), 1,
    empty(n, "uint"), 0, words(n), 0) end end end]]

--- Two passes are needed, so the first one goes to the spare memory. Places are among all elements, which the zeros
-- behind them tell sort_move_warps.
local SORT_MOVE = [[for _, n in ipairs { 1, 7, 33, 301 } do for carried = 0, 2 do
  local chunk, starts, total = math.min(n, 200), {}, 0
  local function element(i) return i * 2654435761 & 0xffffffff end -- as words has them
  local chunks = (n + chunk - 1) // chunk
  for d = 0, 15 do for c = 0, chunks - 1 do
    starts[d * chunks + c + 1] = total
    for i = c * chunk + 1, math.min((c + 1) * chunk, n) do
      if element(i + 1) & 15 == d then total = total + 1 end
    end
  end end
  local carries = carried == 0 and {} or { empty(n, "ushort"), 0, empty(n, "ushort"), 0 }
  if carried == 1 then table.move({ buffer(n, function(i) return i end, "ushort"), 0 }, 1, 2, 5, carries) end
  local v = carried == 1 and { carries[5], 0, table.unpack(carries, 1, 4) } or carries
  run("%s", { global = { chunks * %d }, group = { %d } }, { GROUP = %d, BITS = 4, SHARE = 3, CARRIED = carried,
    CARRY = "ushort" })(n, chunk, 0, 0, buffer(1, function() return 3 end, "uint"), 0,
    buffer(#starts + 16, function(k) return starts[k] or 0 end, "uint"), 0, words(n + 1), 1, empty(n, "uint"),
    0, empty(n, "uint"), 0, table.unpack(v)) end end]]

by_kernel.sort_move_chunks = SORT_MOVE:format("sort_move_chunks", 1, 1, 1)

by_kernel.sort_move_groups = SORT_MOVE:format("sort_move_groups", 16, 16, 16)

by_kernel.sort_starts = [[for chunks = 1, 40, 13 do for group = 1, 17, 8 do
  run("sort_starts", { global = { 16 * group }, group = { group } }, { GROUP = group, BITS = 4 })(chunks,
    buffer(16 * (chunks + 1) + 1, function(k) return k end, "uint"), 1) end end]]

by_kernel.sort_move_warps = SORT_MOVE:format("sort_move_warps", 16, 16, 16)

by_kernel.sort_finish = [[for _, n in ipairs { 1, 7, 33, 301 } do for group = 1, 9, 8 do for passes = 0, 1 do
  local chunk = math.min(n, 200)
  run("sort_finish", { global = { (n + chunk - 1) // chunk * group }, group = { group } },
    { GROUP = group, CARRIED = 2 })(n, chunk, passes, buffer(1, function() return passes end, "uint"), 0,
    words(n + 1), 1, empty(n, "uint"), 0, words(n), 0, empty(n + 1, "uint"), 1, words(n), 0) end end end]]

by_kernel.gather = [[for _, n in ipairs { 1, 7, 33, 301 } do for group = 1, 9, 8 do local chunk = math.min(n, 200)
  run("gather", { global = { (n + chunk - 1) // chunk * group }, group = { group } },
    { GROUP = group, INDEX = "short" })(n, chunk, words(n + 1), 1,
    buffer(n, function(i) return n + 1 - i end, "short"), 0, empty(n + 2, "uint"), 2) end end]]

--- A condition of every third element; what the chunks keep is counted before.
local COMPACT = [[for _, n in ipairs { 1, 7, 33, 301 } do for share = 1, 8, 7 do
  local chunk, ends, all = math.min(n, 200), {}, 0
  local chunks = (n + chunk - 1) // chunk
  for c = 1, chunks do
    for i = (c - 1) * chunk, math.min(c * chunk, n) - 1 do all = all + (i %% 3 == 0 and 1 or 0) end
    ends[c] = all
  end
  run("%s", { global = { chunks * %d }, group = { %d } }, { GROUP = %d, SHARE = share, LANES = 8 * share,
    EXPRESSION = "i %% 3 == 0", PARAMETERS = ", __global const REAL *x, const ulong x_first",
    LOADS = "const REAL arg_x = x[x_first + i];" })(n, chunk, empty(all + 1), 1,
    buffer(chunks, function(c) return ends[c] end, "uint"), 0, reals(n + 1), 1) end end]]

by_kernel.compact_chunks = COMPACT:format("compact_chunks", 1, 1, 1)

by_kernel.compact_groups = COMPACT:format("compact_groups", 16, 16, 16)

by_kernel.compact_lookback = [[for _, n in ipairs { 1, 7, 47, 48, 49, 301, 48 * 17 + 5 } do
  for patience = 0, 9, 9 do
    local tiles = (n + 47) // 48
    run("compact_lookback", { global = { tiles * 16 }, group = { 16 } }, { GROUP = 16, SHARE = 3, BLOCK = 16,
      PATIENCE = patience, EXPRESSION = "i % 3 == 0", PARAMETERS = ", __global const REAL *x, const ulong x_first",
      LOADS = "const REAL arg_x = x[x_first + i];" })(n, zeros(5 + 2 * tiles + 4, "ulong"), 1,
      empty((n + 2) // 3 + 1), 1, empty(2, "uint"), 1, reals(n + 1), 1)
  end end]]

by_kernel.scatter_claim = [[for _, n in ipairs { 1, 7, 33, 301 } do for group = 1, 9, 8 do
  local chunk = math.min(n, 200)
  run("scatter_claim", { global = { (n + chunk - 1) // chunk * group }, group = { group } },
    { GROUP = group, INDEX = "short" })(n, chunk, buffer(n, function(i) return i // 2 + 1 end, "short"), 0,
    zeros(n // 2 + 2, "uint"), 1) end end]]

by_kernel.scatter = [[for _, n in ipairs { 1, 7, 33, 301 } do for group = 1, 9, 8 do
  local chunk = math.min(n, 200)
  local winners = buffer(n // 2 + 1, function(k) return math.min(2 * k - 1, n) end, "uint")
  run("scatter", { global = { (n + chunk - 1) // chunk * group }, group = { group } },
    { GROUP = group, INDEX = "short" })(n, chunk, words(n + 1), 1,
    buffer(n, function(i) return i // 2 + 1 end, "short"), 0, winners, 0, empty(n // 2 + 2, "uint"), 1) end end]]

by_kernel.histogram = [[for _, n in ipairs { 1, 7, 33, 301 } do for group = 1, 9, 8 do for bins = 1, 20, 19 do
  for _, most in ipairs { 0, 64 } do
  local chunk, edges = math.min(n, 200), buffer(bins + 1, function(k) return (k - 1) * 5 / bins - 2.5 end)
  run("histogram", { global = { (n + chunk - 1) // chunk * group }, group = { group } },
    { GROUP = group, LOCAL_BINS = most })(n, chunk, edges, 0, bins, bins / 5, 0.01, zeros(bins + 1, "uint"), 1,
    reals(n + 1), 1) end end end end]]

-- --- measurements and examples --------------------------------------------------------------

by_kernel.life = [[for _, n in ipairs { 1, 2, 3, 5, 7 } do
  run("life", { global = { n, n, n }, group = { 4, 4, 1 }, remainder = "pad" })(n,
    buffer(n ^ 3, function(i) return i % 3 end, "uchar"), empty(n ^ 3, "uchar")) end]]

by_kernel.trace_range = [[for groups = 0, 1 do
  run("trace_range", { global = { 4, 3, 2 }, group = { 2, 3, 1 }, offset = { 1, 0, 2 } }, { GROUPS = groups })(
    1, 24, 4, 3, 4, zeros(24 * 26, "ulong"), zeros(48, "uint")) end]]

by_kernel.peak_fma = [[for _, n in ipairs { 1, 3, 17 } do
  run("peak_fma", n, { WIDTH = 2, CHAINS = 3, UNROLL = 2 })(2, 1, 1, reals(6), empty(6 * n))
  run("peak_fma", n, { CHAINS = 3, UNROLL = 2 })(2, 1, 1, reals(3), empty(3 * n))
  d:kernel("peak_fma", { dtype = "int", defines = { INTEGER = 1, CHAINS = 3, UNROLL = 2 } })(n, 2, 1, 1, ints(3),
    empty(3 * n, "int")) end]]

by_kernel.peak_copy = [[for groups = 1, 3, 2 do
  run("peak_copy", 64 * groups)(reals(1024 * groups), empty(1024 * groups))
  run("peak_copy", 64 * groups, { IN_PLACE = 1 })(reals(1024 * groups)) end]]

by_kernel.probe_reads = [[for space = 0, 3 do for groups = 1, 3, 2 do
  run("probe_reads", 64 * groups, { SPACE = space, ENTRIES = 64 })(3, 5, 3, reals(72), empty(64 * groups)) end end]]

by_kernel.probe_stride = [[for stride = 1, 3, 2 do
  run("probe_stride", 128)(stride, 1, words(1024 * stride + 1), empty(128, "uint")) end]]

by_kernel.probe_stream = [[for operation = 0, 2 do for neighbours = 0, 1 do
  run("probe_stream", 128, { OPERATION = operation, NEIGHBOURS = neighbours })(
    1, 511, words(2048), empty(2048, "uint")) end end]]

by_kernel.probe_links = [[local chain = empty(63 * 32 + 1, "uint")
  run("probe_table", 64)(63, 32, chain)
  run("probe_links", 1)(100, chain, zeros(1, "uint"))]]

by_kernel.probe_branches = [[for _, n in ipairs(SIZES) do run("probe_branches", n)(2, 1, 64, empty(n, "uint")) end
  run("probe_branches", 70)(2, 1, 64, empty(70, "uint"))]]

by_kernel.probe_packing = [[for _, n in ipairs(SIZES) do
  run("probe_packing", n, { CHAINS = 3 })(2, empty(n, "uint")) end]]

by_kernel.probe_functions = [[for f = 0, 2 do for _, n in ipairs(SIZES) do
  run("probe_functions", n, { FUNCTION = f, ADDS = 2 })(3, 0.5, 1, 3, empty(n, "float")) end end]]

by_kernel.probe_nothing = [[run("probe_nothing", 8)(7, empty(1, "uint"))]]

by_kernel.probe_barrier = [[for with = 0, 1 do for group = 1, 9, 4 do
  run("probe_barrier", { global = { 2 * group }, group = { group } }, { BARRIER = with })(3, empty(2 * group, "uint"))
  end end]]

by_kernel.probe_atomic_global = [[run("probe_atomic_global", 16)(2, 3, 2, zeros(6, "uint"))]]

by_kernel.probe_atomic_local = [[run("probe_atomic_local", { global = { 16 }, group = { 8 } })(2, 3, empty(6, "uint"),
  cl.scratch("uint", 8))]]

by_kernel.probe_table = [[for bits = 0, 6 do for apart = 1, 3, 2 do local n = 1 << bits
  run("probe_table", n)(n - 1, apart, empty((n - 1) * apart + 1, "uint")) end end]]

by_kernel.probe_chase = [[for group = 1, 9, 4 do
  run("probe_chase", { global = { 2 * group }, group = { group } })(2, 1, group, 7, 15,
    buffer(16, function(i) return (5 * i) & 15 end, "uint"), empty(2 * group, "uint"), cl.scratch("uint", group)) end]]

by_kernel.probe_intensity = [[for _, n in ipairs { 1, 3, 17 } do
  run("probe_intensity", n, { WIDTH = 2, CHAINS = 2 })(2, 1, 1, reals(4 * n), empty(4 * n)) end]]

by_kernel.probe_uneven = [[for _, n in ipairs(SIZES) do run("probe_uneven", n)(2, 3, 5, empty(n, "uint")) end]]

--- What Oclgrind 21.10 cannot watch for uninitialised reads: its check crashes at a shuffle with a part that is
-- undefined, as in a vector of sixteen made of longer and shorter ones. By name of a kernel and variant.
launches.unwatched = { ["scan_chunks, by vectors"] = SCAN:format "", ["random, by vectors"] = RANDOM:format(8) }

return launches
