-- SPDX-License-Identifier: MIT

--- The version of the library, which the command tells without the C core.
-- @module clcompute.base.version

return "clcompute scm"
