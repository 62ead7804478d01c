-- SPDX-License-Identifier: MIT
--- Functions of shared objects, which gcc compiles here.

local helper = require "spec.helper"
local native = require "clcompute.native"

local SOURCE = [[
void scale(const long *sizes, const double *numbers, void *const *arrays) {
  const float *x = arrays[0];
  float *y = arrays[1];
  for (long i = 0; i < sizes[0]; i++) y[i] = (float)numbers[0] * x[i] + (float)numbers[1];
}
void places(const long *sizes, const double *numbers, void *const *arrays) {
  (void)numbers;
  long *place = arrays[0];
  for (long i = 0; i < sizes[0]; i++) place[i] = (long)arrays[i] % 64;
}
void nothing(const long *sizes, const double *numbers, void *const *arrays) {
  (void)sizes, (void)numbers, (void)arrays;
}
]]

describe("native.call", function()
  local folder = helper.folder()
  local library = folder .. "/some.so"

  setup(function()
    helper.write(folder .. "/some.c", SOURCE)
    assert(os.execute(("gcc -shared -fPIC -o %s %s/some.c"):format(library, folder)))
  end)

  teardown(function() os.execute("rm -r " .. folder) end)

  it("returns the arrays after it and the seconds it took, and leaves what it was given", function()
    local x, y = ("<fff"):pack(1, 2, 3), ("<fff"):pack(0, 0, 0)
    local after, seconds = native.call(library, "scale", { 3 }, { 2, 0.5 }, { x, y })
    assert.same({ x, ("<fff"):pack(2.5, 4.5, 6.5) }, after)
    assert.equal(("<fff"):pack(0, 0, 0), y)
    assert.is_true(seconds >= 0)
    assert.same({}, (native.call(library, "nothing", {}, {}, {})))
    assert.same({ "" }, (native.call(library, "nothing", {}, {}, { "" })))
  end)

  it("gives arrays that start on a cache line", function()
    local after = native.call(library, "places", { 3 }, {}, { ("x"):rep(24), "x", ("y"):rep(1000) })
    assert.same({ 0, 0, 0 }, { table.unpack({ ("<i8i8i8"):unpack(after[1]) }, 1, 3) })
  end)

  it("refuses libraries and functions that are not there", function()
    helper.raises("no.so: cannot open shared object file", native.call, folder .. "/no.so", "scale", {}, {}, {})
    helper.raises(library .. " has no function zork", native.call, library, "zork", {}, {}, {})
  end)

  it("refuses lists of something else", function()
    local cases = {
      { 1, "string expected", {}, "scale", {}, {}, {} }, { 2, "string expected", library, {}, {}, {}, {} },
      { 3, "table expected, got number", library, "nothing", 3, {}, {} },
      { 3, "list of integers expected", library, "nothing", { 1.5 }, {}, {} },
      { 3, "list of integers expected", library, "nothing", { 1, "x" }, {}, {} },
      { 4, "table expected, got nil", library, "nothing", {} },
      { 4, "list of numbers expected", library, "nothing", {}, { 1, {} }, {} },
      { 5, "table expected, got nil", library, "nothing", {}, {}, nil },
      { 5, "list of strings expected", library, "nothing", {}, {}, { "a", 1 } },
    }
    for _, case in ipairs(cases) do
      helper.raises({ ("bad argument #%d"):format(case[1]), case[2] }, native.call, table.unpack(case, 3, 7))
    end
  end)
end)
