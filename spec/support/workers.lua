-- SPDX-License-Identifier: MIT
--- Workers of isolated devices, from outside.

local workers = {}

--- A line for os.execute that kills those of this process, and ends when nothing of them is left that could answer.
workers.KILL = [[for p in $(pgrep -P $PPID -f '[l]uaopen_clcompute_worker'); do
  kill -9 $p
  until grep -qs "^State:.Z" /proc/$p/status && [ $(ls /proc/$p/task | wc -l) = 1 ]; do sleep 0.01; done
done]]

return workers
