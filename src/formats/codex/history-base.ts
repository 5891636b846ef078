// Files that continue another file: since 0.169 a session that was forked or rolled back is a new file, whose description names the
// base file and how much of it counts. Codex sends both as one, and jpg reads and stores both as one text, from which each file's own
// bytes can be had again.
import {
  type BasePlaces,
  type BaseRule,
  type ByteRange,
  nonBlankStringOf,
  type RawLine,
  recordOf,
  type SessionBase,
  type SessionSource,
  stringOf,
} from "../session-source.ts";
import { parseRolloutLine, payloadOf, sessionNamedBy } from "./rollout-line.ts";
import { codexHome } from "./setup.ts";

export const CODEX_BASE: BaseRule = { baseOf: codexBase, find: findBase, ownBytesBeforeBase, ownRanges };

/** Reason of a skipped line: the base file is not where Codex keeps sessions. */
export const NO_BASE = "the file that the session continues is missing";

const KEY = '"history_base"';
const FILE_ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const ENDINGS = [".jsonl", ".jsonl.zst"];
/** A file in a day's folder; group 1 is the folder of all days. */
const DAY_FOLDER = /^(.*)[\\/]\d{4}[\\/]\d\d[\\/]\d\d[\\/][^\\/]+$/;

/** The base that the first line names. */
function codexBase(source: SessionSource): SessionBase | null {
  const text = source.lineCount === 0 ? "" : source.line(0);
  const line = text.includes(KEY) ? parseRolloutLine(text) : null;
  return line === null || typeof line === "string" ? null : baseNamedBy(line);
}

/** The base that a description names; null for any other line. */
export function baseNamedBy(line: RawLine): SessionBase | null {
  if (line["type"] !== "session_meta") return null;
  const base = recordOf(payloadOf(line), "history_base") ?? {};
  const [file, byteLength] = [stringOf(base, "thread_id"), base["end_byte_offset"]];
  if (file === undefined || !FILE_ID.test(file)) return null;
  return Number.isSafeInteger(byteLength) && Number(byteLength) > 0 ? { file, byteLength: Number(byteLength) } : null;
}

/** Searches the folders next to the file, which may be a copy, then Codex's own. Newest days first. */
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
 * A continued session is one text from its beginning, so the base keeps its place. A fork begins with its own description, as it
 * does where Codex copies the base.
 */
function ownBytesBeforeBase(own: SessionSource, base: SessionSource): number {
  return describedIn(base) === describedIn(own) ? 0 : own.lineStart(1);
}

/** The session that the first line describes. */
function describedIn(source: SessionSource): string | undefined {
  const line = source.lineCount === 0 ? null : parseRolloutLine(source.line(0));
  return line === null || typeof line === "string" ? undefined : nonBlankStringOf(payloadOf(line), "id");
}

/** A description that names a base, in a text of joined files. */
interface Link {
  readonly line: number;
  readonly session: string | undefined;
  readonly byteLength: number;
}

/**
 * The bytes of the file that was read, without its base: what follows the joined beginnings, and in a fork its description before
 * them. The whole text where nothing was joined, or where its lengths are no longer those of the files.
 */
function ownRanges(source: SessionSource): readonly ByteRange[] {
  const whole = [{ start: 0, end: source.byteLength }];
  const links = listLinks(source);
  const first = sessionAt(source, 0);
  // A base that is a continuation itself precedes what continues it; a fork's own description comes first.
  const continued = links.findLast(({ line, session }) => line > 0 && session !== undefined && session === first);
  const isFork = continued === undefined && links[0]?.line === 0;
  const joined = links.reduce((sum, { byteLength }) => sum + byteLength, 0);
  const start = (isFork ? source.lineStart(1) : 0) + joined;
  if (joined === 0 || start > source.byteLength) return whole;
  if (continued !== undefined)
    return source.lineStart(continued.line) === start ? [{ start, end: source.byteLength }] : whole;
  if (!isFork || !startsLine(source, start)) return whole;
  return [
    { start: 0, end: source.lineStart(1) },
    { start, end: source.byteLength },
  ];
}

/** Descriptions whose base is in the text. */
function listLinks(source: SessionSource): readonly Link[] {
  const links: Link[] = [];
  for (let line = 0; line < source.lineCount; line++) {
    const text = source.line(line);
    const parsed = text.includes(KEY) ? parseRolloutLine(text) : null;
    const base = parsed === null || typeof parsed === "string" ? null : baseNamedBy(parsed);
    if (base === null || parsed === null || typeof parsed === "string") continue;
    const isAtStart = links.length === line;
    // The base of a fork follows it at once; a missing one does not.
    if (isAtStart && sessionAt(source, line + 1) === undefined) continue;
    links.push({ line, session: sessionNamedBy(parsed), byteLength: base.byteLength });
  }
  return links;
}

function sessionAt(source: SessionSource, at: number): string | undefined {
  const line = at < source.lineCount ? parseRolloutLine(source.line(at)) : null;
  return line === null || typeof line === "string" ? undefined : sessionNamedBy(line);
}

/** Whether a line begins at an offset. */
function startsLine(source: SessionSource, offset: number): boolean {
  let [low, high] = [0, source.lineCount];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (source.lineStart(middle) < offset) low = middle + 1;
    else high = middle;
  }
  return source.lineStart(low) === offset;
}
