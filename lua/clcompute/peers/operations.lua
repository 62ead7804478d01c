-- SPDX-License-Identifier: MIT
--- The operations that are measured against others, by name: each a function of a line, a dtype and a device.
-- @module clcompute.peers.operations

return {
  gemm = require "clcompute.peers.gemm",
  lu = require "clcompute.peers.lu",
  gauss = require "clcompute.peers.gauss",
  loops = require "clcompute.peers.loops",
  saxpy = require "clcompute.peers.vectors".saxpy,
  sum = require "clcompute.peers.vectors".sum,
  dot = require "clcompute.peers.vectors".dot,
  scan = require "clcompute.peers.vectors".scan,
}
