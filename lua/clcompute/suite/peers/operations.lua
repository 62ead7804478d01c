-- SPDX-License-Identifier: MIT
--- The operations that are measured against others, by name: each a function of a line, a dtype and a device.
-- @module clcompute.suite.peers.operations

return {
  gemm = require "clcompute.suite.peers.gemm",
  lu = require "clcompute.suite.peers.lu",
  gauss = require "clcompute.suite.peers.gauss",
  loops = require "clcompute.suite.peers.loops",
  saxpy = require "clcompute.suite.peers.vectors".saxpy,
  sum = require "clcompute.suite.peers.vectors".sum,
  dot = require "clcompute.suite.peers.vectors".dot,
  scan = require "clcompute.suite.peers.vectors".scan,
}
