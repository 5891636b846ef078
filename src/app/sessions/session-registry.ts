// Finds agents by name, by a file's content, by what they can do. Nothing else in jpg names an agent.
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

export type WritingAgent = AgentFormat & { readonly write: SessionWriter };

/** An agent that can resume sessions that jpg wrote. */
export type ResumingAgent = WritingAgent & {
  readonly resume: (machine: Machine, draft: SessionDraft) => ResumePlan;
};

export function agents(): readonly AgentFormat[] {
  return AGENTS;
}

export function formatNames(): readonly string[] {
  return AGENTS.map(({ name }) => name);
}

export function writingAgents(): readonly WritingAgent[] {
  return AGENTS.filter((agent): agent is WritingAgent => agent.write !== undefined);
}

/** Lists the agents that can resume sessions that jpg wrote; those for help texts first. */
export function resumingAgents(): readonly ResumingAgent[] {
  return writingAgents().filter((agent): agent is ResumingAgent => agent.resume !== undefined);
}

/** The agent for examples in help texts. Throws when jpg knows none. */
export function exampleAgent(): AgentFormat {
  const [first] = resumingAgents();
  if (first === undefined) throw new Error("jpg knows no agent that resumes sessions");
  return first;
}

/** Finds an agent by the name of its format. Throws `unknown_format` with the nearest name. */
export function formatByName(name: string): AgentFormat {
  const format = AGENTS.find((candidate) => candidate.name === name);
  if (format !== undefined) return format;
  const nearest = nearestName(name, [...formatNames(), ...formatNames().map(shortAgentName)]);
  throw userError(
    "unknown_format",
    `${name} is not a format that jpg imports: expected one of ${formatNames().join(", ")}.`,
    {
      hints: nearest === undefined ? [] : [`Did you mean ${nearest}?`],
    },
  );
}

/** The shown name of an agent, by the name of its format; unknown ones as they are. */
export function agentName(format: string): string {
  return AGENTS.find(({ name }) => name === format)?.agent.name ?? format;
}

/** The name of a format as people say it: without `-code` or `-cli`. */
export function shortAgentName(name: string): string {
  return name.replace(/-(?:code|cli)$/, "");
}

/** Finds an agent by the name of its format, or by what people say. Throws `unknown_format`. */
export function agentCalled(word: string): AgentFormat {
  return AGENTS.find(({ name }) => shortAgentName(name) === word) ?? formatByName(word);
}

/** The whole name of the format that people call by this word; any other word as it is. */
export function wholeFormatName(word: string): string {
  return AGENTS.find(({ name }) => name === word || shortAgentName(name) === word)?.name ?? word;
}

/** Hints for a path that does not exist: the agent whose name was probably mistyped. */
export function agentMeant(path: string): readonly string[] {
  const nearest = nearestName(basename(path), formatNames());
  return nearest === undefined ? [] : [`Did you mean \`jpg import ${nearest}\`?`];
}

/** Detects a file's format. Throws `not_a_session` with the file's name. */
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

/** Whether a file may be a session of a format, by its name and that of its folder. */
export function isSessionName(
  { files: { endings, isNamed } }: Pick<AgentFormat, "files">,
  fileName: string,
  folder: string,
): boolean {
  return endings.some((ending) => fileName.endsWith(ending)) && isNamed?.(fileName, folder) !== false;
}

/** What formats compute paths from. */
export function machineOf({ env, home, platform }: Pick<Runtime, "env" | "home" | "platform">): Machine {
  return { env, home, platform, join, sha256, readText, namesIn };
}

/** Bytes: larger files are no lists of an agent's. */
const LARGEST_LIST = 1024 * 1024;

function readText(path: string): string | null {
  try {
    const found = statSync(path);
    return found.isFile() && found.size <= LARGEST_LIST ? readFileSync(path, "utf8") : null;
  } catch {
    return null; // if it cannot be read, do without
  }
}

/** The names in a folder, ordered; none if it does not exist. */
function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path).sort();
  } catch {
    return []; // the agent was never used here
  }
}

/** The name of a session's second file, by that of the session; null where there can be none. */
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

/** The path if it is a file, and no link: agents make no links. */
function ifThere(path: string): string | null {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.isFile() === true ? path : null;
  } catch {
    return null; // nothing can be read there
  }
}

/** Files open at the same time. */
const MAX_OPEN_FILES = 32;

/** The files of the session that a path describes, absolute; none if it is a session by itself. */
export function scatteredFiles(path: string): readonly string[] {
  return findRule(path)?.files ?? [];
}

/** Reads the session that a path describes; null if it is a session by itself. Throws as reading a file does. */
export async function readScattered(path: string): Promise<Buffer | null> {
  const found = findRule(path);
  if (found === null) return null;
  const { rule, files } = found;
  const root = commonFolder(files);
  const texts: (string | null)[] = [];
  let room = MAX_SESSION_BYTES;
  for (let at = 0; at < files.length; at += MAX_OPEN_FILES) {
    const next = await Promise.all(
      files.slice(at, at + MAX_OPEN_FILES).map((file) => readScatteredText(file, room, file === path)),
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

/** A file that was removed since it was listed, or that is not regular, has no text; the named one must have one. */
async function readScatteredText(path: string, room: number, isNamed: boolean): Promise<string | null> {
  try {
    return (isNamed ? await readFile(path) : await readRegularFile(path, room)).toString("utf8");
  } catch (error) {
    if (!isNamed && ["ENOENT", "ELOOP", "ENOTDIR"].includes(codeOf(error))) return null;
    throw error;
  }
}

/** The folder that contains them all. */
function commonFolder(files: readonly string[]): string {
  const [first = [], ...others] = files.map((file) => file.split(sep).slice(0, -1));
  const same = first.findIndex((name, at) => others.some((names) => names[at] !== name));
  return first.slice(0, same < 0 ? first.length : same).join(sep) || sep;
}

/** Bytes read of all files of one session, at most. */
export const MAX_SESSION_BYTES: number = 256 * 1024 * 1024;
/** Bytes: hosts of git repositories refuse larger files. */
const LARGEST_FILE = 50 * 1024 * 1024;

/** Reads a regular file of at most so many bytes, never through a link. Opened first, so that what is checked is what is read. */
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

// Unpacks session files that an agent compressed with zstd, detected by their first bytes, whatever their name. The result is
// bounded, because a few bytes may unpack to any number.

/** First bytes of a frame (RFC 8878 §3.1.1). */
const MAGIC = Buffer.from([0x28, 0xb5, 0x2f, 0xfd]);
/** Bytes to unpack, at most. */
const LARGEST_UNPACKED = 512 * 1024 * 1024;
/** Bytes that the decoder gets at a time. */
const PIECE_BYTES = 64 * 1024;

export function isPacked(bytes: Uint8Array): boolean {
  return MAGIC.equals(bytes.subarray(0, MAGIC.length));
}

/** Unpacks a file. Throws `damaged_file` if it is truncated or not zstd, `large_file` if it unpacks to more than `limit` bytes. */
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

/** Unpacks the beginning of a file as far as possible, up to `limit` bytes; null if that is nothing. Never throws. */
export async function unpackBeginning(bytes: Uint8Array, limit: number): Promise<Buffer | null> {
  const { chunks } = await unpack(bytes, { limit: limit + LARGEST_BLOCK, isWhole: false });
  return chunks.length === 0 ? null : Buffer.concat(chunks).subarray(0, limit);
}

/** Bytes: a block unpacks to no more (RFC 8878 §3.1.1.2.4). */
const LARGEST_BLOCK = 128 * 1024;
const TOO_LARGE = "too large";

interface Unpacked {
  readonly chunks: readonly Uint8Array[];
  /** Null = no error. */
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

/** Whether a file is a session as it is, by its beginning: neither packed nor the continuation of another file. */
export function isReadInPlace(beginning: Buffer): boolean {
  return !isPacked(beginning) && ruleOf(beginning) === null;
}

/**
 * Inserts before a file's bytes, unpacked, the part of other files that it continues. Returns it unchanged if it is complete, or if
 * its base cannot be found, is too short, or is larger than a session may be.
 */
export async function withBase(runtime: Pick<Runtime, "env" | "home">, path: string, bytes: Buffer): Promise<Buffer> {
  const parts: Part[] = [];
  const seen = new Set([path]);
  let [at, own, room] = [path, bytes, MAX_SESSION_BYTES];
  for (let rule = ruleOf(own); rule !== null; rule = ruleOf(own)) {
    const next = await readBase(rule, { runtime, path: at, own, room });
    if (next === null || seen.has(next.path)) break;
    seen.add(next.path);
    parts.push({ own, first: rule.ownBytesBeforeBase(beginningOf(own), beginningOf(next.bytes)) });
    room -= next.bytes.length;
    [at, own] = [next.path, next.bytes];
  }
  return parts.reduceRight(
    (base, { own: part, first }) => Buffer.concat([part.subarray(0, first), base, part.subarray(first)]),
    own,
  );
}

/** A file, and how many of its bytes come before its base. */
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

/** The beginning of the other file that a file continues; null if it cannot be read. */
async function readBase(
  rule: BaseRule,
  { runtime, path, own, room }: Reading,
): Promise<{ readonly path: string; readonly bytes: Buffer } | null> {
  const base = rule.baseOf(beginningOf(own));
  const found = base === null ? null : rule.find(machineOf(runtime), path, base);
  if (base === null || found === null) return null;
  try {
    const read = await readRegularFile(found, room);
    const bytes = (isPacked(read) ? await unpackFile(read, found, room) : read).subarray(0, base.byteLength);
    return bytes.length === base.byteLength && bytes.at(-1) === NEWLINE ? { path: found, bytes } : null;
  } catch {
    return null; // the import reports that it is missing
  }
}

const NEWLINE = 10;

function ruleOf(bytes: Buffer): BaseRule | null {
  const beginning = beginningOf(bytes);
  return agents().find(({ files }) => files.base?.baseOf(beginning) != null)?.files.base ?? null;
}

/** The first line, as a file. */
function beginningOf(bytes: Buffer): ReturnType<typeof createBufferSource> {
  const end = bytes.indexOf(NEWLINE);
  return createBufferSource(end < 0 ? bytes : bytes.subarray(0, end + 1));
}
