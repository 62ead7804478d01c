-- SPDX-License-Identifier: MIT

--- What devices have in Lua.
-- @module clcompute.device

return { profile = require "clcompute.device.profile" }
