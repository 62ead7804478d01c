-- SPDX-License-Identifier: MIT

--- Rows of a report in a file that `clcompute.report.read` reads back.
-- @module clcompute.suite.papers.keep

local report = require "clcompute.report"
local write_file = require("clcompute.base").write_file

--- Writes rows, one JSON object a line, over what the file held.
-- @tparam string path
-- @tparam table rows
-- @raise when it cannot be written, or lua-dkjson is missing
return function(path, rows)
  write_file(path, report.jsonl(rows))
end
