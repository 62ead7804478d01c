-- SPDX-License-Identifier: MIT

--- What Belevantsev, Kravets & Monakov 2012 measured: seconds without and with the kernels, and the speed-up as
-- printed.
-- @module clcompute.suite.belevantsev_tables

local belevantsev_tables = {}

-- Tables 1 and 2, by row: { cpu = { seconds, with kernels, speed-up }, gpu = { ... } }. Four cores; a GeForce GTX 260.
belevantsev_tables.POLYKERNELS = {
  jac = { cpu = { 5.87, 5.92, 0.99 }, gpu = { 9.35, 9.34, 1.00 } },
  jac2d = { cpu = { 86.24, 86.28, 0.99 }, gpu = { 84.58, 84.73, 0.99 } },
  adi = { cpu = { 0.13, 0.13, 1.00 }, gpu = { 0.09, 0.08, 1.05 } },
  fdtd1d = { cpu = { 0.93, 0.97, 0.96 }, gpu = { 1.54, 1.52, 1.01 } },
  fdtd2d = { cpu = { 3.49, 3.5, 0.99 }, gpu = { 3.65, 3.64, 1.00 } },
  gs = { cpu = { 1.27, 1.32, 0.96 }, gpu = { 1.5, 1.5, 0.99 } },
  gemver = { cpu = { 0.28, 0.3, 0.91 }, gpu = { 1.36, 1.03, 1.32 } },
  lud = { cpu = { 1, 0.99, 1.01 }, gpu = { 1.33, 1.34, 0.99 } },
  mmm = { cpu = { 22.24, 6.41, 3.46 }, gpu = { 34.82, 0.91, 37.90 } },
  mvt = { cpu = { 1.36, 1.82, 0.74 }, gpu = { 3.51, 1.48, 2.36 } },
  sor = { cpu = { 4.43, 4.43, 1.00 }, gpu = { 1.06, 1.06, 1.00 } },
  ssymm = { cpu = { 14.55, 4.22, 3.44 }, gpu = { 31.34, 14.94, 2.09 } },
  ssyr2k = { cpu = { 17.86, 17.83, 1.00 }, gpu = { 15.62, 15.87, 0.98 } },
  ssyrk = { cpu = { 59.29, 59.72, 0.99 }, gpu = { 51.82, 49.95, 1.03 } },
  strmm = { cpu = { 59.89, 59.69, 1.00 }, gpu = { 54.14, 54.91, 0.98 } },
  strsm = { cpu = { 59.73, 59.93, 0.99 }, gpu = { 52.62, 53.05, 0.99 } },
  tmm = { cpu = { 19.06, 6.99, 2.72 }, gpu = { 35.25, 11.51, 3.06 } },
  trisolv_if = { cpu = { 0.07, 0.07, 0.99 }, gpu = { 0.1, 0.1, 0.99 } },
  trisolv = { cpu = { 25, 26.02, 0.96 }, gpu = { 42.95, 42.21, 1.01 } },
}

-- Table 3, SPEC CPU 2000 on the CPU: { program, seconds, speed-up with heuristics, and without }; the last is nil
-- where the paper prints a cross without a number.
belevantsev_tables.SPEC = {
  { "wupwise", 76.1, 0.99, 1.07 }, { "swim", 125, 1, 1.00 }, { "mgrid", 115, 0.99, 0.99 },
  { "mesa", 59.2, 1.02, 0.99 }, { "galgel", 69.2, 0.96, 0.91 }, { "art", 40.2, 1.00, 1.00 }, { "equake", 53.7, 1 },
  { "facerec", 96.5, 1, 0.99 }, { "ammp", 118, 0.98 }, { "lucas", 83.3, 1.01, 1.07 }, { "fma3d", 145, 0.99, 0.91 },
  { "sixtrack", 113, 0.99 }, { "apsi", 135, 1, 0.98 }, { "gzip", 97.3, 1.00 }, { "vpr", 74.7, 0.99, 0.99 },
  { "gcc", 52.5, 0.99 }, { "mcf", 94.7, 1.01, 1.00 }, { "parser", 130, 1, 0.47 }, { "eon", 43.9, 0.99, 0.98 },
  { "perlbmk", 67.4, 0.99 }, { "gap", 50.9, 1, 0.99 }, { "vortex", 80.7, 0.99, 0.99 }, { "bzip2", 74.6, 1.00 },
  { "twolf", 115, 1.01, 0.98 },
}

-- Table 4, Polyhedron 2005 on the CPU: { program, seconds, with kernels, speed-up }.
belevantsev_tables.POLYHEDRON = {
  { "ac", 10.91, 10.96, 0.99 }, { "aermod", 35.02, 34.9, 1.00 }, { "air", 0.24, 0.23, 1.04 },
  { "capacita", 41.24, 46.89, 0.87 }, { "channel", 2.56, 3.13, 0.81 }, { "doduc", 43.71, 43.09, 1.01 },
  { "fatigue", 9.45, 9.49, 0.99 }, { "gas_dyn", 7.93, 7.81, 1.01 }, { "induct", 48.31, 48.62, 0.99 },
  { "linpk", 22.52, 22.5, 1.00 }, { "mdbx", 12.92, 12.99, 0.99 }, { "nf", 21.93, 21.81, 1.00 },
  { "protein", 37.12, 37.75, 0.98 }, { "rnflow", 38.02, 38.09, 0.99 }, { "test_fpu", 10.81, 12.1, 0.89 },
  { "tfft", 2.5, 2.63, 0.95 },
}

local function factor(value) return ("x%.2f"):format(value) end

--- Sections of tables 3 and 4, as they are printed.
-- @treturn table
function belevantsev_tables.sections()
  local spec, polyhedron = {}, {}
  for i, row in ipairs(belevantsev_tables.SPEC) do
    spec[i] = { name = row[1], value = row[2], with = row[3], without = row[4], paper = true }
  end
  for i, row in ipairs(belevantsev_tables.POLYHEDRON) do
    polyhedron[i] = { name = row[1], value = row[2], with = row[3], speed_up = row[4], paper = true }
  end
  return {
    {
      title = "Table 3. SPEC CPU 2000 on a CPU, as the paper has it",
      text = "Not rerun: SPEC's programs are under a licence that has to be bought, and many are Fortran. What they "
        .. "show, that small loops called often must be left alone, is repeated above by a set of our own. Where a "
        .. "cell is empty the paper has no number.",
      rows = spec,
      columns = { { key = "name", title = "program" }, { key = "value", title = "time", unit = "s" },
        { key = "with", title = "with heuristics", format = factor, align = "right" },
        { key = "without", title = "without", format = factor, align = "right" } },
    },
    {
      title = "Table 4. Polyhedron 2005 on a CPU, as the paper has it",
      text = "Not rerun: the programs are Fortran, and under licences of their own.",
      rows = polyhedron,
      columns = { { key = "name", title = "program" }, { key = "value", title = "GRAPHITE", unit = "s" },
        { key = "with", title = "GRAPHITE-OpenCL", unit = "s" },
        { key = "speed_up", title = "speed-up", format = factor, align = "right" } },
    },
  }
end

return belevantsev_tables
