-- SPDX-License-Identifier: MIT
--- What is measured, and against whom: workloads, and the reports that repeat papers or compare with other libraries.
-- Its modules are loaded when they are used: the command line asks for nested tables where OpenCL may be missing.

local write_file = require("clcompute.base").write_file

local suite = {}

-- Operands, nested tables among them (`clcompute.suite.data`).
suite.data = require "clcompute.suite.data"

--- Makes a workload.
-- @string name "saxpy", "sum", "dot", "scan", "gemm", "gauss", "lu" or "loops"
-- @tparam table shape `n`, and what `clcompute.suite.workload.new` tells
-- @string dtype "float" or "double"
-- @treturn table a workload (`clcompute.suite.workload`)
function suite.workload(name, shape, dtype)
  return require "clcompute.suite.workload".new(name, shape, dtype)
end

--- A candidate of `clcompute.bench` that computes a workload.
-- @tparam table work
-- @tparam Device device
-- @tparam[opt] string method
-- @treturn table
function suite.candidate(work, device, method)
  return (require "clcompute.suite.workload".ours(work, device, method))
end

--- Measures a workload by its methods on devices, beside the sequential program.
-- @tparam table work
-- @tparam table options `devices`, and what `clcompute.suite.workload.section` tells
-- @treturn table a section of a report
function suite.section(work, options)
  return require "clcompute.suite.workload".section(work, options)
end

-- The module of each report; that of a paper is named after its first author.
local REPORTS = { borisov = "borisov", gauss = "baranov", polykernels = "belevantsev", peers = "peers",
  scaling = "scaling" }

--- Measures what a report shows.
-- @string name "borisov", "gauss", "polykernels", "peers" or "scaling"
-- @tparam table options those of `measure` in the report's module; `rows`: a folder that keeps what was measured
-- @treturn ?table a document for `clcompute.report`; nil on ranks of a job other than the first
-- @raise where the rows cannot be written, or lua-dkjson is missing
function suite.report(name, options)
  local document, rows = require("clcompute.suite." .. REPORTS[name]).measure(options)
  if rows and options.rows then
    write_file(("%s/%s.jsonl"):format(options.rows, name), require "clcompute.report".jsonl(rows))
  end
  return document
end

return suite
