-- SPDX-License-Identifier: MIT
-- Writes the wrappers of the counting layer, one for each entry point of the
-- dispatch table of the installed OpenCL headers, which it reads preprocessed:
--
--   echo '#include <CL/cl_icd.h>' | cc -DCL_TARGET_OPENCL_VERSION=300 -E -P - | lua5.4 generate.lua > wrap.c
--
-- What a wrapper counts follows from the signature alone:
--   a type is counted when there is a call named clRelease* that takes nothing but it;
--   clRetain*, clRelease* of that one parameter give and take a reference;
--   a counted type returned is a handle made (clCreate*, clLinkProgram, clCloneKernel);
--   `cl_event *`, not const, is where a call puts the event it makes;
--   `T *` of a counted type, not const, in a clCreate* call with a count before it
--   and a count's pointer after it is an array of handles made.

-- CL_INVALID_<TYPE> is the code for a dead handle, except for
local invalid = {
  cl_mem = "CL_INVALID_MEM_OBJECT",   -- the code says what the type's name shortens
  cl_device_id = "CL_INVALID_DEVICE", -- the code leaves out what the type's name adds
}

-- A parameter's last word is its name, unless it is one of these: the headers
-- leave many parameters without a name.
local not_a_name = { int = true, char = true, short = true, long = true, unsigned = true, void = true }

local function fail(...)
  io.stderr:write("generate.lua: ", string.format(...), "\n")
  os.exit(1)
end

local function trim(s)
  return (s:gsub("%s+", " "):match "^ ?(.-) ?$")
end

-- reading ------------------------------------------------------------------

-- One parameter: its declaration (with a name, ours where there is none), name
-- and bare type ("const cl_event *", "cl_mem").
local function parameter(text, index)
  local ours = "arg" .. index
  local before, name, after = text:match "^([^(]*%( ?%* ?)([%w_]*)( ?%).*)$"   -- a function pointer
  if not before then
    before, name, after = text:match "^(.-)([%a_][%w_]*)(%[.*)$"               -- an array
  end
  if not before then
    before, name = text:match "^(.-)([%a_][%w_]*)$"
    after = ""
    if not before or not_a_name[name] or trim(before:gsub("const", "")) == "" then
      before, name = text, ""
    end
  end
  if name == "" then name = ours end
  local gap = before:find "[%w]$" and " " or ""
  return { text = before .. gap .. name .. after, name = name, type = trim(before .. after) }
end

local function parameters(list)
  list = trim(list:sub(2, -2))
  local result = {}
  if list == "void" then return result end
  list = list:gsub("%b()", function(inner) return (inner:gsub(",", "\0")) end)
  for text in list:gmatch "[^,]+" do
    result[#result + 1] = parameter(trim((text:gsub("\0", ","))), #result + 1)
  end
  return result
end

-- The entry points in the table's order; those that these headers only name
-- (Direct3D is `void *` outside Windows) have no `returns`.
local function entry_points(source)
  source = source:gsub("#[^\n]*", "")
  local signature = {}
  for returns, type, list in source:gmatch "typedef%s+([^;{}]-)%(%s*%*%s*(cl_api_[%w_]+)%s*%)%s*(%b())" do
    signature[type] = { returns = trim(returns), list = list }
  end
  for type in source:gmatch "typedef%s+void%s*%*%s*(cl_api_[%w_]+)%s*;" do
    signature[type] = {}
  end
  local body = source:match "struct%s+_cl_icd_dispatch%s*(%b{})"
  if not body then fail "no dispatch table in the input" end
  local calls = {}
  for member in body:gmatch "[^;{}]+" do
    if member:find "%S" then
      local type, name = member:match "^%s*([%w_]+)%s+([%w_]+)%s*$"
      local found = signature[type] or fail("cannot read the type of '%s'", trim(member))
      calls[#calls + 1] = { name = name, returns = found.returns, parameters = found.list and parameters(found.list) }
    end
  end
  return calls
end

-- judging ------------------------------------------------------------------

local function takes_only(call)
  return call.parameters and #call.parameters == 1 and call.parameters[1].type
end

local function counted_types(calls)
  local counted = {}
  for _, call in ipairs(calls) do
    if call.name:find "^clRelease" then counted[takes_only(call)] = true end
  end
  return counted
end

local function change(call, counted)
  return counted[takes_only(call)] and call.name:match "^cl(Re%l+)%u"
end

-- The out-parameters that receive handles: { type, index, count = whether an array }
local function outputs(call, counted)
  local found = {}
  for i, p in ipairs(call.parameters) do
    local type = p.type:match "^(cl_[%w_]+) ?%*$"
    local before, after = call.parameters[i - 1], call.parameters[i + 1]
    if type == "cl_event" then
      found[#found + 1] = { type = type, name = p.name }
    elseif counted[type] and call.name:find "^clCreate" then
      if not (before and before.type == "cl_uint" and after and after.type == "cl_uint *") then
        fail("%s: cannot tell how many handles '%s' receives", call.name, p.name)
      end
      found[#found + 1] = { type = type, name = p.name, room = before.name, count = after.name }
    end
  end
  return found
end

-- writing ------------------------------------------------------------------

local function emit(format, ...)
  io.write(string.format(format, ...), "\n")
end

local function write_change(call, verb, forward)
  local handle = call.parameters[1]
  emit('  if (!count_%s(call, "%s", %s))', verb, handle.type, handle.name)
  emit("    return %s;", invalid[handle.type] or "CL_INVALID" .. handle.type:upper():sub(3))
  emit("  const cl_int result = %s;", forward)
  emit "  if (result != CL_SUCCESS)"
  emit("    count_undo_%s(%s);", verb, handle.name)
  emit "  return result;"
end

local function write_making(call, counted, forward)
  local outs = outputs(call, counted)
  for _, out in ipairs(outs) do
    if out.count then    -- the caller need not ask how many there are, but we must
      emit "  cl_uint made = 0;"
      emit("  if (%s == NULL)", out.count)
      emit("    %s = &made;", out.count)
    end
  end
  emit("  %s%sresult = %s;", call.returns, call.returns:find "%*$" and "" or " ", forward)
  if counted[call.returns] then
    emit('  count_made(call, "%s", result);', call.returns)
  end
  for _, out in ipairs(outs) do
    emit("  if (result %s && %s != NULL)", call.returns == "cl_int" and "== CL_SUCCESS" or "!= NULL", out.name)
    if out.count then
      emit("    for (cl_uint i = 0; i < *%s && i < %s; i++)", out.count, out.room)
      emit('      count_made(call, "%s", %s[i]);', out.type, out.name)
    else
      emit('    count_made(call, "%s", *%s);', out.type, out.name)
    end
  end
  emit "  return result;"
end

-- A call that a test lets fail does not reach the driver, but an unmapping: what stays mapped would be so in the next
-- buffer that lies there. Retains and releases are left alone: a program can do nothing about their failure.
local function write_fault(call, passed)
  local last = call.parameters[#call.parameters]
  if call.returns == "cl_int" then
    emit('  const cl_int fault = count_fault("%s");', call.name)
    emit "  if (fault != CL_SUCCESS) {"
    if call.name == "clEnqueueUnmapMemObject" then
      emit("    count_next->%s(%s, NULL);", call.name, table.concat(passed, ", ", 1, #passed - 1))
    end
    emit "    return fault;"
    emit "  }"
  elseif last and last.type == "cl_int *" then
    emit('  const cl_int fault = count_fault("%s");', call.name)
    emit "  if (fault != CL_SUCCESS) {"
    emit("    if (%s != NULL)", last.name)
    emit("      *%s = fault;", last.name)
    emit "    return NULL;"
    emit "  }"
  end
end

-- clGetEventInfo(event, what, size, value, ...), by which a program learns that a command failed.
local function write_status(call, forward)
  local event, what, value = call.parameters[1].name, call.parameters[2].name, call.parameters[4].name
  emit("  if (%s == CL_EVENT_COMMAND_EXECUTION_STATUS && count_settles())", what)
  emit("    count_next->clWaitForEvents(1, &%s); /* where it fails, so does its state */", event)
  emit("  const cl_int result = %s;", forward)
  emit("  if (result == CL_SUCCESS && %s == CL_EVENT_COMMAND_EXECUTION_STATUS && %s != NULL)", what, value)
  emit("    *(cl_int *)%s = count_status(*(cl_int *)%s);", value, value)
  emit "  return result;"
end

local function write_wrapper(call, counted)
  local declared, passed = {}, {}
  for i, p in ipairs(call.parameters) do
    declared[i], passed[i] = p.text, p.name
  end
  local forward = string.format("count_next->%s(%s)", call.name, table.concat(passed, ", "))
  local verb = change(call, counted)
  local counts = verb or counted[call.returns] or #outputs(call, counted) > 0
  local list = #declared > 0 and table.concat(declared, ", ") or "void"
  emit("static %s CL_API_CALL wrap_%s(%s) {", call.returns, call.name, list)
  emit('  %scount_enter("%s");', counts and "const count_Call call = " or "", call.name)
  if not verb then write_fault(call, passed) end
  if verb then
    write_change(call, verb:lower(), forward)
  elseif call.name == "clGetEventInfo" then
    write_status(call, forward)
  elseif counts then
    write_making(call, counted, forward)
  else
    emit("  %s%s;", call.returns == "void" and "" or "return ", forward)
  end
  emit "}\n"
end

local calls = entry_points(io.read "a")
local counted = counted_types(calls)
emit "/* SPDX-License-Identifier: MIT */"
emit "/* Generated by tools/layer/generate.lua from CL/cl_icd.h: edit neither this nor what it says, run it again. */\n"
emit "#define CL_TARGET_OPENCL_VERSION 300\n"
emit "#include <CL/cl_icd.h>\n"
emit '#include "count.h"\n'
for _, call in ipairs(calls) do
  if call.returns then write_wrapper(call, counted) end
end
emit "void count_wrap(cl_icd_dispatch *table) {"
for _, call in ipairs(calls) do
  if call.returns then
    emit("  table->%s = wrap_%s;", call.name, call.name)
  else
    emit("  /* %s has no signature in these headers and is passed on */", call.name)
  end
end
emit "}"
