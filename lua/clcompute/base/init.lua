-- SPDX-License-Identifier: MIT

--- What all packages stand on; none of it needs the C core.
-- @module clcompute.base

return {
  columns = require "clcompute.base.columns",
  folders = require "clcompute.base.folders",
  format = require "clcompute.base.format",
  interrupt = require "clcompute.base.interrupt",
  options = require "clcompute.base.options",
  places = require "clcompute.base.places",
  process = require "clcompute.base.process",
  statistics = require "clcompute.base.statistics",
  version = require "clcompute.base.version",
  width = require "clcompute.base.width",
  write_file = require "clcompute.base.write_file",
}
