---@meta clcompute.doctor
-- SPDX-License-Identifier: MIT

---Finds out why OpenCL does not work on a machine, or computes wrong results, and what to do about it. Needs neither
---the C core nor OpenCL.
---@class clcompute.doctor
local doctor = {}

---Examines loader, drivers, devices, the folders of compiled programs and each device's compiler, with known-answer
---tests. `cl.doctor` is the same. Blocks. What a driver could end runs in processes of its own.
---
---Errors: wrong options alone; whatever is broken is a row.
---```lua
---local found = require("clcompute.doctor").examine { answers = false }
---print(found.rows[1].check, found.rows[1].detail)
---```
---@param options? clcompute.DoctorOptions
---@return clcompute.DoctorReport # tostring() is the report
function doctor.examine(options) end

return doctor
