// Gets a provider's key from the program that the user named for it. What the program prints is never shown, logged or kept
// beyond this call of jpg.

import { splitCommandWords } from "../../core/compact/shell-read.ts";
import { asSentence, JpgError } from "../../core/errors.ts";
import { withoutRepository } from "../../store/environment.ts";
import { askProgram } from "../programs/external-process.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** Time for a key, milliseconds: a password store may have to be unlocked. */
const KEY_TIME = 10_000;
/** Longest output, bytes. */
const MAX_KEY_BYTES = 64 * 1024;

/** Keys by command line, of each store that is open: a password store is asked once, whatever copies of the workspace there are. */
const known = new WeakMap<Workspace["store"], Map<string, Promise<string>>>();

/**
 * Runs a provider's key command, without a shell, and gives the first line that it prints. `setting` is named in errors, the
 * command is not. Throws `key_command_failed`.
 */
export async function runKeyCommand(
  workspace: Workspace,
  commandLine: string,
  { setting, timeoutMs = KEY_TIME }: { readonly setting: string; readonly timeoutMs?: number },
): Promise<string> {
  const keys = known.get(workspace.store) ?? new Map<string, Promise<string>>();
  known.set(workspace.store, keys);
  const asked = keys.get(commandLine) ?? askForKey(workspace, commandLine, { setting, timeoutMs });
  keys.set(commandLine, asked);
  try {
    return await asked;
  } catch (error) {
    keys.delete(commandLine);
    throw error;
  }
}

async function askForKey(
  { location, runtime }: Workspace,
  commandLine: string,
  { setting, timeoutMs }: { readonly setting: string; readonly timeoutMs: number },
): Promise<string> {
  const command = splitCommandWords(commandLine) ?? [];
  if (command.length === 0) {
    throw failed(setting, "is not a command line: expected a program, with every quote closed");
  }
  const cwd = location.project?.root ?? location.root;
  const env = withoutRepository(runtime.env);
  const answer = await askProgram({ command, input: "", cwd, env, timeoutMs, maxBytes: MAX_KEY_BYTES });
  if ("problem" in answer) throw failed(setting, answer.problem);
  const key = (answer.output.split("\n")[0] ?? "").trim();
  if (key === "") throw failed(setting, "printed nothing: expected the key on its first line");
  return key;
}

function failed(setting: string, problem: string): JpgError {
  return new JpgError("provider", "key_command_failed", `The program of ${setting} ${asSentence(problem)}`, {
    hints: [`Run the program of ${setting} yourself, then correct the setting.`],
    data: { setting },
  });
}
