-- SPDX-License-Identifier: MIT

--- `clcompute loops`: what becomes of the loops of a Lua function.

local command_line = require "clcompute.cli.command_line"
local interrupt = require("clcompute.base").interrupt
local loops_trial = require "clcompute.cli.loops_trial"
local output = require "clcompute.cli.output"

local command = {
  name = "loops",
  description = "Tell which loops of Lua functions are parallel, and which access depends on which; show their OpenCL "
    .. "C; run them in Lua and compiled, and compare.",
  examples = {
    "clcompute loops mmm.lua                     # all functions of the file",
    "clcompute loops sums.lua --function scale --explain",
    'clcompute loops mmm.lua --source --arguments "A=float,B=float,C=float"',
    "clcompute loops mmm.lua --run --size 300    # all functions; square tables, n = 300",
    'clcompute loops jac.lua --run --arguments "A=floats:500x500,n=500,steps=20"',
    "generate | clcompute loops -                # a file from standard input",
  },
}

local DEFAULT_SIZE = 128

--- Adds the options.
function command.configure(parser)
  parser:argument("file", "A Lua file with functions; - is standard input."):argname "<file.lua>"
  parser:option("--function", "Which function of several; all with loops unless given, but with --arguments.")
    :argname "<name>":target "name"
  parser:mutex(
    parser:flag("--explain", "Copies and arithmetic too."),
    parser:flag("--source", "The OpenCL C."),
    parser:flag("--run", "Run the file, then call its functions in Lua and compiled; compare, and print times."))
  parser:option("--arguments", "What to suppose, with commas: NAME=floats or integers (a table), NAME=double (a buffer "
    .. "of that dtype), NAME=int or float, NAME=1.5; with --run also sizes, NAME=floats:100x50. The rest are tables of "
    .. "floats and floats, or integers where those are refused; integers in bounds and subscripts. With --run floats "
    .. "are random from -1 to 1, integers from 0 to 9, or from 1 to --size where they index; numbers are --size in "
    .. "bounds and subscripts, else 1.5 or 3.")
    :argname "<name=kind,..>":convert(loops_trial.parse)
  parser:option("--reduce", "sequential, or tree: sums, products, minima and maxima are shared out too.")
    :argname "<how>"
    :choices { "sequential", "tree" }
  parser:option("--size", ("Each dimension of an array and each bound that is not given, with --run; %d unless told.")
    :format(DEFAULT_SIZE)):argname "<n>":convert(command_line.positive_integer)
  parser:option("--device", "With --run: gpu, cpu, accelerator, part of its name, or 0:1."):argname "<selector>"
end

--- What is wrong with the options: those of --run without it.
-- @treturn ?string
function command.misuse(options)
  if options.run then return nil end
  for _, name in ipairs { "size", "device" } do
    if options[name] then return ("--%s goes with --run"):format(name) end
  end
end

--- Raises what is wrong with the file as a text that `command.run` prints as it is.
local function checked(result, fault)
  return result or error(fault, 0)
end

local function compile(options, device, force)
  return checked(require "clcompute.loops".compile(options.text or { file = options.file },
    { name = options.name, device = device, force = force, reduce = options.reduce }))
end

--- Compiles the function and supposes the arguments that were asked for.
local function presume(options, device)
  local compiled = compile(options, device)
  local state = compiled.state
  local words = loops_trial.words(state.rows, options.arguments or {})
  state.presumed = require("clcompute.loops.explain").presume(state, words)
  return compiled, state
end

--- Where the function stands, as the debug library counts lines; a fault where that does not tell it from another.
local function place_of(state)
  local parsed, choose = state.parsed, require("clcompute.loops.front").choose
  local place = choose(parsed.origin, parsed.tokens)
  choose({ file = parsed.origin.file, text = parsed.origin.text, wanted = { line = place.line,
    last_line = place.last_line, parameters = place.parameters, upvalues = {} } }, parsed.tokens)
  return place
end

-- --- the function itself ----------------------------------------------------------
--
-- The file keeps it wherever it likes: in a local of its own, a global, what it returns, or behind those.

--- Runs a chunk; what it returns, and its locals at its end, go into a list.
local function run(chunk, found)
  local hook, mask, count = debug.gethook()
  debug.sethook(function()
    if debug.getinfo(2, "f").func ~= chunk then return end
    local index, name, value = 1, debug.getlocal(2, 1)
    while name and not name:find "^%(" do -- what follows are registers that may hold anything
      found[#found + 1] = value
      index = index + 1
      name, value = debug.getlocal(2, index)
    end
  end, "r")
  local results = table.pack(pcall(chunk))
  debug.sethook(hook, mask, count)
  if not results[1] then error(results[2], 0) end
  for i = 2, results.n do found[#found + 1] = results[i] end
end

local function each_upvalue(fn)
  local index = 0
  return function()
    index = index + 1
    return debug.getupvalue(fn, index)
  end
end

--- The first function that is accepted among values and what is behind them. The list is used up.
local function search(values, accepts)
  local seen = { [values] = true }
  local function add(value)
    local is_holder = type(value) == "function" or type(value) == "table"
    if is_holder and not seen[value] then seen[value], values[#values + 1] = true, value end
  end
  while #values > 0 do
    local value = table.remove(values)
    if type(value) == "function" then
      if accepts(value) then return value end
      for _, held in each_upvalue(value) do add(held) end
    elseif type(value) == "table" then
      for _, held in next, value do add(held) end
    end
  end
end

local function has_parameters(fn, names)
  for i = 1, #names + 1 do
    if debug.getlocal(fn, i) ~= names[i] then return false end
  end
  return true
end

local function load_file(path, text, environment)
  if text then return load(text, "=stdin", "t", environment) end
  return loadfile(path, "t", environment)
end

--- Runs a file.
-- @tparam table options of the command
-- @treturn table `source`, as the debug library calls it, and `values`, where its functions are found
-- @raise what the file raises
local function run_file(options)
  local path = options.file
  local environment = setmetatable({ arg = { [0] = path } }, { __index = _G })
  local chunk, message = load_file(path, options.text, environment)
  if not chunk then error(message, 0) end
  local found = { environment }
  run(chunk, found)
  return { source = debug.getinfo(chunk, "S").source, values = found }
end

--- A function of a file, which has run once.
-- @tparam table options of the command
-- @tparam table place `line` and `last_line` of the function, as the debug library counts them, and `parameters`, names
-- @treturn function
-- @raise what the file raises, or that the function was not there when the file had run
local function file_function(options, place)
  options.ran = options.ran or run_file(options)
  local values = options.ran.values
  return search(table.move(values, 1, #values, 1, {}), function(fn)
    local info = debug.getinfo(fn, "S")
    return info.source == options.ran.source and info.linedefined == place.line
      and info.lastlinedefined == place.last_line and has_parameters(fn, place.parameters)
  end) or error(("%s has run, but its function of line %d is in no local, global or table"):format(options.file,
    place.line), 0)
end

-- --- the command ------------------------------------------------------------------

--- Calls the function in Lua and compiled, and prints what comes of it behind a head.
local function trial(options)
  local device = command_line.device(options.device)
  local compiled, state = presume(options, device)
  local text, has_failed, row = loops_trial.run(file_function(options, place_of(state)), compiled,
    compile(options, device, true), { device = device, given = options.arguments or {},
      size = options.size or DEFAULT_SIZE, presumed = state.presumed })
  output.print((options.head or "") .. text)
  if options.rows then table.insert(options.rows, row) end
  return has_failed and 1 or 0
end

--- Prints what was found of the function, behind a head.
local function show(options)
  local compiled, state = presume(options)
  local head = options.head or ""
  if options.source then
    output.print(head .. compiled:source():gsub("\n$", ""))
  else
    output.print(head .. output.fitted(options.explain and compiled:explain()
      or require("clcompute.loops.explain").loops(state)))
  end
  return 0
end

--- Adds the row of a function that was not tried to the end.
local function note_end(options, is_fault)
  table.insert(options.rows, { name = options.name, lua = "", pays = "", device = "",
    result = is_fault and "refused" or "stopped" })
end

--- Tells what ended the work on a function: of a fault of the file its place, the line, and a caret, as compilers do;
-- of several functions that are tried also what else did. What is left is raised.
local function tell(options, reason)
  local is_fault = require("clcompute.loops.tree").failure.is(reason)
  local ends = not is_fault and (not options.stopped or interrupt.is(reason) or reason == output.BROKEN_PIPE)
  if ends then error(reason, 0) end
  if options.refused then
    output.print(is_fault and options.refused or options.stopped)
    output.flush()
    if options.rows then note_end(options, is_fault) end
  end
  if not is_fault then return output.complain(reason) end
  output.show_fault((tostring(reason):gsub("the option 'name'", "--function", 1)))
end

--- Returns what a function returns, or 1 behind what ended it.
local function showing_faults(f, options)
  local ok, result = pcall(f, options)
  if ok then return result end
  tell(options, result)
  return 1
end

--- Sets what stands before what is told of one function of several.
local function begin(options, name, gap)
  local comment = options.source and "// " or ""
  options.name = name
  options.head = options.source and ("%s// %s\n"):format(gap, name) or gap
  options.refused = ("%s%s%s of %s: refused"):format(gap, comment, name, options.file)
  if not options.run then return end
  options.head = ("%s%s of %s\n"):format(gap, name, options.file)
  options.stopped = ("%s%s of %s: stopped"):format(gap, name, options.file)
end

--- Does with every function of the file that has a loop, one after the other, what is done with one; what is wrong with
-- one stops none.
local function each_function(f, options)
  local front = require "clcompute.loops.front"
  local list = front.with_loops(front.origin(options.text or { file = options.file }))
  options.name = list[1] and list[1].name
  if #list < 2 then return f(options) end
  if options.run then command_line.device(options.device) end
  options.ran, options.rows = options.run and run_file(options) or nil, options.run and {} or nil
  local code, gap = 0, ""
  for _, found in ipairs(list) do
    if found.name then
      begin(options, found.name, gap)
      code, gap = math.max(code, showing_faults(f, options)), "\n"
    else
      output.show_fault(("%s:%d: a function without a name is left out"):format(options.file, found.line))
    end
  end
  if gap == "" then error(options.file .. ": no function with a loop has a name", 0) end
  if options.rows then output.print("\n" .. loops_trial.summary(options.rows)) end
  return code
end

--- Runs the command.
function command.run(options)
  command_line.library()
  if options.file == "-" then options.text = io.read "a" end
  local f = options.run and trial or show
  if options.name or options.arguments then return showing_faults(f, options) end
  return showing_faults(function() return each_function(f, options) end, options)
end

return command
