-- SPDX-License-Identifier: MIT
--- Whether what started this process as a rank of a job goes with the library of MPI that clcompute was built for.

local launcher = {}

-- Variables of launchers, with what the version of their library begins with; false: any.
local KINDS = { { "OMPI_COMM_WORLD_SIZE", "Open MPI" }, { "PMI_SIZE", "MPICH" }, { "PMIX_RANK", false } }

local INSTALL = "apt install libopenmpi-dev openmpi-bin, and build clcompute again"

--- The kind of launcher that started the process, or nil.
function launcher.find()
  for _, kind in ipairs(KINDS) do if os.getenv(kind[1]) then return kind end end
end

--- Status, detail and remedy for a kind.
function launcher.examine(kind)
  local ok, ranks = pcall(require, "clcompute.ranks")
  if not ok then
    local is_built = package.searchpath("clcompute.ranks", package.cpath)
    return "fault", is_built and "the library of MPI does not open: " .. tostring(ranks):match "^[^\n]*"
      or "clcompute was built without MPI", is_built and "apt install openmpi-bin" or INSTALL
  end
  local version = ranks.library():match "^[^,\n]*"
  if kind[2] and not version:find(kind[2], 1, true) then
    return "fault", ("$%s is of %s, but clcompute was built for %s"):format(kind[1], kind[2], version),
      "start it with the mpirun of the MPI it was built for"
  end
  return "ok", ("$%s, %s"):format(kind[1], version)
end

return launcher
