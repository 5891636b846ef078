// The remotes that git would ask, by itself, for what a partial clone has not. Whoever made a store wrote their addresses, so none
// of them is asked before the user has fetched from it in this very folder: a mark that is sealed to the folder says so, and is
// worth nothing in a copy of it.
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { checkRemoteName } from "../../../core/remote-address.ts";
import { sealOf } from "../../files/folder-seal.ts";
import { readOwnFile } from "../../files/read-file.ts";
import { replaceFile } from "../../files/replace-file.ts";
import { isOwnSetting, type ScopedSetting } from "./scoped-settings.ts";

/** A remote that has objects which are not here; `url` is the first that git would take, null when none is set. */
export interface Promisor {
  readonly name: string;
  readonly url: string | null;
}

/** The mark, in the git dir: a seal, then the remotes. */
const MARK = "jpg-promisors";
const SEAL = 64;

/** Lists the remotes that a repository's own settings make promisors, in the order in which they are first named. */
export function promisorsIn(settings: readonly ScopedSetting[]): readonly Promisor[] {
  const names = new Set(settings.filter(isOwnSetting).flatMap(namesPromisor));
  return [...names].map((name) => ({
    name,
    url: settings.find(({ key }) => key === `remote.${name}.url`)?.value ?? null,
  }));
}

/** Either key makes a promisor of a remote, whatever else is said of it. */
function namesPromisor({ key, value }: ScopedSetting): readonly string[] {
  if (key === "extensions.partialclone") return [value];
  const [, name, what] = /^remote\.(.*)\.(promisor|partialclonefilter)$/s.exec(key) ?? [];
  const isOff = what === "promisor" && /^(false|no|off|0)$/i.test(value);
  return name === undefined || isOff ? [] : [name];
}

/** Which of these remotes the user has not fetched from in this git dir. */
export function unaskedIn(gitDir: string, promisors: readonly Promisor[]): readonly Promisor[] {
  const asked = promisors.length === 0 ? [] : readMark(gitDir);
  return promisors.filter(({ name, url }) => !asked.some((one) => one.name === name && one.url === url));
}

/** Writes down that the user fetches from a remote: it may be asked for objects from now on. */
export async function markAsked(gitDir: string, { name, url }: Promisor): Promise<void> {
  checkRemoteName(name);
  if (unaskedIn(gitDir, [{ name, url }]).length === 0) return;
  const others = readMark(gitDir).filter((one) => one.name !== name);
  const body = Buffer.from(JSON.stringify({ place: realpathSync.native(gitDir), asked: [...others, { name, url }] }));
  await replaceFile(join(gitDir, MARK), Buffer.concat([Buffer.from(sealOf(gitDir, body)), body]), { mode: 0o600 });
}

/** What was sealed here was written by jpg: it is taken as it is, where the folder still has the name that it had then. */
function readMark(gitDir: string): readonly Promisor[] {
  let kept: Buffer;
  try {
    kept = readOwnFile(join(gitDir, MARK));
  } catch {
    return []; // nobody has fetched here, or something else stands there
  }
  const body = kept.subarray(SEAL);
  if (kept.toString("latin1", 0, SEAL) !== sealOf(gitDir, body)) return [];
  const mark = JSON.parse(String(body)) as { readonly place: string; readonly asked: readonly Promisor[] };
  return mark.place === realpathSync.native(gitDir) ? mark.asked : [];
}
