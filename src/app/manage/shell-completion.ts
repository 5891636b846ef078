// Where a shell looks for a user's completion scripts, and writing jpg's there. Never overwrites or removes a file that is not jpg's own.
import { basename, isAbsolute, join } from "node:path";
import { userError } from "../../core/errors.ts";
import type { Runtime } from "../conversation/runtime.ts";
import { changeSettings } from "../import/settings-file.ts";

/** Shells with a folder for the completion scripts of a user. */
export type FiledShell = "bash" | "zsh" | "fish";

/** A file and what became of it. */
export interface CompletionFile {
  /** Absolute. */
  readonly path: string;
  readonly status: "written" | "updated" | "unchanged" | "removed" | "absent";
}

/** The texts of a shell's two files: jpg's completion, and what makes the shell find it for `git jpg`. */
export interface CompletionScripts {
  readonly jpg: string;
  readonly git: string;
}

const NAMES: Readonly<Record<FiledShell, readonly [jpg: string, git: string]>> = {
  bash: ["jpg", "git-jpg"],
  zsh: ["_jpg", "_git-jpg"],
  fish: ["jpg.fish", "git-jpg.fish"],
};

/** The name of the user's shell by `SHELL`, without its folder; PowerShell on Windows where that is not set, else "". */
export function nameOfShell({ env, platform }: Pick<Runtime, "env" | "platform">): string {
  const name = basename(env["SHELL"] ?? "").replace(/\.exe$/i, "");
  return name === "" && platform === "win32" ? "powershell" : name;
}

/** The folder in which a shell looks for the user's completion scripts; zsh only if `fpath` names it. */
export function completionFolder(shell: FiledShell, { env, home }: Pick<Runtime, "env" | "home">): string {
  const base = (name: string, ...usual: readonly string[]): string => {
    const named = env[name] ?? "";
    return isAbsolute(named) ? named : join(home, ...usual);
  };
  switch (shell) {
    case "bash": {
      const [own = ""] = (env["BASH_COMPLETION_USER_DIR"] ?? "").split(":");
      return join(
        isAbsolute(own) ? own : join(base("XDG_DATA_HOME", ".local", "share"), "bash-completion"),
        "completions",
      );
    }
    case "zsh":
      return join(base("XDG_DATA_HOME", ".local", "share"), "zsh", "site-functions");
    case "fish":
      return join(base("XDG_CONFIG_HOME", ".config"), "fish", "completions");
  }
}

/** Writes the scripts of a shell. Throws `not_own_completion` before anything is written, and as `changeSettings` does. */
export function installCompletion(
  runtime: Runtime,
  shell: FiledShell,
  scripts: CompletionScripts,
): Promise<readonly CompletionFile[]> {
  return changeFiles(runtime, shell, [scripts.jpg, scripts.git]);
}

/** Removes the scripts of a shell. Throws like `installCompletion`. */
export function removeCompletion(runtime: Runtime, shell: FiledShell): Promise<readonly CompletionFile[]> {
  return changeFiles(runtime, shell, [null, null]);
}

/** The texts are in the order of the names; null removes a file. */
async function changeFiles(
  runtime: Runtime,
  shell: FiledShell,
  texts: readonly (string | null)[],
): Promise<readonly CompletionFile[]> {
  const folder = completionFolder(shell, runtime);
  const paths = NAMES[shell].map((name) => join(folder, name));
  // Both are checked before one is written.
  for (const path of paths) await changeSettings(path, (text) => refuseOther(shell, path, text));
  const files: CompletionFile[] = [];
  for (const [at, path] of paths.entries()) {
    const after = texts[at] ?? null;
    let status: CompletionFile["status"] = "unchanged";
    await changeSettings(path, (before) => {
      refuseOther(shell, path, before);
      status = statusOf(before, after);
      return after;
    });
    files.push({ path, status });
  }
  return files;
}

function statusOf(before: string | null, after: string | null): CompletionFile["status"] {
  if (after === null) return before === null ? "absent" : "removed";
  if (before === null) return "written";
  return before === after ? "unchanged" : "updated";
}

/** A file is jpg's own if one of its first lines says so. */
function refuseOther(shell: FiledShell, path: string, text: string | null): undefined {
  const own = new RegExp(`^(?:#compdef .*\\n)?# ${shell} completion of (?:jpg|git jpg)\\b`);
  if (text === null || own.test(text)) return;
  throw userError("not_own_completion", `${path} is not jpg's own file: nothing was written or removed.`, {
    hints: [`\`jpg completion ${shell}\` prints the script, to put it elsewhere.`],
    data: { path },
  });
}
