---@meta _
-- SPDX-License-Identifier: MIT
-- Functions of elements, which operators on buffers join: a call makes an expression, a buffer whose elements are
-- computed when something needs them (`clcompute.Buffer`).

---@class clcompute
local cl = {}

---1 where an element of a is equal to that of b, 0 elsewhere. Both become the dtype that comes last of theirs before;
---NaN is not equal to anything. Not computed yet; shapes go together as those of operators do.
---```lua
---local r = cl.eq(d:buffer { 2, 5 }, 2)
---print(r[1], r[2]) --> 1	0
---```
---@param a clcompute.Buffer|number
---@param b clcompute.Buffer|number one of both is a buffer
---@return clcompute.Buffer # uchar
function cl.eq(a, b) end

---1 where an element of a is not equal to that of b, 0 elsewhere. Both become the dtype that comes last of theirs before;
---NaN is not equal to anything. Not computed yet; shapes go together as those of operators do.
---```lua
---local r = cl.ne(d:buffer { 2, 5 }, 2)
---print(r[1], r[2]) --> 0	1
---```
---@param a clcompute.Buffer|number
---@param b clcompute.Buffer|number one of both is a buffer
---@return clcompute.Buffer # uchar
function cl.ne(a, b) end

---1 where an element of a is less than that of b, 0 elsewhere. Both become the dtype that comes last of theirs before;
---NaN is neither less nor greater. Not computed yet; shapes go together as those of operators do.
---```lua
---local r = cl.lt(d:buffer { 1, 5 }, 2)
---print(r[1], r[2]) --> 1	0
---```
---@param a clcompute.Buffer|number
---@param b clcompute.Buffer|number one of both is a buffer
---@return clcompute.Buffer # uchar
function cl.lt(a, b) end

---1 where an element of a is less than or equal to that of b, 0 elsewhere. Both become the dtype that comes last of theirs before;
---NaN is neither less nor greater. Not computed yet; shapes go together as those of operators do.
---```lua
---local r = cl.le(d:buffer { 2, 5 }, 2)
---print(r[1], r[2]) --> 1	0
---```
---@param a clcompute.Buffer|number
---@param b clcompute.Buffer|number one of both is a buffer
---@return clcompute.Buffer # uchar
function cl.le(a, b) end

---1 where an element of a is greater than that of b, 0 elsewhere. Both become the dtype that comes last of theirs before;
---NaN is neither less nor greater. Not computed yet; shapes go together as those of operators do.
---```lua
---local r = cl.gt(d:buffer { 1, 5 }, 2)
---print(r[1], r[2]) --> 0	1
---```
---@param a clcompute.Buffer|number
---@param b clcompute.Buffer|number one of both is a buffer
---@return clcompute.Buffer # uchar
function cl.gt(a, b) end

---1 where an element of a is greater than or equal to that of b, 0 elsewhere. Both become the dtype that comes last of theirs before;
---NaN is neither less nor greater. Not computed yet; shapes go together as those of operators do.
---```lua
---local r = cl.ge(d:buffer { 1, 5 }, 2)
---print(r[1], r[2]) --> 0	1
---```
---@param a clcompute.Buffer|number
---@param b clcompute.Buffer|number one of both is a buffer
---@return clcompute.Buffer # uchar
function cl.ge(a, b) end

---The lesser element of both, NaN where one is NaN. `cl.min` is the least of one buffer. Not computed yet.
---```lua
---local r = cl.minimum(d:buffer { 1, 5 }, 2)
---print(r[1], r[2]) --> 1.0	2.0
---```
---@param a clcompute.Buffer|number
---@param b clcompute.Buffer|number one of both is a buffer
---@return clcompute.Buffer # of the dtype that comes last of theirs
function cl.minimum(a, b) end

---The larger element of both, NaN where one is NaN. `cl.max` is the largest of one buffer. Not computed yet.
---```lua
---local r = cl.maximum(d:buffer { 1, 5 }, 2)
---print(r[1], r[2]) --> 2.0	5.0
---```
---@param a clcompute.Buffer|number
---@param b clcompute.Buffer|number one of both is a buffer
---@return clcompute.Buffer # of the dtype that comes last of theirs
function cl.maximum(a, b) end

---Magnitudes. Not computed yet.
---```lua
---print(cl.abs(d:buffer { -2, 3 })[1]) --> 2.0
---```
---@param x clcompute.Buffer
---@return clcompute.Buffer # of the dtype of x; the lowest number of a signed type stays as it is
function cl.abs(x) end

---Square roots, as the device computes them. Of integers floats. Not computed yet.
---```lua
---print(cl.sqrt(d:buffer { 9 })[1]) --> 3.0
---```
---@param x clcompute.Buffer
---@return clcompute.Buffer # of the dtype of x, float where that is an integer type
function cl.sqrt(x) end

---Powers of e, as the device computes them. Of integers floats. Not computed yet.
---```lua
---print(cl.exp(d:buffer { 0 })[1]) --> 1.0
---```
---@param x clcompute.Buffer
---@return clcompute.Buffer # of the dtype of x, float where that is an integer type
function cl.exp(x) end

---Natural logarithms, as the device computes them. Of integers floats. Not computed yet.
---```lua
---print(cl.log(d:buffer { 1 })[1]) --> 0.0
---```
---@param x clcompute.Buffer
---@return clcompute.Buffer # of the dtype of x, float where that is an integer type
function cl.log(x) end

---Sines, of angles in radians, as the device computes them. Of integers floats. Not computed yet.
---```lua
---print(cl.sin(d:buffer { 0 })[1]) --> 0.0
---```
---@param x clcompute.Buffer
---@return clcompute.Buffer # of the dtype of x, float where that is an integer type
function cl.sin(x) end

---Cosines, of angles in radians, as the device computes them. Of integers floats. Not computed yet.
---```lua
---print(cl.cos(d:buffer { 0 })[1]) --> 1.0
---```
---@param x clcompute.Buffer
---@return clcompute.Buffer # of the dtype of x, float where that is an integer type
function cl.cos(x) end

---Tangents, of angles in radians, as the device computes them. Of integers floats. Not computed yet.
---```lua
---print(cl.tan(d:buffer { 0 })[1]) --> 0.0
---```
---@param x clcompute.Buffer
---@return clcompute.Buffer # of the dtype of x, float where that is an integer type
function cl.tan(x) end

---Hyperbolic tangents, as the device computes them. Of integers floats. Not computed yet.
---```lua
---print(cl.tanh(d:buffer { 0 })[1]) --> 0.0
---```
---@param x clcompute.Buffer
---@return clcompute.Buffer # of the dtype of x, float where that is an integer type
function cl.tanh(x) end

---The largest whole numbers that are not above the elements. Of integers floats. Not computed yet.
---```lua
---print(cl.floor(d:buffer { 2.7 })[1]) --> 2.0
---```
---@param x clcompute.Buffer
---@return clcompute.Buffer # of the dtype of x, float where that is an integer type
function cl.floor(x) end

---The least whole numbers that are not below the elements. Of integers floats. Not computed yet.
---```lua
---print(cl.ceil(d:buffer { 2.2 })[1]) --> 3.0
---```
---@param x clcompute.Buffer
---@return clcompute.Buffer # of the dtype of x, float where that is an integer type
function cl.ceil(x) end
