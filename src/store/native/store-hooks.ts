// The hooks of a store: four lines of sh each that call jpg by absolute path, and do nothing, silently, when node or jpg is
// gone. They show the new view after a stock switch, merge, pull, commit, revert or rebase; record what is pushed, refuse what must
// not leave, and refuse a commit that would take out what jpg wrote without git.
import { join } from "node:path";
import { quoteForShell } from "../../core/safe-text.ts";
import { readFileIfThere } from "../files/read-file.ts";
import { makeOwnFolder, replaceFile } from "../files/replace-file.ts";
import type { HookPrograms } from "../upkeep.ts";

/** The hooks jpg writes. */
export const HOOK_NAMES: readonly string[] = [
  "post-checkout",
  "post-merge",
  "post-commit",
  "post-rewrite",
  "pre-commit",
  "pre-push",
];

/** The text of a hook. */
export function formatHook(name: string, programs: HookPrograms): string {
  // Git does nothing when a hook that it runs beforehand fails: what could not be looked at is not sent.
  return script(programs, "exit 0", `exec "$node" "$jpg" hook ${name} "$@"`);
}

/** The text of the program that makes `git show` of a compaction readable; without jpg it shows the file as it is. */
export function formatTextconv(programs: HookPrograms): string {
  return script(programs, 'exec cat -- "$1"', 'exec "$node" "$jpg" textconv "$1"');
}

/** Writes the hooks and the textconv program of a store. Hooks that are the user's own stay; gives their names. */
export async function writeHooks(hooksDir: string, programs: HookPrograms): Promise<readonly string[]> {
  await makeOwnFolder(hooksDir);
  const foreign: string[] = [];
  for (const name of HOOK_NAMES) {
    const path = join(hooksDir, name);
    const present = await readFileIfThere(path);
    if (present !== null && !isJpgHook(present)) foreign.push(name);
    else await writeProgram(path, formatHook(name, programs));
  }
  await writeProgram(textconvPath(hooksDir), formatTextconv(programs));
  return foreign;
}

/** Whether the text of a hook is one that jpg wrote. */
export function isJpgHook(text: string): boolean {
  return text.includes('"$node" "$jpg" hook ') && programsOf(text) !== null;
}

/** The programs that a hook of jpg's calls; null in the text of another. */
export function programsOf(text: string): HookPrograms | null {
  const [, nodePath, jpgPath] = /^node='(.*)' jpg='(.*)'$/m.exec(text) ?? [];
  if (nodePath === undefined || jpgPath === undefined) return null;
  return { nodePath: unquoteForShell(nodePath), jpgPath: unquoteForShell(jpgPath) };
}

/** Undoes `quoteForShell` between its quotes. */
function unquoteForShell(word: string): string {
  return word.replaceAll(`'\\''`, "'");
}

/** Where the textconv program of a store stands. */
export function textconvPath(hooksDir: string): string {
  return join(hooksDir, "jpg-textconv");
}

/** The folder in which a value of `diff.jpg.textconv` says that the program stands; null in a value that jpg did not write. */
export function textconvFolder(value: string): string | null {
  const path = /^'(.*)\/jpg-textconv'$/s.exec(value)?.[1];
  return path === undefined ? null : unquoteForShell(path);
}

function script({ nodePath, jpgPath }: HookPrograms, otherwise: string, command: string): string {
  const names = `node=${quoteForShell(nodePath)} jpg=${quoteForShell(jpgPath)}`;
  return `#!/bin/sh\n${names}\n[ -x "$node" ] && [ -f "$jpg" ] || ${otherwise}\n${command}\n`;
}

/** Replaces in one step: a hook that git is just running must never be half written. */
async function writeProgram(path: string, text: string): Promise<void> {
  if ((await readFileIfThere(path)) === text) return;
  await replaceFile(path, text, { mode: 0o777 });
}
