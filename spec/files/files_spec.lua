-- SPDX-License-Identifier: MIT
local helper = require "spec.helper"
local internal = require "clcompute.core.internal"

describe("files", function()
  local folder = helper.folder()
  teardown(function() helper.shell("rm -r " .. folder) end)

  local function count_descriptors()
    collectgarbage()
    local pipe <close> = io.popen "ls -l /proc/$PPID/fd | grep -vc pipe:"
    return pipe:read "n"
  end

  it("that are refused leave no descriptor open", function()
    helper.shell(("cd %s && mkdir folder && mkfifo pipe && : >empty && ln -s nothing link"):format(folder))
    local device = helper.device()
    pcall(device.program, device, "?")
    device:zeros("float", 1):read() -- a driver has files of its own from then on
    local before = count_descriptors()
    for _, name in ipairs { "folder", "pipe", "missing", "empty", "link", "empty/below" } do
      local path = ("%s/%s"):format(folder, name)
      for _, use in ipairs { internal.open_plain, internal.append_text, internal.new_file } do
        local ok, file, new = pcall(use, path, "")
        if ok and io.type(file) == "file" then file:close() end
        if ok and new then os.remove(new) end
      end
      pcall(device.program, device, { file = path })
      pcall(device.load, device, path)
    end
    assert.is_true(count_descriptors() <= before) -- a driver closes files of its own when it likes
  end)

  it("are written by processes whose standard input is closed, as daemons' may be", function()
    local path = folder .. "/written"
    local script = [[
      require 'clcompute'
      require 'clcompute.files'.replace('%s', function(file) return file:write 'whole' end)]]
    assert.equal("", (helper.shell(('%s -e "%s" <&-'):format(helper.lua, script:format(path)))))
    assert.equal("whole", helper.read(path))
  end)
end)
