-- SPDX-License-Identifier: MIT

--- What buffers have in Lua: .npy files.
-- @module clcompute.buffer

return require "clcompute.buffer.npy"
