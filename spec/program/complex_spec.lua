-- SPDX-License-Identifier: MIT
--- <clcompute/complex.h> against complex arithmetic in Lua's doubles.

local helper = require "spec.helper"

local SOURCE = [[
  #include <clcompute/complex.h>
  kernel void all(global const C *z, global const C *w, global C *out) {
    const int i = get_global_id(0);
    global C *o = out + 10 * i;
    o[0] = cmul(z[i], w[i]);
    o[1] = cdiv(z[i], w[i]);
    o[2] = csqrt(z[i]);
    o[3] = cexp(z[i]);
    o[4] = clog(z[i]);
    o[5] = cpow(z[i], w[i]);
    o[6] = csqr(conj(z[i]));
    o[7] = cpolar(cabs(z[i]), carg(z[i]));
    o[8] = (C)(creal(z[i]), cimag(w[i]));
    o[9] = z[i] + w[i];
  }]]

local function polar(r, phi) return { r * math.cos(phi), r * math.sin(phi) } end
local function mul(z, w) return { z[1] * w[1] - z[2] * w[2], z[1] * w[2] + z[2] * w[1] } end
local function norm(z) return z[1] * z[1] + z[2] * z[2] end
local function log(z) return { math.log(norm(z)) / 2, math.atan(z[2], z[1]) } end
local function exp(z) return polar(math.exp(z[1]), z[2]) end

--- What the kernel writes for z and w.
local function expected(z, w)
  local quotient = mul(z, { w[1] / norm(w), -w[2] / norm(w) })
  local root = polar(norm(z) ^ 0.25, math.atan(z[2], z[1]) / 2)
  return { mul(z, w), quotient, root, exp(z), log(z), exp(mul(w, log(z))), mul({ z[1], -z[2] }, { z[1], -z[2] }), z,
    { z[1], w[2] }, { z[1] + w[1], z[2] + w[2] } }
end

helper.describe_each("complex.h", function(d)
  for _, dtype in ipairs { "float", "double" } do
    local case = (dtype == "float" or d.has_double) and it or pending

    case("computes as Lua does, with " .. dtype, function()
      local p = d:program(SOURCE, { defines = { C = dtype .. "2" } })
      local n = 32
      local z, w = d:random(dtype, n, 2, { seed = helper.seed, low = -2, high = 2 }),
        d:random(dtype, n, 2, { seed = helper.seed + 1, low = 0.25, high = 2 })
      z:write { { 1, 0 }, { -1, 0 }, { 0, 1 }, { 0, -1 } }
      local out = d:empty(dtype, n * 10, 2)
      p.all(n, z, w, out)
      local found, zs, ws = out:read(), z:read(), w:read()
      for i = 1, n do
        for k, value in ipairs(expected(zs[i], ws[i])) do
          -- 16 ulp and more of the arguments of the functions behind it, which are below 16
          local bound = 1024 * helper.eps[dtype] * math.max(math.sqrt(norm(value)), 0.25)
          local got = found[10 * (i - 1) + k]
          for part = 1, 2 do assert.near(value[part], got[part], bound, ("%d of %d"):format(k, i)) end
        end
      end
      local large = dtype == "float" and 1e30 or 1e300
      z:write { { large, large }, { 0, 0 } }
      w:write { { large, large }, { 2, 0 } }
      p.all(2, z, w, out)
      found = out:read()
      assert.same({ 1, 0 }, found[2]) -- the quotient does not overflow
      assert.same({ { 0, 0 }, { 0, 0 } }, { found[13], found[16] })
    end)
  end
end)

describe("complex.h", function()
  it("can be used from a file too, beside the header of work-groups", function()
    local d = helper.device()
    local path = os.tmpname()
    helper.write(path, "#include <clcompute/work_group.h>\n#include <clcompute/complex.h>\n"
      .. "kernel void f(global float2 *z) { z[0] = cmul(z[0], work_group_broadcast(z[0].y, 0) * z[0]); }")
    local p = d:program { file = path }
    os.remove(path)
    local z = d:buffer { { 1, 2 } }
    p.f({ global = 1, group = 1 }, z)
    assert.same({ { -6, 8 } }, z:read())
  end)
end)
