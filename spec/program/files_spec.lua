-- SPDX-License-Identifier: MIT
--- d:program { files = { ... } }.

local helper = require "spec.helper"

helper.describe_each("a program of several files", function(d)
  local folder

  --- Paths of files with these texts, in folders of their own.
  local function write(...)
    local paths = {}
    for i, text in ipairs { ... } do
      paths[i] = ("%s/%d/%d.cl"):format(folder, i, i)
      assert(os.execute("mkdir -p " .. paths[i]:match "^.*/"))
      helper.write(paths[i], text)
    end
    return paths
  end

  setup(function() folder = helper.folder() end)

  teardown(function() os.execute("rm -r " .. folder) end)

  it("has the kernels and functions of all, in their order", function()
    local paths = write("int twice(int x) { return 2 * x; }", -- no newline at its end
      '#include "three.h"\nkernel void k(global int *x) { x[0] = twice(THREE); }\n',
      "kernel void last(global int *x) { x[0] = twice(x[0]) + __LINE__; }\n")
    helper.write(folder .. "/2/three.h", "#define THREE 3\n")
    local p, x = d:program { files = paths }, d:zeros("int", 1)
    p.k(1, x)
    p.last(1, x)
    assert.equal(13, x[1])
    assert.is_boolean(d:is_built { files = paths })
  end)

  it("that does not build names file and line", function()
    local paths = write("int one(void) { return 1; }\n\n", "\nkernel void k(global int *x) {\n  x[0] = nonsense;\n}\n",
      "int two(void) { return 2; }\n")
    local at = paths[2] .. ":3"
    helper.raises({ paths[1] .. " does not build", at .. ":", at .. " |   x[0] = nonsense;" }, d.program, d,
      { files = paths })
    helper.raises({ "first does not build", at .. ":" }, d.program, d, { files = paths }, { name = "first" })
    paths = write("int one(void) { return mistaken; }\n", "kernel void k(global int *x) { x[0] = one(); }\n")
    helper.raises(paths[1] .. ":1 | int one(void) { return mistaken; }", d.program, d, { files = paths })
  end)

  it("ends each file where it ends, also behind a backslash", function()
    for _, last in ipairs { "#define ONE 1 \\", "#define ONE 1 \\\n", "#define ONE 1 // of one \\" } do
      local paths = write(last, "kernel void k(global int *x) { x[0] = ONE + 10 * __LINE__; }\n")
      local x = d:zeros("int", 1)
      d:program({ files = paths }).k(1, x)
      assert.equal(11, x[1])
      paths = write(last, "kernel void k(global int *x) {\n  x[0] = nonsense;\n}\n")
      helper.raises(paths[2] .. ":2 |   x[0] = nonsense;", d.program, d, { files = paths })
    end
  end)

  it("takes a list of paths alone", function()
    helper.raises("option 'files': list of paths expected", d.program, d, { files = {} })
    helper.raises("option 'files': list of paths expected", d.program, d, { files = "a.cl" })
    helper.raises("option 'files': [1]: a path without", d.program, d, { files = { "a\0.cl" } })
    helper.raises("option 'file': the text holds a NUL byte", d.program, d, { file = "a\0.cl" })
    for _, option in ipairs { "file", "files" } do
      local paths = write "kernel void k() {}\0"
      helper.raises(("option '%s': %s holds a NUL byte; of a built program: {binary=\"%s\"}"):format(option, paths[1],
        paths[1]), d.program, d, { [option] = option == "files" and paths or paths[1] })
    end
    helper.raises("option 'files': [2]: path expected, got number", d.program, d,
      { files = { write("int i;")[1], 2 } })
    helper.raises("No such file", d.program, d, { files = { "/none/a.cl" } })
    helper.raises("no option 'path'; there are binary, file, files", d.program, d, { path = "a" })
  end)
end)
