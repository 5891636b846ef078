// Asks the agents that jpg knows: by name, by what a file holds, by what they can do. Nothing else in jpg names one.
import { Buffer } from "node:buffer";
import { constants, lstatSync, readdirSync, readFileSync, statSync } from "node:fs";
import { open, readFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { Decompress } from "fzstd";
import { codeOf, messageOf, nearestName, userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import type { AgentFormat, Machine, SessionDraft, SessionWriter } from "../../formats/agent-format.ts";
import { AGENTS } from "../../formats/agents.ts";
import type { BaseRule, CompanionRule, ResumePlan, ScatterRule, SessionSource } from "../../formats/session-source.ts";
import { type Runtime, sha256 } from "../conversation/runtime.ts";
import { createBufferSource } from "./sources.ts";

/** An agent whose sessions jpg writes. */
export type WritingAgent = AgentFormat & { readonly write: SessionWriter };

/** An agent that goes on with sessions that jpg wrote. */
export type ResumingAgent = WritingAgent & {
  readonly resume: (machine: Machine, draft: SessionDraft) => ResumePlan;
};

/** Lists the agents whose sessions jpg reads. */
export function agents(): readonly AgentFormat[] {
  return AGENTS;
}

/** The names of the formats that jpg reads. */
export function formatNames(): readonly string[] {
  return AGENTS.map(({ name }) => name);
}

/** Lists the agents whose sessions jpg writes. */
export function writingAgents(): readonly WritingAgent[] {
  return AGENTS.filter((agent): agent is WritingAgent => agent.write !== undefined);
}

/** Lists the agents that go on with sessions that jpg wrote, those that help texts show first. */
export function resumingAgents(): readonly ResumingAgent[] {
  return writingAgents().filter((agent): agent is ResumingAgent => agent.resume !== undefined);
}

/** The agent that help texts show. Throws when jpg knows none. */
export function exampleAgent(): AgentFormat {
  const [first] = resumingAgents();
  if (first === undefined) throw new Error("jpg knows no agent that resumes sessions");
  return first;
}

/** Gives an agent by the name of its format. Throws `unknown_format` with the nearest name. */
export function formatByName(name: string): AgentFormat {
  const format = AGENTS.find((candidate) => candidate.name === name);
  if (format !== undefined) return format;
  const nearest = nearestName(name, formatNames());
  throw userError(
    "unknown_format",
    `${name} is not a format that jpg imports: expected one of ${formatNames().join(", ")}.`,
    {
      hints: nearest === undefined ? [] : [`Did you mean ${nearest}?`],
    },
  );
}

/** Hints for a path that does not exist: the agent whose name was mistyped, if it can be told. */
export function agentMeant(path: string): readonly string[] {
  const nearest = nearestName(basename(path), formatNames());
  return nearest === undefined ? [] : [`Did you mean \`jpg import ${nearest}\`?`];
}

/** Recognises a file's format. Throws `not_a_session` naming the file. */
export function detectFormat(source: SessionSource, path: string): AgentFormat {
  const format = AGENTS.find((candidate) => candidate.detect(source));
  if (format !== undefined) return format;
  throw userError(
    "not_a_session",
    `${path} is not a session in a format that jpg imports: expected one of ${formatNames().join(", ")}.`,
    {
      hints: [`If it is a session, name its format before it: \`jpg import ${exampleAgent().name} FILE\`.`],
    },
  );
}

/** Whether a file may be a session of a format by its name, and by that of its folder. */
export function isSessionName(
  { files: { endings, isNamed } }: Pick<AgentFormat, "files">,
  fileName: string,
  folder: string,
): boolean {
  return endings.some((ending) => fileName.endsWith(ending)) && isNamed?.(fileName, folder) !== false;
}

/** What formats make paths of. */
export function machineOf({ env, home }: Pick<Runtime, "env" | "home">): Machine {
  return { env, home, join, sha256, readText, namesIn };
}

/** Larger files are no lists of an agent's, bytes. */
const LARGEST_LIST = 1024 * 1024;

function readText(path: string): string | null {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= LARGEST_LIST ? readFileSync(path, "utf8") : null;
  } catch {
    return null; // whoever cannot read it is as well off without
  }
}

/** The names in a folder, ordered; none where there is no folder. */
function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path).sort();
  } catch {
    return []; // the agent was never used here
  }
}

/** The name of the second file by that of the session's; null where there can be none. */
export function companionName(fileName: string, rule: CompanionRule | undefined): string | null {
  if (rule === undefined || !fileName.endsWith(rule.session)) return null;
  return `${fileName.slice(0, -rule.session.length)}${rule.companion}`;
}

/** The second file of a session, absolute; null where there is none. */
export function companionOf(path: string, rule: CompanionRule | undefined): string | null {
  const name = path === "-" ? null : companionName(basename(path), rule);
  return name === null ? null : ifThere(join(dirname(path), name));
}

/** The session, absolute, whose second file a path names; null for any other file. */
export function sessionOfCompanion(path: string): string | null {
  for (const { files } of agents()) {
    const rule = files.companion;
    if (rule === undefined || !path.endsWith(rule.companion)) continue;
    const session = ifThere(`${path.slice(0, -rule.companion.length)}${rule.session}`);
    if (session !== null) return session;
  }
  return null;
}

/** A link is none: the agent makes none. */
function ifThere(path: string): string | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : null;
  } catch {
    return null; // nothing can be looked at there
  }
}

/** Files that are open at the same time. */
const AT_ONCE = 32;

/** The files of the session that a path describes, absolute; none where it is a session by itself. */
export function scatteredFiles(path: string): readonly string[] {
  return findRule(path)?.files ?? [];
}

/** Reads the session that a path describes; null where it is a session by itself. Throws what reading a file throws. */
export async function readScattered(path: string): Promise<Buffer | null> {
  const found = findRule(path);
  if (found === null) return null;
  const { rule, files } = found;
  const root = commonFolder(files);
  const texts: (string | null)[] = [];
  let room = MAX_SESSION_BYTES;
  for (let at = 0; at < files.length; at += AT_ONCE) {
    const next = await Promise.all(
      files.slice(at, at + AT_ONCE).map((file) => readScatteredText(file, room, file === path)),
    );
    for (const text of next) room -= text?.length ?? 0;
    appendAll(texts, next);
  }
  const named = files.map((file, at) => ({ path: relative(root, file).split(sep).join("/"), text: texts[at] ?? null }));
  return Buffer.from(rule.join(named));
}

function findRule(path: string): { readonly rule: ScatterRule; readonly files: readonly string[] } | null {
  for (const { files: kept } of agents()) {
    const files = kept.scattered?.list({ join, namesIn }, path) ?? null;
    if (kept.scattered !== undefined && files !== null) return { rule: kept.scattered, files };
  }
  return null;
}

/** One that is gone since it was listed, or no regular file, has no text; the one that was named has to have one. */
async function readScatteredText(path: string, room: number, isNamed: boolean): Promise<string | null> {
  try {
    return (isNamed ? await readFile(path) : await readRegularFile(path, room)).toString("utf8");
  } catch (error) {
    if (!isNamed && ["ENOENT", "ELOOP", "ENOTDIR"].includes(codeOf(error))) return null;
    throw error;
  }
}

/** The folder that all of them are in. */
function commonFolder(files: readonly string[]): string {
  const [first = [], ...others] = files.map((file) => file.split(sep).slice(0, -1));
  const same = first.findIndex((name, at) => others.some((names) => names[at] !== name));
  return first.slice(0, same < 0 ? first.length : same).join(sep) || sep;
}

/** What is taken of the files of one session at most, bytes. */
export const MAX_SESSION_BYTES: number = 256 * 1024 * 1024;
/** Largest file that is taken, bytes: hosts of git repositories refuse larger ones. */
const LARGEST_FILE = 50 * 1024 * 1024;

/** Reads a regular file, never through a link, of so many bytes at most. Opened first and looked at then: that is what is read. */
export async function readRegularFile(path: string, room: number): Promise<Buffer> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stats = await handle.stat();
    if (!stats.isFile()) throw new Error("it is not a regular file any more");
    if (stats.size > LARGEST_FILE) throw new Error(`it has ${stats.size} bytes, more than ${LARGEST_FILE}`);
    if (stats.size > room)
      throw new Error(`together with the files before it, it has more than ${MAX_SESSION_BYTES} bytes`);
    return await handle.readFile();
  } finally {
    await handle.close();
  }
}

// Session files that an agent has compressed with zstd: recognised by their first bytes, whatever they are called. What they
// unpack to is bounded, for a few bytes may stand for any number.

/** First bytes of a frame (RFC 8878 §3.1.1). */
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** What is unpacked at most, bytes. */
const LARGEST_UNPACKED = 512 * 1024 * 1024;
/** What is handed to the decoder at a time, bytes. */
const PIECE_BYTES = 64 * 1024;

/** Whether bytes begin as a compressed file does. */
export function isPacked(bytes: Uint8Array): boolean {
  return MAGIC.equals(bytes.subarray(0, MAGIC.length));
}

/** Unpacks a file. Throws `damaged_file` for one that is cut off or no such file, `large_file` for one with more in it than `limit` bytes. */
export async function unpackFile(bytes: Uint8Array, name: string, limit: number = LARGEST_UNPACKED): Promise<Buffer> {
  const { chunks, problem } = await unpack(bytes, { limit, isWhole: true });
  if (problem === null) return Buffer.concat(chunks);
  if (problem === TOO_LARGE) {
    throw userError("large_file", `${name} unpacks to more than ${limit} bytes, so jpg stopped reading it.`, {
      hints: ["Unpack it yourself if you trust it: `zstd -d FILE`, then import what comes out."],
    });
  }
  throw userError("damaged_file", `${name} is compressed with zstd and is cut off or damaged: ${problem}.`, {
    hints: ["Nothing of it was imported. If an agent is still writing it, import it again afterwards."],
  });
}

/** Unpacks as much of a file's beginning as it gives, up to `limit` bytes; null where that is nothing. Never throws. */
export async function unpackBeginning(bytes: Uint8Array, limit: number): Promise<Buffer | null> {
  const { chunks } = await unpack(bytes, { limit: limit + LARGEST_BLOCK, isWhole: false });
  return chunks.length === 0 ? null : Buffer.concat(chunks).subarray(0, limit);
}

/** A block unpacks to no more (RFC 8878 §3.1.1.2.4), bytes. */
const LARGEST_BLOCK = 128 * 1024;
const TOO_LARGE = "too large";

interface Unpacked {
  readonly chunks: readonly Uint8Array[];
  /** What is wrong; null = nothing. */
  readonly problem: string | null;
}

async function unpack(
  bytes: Uint8Array,
  { limit, isWhole }: { readonly limit: number; readonly isWhole: boolean },
): Promise<Unpacked> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  const decoder = new Decompress((chunk) => {
    size += chunk.length;
    if (size > limit) throw new Error(TOO_LARGE);
    chunks.push(chunk);
  });
  try {
    for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
      const end = at + PIECE_BYTES;
      decoder.push(bytes.subarray(at, end), isWhole && end >= bytes.length);
    }
    return { chunks, problem: null };
  } catch (error) {
    return { chunks, problem: messageOf(error) };
  }
}

/** Whether a file is a session as it stands, neither packed nor going on from another one, told from its beginning. */
export function isReadInPlace(beginning: Buffer): boolean {
  return !isPacked(beginning) && ruleOf(beginning) === null;
}

/**
 * Puts before a file's bytes, unpacked, what it goes on from; a file that is whole by itself comes back as it is, and so does one
 * whose base is not to be found, is shorter than it has to be, or is larger than a session may be.
 */
export async function withBase(runtime: Pick<Runtime, "env" | "home">, path: string, bytes: Buffer): Promise<Buffer> {
  const parts: Part[] = [];
  const seen = new Set([path]);
  let [at, own, room] = [path, bytes, MAX_SESSION_BYTES];
  for (let rule = ruleOf(own); rule !== null; rule = ruleOf(own)) {
    const next = await readBase(rule, { runtime, path: at, own, room });
    if (next === null || seen.has(next.path)) break;
    seen.add(next.path);
    parts.push({ own, first: rule.ownFirst(beginningOf(own), beginningOf(next.bytes)) });
    room -= next.bytes.length;
    [at, own] = [next.path, next.bytes];
  }
  return parts.reduceRight(
    (base, { own: part, first }) => Buffer.concat([part.subarray(0, first), base, part.subarray(first)]),
    own,
  );
}

/** A file, and how much of it stands before what it goes on from. */
interface Part {
  readonly own: Buffer;
  readonly first: number;
}

interface Reading {
  readonly runtime: Pick<Runtime, "env" | "home">;
  readonly path: string;
  readonly own: Buffer;
  /** Bytes. */
  readonly room: number;
}

/** The beginning of the other file that a file goes on from; null where it is not to be had. */
async function readBase(
  rule: BaseRule,
  { runtime, path, own, room }: Reading,
): Promise<{ readonly path: string; readonly bytes: Buffer } | null> {
  const base = rule.of(beginningOf(own));
  const found = base === null ? null : rule.find(machineOf(runtime), path, base);
  if (base === null || found === null) return null;
  try {
    const read = await readRegularFile(found, room);
    const bytes = (isPacked(read) ? await unpackFile(read, found, room) : read).subarray(0, base.byteLength);
    return bytes.length === base.byteLength && bytes.at(-1) === NEWLINE ? { path: found, bytes } : null;
  } catch {
    return null; // the import says that it is not there
  }
}

const NEWLINE = 10;

function ruleOf(bytes: Buffer): BaseRule | null {
  const beginning = beginningOf(bytes);
  return agents().find(({ files }) => files.base?.of(beginning) != null)?.files.base ?? null;
}

/** The first line, as a file. */
function beginningOf(bytes: Buffer): ReturnType<typeof createBufferSource> {
  const end = bytes.indexOf(NEWLINE);
  return createBufferSource(end < 0 ? bytes : bytes.subarray(0, end + 1));
}
