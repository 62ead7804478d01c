---@meta clcompute.mpi
-- SPDX-License-Identifier: MIT
-- Ranks of a job that mpirun or srun started.

---Processes of one job, on one machine or on many, through MPI. Built where `mpicc` is; without a launcher a world of one rank,
---for which no library is opened. docs/groups.md has the rules.
---@class clcompute.mpi
---@field world clcompute.World all ranks of the job; MPI begins when it is first asked for
local mpi = {}

---The device of this rank: those that a selector means on a node are dealt to the ranks there. A warning says where ranks share
---a GPU.
---```lua
---local mpi = require "clcompute.mpi"
---print(mpi.device().type == d.type) --> true
---```
---@param selector? string as of `cl.device`
---@return clcompute.Device
function mpi.device(selector) end

---All ranks of a job. A collective call is made by all of them, and raises on all where they are in different ones. Values are
---numbers, strings, booleans, nil, tables of these, or buffers.
---@class clcompute.World
---@field rank integer this one, from 0
---@field size integer how many there are
---@field node_rank integer this one among those of its machine, from 0
---@field node_size integer
local World = {}

---Sends a value to a rank; waits until it is received.
---
---Errors: this rank itself, or none.
---```lua
---local world = require("clcompute.mpi").world
---print(pcall(world.send, world, 42, world.rank)) --> false	...to this rank itself
---```
---@param value any
---@param to integer
---@return clcompute.World # the world
function World:send(value, to) end

---Receives from a rank what it sends; elements of a buffer into a buffer of as many, which is given first.
---
---Errors: a buffer of another size or dtype; this rank itself, or none.
---```lua
---local world = require("clcompute.mpi").world
---print(pcall(world.recv, world, world.rank)) --> false	...from this rank itself
---```
---@param into integer|clcompute.Buffer the rank, or the buffer
---@param from? integer
---@return any
function World:recv(into, from) end

---The value of one rank on all. A buffer is written over on the others.
---```lua
---print(require("clcompute.mpi").world:bcast(42)) --> 42
---```
---@param value any
---@param root? integer 0 unless given
---@return any
function World:bcast(value, root) end

---The list of the values of all ranks, on one of them.
---```lua
---print(#require("clcompute.mpi").world:gather(42)) --> 1
---```
---@param value any
---@param root? integer 0 unless given
---@return any[]? # nil on the others
function World:gather(value, root) end

---The list of the values of all ranks, on all.
---```lua
---print(#require("clcompute.mpi").world:allgather(42)) --> 1
---```
---@param value any
---@return any[]
function World:allgather(value) end

---Numbers of all ranks combined in the order of ranks, on one of them.
---```lua
---print(require("clcompute.mpi").world:reduce(42, "max")) --> 42
---```
---@param value number
---@param operation? "sum"|"prod"|"min"|"max" "sum" unless given
---@param root? integer 0 unless given
---@return number? # nil on the others
function World:reduce(value, operation, root) end

---The same on all ranks.
---```lua
---print(require("clcompute.mpi").world:allreduce(42)) --> 42
---```
---@param value number
---@param operation? "sum"|"prod"|"min"|"max" "sum" unless given
---@return number
function World:allreduce(value, operation) end

---Waits for all ranks. `Device:check` tells of barriers in kernels.
---```lua
---require("clcompute.mpi").world:barrier()
---```
---@return clcompute.World # the world
function World:barrier() end
