// The sessions that agents' hooks put into the spool: one folder each, with the event as the agent sent it, and the session's file
// if the shell could find it. Only the user's own hooks write there; what is read is checked nevertheless.
import { closeSync, openSync, readSync } from "node:fs";
import { lstat, readdir, rm } from "node:fs/promises";
import { isAbsolute, join } from "node:path";
import * as z from "zod/mini";
import { resolveUserPaths } from "../../config/trust.ts";
import { codeOf } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import { quoteForShell } from "../../core/safe-text.ts";
import { openOwnFile, readOwnText, replaceFile } from "../../store/files.ts";
import type { Runtime } from "../conversation/runtime.ts";

/** A session in the spool. */
export interface SpoolEntry {
  readonly folder: string;
  /** Name of the agent's format, from its hook. */
  readonly agent: string;
  /** The session's file as the agent named it, absolute; null = not named. */
  readonly transcript: string | null;
  /** The directory in which the agent worked, absolute; null = unknown. */
  readonly cwd: string | null;
  /** A copy or link of the file at that time; null = none was made. */
  readonly kept: string | null;
  /** Why it could not be imported, and when that was tried; null = not tried yet. */
  readonly problem: SpoolProblem | null;
}

interface SpoolProblem {
  readonly message: string;
  /** RFC 3339 UTC. */
  readonly at: string;
}

/** What an agent's event says; paths are absolute, null = not said. */
export interface HookEvent {
  readonly session: string | null;
  readonly transcript: string | null;
  readonly cwd: string | null;
}

/** Reads an event as the agent sent it. Never throws. */
export function readHookEvent(text: string): HookEvent {
  const event = parseJson(text, eventFields);
  const { session_id: session = null } = event ?? {};
  return { session, transcript: absolute(event?.transcript_path), cwd: absolute(event?.cwd) };
}

/** The fields of an event that are used; agents send more. */
const eventFields = z.object({
  session_id: z.optional(z.string()),
  transcript_path: z.optional(z.string()),
  cwd: z.optional(z.string()),
});
const problemFile = z.object({ message: z.string(), at: z.string() });
/** Milliseconds after which a hook that has not ended counts as killed. */
const GIVEN_UP_MS = 60_000;

/** Lists the complete entries, oldest first. */
export async function listSpool({ spool }: Pick<HookPaths, "spool">, now: Date): Promise<readonly SpoolEntry[]> {
  const names = await readdir(spool, { withFileTypes: true }).catch((error: unknown) => {
    if (["ENOENT", "ENOTDIR"].includes(codeOf(error))) return [];
    throw error;
  });
  const found: { readonly at: number; readonly entry: SpoolEntry }[] = [];
  for (const name of names) {
    if (!name.isDirectory()) continue;
    const folder = join(spool, name.name);
    const at = await timeOf(folder, now);
    if (at !== null) found.push({ at, entry: await readEntry(folder) });
  }
  return found.sort((a, b) => a.at - b.at).map(({ entry }) => entry);
}

export async function removeEntry({ folder }: SpoolEntry): Promise<void> {
  await rm(folder, { recursive: true, force: true });
}

/** Records why an entry cannot be imported. */
export async function noteProblem({ folder }: SpoolEntry, problem: SpoolProblem): Promise<void> {
  await replaceFile(join(folder, "problem"), JSON.stringify(problem), { mode: 0o600 });
}

const BLOCK = 1024 * 1024;

/** Whether a file begins with the whole content of another one. Never throws. */
export function beginsWith(longer: string, shorter: string): boolean {
  const files: number[] = [];
  try {
    files.push(openSync(longer, "r"), openOwnFile(shorter));
    const [one = 0, other = 0] = files;
    const [a, b] = [Buffer.allocUnsafe(BLOCK), Buffer.allocUnsafe(BLOCK)];
    for (let at = 0; ; at += BLOCK) {
      const held = readSync(other, b, 0, BLOCK, at);
      if (held === 0) return true;
      if (readSync(one, a, 0, held, at) < held || !a.subarray(0, held).equals(b.subarray(0, held))) return false;
    }
  } catch {
    return false;
  } finally {
    for (const file of files) closeSync(file);
  }
}

/** When the hook ran, milliseconds; null = it is still running. */
async function timeOf(folder: string, now: Date): Promise<number | null> {
  const [event, ready] = [await timeAt(join(folder, "event")), await timeAt(join(folder, "ready"))];
  const at = event ?? (await timeAt(folder));
  if (at === null) return null;
  return ready !== null || now.getTime() - at > GIVEN_UP_MS ? at : null;
}

async function timeAt(path: string): Promise<number | null> {
  const found = await lstat(path).catch(() => null);
  return found === null ? null : found.mtimeMs;
}

async function readEntry(folder: string): Promise<SpoolEntry> {
  const { transcript, cwd } = readHookEvent(textAt(folder, "event"));
  const kept = await Promise.all(["session", "link"].map(async (name) => fileAt(join(folder, name))));
  return {
    folder,
    agent: textAt(folder, "agent"),
    transcript,
    cwd,
    kept: kept.find((path) => path !== null) ?? null,
    problem: parseJson(textAt(folder, "problem"), problemFile),
  };
}

function textAt(folder: string, name: string): string {
  try {
    return readOwnText(join(folder, name));
  } catch {
    return "";
  }
}

async function fileAt(path: string): Promise<string | null> {
  const found = await lstat(path).catch(() => null);
  return found?.isFile() === true ? path : null;
}

function absolute(path: string | undefined): string | null {
  return path === undefined || !isAbsolute(path) || path.includes("\0") ? null : path;
}

/** Absolute paths. */
interface HookPaths {
  /** The script that hooks run. */
  readonly script: string;
  /** One folder for each event. */
  readonly spool: string;
  /** Records what was added to which settings file. */
  readonly installed: string;
  /** The lock for importing the spool. */
  readonly lock: string;
  readonly nodePath: string;
  readonly jpgPath: string;
}

/** Returns this user's paths. */
export function hookPaths(runtime: Runtime): HookPaths {
  const { nodePath, jpgPath } = runtime;
  const { stateDir } = resolveUserPaths(runtime);
  return {
    script: join(stateDir, "hooks", "keep.sh"),
    spool: join(stateDir, "spool"),
    installed: join(stateDir, "hooks", "installed.json"),
    lock: join(stateDir, "hooks", "spool.lock"),
    nodePath,
    jpgPath,
  };
}

// The script that an agent's hook runs: it puts the session's file into the spool and starts jpg in the background to import it.
// The agent never waits for node; the script prints nothing and always succeeds. Only the note about a compaction is printed, by
// jpg, for which the agent waits.

/** KiB: a file up to this size is copied while the agent waits, a few milliseconds. A larger one is linked, then copied. */
const COPIED_KIB = 8 * 1024;

/** `copy` = copies the session's file, never links it; `note` = also prints what a compaction took away. */
export type HookMode = "copy" | "note" | null;

/** Returns the line for an agent's settings. `isShared` = other people may get that file, so the line names no path of this user. */
export function hookLine(
  { script }: Pick<HookPaths, "script">,
  { agent, mode, isShared }: { readonly agent: string; readonly mode: HookMode; readonly isShared: boolean },
): string {
  const words = mode === null ? agent : `${agent} ${mode}`;
  if (!isShared) return `[ ! -f ${quoteForShell(script)} ] || /bin/sh ${quoteForShell(script)} ${words}`;
  const found = `f="\${XDG_STATE_HOME:-$HOME/.local/state}/jpg/hooks/keep.sh"; [ ! -f "$f" ] || exec /bin/sh "$f" ${words}`;
  return `/bin/sh -c ${quoteForShell(found)}`;
}

/**
 * Returns the script. It stores the event as it came. The shell reads only the session's path from it, and only a path without
 * escapes, which it quotes wherever it uses it. jpg reads the other paths.
 */
export function hookScript({ nodePath, jpgPath, spool }: HookPaths): string {
  return SCRIPT.replace(
    "PLACES",
    () => `node=${quoteForShell(nodePath)} jpg=${quoteForShell(jpgPath)} spool=${quoteForShell(spool)}`,
  ).replace("COPIED", () => String(COPIED_KIB * 2 + 1));
}

const SCRIPT = String.raw`#!/bin/sh
# jpg's hook (jpg hooks install): keeps a session before its agent ends or compacts it. jpg hooks uninstall takes it away.
exec 3>&1 >/dev/null 2>&1
PLACES
[ -x "$node" ] && [ -f "$jpg" ] || exit 0
umask 077
export LC_ALL=C
unset NODE_OPTIONS

copy_aside() {
  cp -- "$1" "$entry/draft" && mv -f -- "$entry/draft" "$entry/session"
}

# In the background, without a terminal, in a session of its own.
if [ "$1" = --after ]; then
  entry=$2 path=$3
  if [ -f "$entry/link" ]; then copy_aside "$entry/link"
  elif [ -n "$path" ] && [ ! -f "$entry/session" ]; then copy_aside "$path"
  fi
  : >"$entry/ready"
  cd / || exit 0
  exec "$node" "$jpg" sync --spool --quiet
fi

[ -d "$spool" ] || mkdir -p -- "$spool" || exit 0
entry=$(mktemp -d "$spool/XXXXXXXXXX") || exit 0
cat >"$entry/event"
printf %s "$1" >"$entry/agent"
path=$(sed -n 's/.*"transcript_path"[[:blank:]]*:[[:blank:]]*"\(\/[^"\\]*\)".*/\1/p' "$entry/event")
case $path in *'
'*) path= ;; esac
[ -f "$path" ] || path=
if [ -n "$path" ]; then
  # A link shares what is written into the file later; a copy does not. Where a copy costs nothing, one is made.
  if [ "$2" = copy ] || [ -n "$(find -L "$path" -prune -size -COPIED)" ]; then copy_aside "$path"
  elif cp --reflink=always -- "$path" "$entry/draft" || { [ "$(uname)" = Darwin ] && cp -c -- "$path" "$entry/draft"; }; then mv -f -- "$entry/draft" "$entry/session"
  else ln -L -- "$path" "$entry/link"
  fi
fi
# The event is read before the import removes it.
exec <"$entry/event"
if command -v setsid; then setsid /bin/sh "$0" --after "$entry" "$path" </dev/null 3>&- &
else
  trap '' HUP
  /bin/sh "$0" --after "$entry" "$path" </dev/null 3>&- &
fi
[ "$2" = note ] && exec "$node" "$jpg" note "$1" "$entry" >&3
exit 0
`;
