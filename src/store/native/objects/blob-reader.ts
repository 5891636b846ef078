// Reads objects: by id from the files git keeps them in where that is plain, else through one long-lived
// `git cat-file --batch`, whose requests are pipelined and whose output is always consumed, so that requests made while
// others wait can never block each other. Many at once come from a git of their own.
import { JpgError, repositoryError } from "../../../core/errors.ts";
import type { PartialClone } from "../../conversation-store.ts";
import { commandError, formatArguments, placeOf, type Repository, tryCommand } from "../git/git-command.ts";
import { holdProcess, openGit } from "../git/git-process.ts";
import { readReach } from "../git/store-guard.ts";
import { objectsElsewhere, remoteNotAsked } from "../git/unasked-remote.ts";
import { createBatchParser, type StoredObject } from "./batch-parser.ts";
import { createObjectFiles, type ObjectFiles } from "./object-files.ts";
import { MANY_OBJECTS, type ObjectList, streamObjects } from "./object-stream.ts";

/** Reads objects by id or revision until closed. */
export interface BlobReader {
  /** The object a name stands for, or null when there is none or the name is ambiguous. */
  read(name: string): Promise<StoredObject | null>;
  /**
   * Contents in the order asked, a bounded number of bytes ahead. With `atLeast`, each may end after so many bytes. Throws
   * `object_missing`.
   */
  readAll(oids: readonly string[], atLeast?: number): AsyncIterable<Uint8Array>;
  /** Size of an object in bytes as the files say it, null where they do not. */
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

/** Creates a reader; git starts with the first request that the files do not answer. In a partial clone lists come at once. */
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
      return contentsOf(repository, oids, partial === null ? lists : afterBringing(partial, oids, lists));
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

/** What an id, or the commit of an id, or its tree, stands for, as the files say it. */
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
  const [unasked] = readReach(repository).unasked;
  if (unasked !== undefined)
    return objectsElsewhere(remoteNotAsked(repository, unasked), { oids: [oid], remote: unasked.name });
  const args = ["cat-file", "-t", oid];
  const error = await commandError(repository, { args }, await tryCommand(repository, { args }));
  if (error instanceof JpgError && error.code === "store_damaged") return error;
  return repositoryError("object_missing", `Object ${oid} is not in the store ${repository.cwd}.`, {
    hints: [
      `To see what else is missing: git -C ${repository.cwd} fsck --full`,
      "Bring it back from a copy or a remote of the store; an imported session can be imported again into a new one.",
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

async function* afterBringing(
  partial: PartialClone,
  oids: readonly string[],
  lists: AsyncIterable<ObjectList>,
): AsyncGenerator<ObjectList> {
  await partial.bring(oids);
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
    // As many ahead as fit the byte budget if all were as large as the largest seen.
    const ahead = Math.min(AHEAD_OBJECTS, next < 4 ? 4 : Math.max(1, Math.floor(AHEAD_BYTES / (largest + 1))));
    while (next < oids.length && waiting.length < ahead) {
      const promise = read(oids[next++] ?? "");
      // A consumer that stops early leaves requests behind whose failure nobody waits for.
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
        // Requests made in one go are one write.
        if (outgoing === "") queueMicrotask(send);
        outgoing += `${name}\n`;
      }),
    async end() {
      // From here on the program waits for the end; an answer that still arrives must not let it go.
      ending = true;
      holdProcess(pipe, true);
      send();
      pipe.child.stdin.end();
      await finished;
    },
  };
}
