-- SPDX-License-Identifier: MIT

--- Names that are nearly right, and which one is meant.

local spelling = {}

--- How many letters differ, are missing or are exchanged with their neighbours, of two short words.
-- @tparam string a
-- @tparam string b
-- @treturn integer
function spelling.distance(a, b)
  local before, row = nil, {}
  for j = 0, #b do row[j] = j end
  for i = 1, #a do
    local below = { [0] = i }
    for j = 1, #b do
      local cost = a:byte(i) == b:byte(j) and 0 or 1
      below[j] = math.min(row[j - 1] + cost, row[j] + 1, below[j - 1] + 1)
      local exchanged = i > 1 and j > 1 and a:byte(i) == b:byte(j - 1) and a:byte(i - 1) == b:byte(j)
      if exchanged then below[j] = math.min(below[j], before[j - 2] + 1) end
    end
    before, row = row, below
  end
  return row[#b]
end

--- The distance of two words where one may be meant by the other, nil where they are too far from each other.
-- @tparam string word as it was written
-- @tparam string name
-- @treturn ?integer
function spelling.near(word, name)
  if word:lower() == name:lower() then return 0 end
  local most = #word > 1 and math.max(1, #word // 3) or 0
  if math.abs(#word - #name) > most then return nil end -- soon, of a long word
  local distance = spelling.distance(name, word)
  return distance <= most and distance or nil
end

--- Whether a name is the likelier one of two as far from a word: a letter is left out more often than written too many.
local function is_likelier(name, other)
  if #name ~= #other then return #name > #other end
  return name < other
end

--- What a message says of a word that is no name: "; did you mean 'gemm'?", or nothing.
-- @param word
-- @tparam table members whose keys are the names
-- @treturn string
function spelling.suggestion(word, members)
  local best, least
  if type(word) ~= "string" or word == "" or #word > 40 then return "" end
  for name in next, members do
    local distance = type(name) == "string" and not name:find "^__" and spelling.near(word, name)
    if distance and (not least or distance < least or distance == least and is_likelier(name, best)) then
      best, least = name, distance
    end
  end
  return best and ("; did you mean '%s'?"):format(best) or ""
end

local FLAT = "b:reshape(b.count)"
local INVERSE = "cl.solve(a, d:eye(n))"
local LEAST_SQUARES = "cl.solve(cl.matmul(a:T(), a), cl.matmul(a:T(), b))"
local CUMULATIVE = "cl.scan(\"a + b\", x)"
local LAUNCH = "k(range, ...)"

-- What scripts call by names of other libraries, by the name of the object's type; `library` is the public table. Each
-- text is Lua that computes it, of a device d, buffers a, b, x and y, an event e, a host array h,
-- a kernel k, a drawing p of a matrix.
local ELSEWHERE = {
  buffer = { size = "b.count, b.shape or b.bytes", length = "b.count or #b", len = "b.count or #b", n = "b.count or #b",
    data = "b:read()", values = "b:read()", tolist = "b:read()", item = "b[1]", type = "b.dtype", flatten = FLAT,
    ravel = FLAT, squeeze = "b:reshape(n)", unsqueeze = "b:reshape(1, n)", expand_dims = "b:reshape(1, n)",
    seconds = "cl.profile()", time = "cl.profile()" },
  device = { synchronize = "d:wait()", sync = "d:wait()", finish = "d:wait()", compile = "d:program(source)",
    build = "d:program(source)", array = "d:buffer(values)", ones = "d:full(dtype, 1, n)",
    rand = "d:random(dtype, n)", memory = "d.global_memory",
    cores = "d.compute_units" },
  drawing = { save = "matrix:save(path .. \".png\") or io.open(path .. \".html\", \"w\"):write(p:html())" },
  event = { time = "e.seconds", duration = "e.seconds", elapsed = "e.seconds", queued = "e:profile()",
    submitted = "e:profile()", started = "e:profile()", finished = "e:profile()", output = "k:capture(range, ...)" },
  ["host array"] = { count = "#h", length = "#h", size = "#h", shape = "#h" },
  kernel = { launch = LAUNCH, run = LAUNCH, set_arg = LAUNCH, set_args = LAUNCH },
  library = {
    hist = "cl.histogram(x)", pow = "x ^ y", power = "x ^ y", square = "x ^ 2", add = "x + y", subtract = "x - y",
    multiply = "x * y", divide = "x / y", mod = "x % y", cumsum = CUMULATIVE, cumulative = CUMULATIVE,
    mm = "cl.matmul(a, b)",
    cumprod = "cl.scan(\"a * b\", x)", prod = "cl.reduce(\"a * b\", x)", average = "cl.mean(x)", norm = "cl.norm2(x)",
    clip = "cl.minimum(cl.maximum(x, low), high)", inv = INVERSE, inverse = INVERSE, lstsq = LEAST_SQUARES,
    det = "cl.lu(a):det()",
    concatenate = "cl.concat(a, b)", append = "cl.concat(a, b)", take = "cl.gather(x, indices)", equal = "cl.eq(a, b)",
    less = "cl.lt(a, b)", greater = "cl.gt(a, b)", rand = "d:random(dtype, n)", ones = "d:full(dtype, 1, n)",
    randn = "d:random(dtype, n, { distribution = \"normal\" })", array = "d:buffer(values)", save = "b:save(path)",
    asarray = "d:buffer(values)", reshape = "b:reshape(n)", round = "cl.map(\"rint(x[i])\", { x = x })",
    zeros_like = "d:zeros(x.dtype, table.unpack(x.shape))", ones_like = "d:full(x.dtype, 1, table.unpack(x.shape))",
    stack = "cl.concat(x, y):reshape(2, n)", vstack = "cl.concat(a, b)", hstack = "cl.concat(a, b, { axis = 2 })",
    tile = "cl.concat(x, x)", permute = "cl.transpose(a, { axes = { 2, 1 } })",
    flip = "cl.gather(x, d:arange(n, 1, -1, \"int\"))", shuffle = "cl.gather(x, d:permutation(n))",
    diag = "d:eye(n) * x or cl.gather(a, d:arange(1, n * n, n + 1, \"int\"))",
    median = "cl.mean(cl.sort(x):view((n + 1) // 2, n // 2 + 1))", imshow = "print(cl.picture(a))",
    show = "print(cl.plot(x)) or print(cl.picture(a))", loadtxt = "d:load(name .. \".csv\")",
    savetxt = "b:save(name .. \".csv\")" },
}

for name in ("asin acos atan sinh cosh asinh acosh atanh log2 log10 log1p exp2 expm1 cbrt trunc rsqrt erf sign "
  .. "fabs isnan isinf isfinite"):gmatch "%S+" do
  ELSEWHERE.library[name] = ("cl.map(\"%s(x[i])\", { x = x })"):format(name)
end

spelling.ELSEWHERE = ELSEWHERE

-- What is not there, and what comes near.
local ABSENT = {}
for words, text in pairs {
  ["eigenvalues eigenvalue eigenvectors eig eigh eigvals"] = "power iteration: cl.matmul and cl.norm2 in a loop",
  ["fft ifft rfft fourier"] = "examples/ported/fft.lua, with kernels of its own",
  ["sparse csr csr_matrix spmv"] = "examples/ported/sparse.lua, with kernels of its own",
  ["blur filter2d convolve convolve2d"] = "examples/ported/image_filter.lua, with a kernel of its own",
} do
  for word in words:gmatch "%S+" do ABSENT[word] = text end
end

--- What comes near to something that the library does not have; nil: unknown.
function spelling.absent(word)
  return ABSENT[word:lower()]
end

--- What is written here for a name of another library; nil: unknown.
function spelling.elsewhere(word)
  for _, object in ipairs { "library", "buffer", "device", "event", "kernel" } do
    if ELSEWHERE[object][word] then return ELSEWHERE[object][word] end
  end
end

--- What a message says of a member that an object does not have: "; write cl.sum(...)", "; did you mean 'shape'?", or
-- nothing.
-- @param word
-- @tparam string object the name of its type
-- @tparam table methods
-- @tparam string fields their names
-- @tparam table library whose functions scripts take for methods
-- @treturn string
function spelling.member(word, object, methods, fields, library)
  if object == "buffer" and type(word) == "table" then return "; write b:slice({ first, last }, ...)" end
  if object == "buffer" and type(word) == "userdata" then
    return "; write cl.compact(b, mask) or cl.gather(b, indices)"
  end
  if object == "buffer" and tonumber(word) then return ("; write b[%s]"):format(word) end
  local known = ELSEWHERE[object] and ELSEWHERE[object][word]
  if not known and type(rawget(library, word)) == "function" then known = ("cl.%s(...)"):format(word) end
  known = known or ELSEWHERE.library[word] or object == "library" and spelling.elsewhere(word)
  if known then return "; write " .. known end
  local members = {}
  for name in next, methods do members[name] = true end
  for name in fields:gmatch "%S+" do members[name] = true end
  return spelling.suggestion(word, members)
end

--- Has objects refuse a field that is no method of theirs, which would be nil.
-- @tparam table methods the objects' `__index`
-- @tparam string object the name of their type
-- @treturn table the same
function spelling.refuse_others(methods, object)
  return setmetatable(methods, { __index = function(_, key)
    local known = ELSEWHERE[object] and ELSEWHERE[object][key]
    local hint = known and "; write " .. known or spelling.suggestion(key, methods)
    error(("a %s has no field '%s'%s"):format(object, tostring(key), hint), 2)
  end })
end

return spelling
