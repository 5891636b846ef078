// Reads sizes of objects: of few from the files git keeps them in, else through one long-lived `git cat-file --batch-check`, which
// inflates nothing.

import { repositoryError } from "../../../core/errors.ts";
import { appendAll } from "../../../core/lists.ts";
import { commandError, formatArguments, placeOf, type Repository } from "../git/git-command.ts";
import { holdProcess, openGit } from "../git/git-process.ts";
import type { BlobReader } from "./blob-reader.ts";
import { MANY_OBJECTS } from "./object-stream.ts";

/** Reads sizes until closed. */
export interface SizeReader {
  /** Sizes in bytes, in the order asked. Throws `object_missing`. */
  read(oids: readonly string[]): Promise<readonly number[]>;
  /** Ends the process; the reader can be used again afterwards. */
  close(): Promise<void>;
}

interface Batch {
  request(oids: readonly string[]): Promise<readonly string[]>;
  end(): Promise<void>;
}

/** Creates a reader; the process starts with the first request that the files do not answer. */
export function createSizeReader(repository: Repository, files: Pick<BlobReader, "size">): SizeReader {
  let batch: Batch | null = null;
  const ask = async (oids: readonly string[]): Promise<readonly number[]> => {
    if (oids.length === 0) return [];
    batch ??= startBatch(repository, () => {
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

interface Request {
  readonly count: number;
  readonly resolve: (answers: readonly string[]) => void;
  readonly reject: (error: unknown) => void;
}

function startBatch(repository: Repository, onEnd: () => void): Batch {
  const args = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
  const pipe = openGit(formatArguments(repository, { args }), placeOf(repository));
  const requests: Request[] = [];
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
