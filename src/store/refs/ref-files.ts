// Reads refs from the files that git keeps them in: a file of its own for each first, then packed-refs.
import { join } from "node:path";
import { isMissing } from "../files/read-file.ts";
import { type RefPlace, readText } from "./ref-place.ts";
import { findPackedRef, type Head, parseHead } from "./ref-text.ts";

/** A ref and the commit it names; null when what stands there is no object id. */
export interface FoundRef {
  readonly ref: string;
  readonly commit: string | null;
}

type Files = Pick<RefPlace, "fs" | "gitDir" | "isOnDisk">;

/** Symbolic refs that are followed, as many as git does. */
const DEEPEST = 5;

/** The object a ref names, following symbolic refs; null when it names none. */
export async function readRefFile(repository: Files, ref: string, depth: number = DEEPEST): Promise<string | null> {
  const value = parseHead(await readText(repository, join(repository.gitDir, ref)));
  if (value === null) return findPackedRef((await readPackedRefs(repository)) ?? "", ref);
  if ("commit" in value) return value.commit;
  return depth > 0 ? await readRefFile(repository, value.ref, depth - 1) : null;
}

/** The ref that is changed when this one is: what it names symbolically, else itself. */
export async function targetOf(repository: Files, ref: string, depth: number = DEEPEST): Promise<string> {
  const value = parseHead(await readText(repository, join(repository.gitDir, ref)));
  return value !== null && "ref" in value && depth > 0 ? await targetOf(repository, value.ref, depth - 1) : ref;
}

/** What HEAD of a worktree says; the store's own when no git dir is given. */
export async function readHeadFile(repository: Files, gitDir: string = repository.gitDir): Promise<Head | null> {
  return parseHead(await readText(repository, join(gitDir, "HEAD")));
}

/** The refs whose names begin with a folder (`refs/heads/`), in the order of their names' bytes. */
export async function listRefs(repository: Files, folder: string): Promise<readonly FoundRef[]> {
  const found = new Map<string, string | null>();
  for (const line of ((await readPackedRefs(repository)) ?? "").split("\n")) {
    const [, oid, ref] = /^([0-9a-f]{40}) (.+)$/.exec(line) ?? [];
    if (oid !== undefined && ref?.startsWith(folder) === true) found.set(ref, oid);
  }
  for (const ref of await listLoose(repository, folder.replace(/\/$/, ""))) {
    const text = await readText(repository, join(repository.gitDir, ref));
    // Deleted since it was listed, or packed: then packed-refs was read too early.
    if (text === null) found.set(ref, await readRefFile(repository, ref));
    else found.set(ref, parseHead(text) === null ? null : await readRefFile(repository, ref));
  }
  return [...found]
    .map(([ref, commit]) => ({ ref, commit }))
    .sort((a, b) => Buffer.compare(Buffer.from(a.ref), Buffer.from(b.ref)));
}

/** The text of packed-refs; null when there is none. */
export function readPackedRefs(repository: Files): Promise<string | null> {
  return readText(repository, join(repository.gitDir, "packed-refs"));
}

async function listLoose(repository: Files, folder: string): Promise<string[]> {
  const names: string[] = [];
  const entries = await repository.fs.promises
    .readdir(join(repository.gitDir, folder), { withFileTypes: true })
    .catch((error: unknown) => {
      if (isMissing(error)) return [];
      throw error;
    });
  for (const entry of entries) {
    const name = `${folder}/${String(entry.name)}`;
    if (entry.isDirectory()) for (const inner of await listLoose(repository, name)) names.push(inner);
    else if (!name.endsWith(".lock")) names.push(name);
  }
  return names;
}
