// The settings of a store: what they are, and bringing a repository's config file to them.
import { quoteForShell } from "../../core/safe-text.ts";
import { type GitVersion, isAtLeast } from "../git-version.ts";
import { type Repository, runCommand } from "./git/git-command.ts";
import { runPorcelain } from "./porcelain/run-porcelain.ts";
import { appendConfig, formatConfig } from "./refs/append-config.ts";
import { textconvFolder, textconvPath } from "./store-hooks.ts";

/** The version of the stored format, the value of `jpg.format`. */
export const STORE_FORMAT = 1;
const FORMAT = "jpg.format";
/** Set in a stock clone that jpg took over; absent in a store that jpg made. */
const CLONE = "jpg.clone";

/** Whether the user's own `core.hooksPath` counts, and jpg's is not written. */
export interface HooksChoice {
  readonly withHooks: boolean;
}

/** The settings of a store that jpg makes, with the given hooks folder (absolute), for a git version. */
export function storeSettings(
  hooksDir: string,
  { version, ...how }: HooksChoice & { readonly version: GitVersion },
): ReadonlyMap<string, string> {
  const settings = new Map<string, string>([
    ...placeSettings(hooksDir, how),
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
  settings.set(FORMAT, String(STORE_FORMAT));
  return settings;
}

/** The settings that name a place. */
export function placeSettings(hooksDir: string, { withHooks }: HooksChoice): ReadonlyMap<string, string> {
  return new Map([
    ...(withHooks ? [["core.hookspath", hooksDir] as const] : []),
    ["diff.jpg.textconv", quoteForShell(textconvPath(hooksDir))],
  ]);
}

/** What a stock clone is given: it stays checked out as it is, which `jpg.clone` says from then on. */
export function cloneSettings(hooksDir: string, how: HooksChoice): ReadonlyMap<string, string> {
  return new Map([
    ...placeSettings(hooksDir, how),
    ["merge.renames", "false"],
    [CLONE, "true"],
    [FORMAT, String(STORE_FORMAT)],
  ]);
}

/**
 * Whether settings are those of a stock clone that jpg took over. One that was taken over before there was the mark is known by
 * where it came from, and by what a store of jpg's own has from the start.
 */
export function isAdoptedClone(present: ReadonlyMap<string, string>): boolean {
  const isUnmarked = present.has(FORMAT) && present.has("remote.origin.url") && !present.has("core.sparsecheckout");
  return present.get(CLONE) === "true" || isUnmarked;
}

/**
 * What the settings of a repository should be, told from those that it has: of a clone as little as a clone is given, and in
 * none a place for hooks where the user chose one. Whoever writes a store's settings or judges them asks here. `unmarked` =
 * what a repository without any of jpg's settings is to become.
 */
export function settingsToHave(
  present: ReadonlyMap<string, string>,
  where: { readonly hooksDir: string; readonly version: GitVersion; readonly unmarked: "store" | "clone" },
): ReadonlyMap<string, string> {
  const { hooksDir, version, unmarked } = where;
  const withHooks = !hasForeignHooks(present, hooksDir);
  const isClone = isAdoptedClone(present) || (unmarked === "clone" && !present.has(FORMAT));
  return isClone ? cloneSettings(hooksDir, { withHooks }) : storeSettings(hooksDir, { withHooks, version });
}

/** Whether `core.hooksPath` is the user's: neither jpg's here, nor jpg's where the store stood before it was moved. */
export function hasForeignHooks(present: ReadonlyMap<string, string>, hooksDir: string): boolean {
  const [path, textconv] = [present.get("core.hookspath"), present.get("diff.jpg.textconv")];
  // Of a clone in which the user's path for all repositories counts, its own settings name none.
  if (path === undefined) return isAdoptedClone(present);
  if (path === hooksDir) return false;
  return textconv === undefined ? !present.has(FORMAT) : path !== textconvFolder(textconv);
}

/** Writes the settings that differ: those that it has otherwise each by git, those that it lacks together, after them. */
export async function applySettings(repository: Repository, settings: ReadonlyMap<string, string>): Promise<void> {
  const present = await readLocalSettings(repository);
  const differing = [...settings].filter(([key, value]) => present.get(key) !== value);
  for (const [key, value] of differing.filter(([key]) => present.has(key)))
    await runCommand(repository, { args: ["config", "--local", "--replace-all", key, value] }, runPorcelain);
  const missing = new Map(differing.filter(([key]) => !present.has(key)));
  if (missing.size > 0) await appendConfig(repository.gitDir, () => formatConfig(missing));
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
