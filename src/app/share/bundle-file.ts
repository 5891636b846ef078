// A bundle as a file: its head, and whether what follows is all there. Both are told without a store, so that a file which is cut
// off or damaged makes none.
import { createReadStream } from "node:fs";
import { type FileHandle, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { BUNDLE_START, type BundleHeader, parseBundleHeader } from "../../core/conversation/name.ts";
import { codeOf, userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import type { Environment } from "../../store/environment.ts";
import { contentHash } from "../workspace/object-id.ts";

/** Bytes of a head that are read first; of one that does not end in them, twice as many. */
const FIRST_READ = 64 * 1024;
/** Longest head, bytes: half a million branches. */
const LONGEST_HEAD = 64 * 1024 * 1024;
/** The digest that ends a pack, bytes. */
const DIGEST = 20;

/** Reads the head of a file; null when it is no bundle, or is not there. */
export async function readBundleHeader(path: string): Promise<BundleHeader | null> {
  const file = await open(path, "r").catch((error: unknown) => {
    if (["ENOENT", "EISDIR", "EACCES"].includes(codeOf(error))) return null;
    throw error;
  });
  if (file === null) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    return await readHead(file);
  } finally {
    await file.close();
  }
}

async function readHead(file: FileHandle): Promise<BundleHeader | null> {
  for (let bytes = BUNDLE_START.length; ; bytes = Math.max(FIRST_READ, bytes * 2)) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(bytes), 0, bytes, 0);
    const header = parseBundleHeader(buffer.toString("latin1", 0, bytesRead));
    const isAll = bytesRead < bytes || bytes >= LONGEST_HEAD;
    if (header === null || header.packAt !== null || isAll) return header;
  }
}

/** Whether a beginning is that of a bundle. */
export function isBundle(start: Uint8Array): boolean {
  return parseBundleHeader(Buffer.from(start.subarray(0, BUNDLE_START.length)).toString("latin1")) !== null;
}

/** Refuses a bundle whose pack does not end in its own digest. Throws `damaged_bundle`. */
export async function requireWhole(path: string, { packAt }: Pick<BundleHeader, "packAt">): Promise<void> {
  if (packAt === null) return;
  const hash = contentHash();
  let last = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { start: packAt })) {
    const bytes = Buffer.concat([last, chunk as Buffer]);
    last = bytes.subarray(-DIGEST);
    hash.update(bytes.subarray(0, -DIGEST));
  }
  if (last.length !== DIGEST || !hash.digest().equals(last)) throw damagedBundle(path);
}

/** The error of a file that cannot be read to its end. */
export function damagedBundle(path: string, cause?: unknown): Error {
  return userError(
    "damaged_bundle",
    `${basename(path)} cannot be read: it is cut off or damaged. Nothing was imported.`,
    {
      hints: ["Get the file again; `git bundle verify FILE` says what git finds."],
      ...defined({ cause }),
    },
  );
}

/** Does something with bytes as a file, which git reads, and removes it. */
export async function withBundleFile<T>(
  bytes: Uint8Array,
  env: Environment,
  act: (path: string) => Promise<T>,
): Promise<T> {
  const folder = await mkdtemp(join(env["TMPDIR"] ?? tmpdir(), "jpg-bundle-"));
  try {
    const path = join(folder, "standard input");
    await writeFile(path, bytes, { mode: 0o600 });
    return await act(path);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
