-- SPDX-License-Identifier: MIT

--- How large the tiles of a nest are: data, by the class of the nest. Measured with POCL 3.1 on two cores with AVX-512.
--
-- `lane`, `rows`: of the innermost loop that is shared out and of the others, `most` passes at a time, in multiples of
-- `multiple`, not below `least`; `small`: passes of a tile that is not made smaller; `registers`: rows and vectors of a
-- tile in registers.
-- @module clcompute.loops.generation.tile_sizes

local MANY = 1 << 16

return {
  vector_bytes = 64, -- of a register
  -- no loop within: rows of neighbours
  flat = { small = 2048, lane = { most = MANY, least = 1024, multiple = 64 },
    rows = { most = MANY, least = 1, multiple = 1 } },
  -- loops within, the lane moved into them: what it touches stays in the first level cache
  sunk = { small = 64, lane = { most = 512, least = 64, multiple = 16 }, rows = { most = 1024, least = 1, multiple = 1 } },
  -- loops within, none of which is a lane
  loops = { small = 1, lane = { most = 1024, least = 1, multiple = 1 }, rows = { most = 1024, least = 1, multiple = 1 } },
  -- tiles in registers
  registers = { small = 256, lane = { most = 512, least = 32, multiple = 32 },
    rows = { most = 128, least = 8, multiple = 8 }, registers = { rows = 8, columns = 2 } },
  -- the same on a GPU, a work-item each: its columns are a group's width apart, so that neighbours read neighbours
  wide = { registers = { rows = 8, columns = 4 }, group = { 16, 16 } },
  -- rows side by side, whose sums do not wait for each other
  rows = { small = 8, lane = { most = 1024, least = 8, multiple = 8 }, rows = { most = 1024, least = 1, multiple = 1 },
    registers = { rows = 8, columns = 1 } },
}
