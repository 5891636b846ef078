import {
  type CompletionFile,
  completionFolder,
  type FiledShell,
  installCompletion,
  nameOfShell,
  removeCompletion,
} from "../../app/manage/shell-completion.ts";
import { userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag } from "../frame/command.ts";
import { type CompletedShell, GIT_SCRIPTS, renderCompletion, SHELLS } from "../frame/completion.ts";

const PROFILE_LINE = "jpg completion powershell | Out-String | Invoke-Expression";

export const command: CommandSpec = {
  name: "completion",
  summary: "complete jpg's words in your shell",
  description:
    "Completes commands, options, what can follow an option, and conversations, also of `git jpg`. With --install it writes the script to the folder where your shell looks for it, and says when it works; without, it prints the script.",
  details:
    "bash: ~/.local/share/bash-completion/completions (needs bash-completion). zsh: ~/.local/share/zsh/site-functions, which fpath has to name. fish: ~/.config/fish/completions. A file there that is not jpg's own is never overwritten. Install again after an update of jpg.",
  arguments: [{ name: "[shell]", description: `${SHELLS.join(", ")}; default: $SHELL` }],
  options: [
    { flags: "--install", description: "write the script where the shell looks for it" },
    { flags: "--uninstall", description: "remove what --install wrote", conflicts: ["install"] },
  ],
  examples: [
    { command: "jpg completion --install", explains: "for the shell that $SHELL names" },
    { command: "jpg completion --install fish", explains: "for fish" },
    { command: 'eval "$(jpg completion bash)"', explains: "for this bash only" },
  ],
  withoutGit: true,
  run: async (context) => {
    const { options, output, json, commands } = context;
    const shell = shellOf(context);
    if (flag(options, "install") || flag(options, "uninstall")) return changeFiles(context, shell);
    const script = renderCompletion(shell, await commands());
    if (json) output.json({ shell, script });
    else output.data(forTerminal(script.trimEnd()));
    return 0;
  },
};

function shellOf({ args, runtime }: CommandContext): CompletedShell {
  const given = args[0] ?? nameOfShell(runtime);
  const shell = SHELLS.find((name) => name === (given === "pwsh" ? "powershell" : given));
  if (shell !== undefined) return shell;
  const message =
    given === ""
      ? "Which shell is not known: SHELL is not set."
      : `jpg has no completion for ${forTerminalLine(given)}.`;
  throw userError("unknown_shell", message, { hints: [`Expected one of ${SHELLS.join(", ")}.`] });
}

async function changeFiles(context: CommandContext, shell: CompletedShell): Promise<number> {
  const { options, output, json, runtime, commands } = context;
  const isInstall = flag(options, "install");
  if (shell === "powershell") {
    if (json) output.json({ shell, files: [], line: PROFILE_LINE });
    else output.data(renderProfile(isInstall));
    return 0;
  }
  const files = isInstall
    ? await installCompletion(runtime, shell, {
        jpg: renderCompletion(shell, await commands()),
        git: GIT_SCRIPTS[shell],
      })
    : await removeCompletion(runtime, shell);
  if (json) output.json({ shell, files });
  else output.data(joinLines([...renderFiles(files), ...(isInstall ? renderNext(shell, context, files) : [])]));
  return 0;
}

function renderProfile(isInstall: boolean): SafeText {
  return isInstall
    ? safe`PowerShell has no folder for completion scripts, so none was written. Add
this line to the file that $PROFILE names; it works in new windows:
  ${PROFILE_LINE}`
    : safe`jpg writes no file for PowerShell. Remove this line from the file that $PROFILE names:
  ${PROFILE_LINE}`;
}

const VERBS = {
  written: "Wrote",
  updated: "Updated",
  unchanged: "Up to date:",
  removed: "Removed",
  absent: "Not there:",
} as const satisfies Readonly<Record<CompletionFile["status"], string>>;

function renderFiles(files: readonly CompletionFile[]): readonly SafeText[] {
  return files.map(({ path, status }) => safe`${VERBS[status]} ${forTerminalLine(path)}`);
}

/** When it works, and what the user has to do for that. */
function renderNext(
  shell: FiledShell,
  { runtime }: CommandContext,
  [file]: readonly CompletionFile[],
): readonly SafeText[] {
  const folder = forTerminalLine(completionFolder(shell, runtime));
  switch (shell) {
    case "bash":
      return [
        safe`It works in new shells if bash-completion is installed; in this one after:`,
        safe`  source ${forTerminalLine(file?.path ?? "")}`,
      ];
    case "zsh":
      return [
        safe`It works in new shells once fpath has the folder. Add this line to ~/.zshrc,`,
        safe`before compinit (or a framework that calls it):`,
        safe`  fpath=(${folder} $fpath)`,
      ];
    case "fish":
      return [safe`It works in new shells, and in this one from the next Tab.`];
  }
}
