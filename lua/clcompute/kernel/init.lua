-- SPDX-License-Identifier: MIT

--- What kernels have in Lua.
-- @module clcompute.kernel

return { trace_range = require "clcompute.kernel.trace_range" }
