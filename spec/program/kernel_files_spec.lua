-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"

--- The .cl files: name to text.
local function kernel_files()
  local files = {}
  local pipe = assert(io.popen("ls kernels/*.cl"))
  for path in pipe:lines() do files[path:match("([%w_]+)%.cl$")] = helper.read(path) end
  pipe:close()
  return files
end

--- The text without comments, so that words in them do not count.
local function code_of(text) return (text:gsub("/%*.-%*/", " "):gsub("//[^\n]*", " ")) end

local files = kernel_files()

-- Not of doubles: OpenCL has its native functions for floats, and places are whole numbers.
local NOT_OF_DOUBLES = { probe_functions = true, permutation = true }

describe("the folder of kernels", function()
  it("holds the operations of the papers", function()
    local names = "saxpy gemm_naive gemm_tiled gauss_fwd_pre gauss_fwd gauss_bwd_prepare gauss_bwd life"
    for name in names:gmatch "%S+" do assert.is_string(files[name], name) end
  end)

  for name, text in pairs(files) do
    it("has a licence line, and a head that explains, in " .. name, function()
      assert.equal("/* SPDX-License-Identifier: MIT */", text:match("^[^\n]*"))
      assert.truthy(text:find(name .. ":", 1, true) or text:find(name .. " ", 1, true))
      assert.truthy(text:find("lobal size") or text:find("One work%-"), "no word on the size it needs")
    end)

    it("asks for the group's size in no loop condition, which POCL 3.1 miscompiles, in " .. name, function()
      local code = code_of(text)
      for condition in code:gmatch("for%s*(%b())") do
        assert.is_nil(condition:find("get_local_size", 1, true), condition)
      end
      for condition in code:gmatch("while%s*(%b())") do
        assert.is_nil(condition:find("get_local_size", 1, true), condition)
      end
    end)
  end
end)

helper.describe_each("the folder of kernels", function(d)
  if helper.is_simulator(d) then return end -- oclgrind_spec builds and runs them all
  for name, text in pairs(files) do
    it("holds one kernel of the file's name, which builds alone: " .. name, function()
      local program = d:program(text, { name = name .. ".cl", include = { "kernels" } })
      assert.same({ name }, program.kernels)
    end)
  end
end)

--- The devices that build for double: the simulator, which takes a tenth of the time, or all by `make long`.
local function builders()
  local all = helper.devices()
  for _, d in ipairs(all) do
    if helper.is_simulator(d) and d.has_double and not helper.long(true) then return { d } end
  end
  return all
end

for _, d in ipairs(builders()) do
  describe("the folder of kernels on " .. d.platform, function()
    for name in pairs(files) do
      it("builds for double where the device has it: " .. name, function()
        if not d.has_double then return pending "no double precision" end
        if NOT_OF_DOUBLES[name] then return end
        local double = d:kernel(name, { dtype = "double" })
        for _, argument in ipairs(double.args) do assert.is_nil(argument.type:find("float", 1, true), argument.name) end
      end)
    end
  end)
end
