-- SPDX-License-Identifier: MIT
local answers = require "clcompute.answers".compiler_tests
local operations = require "clcompute.answers".operation_tests
local cl = require "clcompute"
local doctor = require "clcompute.doctor"
local helper = require "spec.helper"

local scratch = helper.folder()

local function shell(command) assert(os.execute(command)) end

local function put(path, text) return helper.write(scratch .. "/" .. path, text) end

--- The report of a process with that environment, as text; `head` runs before.
local function report_in(environment, head, options)
  local examine = " print((require 'clcompute.doctor').examine(%s))"
  local script = (head or "") .. examine:format(options or "{answers = false}")
  local output = helper.output(script, environment)
  return output
end

--- Asserts that the report has a fault in `check` whose detail holds `detail`, and exactly that remedy.
local function has_fault(text, check, detail, remedy)
  local lines = {}
  for line in text:gmatch "[^\n]+" do lines[#lines + 1] = line end
  for i, line in ipairs(lines) do
    if line:find("  fault    " .. check, 1, true) == 1 then
      local next = i + 1
      while not lines[next]:find "^ *remedy: " do
        line = line .. "\n" .. lines[next]
        next = next + 1
      end
      assert.truthy(line:find(detail, 1, true), line)
      return assert.equal(remedy, lines[next]:match "remedy: (.*)$")
    end
  end
  error(("no fault in '%s': %s"):format(check, text))
end

teardown(function() shell("rm -r " .. scratch) end)

describe("the doctor's report", function()
  local report = cl.doctor()

  --- The row of a known-answer test.
  local function row_of(device, name)
    for _, row in ipairs(report.rows) do
      if row.check == device.place .. " " .. name then return row end
    end
  end

  it("has a row for every known-answer test of every device", function()
    for _, device in ipairs(helper.devices()) do
      for _, test in ipairs(answers.list) do assert(row_of(device, test.name), test.name) end
      for _, key in ipairs(operations.keys()) do
        local test = operations.rows[key]
        local status = row_of(device, test.name).status
        if key == "image half" then
          assert.not_equal("fault", status) -- d:image goes by the answer
        else
          assert.equal(test.needs and not device[test.needs] and "skipped" or "ok", status)
        end
      end
    end
  end)

  it("lists loader, core, drivers and devices as fields", function()
    assert.matches("libOpenCL", report.loader)
    assert.matches("core.so", report.core)
    assert.is_true(#report.icds > 0)
    for _, driver in ipairs(report.icds) do assert.is_true(driver.opens) end
    assert.equal(#cl.platforms(), #report.platforms)
    for i, device in ipairs(helper.devices()) do
      assert.equal(device.name, report.devices[i].name)
      assert.equal(device.driver, report.devices[i].driver)
      assert.is_true(report.devices[i].has_compiler)
    end
  end)

  it("finds no fault, since the library avoids compilers' known ones", function()
    for _, row in ipairs(report.rows) do
      assert(row.status ~= "fault", row.check .. ": " .. tostring(row.detail))
      local known = row.check:find(answers.local_size_loop.name, 1, true) or row.check:find("collectives", 1, true)
        or row.check:find(answers.barrier_in_branch.name, 1, true)
        or row.check:find(operations.rows["image half"].name, 1, true)
        or row.check:find "^sandbox" and os.getenv "CLCOMPUTE_SANDBOX" == "off"
      assert(row.status ~= "warning" or known, row.check .. ": " .. tostring(row.detail))
    end
  end)

  it("names the loop that POCL 3.1 miscompiles, with both remedies; its remedies and the halving form are right",
    function()
      for _, device in ipairs(helper.devices()) do
        if device.platform:find "Portable" and device.driver:find "^3%.1" then
          local row = row_of(device, answers.local_size_loop.name)
          assert.equal("warning", row.status)
          assert.matches("element 1 is 1, not 128", row.detail, 1, true)
          assert.matches("hoist it", row.remedy)
          assert.matches('options = "-cl-opt-disable"', row.remedy, 1, true)
        end
        for _, name in ipairs { "with the size hoisted", "under -cl-opt-disable" } do
          assert.equal("ok", row_of(device, "the same loop " .. name).status)
        end
        assert.equal("ok", row_of(device, "the same sum in halving form").status)
      end
    end)

  it("is as text what its rows say", function()
    local text, count = tostring(report) .. "\n", { ok = 0, skipped = 0, warning = 0, fault = 0 }
    for _, row in ipairs(report.rows) do
      count[row.status] = count[row.status] + 1
      assert.equal(row.status == "fault" or row.status == "warning", row.remedy ~= nil, row.check)
      local line = ("  %-7s  %s: %s\n"):format(row.status, row.check, row.detail)
      if row.remedy then line = line .. "           remedy: " .. row.remedy .. "\n" end
      assert.truthy(text:find(line, 1, true), line)
    end
    assert.same({ count.fault, count.warning }, { report.faults, report.warnings })
    assert.matches(("^clcompute doctor: %d faults?, %d warnings?, in %d checks\n"):format(count.fault, count.warning,
      #report.rows):gsub(", in", " in"), text)
  end)

  it("is of the devices that a selector means", function()
    local one = doctor.examine { device = "0:0", answers = false }
    assert.equal(1, #one.devices)
    assert.equal("0:0", one.devices[1].place)
    has_fault(tostring(doctor.examine { device = "no such", answers = false }), "devices", "none matches 'no such'",
      "`clcompute info` lists what there is")
  end)

  it("refuses options it does not know", function()
    helper.raises("doctor.examine: unknown option 'devices'", doctor.examine, { devices = "0:0" })
    helper.raises("option 'limit': number expected, got string", doctor.examine, { limit = "1" })
    helper.raises("option 'limit': must be above 0", doctor.examine, { limit = 0 })
    helper.raises("table of options expected, got number", doctor.examine, 1)
  end)
end)

describe("the doctor names the remedy of", function()
  local on_pocl = #require("clcompute").devices "Portable" > 0 and it or pending

  it("a sandbox of isolated devices that is switched off, as a warning", function()
    local cpu = false
    for _, d in ipairs(cl.devices "cpu") do cpu = cpu or not helper.is_simulator(d) end
    if not cpu then return pending "isolation needs a CPU device" end
    local text = report_in { CLCOMPUTE_SANDBOX = "off" }
    assert.matches("warning +sandbox of isolated devices: without files, system calls, tasks", text)
    assert.matches("remedy: unset CLCOMPUTE_SANDBOX (it is off)", text, 1, true)
  end)

  it("an empty folder of drivers", function()
    shell("mkdir -p " .. scratch .. "/empty")
    local text = report_in { OCL_ICD_VENDORS = scratch .. "/empty" }
    assert.matches("no .icd file in " .. scratch .. "/empty", text, 1, true)
    assert.matches("unset OCL_ICD_VENDORS; or apt install", text, 1, true)
    assert.matches("apt install pocl-opencl-icd", text, 1, true)
    local nvidia = io.open "/proc/driver/nvidia/version"
    has_fault(text, "devices", "no platform", nvidia
      and "apt install nvidia-opencl-icd (for the NVIDIA GPU), apt install pocl-opencl-icd (for the CPU)"
      or "apt install pocl-opencl-icd (for the CPU), or the driver of your GPU")
    if nvidia then nvidia:close() end
  end)

  it("a driver whose library is missing", function()
    shell("mkdir -p " .. scratch .. "/missing")
    local icd = put("missing/pocl.icd", "libpocl.so.999\n")
    local other = put("missing/x.icd", "/nowhere/libx.so\n")
    local nothing = put("missing/y.icd", "\n")
    local zeros = put("missing/z.icd", "\0\0libpocl.so.2\n")
    local folder = scratch .. "/missing/f.icd"
    shell("mkdir " .. folder)
    local text = report_in { OCL_ICD_VENDORS = scratch .. "/missing" }
    has_fault(text, "driver " .. icd, icd .. ": libpocl.so.999: cannot open shared object file",
      ("apt install --reinstall pocl-opencl-icd; or, if it is not wanted, rm '%s'"):format(icd))
    has_fault(text, "driver " .. other, "/nowhere/libx.so: cannot open shared object file",
      ("install the driver that %s belongs to, or rm '%s'"):format(other, other))
    has_fault(text, "driver " .. nothing, "names no library",
      ("install the driver that %s belongs to, or rm '%s'"):format(nothing, nothing))
    has_fault(text, "driver " .. zeros, "names no library",
      ("install the driver that %s belongs to, or rm '%s'"):format(zeros, zeros))
    has_fault(text, "driver " .. folder, "names no library",
      ("install the driver that %s belongs to, or move the folder '%s' elsewhere"):format(folder, folder))
    has_fault(report_in { OCL_ICD_VENDORS = icd }, "driver " .. icd, "cannot open shared object file",
      ("apt install --reinstall pocl-opencl-icd; or, if it is not wanted, rm '%s'"):format(icd))
    has_fault(report_in { OCL_ICD_VENDORS = "/nowhere/libx.so" }, "driver $OCL_ICD_VENDORS", "/nowhere/libx.so",
      "unset OCL_ICD_VENDORS")
  end)

  it("a library that the driver, the loader or the core needs, by its package where apt knows it", function()
    --- The path of a library that this process has open.
    local function mapped(name)
      for line in io.lines "/proc/self/maps" do
        local path = line:match "%s(/.*)$"
        if path and path:find(name, 1, true) then return path end
      end
    end
    local pocl = mapped "/libpocl.so"
    if not pocl then return pending "needs POCL" end
    -- what POCL, the loader and the core need, renamed; and an apt that knows one of the packages
    shell(("cd %s && mkdir -p lacking/bin lacking/clcompute lacking/lib"):format(scratch))
    local function copy(from, pattern, to)
      shell(("sed 's/%s/g' %s > %s/lacking/%s"):format(pattern, from, scratch, to))
      return ("%s/lacking/%s"):format(scratch, to)
    end
    put("lacking/bin/apt-cache", '#!/bin/sh\n[ "$1 $3" = "show libhwloc95" ]\n')
    shell(("chmod +x %s/lacking/bin/apt-cache"):format(scratch))
    local path = { PATH = ("%s/lacking/bin:%s"):format(scratch, os.getenv "PATH") }
    local function report_on(library)
      local icd = put("lacking/x.icd", library .. "\n")
      path.OCL_ICD_VENDORS = icd
      return report_in(path), icd
    end
    local library, unwanted = scratch .. "/lacking/libp.so", "; or, if the driver is not wanted, rm '%s'"
    local text, icd = report_on(copy(pocl, "libhwloc\\.so\\.15/libhwloc.so.95", "libp.so"))
    has_fault(text, "driver " .. icd, library .. ": libhwloc.so.95: cannot open shared object file",
      ("apt install --reinstall libhwloc95 (for libhwloc.so.95, which %s needs)" .. unwanted):format(library, icd))
    text, icd = report_on(copy(pocl, "libhwloc\\.so\\.15/libhwloc.so.94", "libp.so"))
    has_fault(text, "driver " .. icd, library .. ": libhwloc.so.94: cannot open shared object file",
      ("install libhwloc.so.94, which %s needs; `apt-file search libhwloc.so.94` names its package" .. unwanted)
      :format(library, icd))
    local other, remedy = "libc\\.so\\.6/libc.so.7",
      "install libc.so.7, which %s needs; `apt-file search libc.so.7` names its package"
    copy(assert(package.searchpath("clcompute.core", package.cpath)), other, "clcompute/core.so")
    has_fault(report_in({}, ("package.cpath = '%s/lacking/?.so'"):format(scratch)), "C core",
      "libc.so.7: cannot open shared object file", remedy:format "the C core")
    copy(mapped "/libOpenCL.so", other, "lib/libOpenCL.so.1")
    has_fault(report_in { LD_LIBRARY_PATH = scratch .. "/lacking/lib" }, "OpenCL loader",
      "libc.so.7: cannot open shared object file", remedy:format "libOpenCL.so.1")
  end)

  it("an NVIDIA GPU that no file is for", function()
    has_fault(report_in({ ["unset OCL_ICD_VENDORS; X"] = "" }, [[
      local open = io.open
      function io.open(path, ...)
        return open(path == "/proc/driver/nvidia/version" and "/dev/null" or path, ...)
      end]]), "driver of the NVIDIA GPU", "no .icd file in /etc/OpenCL/vendors names it",
      "apt install nvidia-opencl-icd; or, where libnvidia-opencl.so.1 is there: mkdir -p /etc/OpenCL/vendors"
      .. " && echo libnvidia-opencl.so.1 > /etc/OpenCL/vendors/nvidia.icd")
  end)

  on_pocl("a platform without a device", function()
    has_fault(report_in { POCL_DEVICES = "nosuch" }, "platform Portable Computing Language", "has no device",
      "unset POCL_DEVICES (it is 'nosuch')")
  end)

  it("a PATH without ld, and does not launch on POCL then", function()
    local place
    for _, device in ipairs(helper.devices()) do
      if device.platform:find "Portable" then place = device.place end
    end
    if not place then return pending "needs POCL" end
    shell(("mkdir -p %s/bin && ln -sf $(command -v %s) %s/bin/"):format(scratch, helper.lua, scratch))
    local text = report_in({ PATH = scratch .. "/bin" }, nil, ("{device = '%s'}"):format(place))
    has_fault(text, "POCL's linker", "no ld in PATH", "apt install binutils, or add its folder (/usr/bin) to PATH")
    assert.matches(place .. " known answers: no ld: the driver would abort the process", text, 1, true)
  end)

  on_pocl("a cache folder that cannot be written", function()
    local file = put("file", "")
    local link = scratch .. "/dangling"
    shell(("ln -s nothing %s"):format(link))
    for _, path in ipairs { file, link, "/dev/null" } do
      for _, folder in ipairs { path, path .. "/below" } do
        has_fault(report_in { CLCOMPUTE_CACHE = folder }, "cache folder", path .. " is no folder",
          "set CLCOMPUTE_CACHE to another folder")
      end
    end
    assert.matches("ok       cache folder: build/nowhere (relative to the current folder), ",
      report_in { CLCOMPUTE_CACHE = "build/nowhere" }, 1, true)
    has_fault(report_in { CLCOMPUTE_CACHE = "", XDG_CACHE_HOME = file }, "cache folder",
      file .. "/clcompute: " .. file .. " is no folder",
      "set CLCOMPUTE_CACHE to another folder")
    has_fault(report_in { POCL_CACHE_DIR = file }, "POCL's cache folder", file .. " is no folder",
      "set POCL_CACHE_DIR to another folder")
    has_fault(report_in { CLCOMPUTE_CACHE = "", XDG_CACHE_HOME = "", HOME = "build/here" }, "cache folder",
      "HOME is not set to an absolute path", "export HOME, or set CLCOMPUTE_CACHE to a folder")
    has_fault(report_in { POCL_CACHE_DIR = "" }, "devices", "the process died", "unset POCL_CACHE_DIR (it is empty)")
    assert.matches("skipped  cache folder: switched off", report_in { CLCOMPUTE_CACHE = "off" })
    assert.matches("ok       cache folder: /proc/clcompute, ", report_in { CLCOMPUTE_CACHE = "/tmp/clcompute" }
      :gsub("/tmp/", "/proc/"), 1, true)
  end)

  it("a core that is not installed, without which it works", function()
    has_fault(report_in({}, "package.cpath = ''"), "C core", "module 'clcompute.core' not found",
      [[in a checkout: make && eval "$(make -s env)"; else: luarocks --lua-version 5.4 make]])
  end)

  it("a loader that does not open", function()
    shell("mkdir -p " .. scratch .. "/lib")
    put("lib/libOpenCL.so.1", "")
    local text = report_in { LD_LIBRARY_PATH = scratch .. "/lib" }
    for _, check in ipairs { "OpenCL loader", "C core" } do
      has_fault(text, check, "libOpenCL.so.1: file too short", "apt install --reinstall ocl-icd-libopencl1")
    end
  end)

  it("a loader that is missing", function()
    shell(("mkdir -p %s/so/clcompute && sed s/libOpenCL.so.1/libOpenCL.so.9/ %s > %s/so/clcompute/core.so"):format(
      scratch, assert(package.searchpath("clcompute.core", package.cpath)), scratch))
    local head = ("package.cpath = '%s/so/?.so'"):format(scratch)
    has_fault(report_in({}, head), "C core", "libOpenCL.so.9: cannot open shared object file",
      "apt install --reinstall ocl-icd-libopencl1")
  end)

  it("no shell, without raising", function()
    local text = report_in({}, "io.popen = function() error \"'popen' not supported\" end")
    assert.matches("fault    OpenCL loader: no Lua interpreter in PATH", text, 1, true)
  end)

  it("few open files", function()
    has_fault(report_in({ ["ulimit -n 40; X"] = "" }), "open files", "a process may open only 40 files",
      "ulimit -n 1024")
  end)
end)

describe("a driver", function()
  local PLACE = helper.device().place
  local OPTIONS = ("{ device = '%s'%%s }"):format(PLACE)

  --- Runs the known-answer tests with a first one that does something else.
  local function with_first_test(body, options)
    return report_in({}, ([[
      local path = assert(package.searchpath("clcompute.answers.known_answer", package.path))
      local file = assert(io.open("%s/clcompute/answers/known_answer.lua", "w"))
      file:write("local real = dofile('" .. path .. "') return { run = function(device, test) "
        .. "if test.name == 'arithmetic of uchar' then %s end return real.run(device, test) end }")
      file:close()
      package.path = "%s/?.lua;" .. package.path
    ]]):format(scratch, body, scratch), options)
  end

  setup(function() shell("mkdir -p " .. scratch .. "/clcompute/answers") end)

  local function check(text, ended)
    local place = PLACE .. " "
    has_fault(text, place .. "arithmetic of uchar", ended, "update the driver, or choose another device with"
      .. " $CLCOMPUTE_DEVICE")
    assert.matches("ok       " .. place .. "arithmetic of char", text, 1, true)
    assert.matches("ok       " .. place .. "arithmetic of short", text, 1, true)
    assert.matches("ok       " .. place .. "a long loop", text, 1, true)
  end

  it("that kills the process is a row, and the other tests run", function()
    -- again and again: the handler of each LLVM returns once, for the fault to come again
    check(with_first_test("os.execute('for i in 1 2 3 4 5; do kill -SEGV $PPID; sleep 0.1; done')",
      OPTIONS:format ""), "the process died: segmentation fault")
    check(with_first_test("os.exit(3)", OPTIONS:format ""), "the process ended with exit code ")
  end)

  it("that does not return is a row, and the other tests run", function()
    local limit = os.getenv "SANITIZED" and 20 or 3
    check(with_first_test("while true do end", OPTIONS:format(", limit = " .. limit)), ("within %d s"):format(limit))
  end)

  it("that dies again and again is left alone", function()
    local text = with_first_test("end do os.exit(3)", OPTIONS:format "")
    assert.matches(("skipped  %s further tests: the process died 2 times"):format(PLACE), text, 1, true)
  end)
end)

describe("a source with get_local_size in a loop condition", function()
  local HEAD = [[kernel void f(global int *out) { // get_local_size(0)
  local int s[128];
  int t = get_local_id(0);
  s[t] = 1;
  barrier(CLK_LOCAL_MEM_FENCE);
  %s
  if (t == 0) out[get_group_id(0)] = s[0];
}]]
  local BODY = " { if ((t & (2*k-1)) == 0) s[t] += s[t+k]; barrier(CLK_LOCAL_MEM_FENCE); k *= 2; }"

  --- The lines of warnings, and the results, of building and launching with that loop on every device.
  local function warnings(loop, options, environment)
    local output = helper.output(([==[
      warn "@on"
      local cl = require "clcompute"
      for _, d in ipairs(cl.devices()) do
        print("device", d.platform, d.driver)
        local p = d:program([=[%s]=], %s)
        for _ = 1, 2 do p.f({global = 256, group = 128}, d:zeros("int", 2)) end
        d:wait()
      end]==]):format(HEAD:format(loop), options or "nil"), environment or { CLCOMPUTE_CACHE = "off" }, 60)
    local of_pocl = {}
    local pocl = false
    for line in output:gmatch "[^\n]+" do
      if line:find "^device" then pocl = line:find("Portable.*\t3%.1") ~= nil end
      local warning = line:match "^Lua warning: (.*)$"
      assert.is_true(warning == nil or pocl, line)
      if warning then of_pocl[#of_pocl + 1] = warning end
    end
    return of_pocl
  end

  local has_pocl = false
  for _, d in ipairs(helper.devices()) do
    has_pocl = has_pocl or d.platform:find "Portable" and d.driver:find "^3%.1" and true
  end
  local on_pocl = has_pocl and it or pending

  for what, loop in pairs {
    ["a for loop"] = "for (int k = 1; k < get_local_size(0);)" .. BODY,
    ["a while loop"] = "int k = 1; while (k < (int)get_local_size(0))" .. BODY,
    ["a macro"] = "\n#define N get_local_size(0)\n#line 6\nfor (int k = 1; k < N;)" .. BODY,
  } do
    on_pocl("is warned of once, with line and both remedies: " .. what, function()
      local found = warnings(loop, "{name = 'sum.cl'}")
      assert.equal(1, #found)
      assert.matches("sum.cl:" .. (what == "a macro" and 9 or 6) .. ": a call", found[1], 1, true)
      assert.matches("hoist it", found[1])
      assert.matches('options = "-cl-opt-disable"', found[1], 1, true)
    end)
  end

  on_pocl("is named by its line where lines before it go on in the next one", function()
    for _, n in ipairs { 1, 2, 200 } do
      local found = warnings("int w = 0" .. (" \\\n"):rep(n) .. ";\nfor (int k = 1; k < get_local_size(0);)" .. BODY,
        "{name = 'sum.cl'}")
      assert.equal(1, #found)
      assert.matches("sum.cl:" .. 7 + n .. ": a call", found[1], 1, true)
    end
  end)

  on_pocl("in a macro of the options is found too", function()
    for _, options in ipairs { "{defines = {N = 'get_local_size(0)'}}", "{options = '-DN=get_local_size(0)'}" } do
      local found = warnings("for (int k = 1; k < N;)" .. BODY, options)
      assert.equal(1, #found)
      assert.matches("source:6:", found[1], 1, true)
    end
  end)

  it("is not warned of where the driver is right", function()
    for _, loop in ipairs {
      "int n = get_local_size(0); for (int k = 1; k < n;)" .. BODY,
      "for (int k = get_local_size(0) / 2; k > 0; k /= 2)"
        .. " { if (t < k) s[t] += s[t + k]; barrier(CLK_LOCAL_MEM_FENCE); }",
      "for (int k = t; k < 128; k += get_local_size(0)) s[k] = 1;",
      "for (int k = 1; k < 128;)" .. BODY .. " if (t < get_local_size(0)) s[t]++;", "/* for (;get_local_size(0);) */",
      "int k = 1; do" .. BODY .. " while (k < get_local_size(0));",
    } do assert.same({}, warnings(loop)) end
    assert.same({}, warnings("for (int k = 1; k < get_local_size(0);)" .. BODY, "{options = '-cl-opt-disable'}"))
  end)

  on_pocl("is judged by the verdict in the cache folder, which is found out where it is missing", function()
    local loop = "for (int k = 1; k < get_local_size(0);)" .. BODY
    local folder = scratch .. "/kept"
    assert.equal(1, #warnings(loop, nil, { CLCOMPUTE_CACHE = folder }))
    local text = helper.read(folder .. "/verdicts")
    assert.matches("fault\tget_local_size in a loop condition\tPortable Computing Language | ", text, 1, true)
    assert.equal(1, #warnings(loop, nil, { CLCOMPUTE_CACHE = folder }))
    put("kept/verdicts", (text:gsub("fault\t", "ok\t")))
    assert.same({}, warnings(loop, nil, { CLCOMPUTE_CACHE = folder }))
    for _, broken in ipairs { "rubbish\0\n\tfault\n", "ok" } do -- the second: a line that was cut off
      put("kept/verdicts", broken)
      for _ = 1, 2 do assert.equal(1, #warnings(loop, nil, { CLCOMPUTE_CACHE = folder })) end
      assert.matches("\nfault\tget_local_size in a loop condition\t", helper.read(folder .. "/verdicts"), 1, true)
    end
    shell(("cd %s/kept && rm verdicts && mkfifo verdicts"):format(scratch))
    assert.equal(1, #warnings(loop, nil, { CLCOMPUTE_CACHE = folder })) -- does not wait for a writer
    shell(("cd %s/kept && rm verdicts && mkdir verdicts"):format(scratch))
    assert.equal(1, #warnings(loop, nil, { CLCOMPUTE_CACHE = folder }))
    for _, none in ipairs { "off", put("no folder", "") } do
      assert.equal(1, #warnings(loop, nil, { CLCOMPUTE_CACHE = none }))
    end
  end)
end)
