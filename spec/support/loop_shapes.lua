-- SPDX-License-Identifier: MIT
--- The shapes that kernels of loop nests are given, forced in turn: tiles so small that a few passes fill them, and
-- what a GPU gets.

return {
  { name = "the device's own" },
  { name = "small tiles", target = "cpu",
    tiles = { vector = 2, rows = 2, columns = 2, lane = 4, block = 2, least = 2, small = 2, blocks = 3,
      passes = 3, cache = 64, jam = 3 } },
  { name = "single passes", target = "cpu",
    tiles = { vector = 1, rows = 1, columns = 1, lane = 1, block = 1, least = 1, small = 1, blocks = 64,
      passes = 1, jam = 1 } },
  { name = "short rounds", target = "cpu", tiles = { passes = 2, cache = 1, blocks = 1 } },
  { name = "those of a GPU", target = "gpu",
    tiles = { rows = 2, columns = 2, group = 2, passes = 2, cache = 1, blocks = 1, together = 4, spread = 1, paired = 1,
      slices = 2, terms = 1 } },
}
