-- SPDX-License-Identifier: MIT
--- The numbers of every operation by device: data. The first row whose conditions a device meets is taken, so a
-- list goes from the particular to the general: the row of a new GPU goes above the rows that it also meets.
--
-- Conditions: `type`, `name`, `vendor` or `platform` (a plain part of it), `dtype`, `vector` (the device's elements of
-- a vector register, at least), `local_memory` (bytes, at least), `units` (compute units, at least), `max_group`
-- (work-items of a group, at least), `capability` (NVIDIA's compute capability, 10 * major + minor, at least; elsewhere
-- 0). All else is for the operation. Where no other place is named, a row was measured with POCL 3.1 on two cores with
-- AVX-512.

local known = {}

-- gemm_panels: rows of a register tile, of which 32 vector registers hold 14 and 16 hold 6; mc x kc elements of A stay
-- in the second level cache, kc x 2 vectors of B in the first; B is read where it lies up to `direct` elements.
-- gemm_blocks: shapes, the largest first: blocks of C of `bm` x `bn`, `tm` x `tn` of them a work-item's, and slices of
-- depth `bk`. gemm_pipelined: such `shapes`, and slices in local memory (`stages`); of each how many groups a
-- multiprocessor holds at a time (`held`), and the GFLOP/s of the device with one group on each (`alone`) and with all
-- (`full`), where it is measured with two (`two`); products of fewer multiply-adds than `least` take `blocks`.
-- gemm_tensor_double: the same of doubles, and the `depth` of an instruction. A row with `is_tried` is for devices
-- that get products right with it. The verdict is kept by the text of the kernels and by this number: raise it where
-- their headers or their host change.
-- Plans of blocks and of parts of k are compared by a model in which a launch more costs `launch` us, memory moves at
-- `stream` GB/s, and a shape has `along` percents of its rate where it reads A as it lies (none: it does not, and what
-- does not begin on quads is packed for it). With
-- `part` the last group of a block adds up its parts, for so many nanoseconds each (none: a launch of its own does);
-- `ways` warps share a slice (none: 1). A shape with `parts` takes so many (examples/gemm_model.lua measures them).
-- Products of a matrix of at least `worth` elements and few vectors go by `thin`. Where rows of the matrix lie along
-- k, there are `along` vectors at most, and of a group of `group` work-items up to `team` have `rows` rows. Elsewhere
-- there are `beside` vectors at most, and `across` work-items read neighbouring columns, `ahead` rows at a time. k goes
-- in parts of at least `least` elements where a compute unit would have fewer than `held` groups, which are the most.
-- Parts of the latter are added up as those of blocks are.
local THIN = { along = 8, beside = 8, worth = 1 << 14, group = 128, team = 64, rows = 2, across = 32, ahead = 4,
  held = 8, least = 256 }
known.gemm = {
  { where = { type = "cpu", dtype = "float", vector = 16, local_memory = 250000 },
    kernel = "panels", vector = 16, rows = 14, mc = 112, nc = 1024, kc = 512, direct = 1 << 18 },
  { where = { type = "cpu", dtype = "double", vector = 8, local_memory = 250000 },
    kernel = "panels", vector = 8, rows = 14, mc = 112, nc = 1024, kc = 256, direct = 1 << 17 },
  { where = { type = "cpu", dtype = "float", vector = 8, local_memory = 150000 },
    kernel = "panels", vector = 8, rows = 6, mc = 96, nc = 1024, kc = 320, direct = 1 << 16 },
  { where = { type = "cpu", dtype = "double", vector = 4, local_memory = 150000 },
    kernel = "panels", vector = 4, rows = 6, mc = 96, nc = 1024, kc = 160, direct = 1 << 15 },
  { where = { type = "cpu", vector = 8 },
    kernel = "panels", vector = 8, rows = 6, mc = 12, nc = 512, kc = 192, direct = 1 << 15 },
  { where = { type = "cpu" },
    kernel = "panels", vector = 4, rows = 6, mc = 12, nc = 512, kc = 192, direct = 1 << 15 },
  -- the shapes for GPUs: measured on an NVIDIA H200
  { where = { type = "gpu", vendor = "NVIDIA", dtype = "float", local_memory = 40000 },
    is_tried = 4, kernel = "pipelined", least = 1 << 20, launch = 7, stream = 3000, part = 880, thin = THIN,
    shapes = { { bm = 128, bn = 64, bk = 16, tm = 8, tn = 16, stages = 3, held = 4, alone = 14500, full = 54200 },
      { bm = 64, bn = 128, bk = 16, tm = 8, tn = 16, stages = 3, held = 4, alone = 14500, full = 54200 },
      { bm = 64, bn = 128, bk = 16, tm = 8, tn = 8, stages = 3, held = 3, alone = 38500, full = 47900, two = 43000,
        along = 96 },
      { bm = 32, bn = 64, bk = 32, tm = 4, tn = 8, ways = 4, stages = 3, held = 2, alone = 21200, full = 36000,
        along = 95 },
      { bm = 32, bn = 32, bk = 32, tm = 4, tn = 8, ways = 4, stages = 3, held = 4, alone = 20400, full = 28000,
        along = 82 } },
    blocks = { { bm = 128, bn = 64, bk = 16, tm = 8, tn = 8, held = 3, alone = 26000, full = 36800 },
      { bm = 64, bn = 64, bk = 16, tm = 8, tn = 4, held = 4, alone = 24000, full = 33000 },
      { bm = 32, bn = 64, bk = 16, tm = 4, tn = 4, held = 4, alone = 9000, full = 24000 },
      { bm = 32, bn = 32, bk = 32, tm = 4, tn = 4, held = 4, alone = 7500, full = 21000 } } },
  -- doubles on tensor cores: measured on an NVIDIA H100
  { where = { type = "gpu", vendor = "NVIDIA", dtype = "double", capability = 90, local_memory = 40000 },
    is_tried = 1, kernel = "doubles", least = 1 << 21, launch = 4, stream = 3000, thin = THIN,
    shapes = { { bm = 128, bn = 128, bk = 16, tm = 8, tn = 8, stages = 3, depth = 8, held = 1, alone = 56000,
        full = 56000 },
      { bm = 128, bn = 64, bk = 16, tm = 8, tn = 4, stages = 3, depth = 8, held = 1, alone = 53000, full = 53000 },
      { bm = 64, bn = 32, bk = 16, tm = 8, tn = 2, stages = 4, depth = 8, held = 3, alone = 22000, full = 36000 } },
    blocks = { { bm = 128, bn = 128, bk = 8, tm = 8, tn = 8, held = 2, alone = 15500, full = 17300 },
      { bm = 64, bn = 64, bk = 16, tm = 8, tn = 4, held = 3, alone = 9500, full = 14300 },
      { bm = 32, bn = 64, bk = 16, tm = 4, tn = 4, held = 3, alone = 6300, full = 9300 },
      { bm = 32, bn = 32, bk = 16, tm = 4, tn = 4, held = 4, alone = 5000, full = 8200 } } },
  { where = { dtype = "float", local_memory = 26000 },
    kernel = "blocks", launch = 4, stream = 3000, thin = THIN,
    blocks = { { bm = 128, bn = 64, bk = 16, tm = 8, tn = 8, held = 3, alone = 26000, full = 36800 },
      { bm = 64, bn = 64, bk = 16, tm = 8, tn = 4, held = 4, alone = 24000, full = 33000 },
      { bm = 32, bn = 64, bk = 16, tm = 4, tn = 4, held = 4, alone = 9000, full = 24000 },
      { bm = 32, bn = 32, bk = 32, tm = 4, tn = 4, held = 4, alone = 7500, full = 21000 } } },
  { where = { dtype = "double", local_memory = 36000 },
    kernel = "blocks", launch = 4, stream = 3000, thin = THIN,
    blocks = { { bm = 128, bn = 128, bk = 8, tm = 8, tn = 8, held = 2, alone = 15500, full = 17300 },
      { bm = 64, bn = 64, bk = 16, tm = 8, tn = 4, held = 3, alone = 9500, full = 14300 },
      { bm = 32, bn = 64, bk = 16, tm = 4, tn = 4, held = 3, alone = 6300, full = 9300 },
      { bm = 32, bn = 32, bk = 16, tm = 4, tn = 4, held = 4, alone = 5000, full = 8200 } } },
  { where = {}, kernel = "tiled" },
}

-- Products of floats whose precision may be had from tensor cores (`precision` of cl.gemm). gemm_warpgroups: 64 rows
-- for each of its `warpgroups`, `bn` columns, `stages` of tiles, bands of `band` blocks, and nanoseconds of a `tile` of
-- k: the shape is taken that ends first. gemm_tensor: shapes as those of gemm_pipelined. Sums of fewer products than
-- `depth` and products of fewer multiply-adds than `least` are plain floats', as are all with "float": sums of few
-- products have smaller errors than parts of elements. The first row that a device gets right is taken. Measured on an
-- NVIDIA H200, small products of "tf32" on an H100.
known["gemm float-tensor"] = {
  { where = { type = "gpu", vendor = "NVIDIA", dtype = "float" },
    is_tried = 2, kernel = "warpgroups", least = 1 << 29, depth = 128,
    shapes = { { warpgroups = 2, bn = 128, stages = 4, band = 8, tile = 1000 } } },
  { where = { type = "gpu", vendor = "NVIDIA", dtype = "float" },
    is_tried = 1, kernel = "tensor", least = 1 << 29, depth = 128,
    shapes = { { bm = 128, bn = 128, bk = 16, tm = 8, tn = 16, stages = 4, held = 2, alone = 45000,
      full = 66800 } } },
  { where = {}, kernel = "float" },
}
known["gemm tf32"] = {
  { where = { type = "gpu", vendor = "NVIDIA", dtype = "float" },
    is_tried = 2, kernel = "warpgroups", least = 1 << 28, depth = 0,
    shapes = { { warpgroups = 2, bn = 256, stages = 4, band = 16, tile = 620 },
      { warpgroups = 3, bn = 128, stages = 4, band = 8, tile = 470 },
      { warpgroups = 2, bn = 128, stages = 4, band = 8, tile = 380 },
      { warpgroups = 1, bn = 128, stages = 4, band = 8, tile = 330 } } },
  { where = { type = "gpu", vendor = "NVIDIA", dtype = "float" },
    is_tried = 1, kernel = "tensor", least = 1 << 29, depth = 0,
    shapes = { { bm = 128, bn = 128, bk = 16, tm = 8, tn = 16, stages = 4, held = 2, alone = 110000,
      full = 169000 } } },
  { where = {}, kernel = "float" },
}

-- Elementwise operations: groups of `group` work-items go through `lanes` elements at a time, which become vectors: few
-- for saxpy, which is in place most often. A worker, a core of a CPU or a group of a GPU, has a chunk, a multiple of
-- `granule` elements (0: there are no chunks, a work-item has a vector), and no fewer than `least`, which are not worth
-- a second worker. There are `per_unit` workers a compute unit at most: more than one even out what else runs there.
-- `ahead` bytes are prefetched, and results of `stream` bytes go past the caches, as POCL's compiler can. With
-- `one_launch` the last group of a reduction combines what all found, which needs a fence of the device. With
-- `one_pass` a scan of a whole buffer takes tiles of `share` elements a work-item, which wait for up to `block` tiles
-- before them, on a device that `answers.has_progress` (measured on an NVIDIA H100).
local POCL = { type = "cpu", platform = "Portable Computing Language" }
known.saxpy = {
  { where = POCL, kernel = "map_chunks", group = 1, lanes = 16, granule = 2048, least = 16384, per_unit = 16,
    ahead = 8192 },
  { where = { type = "cpu" }, kernel = "map_chunks", group = 1, lanes = 16, granule = 2048, least = 16384,
    per_unit = 16, ahead = 0 },
  { where = {}, kernel = "map_vectors", group = 256, lanes = 4, granule = 0, least = 0, per_unit = 0, ahead = 0 },
}
known.map = {
  { where = POCL, kernel = "map_chunks", group = 1, lanes = 64, granule = 2048, least = 8192, per_unit = 16,
    ahead = 8192, stream = 1 << 21 },
  { where = { type = "cpu" }, kernel = "map_chunks", group = 1, lanes = 64, granule = 2048, least = 8192,
    per_unit = 16, ahead = 0 },
  { where = {}, kernel = "map_vectors", group = 256, lanes = 4, granule = 0, least = 0, per_unit = 0, ahead = 0 },
}
known.reduce = {
  { where = POCL, kernel = "reduce_chunks", group = 1, lanes = 64, granule = 2048, least = 65536, per_unit = 16,
    ahead = 8192 },
  { where = { type = "cpu" }, kernel = "reduce_chunks", group = 1, lanes = 64, granule = 2048, least = 65536,
    per_unit = 16, ahead = 0 },
  { where = { type = "gpu", vendor = "NVIDIA" }, kernel = "reduce_groups", group = 256, lanes = 4, granule = 4096,
    least = 4096, per_unit = 3, ahead = 0, one_launch = 1 },
  { where = {}, kernel = "reduce_groups", group = 256, lanes = 4, granule = 4096, least = 8192, per_unit = 4,
    ahead = 0 },
}
known.histogram = {
  { where = { type = "gpu", vendor = "NVIDIA", max_group = 1024 }, kernel = "reduce_groups", group = 1024, lanes = 1,
    granule = 8192, least = 8192, per_unit = 2, ahead = 0 },
  table.unpack(known.reduce),
}
known.scan = {
  { where = POCL, kernel = "scan_chunks", group = 1, lanes = 16, granule = 2048, least = 16384, per_unit = 16,
    ahead = 8192, stream = 1 << 21 },
  { where = { type = "cpu" }, kernel = "scan_chunks", group = 1, lanes = 16, granule = 2048, least = 16384,
    per_unit = 16, ahead = 0 },
  { where = { type = "gpu", vendor = "NVIDIA" }, kernel = "scan_groups", group = 256, lanes = 1, granule = 4096,
    least = 8192, per_unit = 8, ahead = 0, share = 23, block = 128, one_pass = 1 },
  { where = {}, kernel = "scan_groups", group = 256, lanes = 1, granule = 4096, least = 8192, per_unit = 8,
    ahead = 0 },
}

-- Sorting: digits of so many `bits` a pass; a work-item of a GPU has `share` elements at a time.
known.sort = {
  { where = POCL, kernel = "sort_move_chunks", group = 1, lanes = 1, granule = 2048, least = 16384, per_unit = 16,
    ahead = 0, bits = 8, stream = 1 << 23 },
  { where = { type = "cpu" }, kernel = "sort_move_chunks", group = 1, lanes = 1, granule = 2048, least = 16384,
    per_unit = 16, ahead = 0, bits = 8 },
  { where = { type = "gpu", vendor = "NVIDIA", capability = 70, local_memory = 48000 }, is_tried = 1,
    kernel = "sort_move_warps", group = 256, lanes = 1, granule = 6144, least = 6144, per_unit = 8, ahead = 0,
    bits = 8, share = 24 },
  { where = { type = "gpu", vendor = "NVIDIA" }, kernel = "sort_move_groups", group = 256, lanes = 1, granule = 2048,
    least = 8192, per_unit = 16, ahead = 0, bits = 5, share = 16 },
  { where = {}, kernel = "sort_move_groups", group = 256, lanes = 1, granule = 2048, least = 8192, per_unit = 8,
    ahead = 0, bits = 4, share = 8 },
}

-- LU: `vector` elements of a register (1: a work-item a column, and panels column by column), `group` work-items;
-- panels of `columns`, which in matrices of more than `large` rows are within wider ones of `block`; up to `few`
-- right-hand sides are solved one by one; a system alone of up to `small` rows (none: 0) is a batch of one. With
-- `rows`, groups of so many rows choose the pivots of a panel in a tournament, of `last` (as many) in its last round,
-- warps of `warp` work-items (1: none) searching in registers; a work-item has `share` rows (1), there `last_share`
-- (1); panels are within blocks of `block` columns, in matrices of up to `large` rows of half as many. Groups have a
-- work-item for each row of a system of a batch up to `items` rows (none: 0).
known.lu = {
  { where = { type = "cpu", dtype = "float", vector = 16 },
    vector = 16, group = 1, columns = 128, block = 512, large = 1536, few = 8, small = 128 },
  { where = { type = "cpu", dtype = "double", vector = 8 },
    vector = 8, group = 1, columns = 128, block = 256, large = 1024, few = 8, small = 128 },
  { where = { type = "cpu", vector = 8 },
    vector = 8, group = 1, columns = 128, block = 256, large = 1024, few = 8, small = 128 },
  { where = { type = "cpu" }, vector = 4, group = 1, columns = 128, block = 256, large = 1024, few = 8, small = 128 },
  -- a simulator takes as long for a group's idle work-items
  { where = { platform = "Oclgrind" },
    vector = 1, group = 64, columns = 8, block = 32, large = 0, few = 8, small = 64,
    rows = 64, warp = 1, items = 512 },
  -- measured on an NVIDIA H200
  { where = { dtype = "float", capability = 80, max_group = 512, local_memory = 47000 },
    is_tried = 1, kernel = "lu_tournament", vector = 1, group = 64, columns = 32, block = 256, large = 4096, few = 8,
    small = 64, rows = 256, share = 2, last = 512, warp = 32, items = 256 },
  { where = { dtype = "double", capability = 80, max_group = 512, local_memory = 48000 },
    is_tried = 1, kernel = "lu_tournament", vector = 1, group = 64, columns = 16, block = 256, large = 4096, few = 8,
    small = 64, rows = 256, share = 2, last = 512, last_share = 2, warp = 32, items = 256 },
  { where = { dtype = "double", max_group = 512, local_memory = 48000 },
    is_tried = 1, kernel = "lu_tournament", vector = 1, group = 64, columns = 16, block = 256, large = 0, few = 8,
    small = 64, rows = 512, warp = 1, items = 256 },
  { where = { dtype = "float", max_group = 256, local_memory = 32000 },
    vector = 1, group = 64, columns = 32, block = 128, large = 0, few = 8, rows = 256, warp = 1 },
  { where = { dtype = "double", max_group = 128, local_memory = 32000 },
    vector = 1, group = 64, columns = 16, block = 128, large = 0, few = 8, rows = 128, warp = 1 },
  { where = {}, vector = 1, group = 64, columns = 32, block = 256, large = 512, few = 8 },
}

-- Loop nests of `clcompute.loops`. "tiles": a work-item goes through a block; vectors of `vector` elements, `rows` x
-- `columns` of them in registers; blocks of up to `block` x `lane` passes, of nests without loops within at least
-- `least` neighbours and `small` passes; `blocks` for each compute unit; rounds of up to `passes` of a sequential loop
-- (1: none) on pieces of up to `cache` bytes; `jam` passes of a sequential loop in one of the vectors within it (1:
-- none). "items": a work-item a pass, or `rows` x `columns` in registers, in groups of group x group, which copy
-- slices of `depth` passes to local memory (1: none); where there are fewer than `few` passes half as many rows and
-- columns with slices twice as deep, or without slices a work-item a pass; up to `slices` of a group share a pass (1:
-- none), each with `terms` passes of its loop at least; `together` work-items of one group share what is sequential but
-- for loops in it, and pieces of rounds; of loops of `spread` passes and more all groups do (nil: none, as it is not
-- known that groups see what others store); nests of `paired` short passes and more have two for each work-item.
-- Measured on an NVIDIA H200.
known.loops = {
  { where = { type = "cpu", dtype = "float", vector = 16 },
    kernel = "tiles", vector = 16, rows = 8, columns = 2, lane = 512, block = 128, least = 1024, small = 2048,
    blocks = 8, passes = 256, cache = 1 << 19, jam = 8 },
  { where = { type = "cpu", dtype = "double", vector = 8 },
    kernel = "tiles", vector = 8, rows = 8, columns = 2, lane = 512, block = 128, least = 1024, small = 2048,
    blocks = 8, passes = 256, cache = 1 << 19, jam = 4 },
  { where = { type = "cpu", vector = 8 },
    kernel = "tiles", vector = 8, rows = 4, columns = 2, lane = 512, block = 128, least = 1024, small = 2048,
    blocks = 8, passes = 256, cache = 1 << 19, jam = 4 },
  { where = { type = "cpu" },
    kernel = "tiles", vector = 4, rows = 4, columns = 2, lane = 512, block = 128, least = 1024, small = 2048,
    blocks = 8, passes = 256, cache = 1 << 19, jam = 4 },
  { where = { platform = "Oclgrind" }, -- as for LU
    kernel = "items", vector = 1, rows = 4, columns = 4, lane = 512, block = 128, least = 1024, small = 2048,
    blocks = 8, passes = 4, cache = 1 << 16, jam = 1, group = 16, depth = 16, few = 600000,
    slices = 16, terms = 4, together = 16, paired = 64 },
  { where = { platform = "NVIDIA CUDA", capability = 70 }, -- older ones have no such fences
    kernel = "items", vector = 1, rows = 4, columns = 4, lane = 512, block = 128, least = 1024, small = 2048,
    blocks = 8, passes = 16, cache = 1 << 16, jam = 1, group = 16, depth = 16, few = 400000,
    slices = 128, terms = 4, together = 1024, spread = 4096, paired = 1 << 19 },
  { where = {},
    kernel = "items", vector = 1, rows = 4, columns = 4, lane = 512, block = 128, least = 1024, small = 2048,
    blocks = 8, passes = 16, cache = 1 << 16, jam = 1, group = 16, depth = 16, few = 400000,
    slices = 128, terms = 4, together = 1024, paired = 1 << 19 },
}

return known
