-- SPDX-License-Identifier: MIT
--- Ranks of MPI: values, results bit for bit those of one process, and every way in which a job may end, none of which
-- may hang.

local helper = require "spec.helper"
local cl = require "clcompute"

local has_mpi = helper.shell("command -v mpirun"):find "mpirun" ~= nil
  and package.searchpath("clcompute.ranks", package.cpath)
local LIMIT = 60 -- seconds

local function lua_file(script)
  local path = os.tmpname()
  helper.write(path, script)
  return path
end

--- What `count` ranks print that run a script, and how the job ended.
local function run(count, script, environment)
  local path = lua_file("mpi = require 'clcompute.mpi' w = mpi.world cl = require 'clcompute'\n" .. script)
  local output, _, _, code = helper.shell(("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 %s timeout %d "
    .. "mpirun --oversubscribe -n %d %s %s"):format(environment or "", LIMIT, count, helper.lua, path))
  os.remove(path)
  assert.not_equal(124, code, "it hangs: " .. output)
  return output, code
end

local function must_run(...)
  local output, code = run(...)
  assert.equal(0, code, output)
  return output
end

--- A test that needs MPI; one that also needs POCL, for devices of a job.
local function test(sentence, body)
  it(sentence, function()
    if not has_mpi then return pending "no MPI" end
    body()
  end)
end

local function test_of_devices(sentence, body)
  test(sentence, function()
    if #cl.devices "portable" == 0 then return pending "no POCL" end
    body()
  end)
end

local function test_of_simulators(sentence, body)
  test(sentence, function()
    if #cl.devices "oclgrind" == 0 then return pending "no Oclgrind" end
    body()
  end)
end

local GROUP = [[
  local g = cl.group("portable", { grid = { %d, %d }, %s })
  local a, b = g:random("float", 21, 21, { seed = 1, low = -1 }), g:random("float", 21, { seed = 2 })
  local x, info = cl.gauss(a, b)
  local y = cl.gemm(a, a) + 2 * a
  local results = { cl.sum(y), cl.norm2(y), cl.argmax(y), info.rcond, info.backward_error, x:get(3), cl.dot(b, b),
    cl.reduce("a + b", y), cl.scan("a + b", b):get(21),
    cl.sum(y, { axis = 1 }):get(5), cl.argmin(y, { axis = 2 }):get(9), cl.std(y), cl.var(y, { axis = 2 }):get(2),
    tostring(cl.any("x > 7", y)), cl.scan("a + b", y, { axis = 1 }):get(21, 7) }
  local text = table.concat(results, " ") .. x:string():gsub(".", function(c) return ("%%02x"):format(c:byte()) end)
  if not g.rank or g.rank == 0 then print(text) end ]]

describe("clcompute.mpi", function()
  test_of_devices("sends numbers, strings, tables and buffers", function()
    local output = must_run(3, [[
      assert(w.size == 3 and w:allreduce(w.rank + 1) == 6 and w:allreduce(w.rank, "max") == 2)
      assert(w:bcast(w.rank == 1 and { a = { 1, 2.5, "x", false } } or nil, 1).a[3] == "x")
      local list = w:gather(w.rank * 2, 1)
      assert(w.rank == 1 and list[3] == 4 or w.rank ~= 1 and list == nil)
      assert(#w:allgather("x") == 3)
      local product = w:reduce(w.rank + 1, "prod")
      assert(product == (w.rank == 0 and 6 or nil))
      local d = mpi.device "portable"
      local b = d:full("float", w.rank, 5)
      assert(w:bcast(b, 2) == b and b[5] == 2)
      if w.rank == 0 then w:send(b:fill(7), 1) elseif w.rank == 1 then assert(w:recv(b, 0)[1] == 7) end
      w:barrier()
      if w.rank == 0 then print "well" end ]])
    assert.equal("well\n", output)
  end)

  local blocks, shares = "block = 4", "block = 4, share = { 1, 3 }"
  for _, of in ipairs(helper.long { { 1, 2, blocks }, { 2, 2, blocks }, { 3, 1, blocks }, { 2, 1, shares },
    { 1, 2, "share = { 1, 2 }" } } or { { 1, 2, blocks }, { 1, 2, shares }, { 1, 2, blocks, "off" } }) do
    local how = of[4] and ", all by messages" or ""
    local sentence = ("has the results of one process, bit for bit: %dx%d, %s%s"):format(of[1], of[2], of[3], how)
    test_of_devices(sentence, function()
      local script, count = GROUP:format(table.unpack(of)), of[1] * of[2]
      local here = helper.output("cl = require 'clcompute'\n" .. script, { POCL_DEVICES = ("pthread "):rep(count) })
      assert.equal(here, must_run(count, script, of[4] and "CLCOMPUTE_MPI_SHARED=" .. of[4]))
    end)
  end

  test_of_devices("measures the speed of ranks, who agree on their shares", function()
    local output = must_run(2, [[
      local g = cl.group("portable", { share = "speed" })
      local a, shares = g:random("int", 1000, { seed = 1, high = 9 }), g.shares.vectors
      assert(w:allreduce(#a:parts()[1].buffer) == 1000 and w:allreduce(shares[1], "max") == shares[1])
      print(cl.sum(a))]])
    local one, other = output:match "^(%d+)\n(%d+)\n$"
    assert.is_true(one ~= nil and one == other, output)
  end)

  test_of_devices("moves rectangles of every shape between all ranks, again and again", function()
    local script = [[
      local g = cl.group "portable"
      local d, own, size = g.devices[1], w.rank + 1, w.size
      -- rows, columns; of the rectangle; where it begins
      for _, s in ipairs { { 1500, 1501, 1400, 1301, 50, 200 }, { 2, 700001, 2, 700000, 1, 2 },
        { 700001, 3, 700000, 1, 2, 3 }, { 40, 30, 1, 1, 40, 30 }, { 300, 4096, 300, 4096, 1, 1 } } do
        local function matrix(rank, seed)
          return d:arange(rank * 1e6 + seed, rank * 1e6 + seed + s[1] * s[2] - 1, 1, "int"):reshape(s[1], s[2])
        end
        local moves, targets = {}, {}
        for from = 1, size do
          for to = 1, size do
            local target = own == to and d:zeros("int", s[1], s[2]) or nil
            if target then targets[from] = target end
            table.insert(moves, { from = from, source = own == from and matrix(from, to) or nil, at = { s[5], s[6] },
              to = to, target = target, to_at = { 1, 1 }, size = { s[3], s[4] } })
          end
        end
        g.ranks:move_all(moves)
        for from = 1, size do
          local expected = d:zeros("int", s[1], s[2])
          matrix(from, own):copy_rect { to = expected, size = { s[3], s[4] }, at = { s[5], s[6] } }
          assert(cl.count("x != y", { x = targets[from], y = expected }) == 0, s[3])
        end
      end
      w:barrier()
      if w.rank == 0 then print "well" end ]]
    assert.equal("well\n", must_run(3, script))
    assert.equal("well\n", must_run(3, script, "CLCOMPUTE_MPI_SHARED=off"))
  end)

  test_of_simulators("moves what a driver begins to do when it is told so, and not before", function()
    assert.equal("1 1 2 3 4\n", must_run(2, [[
      local g = cl.group "oclgrind"
      local x = g.devices[1]:arange(1, 5, 1, "int"):reshape(1, 5)
      g.ranks:move_all { { from = 1, source = w.rank == 0 and x or nil, at = { 1, 1 },
        to = 2, target = w.rank == 1 and x or nil, to_at = { 1, 2 }, size = { 1, 4 } } }
      if w.rank == 1 then print(table.concat(x:read()[1], " ")) end ]]))
  end)

  local COLUMN = [[
    local g = cl.group "oclgrind"
    local x = g.devices[1]:arange(1, 15, 1, "int"):reshape(5, 3)
    local list = { { from = 1, source = x, at = { 1, 2 }, to = 2, target = x, to_at = { 2, 1 }, size = { 4, 1 } } } ]]

  test_of_simulators("packs rectangles of short rows where a device has memory of its own", function()
    assert.equal("1 2 5 8 11 ", must_run(2, COLUMN .. [[
      g.ranks:move_all(list)
      if w.rank == 1 then for _, row in ipairs(x:read()) do io.write(row[1], " ") end end ]]))
    assert.matches("a buffer was released meanwhile", run(2, COLUMN .. [[
      local under_way = g.ranks:begin(list)
      if w.rank == 1 then x:release() end
      print(pcall(g.ranks.arrive, g.ranks, under_way)) ]]))
  end)

  test_of_devices("moves pieces to ranks in turns, each to the one that it is for", function()
    assert.equal("well\n", must_run(3, [[
      local g = cl.group "portable"
      local d = g.devices[1]
      for round = 1, 200 do
        local moves, targets = {}, {}
        for k = 1, 12 do -- runs of three, so that each slot serves both
          local to = 2 + k // 3 % 2
          local source = w.rank == 0 and d:full("int", 100 * round + k, 40, 40) or nil
          if w.rank + 1 == to then targets[k] = d:zeros("int", 40, 40) end
          moves[k] = { from = 1, source = source, at = { 1, 1 }, to = to, target = targets[k], to_at = { 1, 1 },
            size = { 40, 40 } }
        end
        g.ranks:move_all(moves)
        for k, target in pairs(targets) do assert(cl.sum(target) == 1600 * (100 * round + k)) end
      end
      w:barrier()
      if w.rank == 0 then print "well" end ]]))
  end)

  test_of_devices("takes what an ended rank has sent, and goes on behind an exchange that failed on all", function()
    local output = must_run(2, [[
      local g = cl.group "portable"
      local d = g.devices[1]
      local function exchange(fails)
        local a, b = d:full("int", 7, 900, 900), d:zeros("int", 900, 900)
        local list = {}
        for from = 1, 2 do
          list[from] = { from = from, source = a, at = { 1, 1 }, to = 3 - from, target = b, to_at = { 1, 1 },
            size = { 900, 900 } }
        end
        return pcall(g.ranks.together, g.ranks, "exchange", function()
          local under_way = g.ranks:begin(list)
          if fails then error "wrong" end
          g.ranks:arrive(under_way)
          return cl.sum(b)
        end)
      end
      local ok, message = exchange(true)
      assert(not ok and message:find "wrong", message)
      for _ = 1, 2 do assert(select(2, exchange()) == 7 * 810000) end
      w:barrier()
      if w.rank == 1 then os.execute "sleep 0.5" end
      local a = d:full("int", 1 + w.rank, 100, 100)
      g.ranks:move(1, a, { 1, 1 }, 2, a, { 1, 1 }, { 100, 100 })
      if w.rank == 1 then print(cl.sum(a)) end ]])
    assert.equal("10000\n", output)
  end)

  test_of_devices("does not hang where a rank is not there that a rectangle goes to, or comes from", function()
    local script = [[
      local g = cl.group "portable"
      local a = g.devices[1]:full("int", 1 + w.rank, 3000, 2000)
      if w.rank == 1 then %s end
      print(pcall(function()
        g.ranks:move_all { { from = %d, source = a, at = { 1, 1 }, to = %d, target = a, to_at = { 1, 1 },
          size = { 3000, 2000 } } }
      end)) ]]
    for from = 1, 2 do
      local output = run(2, script:format("os.exit(0)", from, 3 - from))
      assert.matches("false\tmove: rank 1 has ended", output)
      output = run(2, script:format("os.execute 'sleep 20'", from, 3 - from), "CLCOMPUTE_MPI_LIMIT=1")
      assert.matches("rank 0 of 2 waited 1 s in move", output)
    end
  end)

  test_of_devices("tells what was to be moved and fails, or differs between ranks", function()
    local script = [[
      local g = cl.group "portable"
      local d = g.devices[1]
      local function move(n) return { from = 1, source = d:full("int", 7, n, n), at = { 1, 1 }, to = 2,
        target = d:zeros("int", n, n), to_at = { 1, 1 }, size = { n, n } } end ]]
    assert.matches("ranks disagree on the size of what they move", run(2, script .. [[
      print(pcall(g.ranks.move_all, g.ranks, { move(w.rank == 0 and 40 or 20) })) ]]))
    assert.matches("49 ints", run(2, script .. [[
      local list = { move(7), w.rank == 0 and move(7) or nil }
      g.ranks:move_all(list)
      if w.rank == 1 then print(cl.sum(list[1].target) // 7 .. " ints") end ]]))
    for _, failing in ipairs { 1, 100 } do -- what is moved, or what was queued before it too
      assert.matches("CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST", run(2, script .. ([[
        local list = { move(40) }
        if %d == 1 then d:wait() end
        if w.rank == 1 then require "clcount".fail("command", -14, 1, %d) end
        print(pcall(g.ranks.move_all, g.ranks, list)) ]]):format(failing, failing)))
    end
  end)

  it("is a world of one without a launcher, and opens no library", function()
    assert.equal("1\t42\tnil\n", helper.output [[
      local w = require "clcompute.mpi".world
      local maps = io.open "/proc/self/maps"
      print(w.size, w:allreduce(42), maps and maps:read "a":match "libmpi") ]])
  end)

  it("says what to install where the library is missing", function()
    local script = [[package.preload["clcompute.ranks"] = function() error "libmpi.so.40: cannot open" end
      print(pcall(function() return require "clcompute.mpi".world end))]]
    assert.matches("apt install openmpi%-bin", helper.output(script, { PMI_SIZE = "1" }))
  end)

  test("refuses a launcher of another MPI", function()
    local script = "print(pcall(function() return require 'clcompute.mpi'.world end))"
    assert.matches("started by MPICH or its kin with 2 ranks, but this module was built for",
      helper.output(script, { PMI_SIZE = "2", OMPI_ALLOW_RUN_AS_ROOT = "1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM = "1" }))
  end)
end)

describe("a job of MPI", function()
  test("ends with the error of a rank, which is named", function()
    local output, code = run(2, "if w.rank == 1 then error 'this is wrong' end w:barrier()")
    assert.equal(1, code)
    assert.matches("this is wrong", output)
    assert.matches("rank 1 of 2 ended with status 1", output)
  end)

  test("ends with the status of os.exit", function()
    local output, code = run(2, "if w.rank == 1 then os.exit(3) end w:barrier()")
    assert.equal(3, code, output)
  end)

  test("does not hang where a rank ends before the others", function()
    local output, code = run(2, "if w.rank == 1 then os.exit(0) end w:barrier()")
    assert.not_equal(0, code)
    assert.matches("the end of the script", output)
  end)

  test("ends where a rank is killed", function()
    local output, code = run(2, [[if w.rank == 1 then
      os.execute("kill -9 " .. io.open "/proc/self/stat":read "n") end w:barrier()]])
    assert.equal(137, code, output)
    assert.matches("rank 1 .*signal 9", output)
  end)

  test("raises on all ranks where they are in different calls, with the lines", function()
    local output = must_run(2, [[
      local ok, message
      if w.rank == 0 then ok, message = pcall(w.bcast, w, 1) else ok, message = pcall(w.allreduce, w, 1) end
      print(ok, (message:gsub("\n", " ")))
      w:barrier() ]])
    local pattern = "false\t%S+:%d+: ranks disagree:   rank 0: bcast of a value from rank 0 [^\n]*:%d[^\n]*"
      .. "rank 1: allreduce"
    assert.equal(2, select(2, output:gsub(pattern, "")), output)
  end)

  test_of_devices("raises where ranks differ in shapes of a group's operation", function()
    local output, code = run(2, "local g = cl.group 'portable' cl.sum(g:zeros('int', 4):view(1, 3 + w.rank))")
    assert.equal(1, code)
    assert.matches("rank 1: sum of int 4", output)
  end)

  test_of_devices("goes on with exchanges after calls that were different, of factors too", function()
    assert.equal("disagree disagree disagree 3 well\n", must_run(2, [[
      local g = cl.group("portable", { block = 8 })
      local a, b = g:random("float", 40, 40, { seed = 1 }), g:random("float", 40, 3, { seed = 2 })
      local function tell(...)
        local ok, message = pcall(...)
        return ok and "well" or message:match "ranks (%l+)" or message
      end
      local first = w.rank == 0 and tell(w.barrier, w) or tell(cl.sum, a)
      local product = cl.gemm(a, a)
      local f, other = cl.lu(a), g:random("float", 40, 5, { seed = 3 })
      local second = tell(f.solve, f, w.rank == 0 and b or other)
      local third = w.rank == 0 and tell(f.rcond, f) or tell(f.solve, f, b)
      local x = f:solve(b)
      local is_right = cl.norm2(cl.gemm(a, x) - b) < 1e-3 and cl.norm2(cl.gemm(a, a) - product) == 0
      if w.rank == 0 then print(first, second, third, x.shape[2], is_right and "well") end]]):gsub("\t", " "))
  end)

  test_of_devices("fails alike on all in what one rank would find, and goes on", function()
    local none = "no elements along axis 1; "
    assert.equal("float or double buffers expected; " .. none .. none .. "25\n", must_run(2, [[
      local g, list = cl.group "portable", {}
      local i, none = g:full("int", 1, 5, 5), g:zeros("float", 0, 4)
      for k, f in ipairs { function() cl.gemm(i, i) end, function() cl.min(none, { axis = 1 }) end,
        function() cl.reduce("a + b", none, { axis = 1 }) end } do
        list[k] = select(2, pcall(f)):match ": ([^:,]+)[^:]*$"
      end
      list[4] = cl.sum(i)
      if w.rank == 0 then print(table.concat(list, "; ")) end]]))
  end)

  test_of_devices("raises where ranks make buffers of different values, or use different operators", function()
    assert.equal(("disagree "):rep(7) .. "10\n", must_run(2, [[
      local g, r, list = cl.group "portable", w.rank, {}
      local v = g:full("int", 1, 4)
      for k, f in ipairs { function() return v * (r + 1) end, function() return r == 0 and v + 5 or v * 5 end,
        function() return g:full("int", r, 4) end, function() return g:buffer({ r, r, r, r }, "int") end,
        function() return g:random("int", 4, { seed = r, high = 5 }) end, function() return g:arange(r, r + 3) end,
        function() return g:zeros("int", 4 + r) end } do
        local ok, message = pcall(f)
        list[k] = ok and "well" or message:match "ranks (%l+)"
      end
      list[#list + 1] = cl.sum(g:buffer({ 1, 2, 3, 0 }, "int") + v)
      if r == 0 then print(table.concat(list, " ")) end]]))
  end)

  test_of_devices("is out of step where a finalizer calls within a call", function()
    local output = run(2, [[
      local g = cl.group "portable"
      local x = g:full("float", 1, 1000)
      if w.rank == 1 then
        local sum = cl.sum
        debug.sethook(function()
          if debug.getinfo(2, "S").short_src:find("groups/combining", 1, true) then
            debug.sethook()
            print(pcall(sum, x))
          end
        end, "l")
      end
      print(pcall(cl.sum, x))
      print(pcall(w.barrier, w))]])
    assert.matches("rank 1: failed: a call of all ranks in another one", output, 1, true)
    assert.matches("ranks are out of step: rank 1 failed", output, 1, true)
    assert.not_matches("true", output)
  end)

  test("is out of step where a rank was interrupted in a wait", function()
    for _, wait in ipairs { "w:allreduce(1)", "w:recv(1)" } do
      local output, code = run(2, [[
        if w.rank == 1 then os.execute "sleep 2" os.exit(0) end
        os.execute "(sleep 0.5; kill -INT $PPID) &"
        print(pcall(function() ]] .. wait .. [[ end))
        print(pcall(w.barrier, w))]])
      assert.matches("false\t[^\n]*interrupted!", output)
      assert.matches("out of step: rank 0 was interrupted while it waited in", output, 1, true)
      assert.not_equal(0, code)
    end
  end)

  test("sends strings of all lengths about that of a first message", function()
    assert.equal("well\n", must_run(3, [[
      for _, length in ipairs { 0, 1, 238, 239, 240, 247, 248, 249, 250, 5000, 70000 } do
        local own = string.char(65 + w.rank):rep(length + w.rank)
        for rank, text in ipairs(w:allgather(own)) do
          assert(text == string.char(64 + rank):rep(length + rank - 1))
        end
        local before = (w.rank + 2) % 3
        if w.rank == 0 then w:send(own, 1) end
        assert(w:recv(before) == string.char(65 + before):rep(length + before))
        if w.rank > 0 then w:send(own, (w.rank + 1) % 3) end
        assert(w:bcast(w.rank == 1 and own or nil, 1) == ("B"):rep(length + 1))
      end
      if w.rank == 0 then print "well" end]]))
  end)

  test_of_devices("raises on all ranks where options or groups differ, and goes on", function()
    local output = must_run(2, [[
      local g, h = cl.group("portable", { block = 2 }), cl.group("portable", { block = 2 + w.rank })
      local a = g:random("float", 5, 5, { seed = 1 })
      local function refuses(pattern, f, ...)
        local ok, message = pcall(f, ...)
        assert(not ok and message:find(pattern), message)
      end
      refuses("rank 1: gemm of [^\n]*alpha = 2", cl.gemm, a, a, { alpha = 1 + w.rank })
      refuses("rank 1: reduce of a %* b", cl.reduce, w.rank == 0 and "a + b" or "a * b", a)
      refuses("rank 1: sum of int 3x3, on a grid of 1x2 by blocks of 3", cl.sum, h:zeros("int", 3, 3))
      refuses("rank 1: fill of rows 1 to 5 with 1", a.fill, a, w.rank)
      refuses("rank 1: rows 1 to 2 of float 2x5", a.write, a, a:view(1, 1 + w.rank))
      refuses("rank 1: write of 2 rows", a.write, a, ("x"):rep(20 + 20 * w.rank))
      refuses(w.rank == 0 and "rank 1: barrier" or "got function", w.allgather, w, w.rank == 0 and 1 or print)
      if w.rank == 1 then pcall(w.barrier, w) end
      assert(cl.sum(a) > 0)
      if w.rank == 0 then print "well" end ]])
    assert.equal("well\n", output)
  end)

  test_of_devices("raises on all ranks what one of them fails with in a call", function()
    local script = [[
      local g = cl.group("portable", { block = 2 })
      local a, f = g:random("float", 21, 21, { seed = 1 }), nil
      if %q == "solve" then f = cl.lu(a) end
      local fault = w.rank == 1 and %q
      local real = cl.gemm
      if fault == "gemm" or fault == "solve" then -- as where a device has no memory left
        require "clcompute.core".gemm = function() error("no memory", 0) end
      end
      local ok, message = pcall(function() if f then f:rcond() else real(a, a) end end)
      if ok then ok, message = pcall(w.barrier, w) end
      print(ok, (message:gsub("%%c", " ")))
      print(pcall(w.barrier, w)) ]]
    for _, call in ipairs { "gemm", "solve" } do
      local output, code = run(2, script:format(call, call))
      assert.not_equal(0, code)
      assert.equal(2, select(2, output:gsub("ranks disagree:[^\n]*rank 1: failed: %l+: no memory", "")), output)
      assert.equal(2, select(2, output:gsub("false\t%S+:%d+: ranks are out of step: rank 1 failed", "")), output)
    end
  end)

  test_of_devices("goes on where all have failed alike, or what one fails with is shared", function()
    assert.equal("well\n", must_run(2, [[
      local g = cl.group("portable", { block = 2 })
      for _ = 1, 2 do
        local ok, message = pcall(cl.lu, g:full("float", 1, 5, 5))
        assert(not ok and message:find "column 2 has no pivot", message)
      end
      local f = w.rank == 1 and function() error "wrong" end or function() return 1 end
      local ok, message = pcall(function() return g.ranks:collect(f) end)
      assert(not ok and message:find "wrong")
      if w.rank == 0 then print "well" end ]]))
  end)

  test("does not mix what a script sends with what its calls move", function()
    assert.equal("well\n", must_run(2, [[
      if w.rank == 0 then w:send(7, 1) end
      assert(w:bcast(w.rank == 0 and "x" or nil) == "x")
      if w.rank == 1 then assert(w:recv(0) == 7) print "well" end ]]))
  end)

  test("raises where a rank waits for one that has ended", function()
    local output = must_run(2, [[if w.rank == 0 then
      print(pcall(w.recv, w, 1)) print(pcall(w.send, w, ("x"):rep(1e6), 1)) end]])
    assert.matches("^false\t%S+:%d+: recv: rank 1 has ended\nfalse\t%S+:%d+: send: rank 1 has ended\n$", output)
  end)

  test("ends where a rank is late, after a limit", function()
    local output, code = run(2, "if w.rank == 1 then os.execute 'sleep 20' end w:barrier()", "CLCOMPUTE_MPI_LIMIT=1")
    assert.not_equal(0, code)
    assert.matches("rank 0 of 2 waited 1 s in barrier", output)
  end)

  test_of_devices("refuses what does not fit the buffer that is to receive it", function()
    local output = must_run(2, [[
      local d = mpi.device "portable"
      if w.rank == 0 then w:send(d:zeros("float", 10), 1)
      else print(pcall(w.recv, w, d:zeros("double", 5), 0)) end ]])
    assert.matches("40 bytes of float came, for a buffer of 40 bytes of double", output)
  end)
end)

describe("the doctor", function()
  test("looks whether the launcher goes with the library", function()
    local script = [[for _, row in ipairs(require "clcompute.doctor".examine({ answers = false }).rows) do
      if row.check == "launcher" then print(row.status, row.detail) end end]]
    assert.matches("^ok\t$OMPI_COMM_WORLD_SIZE, Open MPI", helper.output(script, { OMPI_COMM_WORLD_SIZE = "1" }))
    assert.matches("^fault\t$PMI_SIZE is of MPICH, but clcompute was built for Open MPI",
      helper.output(script, { PMI_SIZE = "1" }))
    assert.equal("", helper.output(script))
  end)
end)

describe("an example of ranks", function()
  for name, arguments in pairs { ranks_pi = "100000", ranks_stencil = "33 20" } do
    test_of_devices(name .. " has the same result for every number of ranks", function()
      local command = ("CLCOMPUTE_DEVICE=portable %s examples/%s.lua %s"):format(helper.lua, name, arguments)
      local one, is_well = helper.shell(command)
      assert.is_true(is_well, one)
      assert.matches("^%d+ [^\n]+\n$", one)
      assert.equal(one, (helper.shell("OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 timeout 60 "
        .. "mpirun --oversubscribe -n 3 env " .. command)))
    end)
  end
end)
