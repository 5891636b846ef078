// Files of Codex that go on from another file: since 0.169 a session that was forked, or in which the user went back, is a new file,
// whose description names the file that it goes on from and up to where. Codex sends both as one.
import { type RawLine, recordOf, stringOf } from "../json-line.ts";
import { namedUnder } from "../session-descent.ts";
import type { SessionSource } from "../session-source.ts";
import type { BasePlaces, BaseRule, SessionBase } from "../several-files.ts";
import { parseRolloutLine, payloadOf } from "./rollout-line.ts";
import { codexHome } from "./setup.ts";

export const CODEX_BASE: BaseRule = { of: codexBase, find: findBase, ownFirst };

/** Why the description of a session is named as skipped: what it goes on from is not where Codex keeps sessions. */
export const NO_BASE = "the file that the session continues is missing";

const KEY = '"history_base"';
const FILE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ENDINGS = [".jsonl", ".jsonl.zst"];
/** A file in the folder of a day, in that of all days. */
const DAY_FOLDER = /^(.*)[\\/]\d{4}[\\/]\d\d[\\/]\d\d[\\/][^\\/]+$/;

/** What the first line says of the file that this one goes on from. */
function codexBase(source: SessionSource): SessionBase | null {
  const text = source.lineCount === 0 ? "" : source.line(0);
  const line = text.includes(KEY) ? parseRolloutLine(text) : null;
  return line === null || typeof line === "string" ? null : baseNamedBy(line);
}

/** The file that a description of a session says it goes on from; null for any other line. */
export function baseNamedBy(line: RawLine): SessionBase | null {
  if (line["type"] !== "session_meta") return null;
  const base = recordOf(payloadOf(line), "history_base") ?? {};
  const [file, byteLength] = [stringOf(base, "thread_id"), base["end_byte_offset"]];
  if (file === undefined || !FILE_ID.test(file)) return null;
  return Number.isSafeInteger(byteLength) && Number(byteLength) > 0 ? { file, byteLength: Number(byteLength) } : null;
}

/** Looks among the sessions that stand with it, then among Codex's own: a copy may stand anywhere. Newest days first. */
function findBase(machine: BasePlaces, path: string, { file }: SessionBase): string | null {
  const isBase = (name: string): boolean =>
    ENDINGS.some((ending) => name.endsWith(`-${file}${ending}`) || name.endsWith(`_${file}${ending}`));
  const within = DAY_FOLDER.exec(path)?.[1];
  const home = codexHome(machine);
  const folders = [within, machine.join(home, "sessions"), machine.join(home, "archived_sessions")];
  for (const folder of new Set(folders)) {
    if (folder === undefined) continue;
    for (const day of [folder, ...dayFolders(machine, folder)]) {
      const name = machine.namesIn(day).find(isBase);
      if (name !== undefined) return machine.join(day, name);
    }
  }
  return null;
}

function* dayFolders({ namesIn, join }: BasePlaces, folder: string): Generator<string> {
  for (const year of newest(namesIn(folder), /^\d{4}$/)) {
    for (const month of newest(namesIn(join(folder, year)), /^\d\d$/)) {
      for (const day of newest(namesIn(join(folder, year, month)), /^\d\d$/)) yield join(folder, year, month, day);
    }
  }
}

function newest(names: readonly string[], named: RegExp): readonly string[] {
  return names.filter((name) => named.test(name)).reverse();
}

/**
 * A session that goes on in a further file is one text from its beginning on, so that what it goes on from stands where it was. A
 * fork begins with its own description, as it does where Codex copies what it goes on from.
 */
function ownFirst(own: SessionSource, base: SessionSource): number {
  return describedIn(base) === describedIn(own) ? 0 : own.lineStart(1);
}

/** The session that the first line describes. */
function describedIn(source: SessionSource): string | undefined {
  const line = source.lineCount === 0 ? null : parseRolloutLine(source.line(0));
  return line === null || typeof line === "string" ? undefined : namedUnder(payloadOf(line), "id");
}
