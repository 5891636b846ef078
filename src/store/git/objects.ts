// Reads objects: by id from git's files where possible, else through one long-lived `git cat-file --batch`. Requests to it are
// pipelined and its output is always consumed, so that requests cannot block each other. Many at once come from a git of their
// own.
import { JpgError, repositoryError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import type { PartialClone } from "../store.ts";
import { holdProcess, openGit } from "./git-process.ts";
import { readRemoteAccess } from "./guard.ts";
import { createObjectFiles, type ObjectFiles } from "./object-files.ts";
import { commandError, formatArguments, placeOf, type Repository, tryCommand } from "./porcelain.ts";
import { objectsElsewhere, remoteNotAsked } from "./transfer-errors.ts";

/** Reads objects by id or revision until closed. */
export interface BlobReader {
  /** The object that a name resolves to, or null when there is none or the name is ambiguous. */
  read(name: string): Promise<StoredObject | null>;
  /**
   * Contents in the order asked, read ahead by a bounded number of bytes. With `atLeast`, each may end after so many bytes.
   * Throws `object_missing`.
   */
  readAll(oids: readonly string[], atLeast?: number): AsyncIterable<Uint8Array>;
  /** Size of an object in bytes from git's files, null when they do not have it. */
  size(oid: string): number | null;
  /** The error for an object that should be there and was not read: `store_damaged` or `object_missing`. */
  explainMissing(oid: string): Promise<Error>;
  /** Objects read so far. */
  readonly count: number;
  /** Ends the process; the reader can be used again afterwards. */
  close(): Promise<void>;
}

interface Request {
  readonly resolve: (object: StoredObject | null) => void;
  readonly reject: (error: unknown) => void;
}

const AHEAD_OBJECTS = 64;
const AHEAD_BYTES = 4 * 1024 * 1024;

/** Creates a reader; git starts with the first request that the files do not answer. In a partial clone each list is fetched at once. */
export function createBlobReader(repository: Repository, partial: PartialClone | null = null): BlobReader {
  const files = createObjectFiles(repository.gitDir);
  let batch: Batch | null = null;
  let count = 0;
  const read = async (name: string, atLeast?: number): Promise<StoredObject | null> => {
    if (name === "" || name.includes("\n")) return null;
    const plain = readPlain(files, name, atLeast);
    if (plain !== null) {
      count++;
      return plain;
    }
    batch ??= startBatch(repository, () => {
      batch = null;
    });
    const object = await batch.request(name);
    if (object !== null) count++;
    return object;
  };
  const stream = async function* (oids: readonly string[]): AsyncGenerator<ObjectList> {
    for await (const objects of streamObjects(repository, oids)) {
      count += objects.length;
      yield objects;
    }
  };
  return {
    read: (name) => read(name),
    readAll: (oids, atLeast) => {
      const isStream = atLeast === undefined && oids.length >= MANY_OBJECTS;
      const lists = isStream ? stream(oids) : readAhead(oids, (oid) => read(oid, atLeast));
      return contentsOf(repository, oids, partial === null ? lists : afterFetching(partial, oids, lists));
    },
    size: (oid) => files.size(oid),
    explainMissing: (oid) => explainMissing(repository, oid),
    get count() {
      return count;
    },
    async close() {
      const open = batch;
      batch = null;
      files.close();
      await open?.end();
    },
  };
}

/** The object of an id, or its commit or tree, from git's files. */
function readPlain(files: ObjectFiles, name: string, atLeast?: number): StoredObject | null {
  const [, oid = "", wanted] = /^([0-9a-f]{40})(?:\^\{(tree|commit)\})?$/.exec(name) ?? [];
  const object = oid === "" ? null : files.read(oid, atLeast);
  if (object === null) return null;
  if (wanted === undefined || (wanted === "commit" && object.type === "commit")) return { oid, ...object };
  const tree =
    object.type === "commit" ? /^tree ([0-9a-f]{40})\n/.exec(object.bytes.toString("latin1", 0, 46))?.[1] : undefined;
  return tree === undefined ? null : readPlain(files, tree);
}

async function explainMissing(repository: Repository, oid: string): Promise<Error> {
  const [unconfirmed] = readRemoteAccess(repository).unconfirmed;
  if (unconfirmed !== undefined)
    return objectsElsewhere(remoteNotAsked(repository, unconfirmed), { oids: [oid], remote: unconfirmed.name });
  const args = ["cat-file", "-t", oid];
  const error = await commandError(repository, { args }, await tryCommand(repository, { args }));
  if (error instanceof JpgError && error.code === "store_damaged") return error;
  return repositoryError("object_missing", `Object ${oid} is not in the store ${repository.cwd}.`, {
    hints: [
      `To see what else is missing: git -C ${repository.cwd} fsck --full`,
      "Restore it from a copy or a remote of the store; an imported session can be imported again into a new one.",
    ],
    data: { oid },
  });
}

async function* contentsOf(
  repository: Repository,
  oids: readonly string[],
  lists: AsyncIterable<ObjectList>,
): AsyncGenerator<Uint8Array> {
  let given = 0;
  for await (const objects of lists) {
    for (const object of objects) {
      if (object === null) throw await explainMissing(repository, oids[given] ?? "");
      given++;
      yield object.bytes;
    }
  }
}

async function* afterFetching(
  partial: PartialClone,
  oids: readonly string[],
  lists: AsyncIterable<ObjectList>,
): AsyncGenerator<ObjectList> {
  await partial.fetch(oids);
  yield* lists;
}

async function* readAhead(
  oids: readonly string[],
  read: (oid: string) => Promise<StoredObject | null>,
): AsyncGenerator<ObjectList> {
  const waiting: Promise<StoredObject | null>[] = [];
  let next = 0;
  let largest = 0;
  while (next < oids.length || waiting.length > 0) {
    // Read as many ahead as fit the byte budget if all were as large as the largest so far.
    const ahead = Math.min(AHEAD_OBJECTS, next < 4 ? 4 : Math.max(1, Math.floor(AHEAD_BYTES / (largest + 1))));
    while (next < oids.length && waiting.length < ahead) {
      const promise = read(oids[next++] ?? "");
      // A consumer that stops early abandons requests whose failure nobody awaits.
      promise.catch(() => undefined);
      waiting.push(promise);
    }
    const object = (await waiting.shift()) ?? null;
    largest = Math.max(largest * 0.9, object?.bytes.length ?? 0);
    yield [object];
  }
}

interface Batch {
  request(name: string): Promise<StoredObject | null>;
  end(): Promise<void>;
}

function startBatch(repository: Repository, onEnd: () => void): Batch {
  const args = ["cat-file", "--batch"];
  const pipe = openGit(formatArguments(repository, { args }), placeOf(repository));
  const requests: Request[] = [];
  let ending = false;
  let outgoing = "";
  const send = (): void => {
    const names = outgoing;
    outgoing = "";
    if (names !== "") pipe.child.stdin.write(names);
  };
  const parser = createBatchParser((object) => {
    requests.shift()?.resolve(object);
    if (requests.length === 0 && !ending) holdProcess(pipe, false);
  });
  pipe.child.stdout.on("data", parser);
  const finished = pipe.ended.then(
    async (result) => {
      onEnd();
      if (requests.length === 0) return;
      const error = await commandError(repository, { args }, result);
      for (const request of requests.splice(0)) request.reject(error);
    },
    (error: unknown) => {
      onEnd();
      for (const request of requests.splice(0)) request.reject(error);
    },
  );
  return {
    request: (name) =>
      new Promise((resolve, reject) => {
        requests.push({ resolve, reject });
        if (requests.length === 1) holdProcess(pipe, true);
        // Requests made in one microtask are one write.
        if (outgoing === "") queueMicrotask(send);
        outgoing += `${name}\n`;
      }),
    async end() {
      // From here on the program waits for the end, even after the last answer.
      ending = true;
      holdProcess(pipe, true);
      send();
      pipe.child.stdin.end();
      await finished;
    },
  };
}

export interface StoredObject {
  readonly oid: string;
  readonly type: string;
  readonly bytes: Buffer;
}

interface Head {
  readonly oid: string;
  readonly type: string;
  /** Bytes of the content and the line end that follows it. */
  readonly length: number;
}

/** Content that has arrived in part. */
interface Part {
  readonly bytes: Buffer;
  filled: number;
}

/**
 * Parses the output of `cat-file --batch`: calls back once per request, with null for a missing or ambiguous name. Content that
 * arrived in one chunk is a view of it.
 */
export function createBatchParser(onObject: (object: StoredObject | null) => void): (chunk: Buffer) => void {
  let header = "";
  let head: Head | null = null;
  let part: Part | null = null;
  const takeHeader = (chunk: Buffer, at: number): number => {
    const end = chunk.indexOf(0x0a, at);
    header += chunk.toString("latin1", at, end < 0 ? chunk.length : end);
    if (end < 0) return chunk.length;
    head = parseHeader(header);
    header = "";
    if (head === null) onObject(null);
    return end + 1;
  };
  const give = ({ oid, type }: Head, bytes: Buffer): void => {
    head = null;
    part = null;
    onObject({ oid, type, bytes: bytes.subarray(0, -1) });
  };
  const takeBody = (of: Head, chunk: Buffer, at: number): number => {
    const whole = at + of.length;
    if (part === null && whole <= chunk.length) {
      give(of, chunk.subarray(at, whole));
      return whole;
    }
    part ??= { bytes: Buffer.allocUnsafeSlow(of.length), filled: 0 };
    const copied = chunk.copy(part.bytes, part.filled, at);
    part.filled += copied;
    if (part.filled === of.length) give(of, part.bytes);
    return at + copied;
  };
  return (chunk) => {
    let at = 0;
    while (at < chunk.length) at = head === null ? takeHeader(chunk, at) : takeBody(head, chunk, at);
  };
}

function parseHeader(header: string): Head | null {
  const match = /^([0-9a-f]{40,64}) ([a-z]+) (\d+)$/.exec(header);
  if (match === null) return null;
  const [, oid = "", type = "", size = "0"] = match;
  return { oid, type, length: Number(size) + 1 };
}

// The contents of many objects, from a git of their own. It inflates them in parallel to this process, and the pipe between the
// two bounds how far it is ahead.

/** Number of objects from which starting git costs less than inflating them here. */
const MANY_OBJECTS = 256;

/** Objects that arrived together, null for a missing one. */
type ObjectList = readonly (StoredObject | null)[];

/**
 * Streams objects by id, in the order asked. Their bytes share memory: keeping one keeps its neighbours. Throws `git_missing`,
 * and `store_damaged` or `git_failed` when git ends before the last.
 */
async function* streamObjects(repository: Repository, oids: readonly string[]): AsyncGenerator<ObjectList> {
  const args = ["cat-file", "--batch", "--buffer"];
  const { child, ended } = openGit(formatArguments(repository, { args }), placeOf(repository));
  // A consumer that stops early does not await the end.
  ended.catch(() => undefined);
  let left = oids.length;
  try {
    child.stdin.end(`${oids.join("\n")}\n`);
    const arrived: (StoredObject | null)[] = [];
    const parse = createBatchParser((object) => arrived.push(object));
    for await (const chunk of child.stdout) {
      parse(chunk as Buffer);
      left -= arrived.length;
      yield arrived.splice(0);
    }
    const result = await ended;
    if (result.code !== 0) throw await commandError(repository, { args }, result);
    if (left > 0) {
      throw repositoryError("git_failed", `git cat-file ended ${left} objects early in ${repository.cwd}.`);
    }
  } finally {
    child.kill();
  }
}

/** Reads sizes until closed. */
export interface SizeReader {
  /** Sizes in bytes, in the order asked. Throws `object_missing`. */
  read(oids: readonly string[]): Promise<readonly number[]>;
  /** Ends the process; the reader can be used again afterwards. */
  close(): Promise<void>;
}

interface SizeBatch {
  request(oids: readonly string[]): Promise<readonly string[]>;
  end(): Promise<void>;
}

/** Creates a reader; the process starts with the first request that the files do not answer. */
export function createSizeReader(repository: Repository, files: Pick<BlobReader, "size">): SizeReader {
  let batch: SizeBatch | null = null;
  const ask = async (oids: readonly string[]): Promise<readonly number[]> => {
    if (oids.length === 0) return [];
    batch ??= startSizeBatch(repository, () => {
      batch = null;
    });
    const answers = await batch.request(oids);
    return answers.map((answer, index) => parseSize(answer, oids[index] ?? "", repository));
  };
  return {
    async read(oids) {
      if (oids.length >= MANY_OBJECTS) return ask(oids);
      const known = oids.map((oid) => files.size(oid));
      const asked = (await ask(oids.filter((_, at) => known[at] === null))).values();
      return known.map((size) => size ?? asked.next().value ?? 0);
    },
    async close() {
      const open = batch;
      batch = null;
      await open?.end();
    },
  };
}

function parseSize(answer: string, oid: string, { cwd }: Repository): number {
  const size = /^[0-9a-f]{40,64} (\d+)$/.exec(answer)?.[1];
  if (size !== undefined) return Number(size);
  throw repositoryError("object_missing", `Object ${oid} is not in the store ${cwd}.`, {
    hints: [`To see what else is missing: git -C ${cwd} fsck --full`],
    data: { oid },
  });
}

interface SizeRequest {
  readonly count: number;
  readonly resolve: (answers: readonly string[]) => void;
  readonly reject: (error: unknown) => void;
}

function startSizeBatch(repository: Repository, onEnd: () => void): SizeBatch {
  const args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
  const pipe = openGit(formatArguments(repository, { args }), placeOf(repository));
  const requests: SizeRequest[] = [];
  const lines: string[] = [];
  let rest = "";
  const fail = (error: unknown): void => {
    for (const request of requests.splice(0)) request.reject(error);
  };
  pipe.child.stdout.on("data", (chunk: Buffer) => {
    const parts = (rest + chunk.toString("latin1")).split("\n");
    rest = parts.pop() ?? "";
    appendAll(lines, parts);
    for (let next = requests[0]; next !== undefined && lines.length >= next.count; next = requests[0]) {
      requests.shift();
      next.resolve(lines.splice(0, next.count));
    }
    if (requests.length === 0) holdProcess(pipe, false);
  });
  const finished = pipe.ended.then(
    async (result) => {
      onEnd();
      if (requests.length > 0) fail(await commandError(repository, { args }, result));
    },
    (error: unknown) => {
      onEnd();
      fail(error);
    },
  );
  return {
    request: (oids) =>
      new Promise((resolve, reject) => {
        requests.push({ count: oids.length, resolve, reject });
        holdProcess(pipe, true);
        pipe.child.stdin.write(`${oids.join("\n")}\n`);
      }),
    async end() {
      holdProcess(pipe, true);
      pipe.child.stdin.end();
      await finished;
    },
  };
}
