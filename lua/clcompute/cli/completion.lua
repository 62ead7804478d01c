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

--- What argparse leaves out for bash: the choices of arguments; and what it names twice, the options of all commands.
local function for_bash(text, parser)
  local cases = {}
  for _, command in ipairs(parser._commands) do
    for _, argument in ipairs(command._arguments) do
      cases[#cases + 1] = argument._choices and ([[        %s) COMPREPLY=($(compgen -W "%s" -- "$cur")) ;;]])
        :format(command._name, table.concat(argument._choices, " "))
    end
  end
  local choices = '    case "$cmd" in\n' .. table.concat(cases, "\n") .. "\n    esac\n"
  text = text:gsub('opts="%$opts ', 'opts="')
  local at = text:find('    if [[ "$cur" = -*', 1, true)
  return text:sub(1, at - 1) .. choices .. text:sub(at)
end

--- Runs the command.
function completion.run(options, parser)
  local text = parser["get_" .. options.shell .. "_complete"](parser)
  output.print(options.shell == "bash" and for_bash(text, parser) or text)
  return 0
end

return completion
