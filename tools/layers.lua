-- SPDX-License-Identifier: MIT
--- Checks that files use lower levels only. The tables below are the architecture: a file may
-- include or require what stands on a line above its own, never its own line or one below.

local C_LEVELS = {
  { "error", "lexer", "clock", "object", "library", -- codes in words, tokens
    "message", "arena", -- between a process and its worker
    "poly_analysis", "poly_input" },
  { "text", "handle", "dtype", "args", "wait", "info", "result", "source", "declaration", "folder", "newfile",
    "plainfile", "plain_loops", "kernelfolder", "poly_expression", "poly_dependences", "service" },
  { "include", "shape", "platform", "poison", "range", "plain", "cache", "array", "product",
    "poly_extremes", "poly_overlap", "poly_uncovered", "poly_wavefront", "spawn", "service_memory",
    "service_programs" },
  { "counter", "poly", "worker" },
  { "flight" },
  { "device", "sequential", "native", "openblas", "clblast" },
  { "isolation" },
  { "event", "memory", "discover", "buildoptions", "binary", "buildlog", "pocl", "profile", "blas",
    "workgroup", "tuning" },
  { "show", "scratch", "serve", "retarget" },
  { "buffer", "create", "live", "mapped", "raw", "signature", "operand", "build" }, -- what a script holds, what
  -- operations take
  { "check" },
  { "kernel" },
  { "structsize", "plan", "enqueue", "matrix" },
  { "program" },
  { "prebuilt" },
  { "panels", "blocks" },
  { "pipelined", "warpgroups" },
  { "tensor" },
  { "multiply" },
  { "saxpy", "gemm", "accuracy", "lu_columns", "gauss_paper" }, -- operations
  { "lu_blocks", "lu_batch" },
  { "lu_tournament" },
  { "lu" },
  { "lu_solve" },
  { "rcond" },
  { "gauss", "factors" },
  { "core" }, -- opens them all
}

local LUA_LEVELS = {
  { "clcompute.core", "clcompute.sequential", "clcompute.blas", "clcompute.mapped", "clcompute.native",
    "clcompute.poly", "clcompute.enqueue", "clcompute.version", -- all but the last in C
    "clcompute.interrupt", "clcompute.text.width", "clcompute.write_file", "clcompute.options",
    "clcompute.tuning.known", "clcompute.tuning.forget", "clcompute.tuning.choices", "clcompute.tuning.rules" },
  { "clcompute.text.columns", "clcompute.text.places", "clcompute.doctor.operations" },
  { "clcompute.text.trace" },
  { "clcompute.npy_header", "clcompute.profile", "clcompute.trace_range" },
  { "clcompute.npy" },
  { "clcompute.doctor.process", "clcompute.doctor.answers", "clcompute.doctor.report" },
  { "clcompute.doctor.folders", "clcompute.doctor.drivers", "clcompute.doctor.known_answer" },
  { "clcompute.tuning.store" },
  { "clcompute.doctor.machine", "clcompute.doctor.probe", "clcompute.doctor.compilers", "clcompute.verdict" },
  { "clcompute.tuning" },
  { "clcompute.doctor", "clcompute.loop_warning" },
  { "clcompute.elementwise.names", "clcompute.elementwise.plans", "clcompute.elementwise.public",
    "clcompute.elementwise.typing" },
  { "clcompute.elementwise.expression" },
  { "clcompute.elementwise.code", "clcompute.elementwise.kernels", "clcompute.elementwise.operands",
    "clcompute.elementwise.operations" },
  { "clcompute.elementwise.reduce" },
  { "clcompute.elementwise.map", "clcompute.elementwise.reductions", "clcompute.elementwise.scan" },
  { "clcompute" },
  { "clcompute.doctor.trial" },
  { "clcompute.report.check", "clcompute.report.extent", "clcompute.report.fields", "clcompute.report.format",
    "clcompute.report.palette", "clcompute.report.remarks", "clcompute.report.scale", "clcompute.report.style" },
  { "clcompute.report.document", "clcompute.report.markup" }, -- what a report says; how it is written down
  { "clcompute.report.units" },
  { "clcompute.report.cells", "clcompute.report.points", "clcompute.report.axes", "clcompute.report.marks" },
  { "clcompute.report.series" },
  { "clcompute.report.line", "clcompute.report.bar", "clcompute.report.heat", "clcompute.report.timeline",
    "clcompute.report.grid" },
  { "clcompute.report.chart" },
  { "clcompute.report.text", "clcompute.report.markdown", "clcompute.report.csv", "clcompute.report.json",
    "clcompute.report.html" },
  { "clcompute.report" },
  { "clcompute.bench.statistics", "clcompute.bench.clock", "clcompute.bench.points" },
  { "clcompute.bench.ratio", "clcompute.bench.split", "clcompute.bench.target", "clcompute.bench.row",
    "clcompute.bench.rounds", "clcompute.bench.journal", "clcompute.bench.estimate" },
  { "clcompute.bench.candidate", "clcompute.bench.sweep" },
  { "clcompute.bench.fastest" },
  { "clcompute.bench.peak_flops", "clcompute.bench.peak_bandwidth" },
  { "clcompute.bench" },
  { "clcompute.workload.data", "clcompute.workload.candidates" },
  { "clcompute.workload.saxpy", "clcompute.workload.gemm", "clcompute.workload.gauss", "clcompute.workload.section",
    "clcompute.papers.gauss.rule", "clcompute.papers.keep", "clcompute.papers.polykernels.data",
    "clcompute.papers.polykernels.tables" },
  { "clcompute.papers.gauss.life", "clcompute.papers.gauss.driver_choice", "clcompute.papers.gauss.group_size",
    "clcompute.papers.gauss.shrinking", "clcompute.papers.polykernels.rows",
    "clcompute.papers.polykernels.baseline" },
  { "clcompute.papers.borisov", "clcompute.papers.gauss", "clcompute.peers.gemm", "clcompute.peers.lu",
    "clcompute.peers.nests", "clcompute.peers.sections", "clcompute.peers.tiles", "clcompute.peers.vectors" },
  { "clcompute.peers.gauss", "clcompute.peers.limits" },
  { "clcompute.device_profile.chain", "clcompute.device_profile.curve", "clcompute.device_profile.figure",
    "clcompute.device_profile.size_text" },
  { "clcompute.device_profile.lab" },
  { "clcompute.device_profile.chase" },
  { "clcompute.device_profile.fit", "clcompute.device_profile.large", "clcompute.device_profile.plateaus",
    "clcompute.device_profile.random_words" },
  { "clcompute.device_profile.links", "clcompute.device_profile.stream",
    "clcompute.device_profile.strided_reads", "clcompute.device_profile.table_reads" },
  { "clcompute.device_profile.atomics", "clcompute.device_profile.barrier", "clcompute.device_profile.compile",
    "clcompute.device_profile.divergence", "clcompute.device_profile.group_size",
    "clcompute.device_profile.latency_hiding", "clcompute.device_profile.launch",
    "clcompute.device_profile.long_loop", "clcompute.device_profile.occupancy",
    "clcompute.device_profile.peaks", "clcompute.device_profile.roofline",
    "clcompute.device_profile.whole_wavefronts" }, -- the experiments
  { "clcompute.device_profile.bank_conflicts", "clcompute.device_profile.coalescing",
    "clcompute.device_profile.local_memory", "clcompute.device_profile.transfers",
    "clcompute.device_profile.working_set" }, -- those with memory
  { "clcompute.device_profile.summary" },
  { "clcompute.device_profile" },
  { "clcompute.loops.failure", "clcompute.loops.mathematics", "clcompute.loops.operators",
    "clcompute.loops.variables", "clcompute.loops.walk", "clcompute.loops.analysis.static_copies",
    "clcompute.loops.generation.c_helpers", "clcompute.loops.generation.rewrite", "clcompute.loops.generation.stores",
    "clcompute.loops.generation.tile_sizes", "clcompute.loops.runtime.blocks", "clcompute.loops.runtime.coherence",
    "clcompute.loops.runtime.reduction", "clcompute.loops.runtime.rounds",
    "clcompute.loops.runtime.arguments", "clcompute.loops.runtime.calibration", "clcompute.loops.runtime.costs" },
  { "clcompute.loops.front.origin", "clcompute.loops.front.lexer", "clcompute.loops.front.cursor",
    "clcompute.loops.front.functions", "clcompute.loops.front.usage", "clcompute.loops.generation.accumulators",
    "clcompute.loops.generation.lua_text", "clcompute.loops.generation.uses", "clcompute.loops.generation.c_expression",
    "clcompute.loops.generation.roles", "clcompute.loops.runtime.storage", "clcompute.loops.runtime.repetition",
    "clcompute.loops.runtime.profitability", "clcompute.loops.arithmetic" },
  { "clcompute.loops.front.expression", "clcompute.loops.analysis.affine", "clcompute.loops.analysis.extremes",
    "clcompute.loops.generation.c_statements", "clcompute.loops.runtime.shortcut",
    "clcompute.loops.runtime.decision" },
  { "clcompute.loops.generation.extent", "clcompute.loops.generation.reduction_kernels",
    "clcompute.loops.analysis.strides", "clcompute.loops.runtime.target" },
  { "clcompute.loops.generation.local_slices" },
  { "clcompute.loops.analysis.interchange", "clcompute.loops.generation.hoisting",
    "clcompute.loops.generation.register_tile", "clcompute.loops.generation.sinking",
    "clcompute.loops.generation.vector_tile", "clcompute.loops.generation.wavefront",
    "clcompute.loops.generation.indices" },
  { "clcompute.loops.generation.register_kernels", "clcompute.loops.generation.estimate" },
  { "clcompute.loops.generation.tile_kernels", "clcompute.loops.generation.tiling" },
  { "clcompute.loops.generation.round_kernels" },
  { "clcompute.loops.generation.kernels", "clcompute.loops.generation.launches" },
  { "clcompute.loops.generation.round_launches" },
  { "clcompute.loops.generation.host" },
  { "clcompute.loops.generation.mapping" },
  { "clcompute.loops.generation.nests" },
  { "clcompute.loops.front.parser" },
  { "clcompute.loops.front.captures" },
  { "clcompute.loops.front.names" },
  { "clcompute.loops.front.inline", "clcompute.loops.front.mixture" },
  { "clcompute.loops.front.resolve_expression", "clcompute.loops.front.expression_types" },
  { "clcompute.loops.front.resolve", "clcompute.loops.front.restrictions", "clcompute.loops.front.types" },
  { "clcompute.loops.analysis.affine_text", "clcompute.loops.analysis.condition" },
  { "clcompute.loops.analysis.formula", "clcompute.loops.analysis.dependences" },
  { "clcompute.loops.analysis.accesses", "clcompute.loops.analysis.polyhedral_text",
    "clcompute.loops.analysis.reductions" },
  { "clcompute.loops.analysis.bounds", "clcompute.loops.analysis.coverage", "clcompute.loops.analysis.rounds",
    "clcompute.loops.analysis.jamming", "clcompute.loops.analysis.wavefronts" },
  { "clcompute.loops.generation.jamming", "clcompute.loops.generation.rounds" },
  { "clcompute.loops.analysis.scop" },
  { "clcompute.loops.specialise" },
  { "clcompute.loops.runtime.call", "clcompute.loops.runtime.presumption", "clcompute.loops.explain_call" },
  { "clcompute.loops.explain" },
  { "clcompute.loops" },
  { "clcompute.papers.polykernels.candidates", "clcompute.papers.polykernels.refusal", "clcompute.peers.loops" },
  { "clcompute.papers.polykernels", "clcompute.peers.operations" },
  { "clcompute.peers", "clcompute.tune" },
  { "clcompute.cli.need", "clcompute.cli.output", "clcompute.cli.convert" },
  { "clcompute.cli.json", "clcompute.cli.progress", "clcompute.cli.parser",
    "clcompute.cli.session", "clcompute.cli.publish",
    "clcompute.cli.file_function", "clcompute.cli.loops_arguments" },
  { "clcompute.cli.loops_trial" },
  { "clcompute.cli.info", "clcompute.cli.doctor", "clcompute.cli.bench", "clcompute.cli.report",
    "clcompute.cli.loops", "clcompute.cli.profile_device", "clcompute.cli.repl",
    "clcompute.cli.tune" }, -- the commands
  { "clcompute.cli" },
}

local faults = 0

local function complain(...)
  faults = faults + 1
  io.stderr:write(string.format(...), "\n")
end

--- Name to level.
local function index(levels)
  local level_of = {}
  for level, names in ipairs(levels) do
    for _, name in ipairs(names) do level_of[name] = level end
  end
  return level_of
end

local function files(pattern)
  local list, pipe = {}, assert(io.popen("find " .. pattern))
  for path in pipe:lines() do list[#list + 1] = path end
  pipe:close()
  return list
end

local function read(path)
  local file = assert(io.open(path))
  local text = file:read("a")
  file:close()
  return text
end

--- Checks one file against its level; `uses` iterates over the names it refers to.
local function check(path, name, level_of, uses)
  if not level_of[name] then return complain("%s: not in the table of tools/layers.lua", path) end
  for used in uses do
    if used ~= name and not level_of[used] then
      complain("%s: uses %s, which is not in the table", path, used)
    elseif used ~= name and level_of[used] >= level_of[name] then
      complain("%s (level %d) uses %s (level %d)", path, level_of[name], used, level_of[used])
    end
  end
end

local c_levels = index(C_LEVELS)
for _, path in ipairs(files("csrc -name '*.[ch]'")) do
  check(path, path:match("([%w_]+)%.[ch]$"), c_levels, read(path):gmatch('#include "([%w_]+)%.h"'))
end

local lua_levels = index(LUA_LEVELS)
for _, path in ipairs(files("lua -name '*.lua'")) do
  local name = path:match("^lua/(.*)%.lua$"):gsub("/", "."):gsub("%.init$", "")
  check(path, name, lua_levels, read(path):gmatch('require[ (]*"(clcompute[%w_.]*)"'))
end

os.exit(faults == 0 and 0 or 1)
