-- SPDX-License-Identifier: MIT

--- `clcompute completion`: what a shell needs to complete the words of the command.

local output = require "clcompute.cli.output"
local report = require "clcompute.cli.report"
local tune = require "clcompute.cli.tune"

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

--- The experiments of a device; none where the library does not load.
local function experiments()
  local found, module = pcall(require, "clcompute.device_profile")
  return found and module.names() or nil
end

--- Words that an argument or an option may be, among others, become choices, which argparse writes for each shell.
local function add_words(parser)
  local commands = {}
  for i, command in ipairs(parser._commands) do commands[i] = command._name end
  local words = { topic = commands, name = report.names, operation = tune.operations, ["--only"] = experiments(),
    ["--device"] = { "gpu", "cpu" } }
  for _, command in ipairs(parser._commands) do
    for _, list in ipairs { command._arguments, command._options } do
      for _, one in ipairs(list) do one._choices = one._choices or words[one._name] end
    end
  end
end

--- What argparse leaves out for bash: the choices of arguments, and files of rows beside them; and what it names twice,
-- the options of all commands.
local function for_bash(text, parser)
  local cases = {}
  for _, command in ipairs(parser._commands) do
    for _, argument in ipairs(command._arguments) do
      local files = command._name == report.name and [[ $(compgen -f -X '!*.jsonl' -- "$cur")]] or ""
      cases[#cases + 1] = argument._choices and ([[        %s) COMPREPLY=($(compgen -W "%s" -- "$cur")%s) ;;]])
        :format(command._name, table.concat(argument._choices, " "), files)
    end
  end
  local choices = '    case "$cmd" in\n' .. table.concat(cases, "\n") .. "\n    esac\n"
  text = text:gsub('opts="%$opts ', 'opts="')
  local at = text:find('    if [[ "$cur" = -*', 1, true)
  return text:sub(1, at - 1) .. choices .. text:sub(at)
end

--- Runs the command.
function completion.run(options, parser)
  add_words(parser)
  local text = parser["get_" .. options.shell .. "_complete"](parser)
  output.print(options.shell == "bash" and for_bash(text, parser) or text)
  return 0
end

return completion
