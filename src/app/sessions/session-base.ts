// Session files that go on from the beginning of another one: both are read as one text, from the first file on.
import type { BaseRule } from "../../formats/session-source.ts";
import type { Runtime } from "../workspace/runtime.ts";
import { createBufferSource } from "./buffer-source.ts";
import { isPacked, unpackFile } from "./packed-file.ts";
import { MOST_OF_A_SESSION, readRegularFile } from "./regular-file.ts";
import { agents, machineOf } from "./session-registry.ts";

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
  let [at, own, room] = [path, bytes, MOST_OF_A_SESSION];
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
