-- SPDX-License-Identifier: MIT

--- `clcompute completion`: what a shell needs to complete the words of the command.

local output = require "clcompute.cli.output"

local completion = {
  name = "completion",
  description = "Print what bash, zsh or fish needs to complete commands and options.",
  examples = {
    "clcompute completion fish | source    # in ~/.config/fish/config.fish",
    [[clcompute completion zsh >"${fpath[1]}/_clcompute"]],
    [[eval "$(clcompute completion bash)"   # in ~/.bashrc]],
  },
}

--- Adds the argument.
function completion.configure(parser)
  parser:argument("shell", "bash, zsh or fish."):choices { "bash", "zsh", "fish" }
end

--- Runs the command.
function completion.run(options, parser)
  output.print(parser["get_" .. options.shell .. "_complete"](parser))
  return 0
end

return completion
