-- SPDX-License-Identifier: MIT
--- Whole lives of states in which each allocation fails, for `lua-faults`. Argument: the place of a device. Fails where
-- anything is left over or hidden.

package.path = "./?.lua;" .. package.path

local tally = require "spec.support.faults.allocations".live((...), 1)
print(("faults=%d leaked=%d swallowed=%d"):format(tally.faults, tally.leaked, tally.swallowed))
for i = 1, math.min(#tally.texts, 5) do print(tally.texts[i]) end
os.exit(tally.leaked + tally.swallowed == 0 and tally.faults > 0)
