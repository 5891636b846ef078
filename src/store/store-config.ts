// The settings of a store (DESIGN §2.1): what they are, and bringing a repository's config file to them.
import { quoteForShell } from "../core/shell-word.ts";
import { type Repository, runCommand } from "./git-command.ts";
import { type GitVersion, isAtLeast } from "./git-version.ts";
import { textconvPath } from "./store-hooks.ts";

/** The version of the stored format, in `jpg.format`. */
export const STORE_FORMAT = 1;

/** The settings of a store with the given hooks folder (absolute), for a git version. */
export function storeSettings(hooksDir: string, version: GitVersion): ReadonlyMap<string, string> {
  const settings = new Map<string, string>([
    ...placeSettings(hooksDir),
    ["core.autocrlf", "false"],
    ["core.logallrefupdates", "true"],
    ["core.sparsecheckout", "true"],
    ["core.sparsecheckoutcone", "true"],
    ["gc.auto", "0"],
    ["merge.renames", "false"],
  ]);
  if (isAtLeast(version, [2, 32, 0])) {
    settings.set("index.sparse", "true");
    // Git cannot split a sparse index, whatever the user's default is.
    settings.set("core.splitindex", "false");
  }
  // Last: a store that was interrupted while it was made does not yet count as one.
  settings.set("jpg.format", String(STORE_FORMAT));
  return settings;
}

/** The settings that name a place; without `withHooks` the user's own hooks count. */
export function placeSettings(
  hooksDir: string,
  { withHooks = true }: { readonly withHooks?: boolean } = {},
): ReadonlyMap<string, string> {
  return new Map([
    ...(withHooks ? [["core.hookspath", hooksDir] as const] : []),
    ["diff.jpg.textconv", quoteForShell(textconvPath(hooksDir))],
  ]);
}

/** What a stock clone is given: it stays checked out as it is. `withHooks` as in `placeSettings`. */
export function cloneSettings(hooksDir: string, how: { readonly withHooks: boolean }): ReadonlyMap<string, string> {
  return new Map([...placeSettings(hooksDir, how), ["merge.renames", "false"], ["jpg.format", String(STORE_FORMAT)]]);
}

/** Writes the settings that differ. */
export async function applySettings(repository: Repository, settings: ReadonlyMap<string, string>): Promise<void> {
  const present = await readLocalSettings(repository);
  for (const [key, value] of settings) {
    if (present.get(key) !== value)
      await runCommand(repository, { args: ["config", "--local", "--replace-all", key, value] });
  }
}

/** The settings of the repository's own config file; of a key with several values the last. */
export async function readLocalSettings(repository: Repository): Promise<ReadonlyMap<string, string>> {
  const output = (await runCommand(repository, { args: ["config", "--local", "--list", "-z"] })).toString();
  const entries = output.split("\0").filter((entry) => entry !== "");
  return new Map(
    entries.map((entry) => {
      const end = entry.indexOf("\n");
      return end < 0 ? [entry, ""] : [entry.slice(0, end), entry.slice(end + 1)];
    }),
  );
}
