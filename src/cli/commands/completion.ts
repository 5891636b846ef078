import { userError } from "../../core/errors.ts";
import { forTerminal } from "../../core/safe-text.ts";
import type { CommandSpec } from "../frame/command.ts";
import { renderCompletion, SHELLS } from "../frame/completion.ts";

export const command: CommandSpec = {
  name: "completion",
  summary: "print a completion script for a shell",
  description: "Completes commands, options, what can follow an option, and conversations.",
  arguments: [{ name: "<shell>", description: SHELLS.join(", ") }],
  examples: [
    { command: "jpg completion bash >> ~/.bashrc", explains: "bash" },
    { command: "jpg completion zsh >> ~/.zshrc", explains: "zsh; after compinit" },
    { command: "jpg completion fish > ~/.config/fish/completions/jpg.fish", explains: "fish" },
  ],
  withoutGit: true,
  run: async ({ args, output, json, commands }) => {
    const shell = SHELLS.find((name) => name === args[0]);
    if (shell === undefined)
      throw userError("unknown_shell", `jpg has no completion for ${args[0]}.`, {
        hints: [`Expected one of ${SHELLS.join(", ")}.`],
      });
    const script = renderCompletion(shell, await commands());
    if (json) output.json({ shell, script });
    else output.data(forTerminal(script.trimEnd()));
    return 0;
  },
};
