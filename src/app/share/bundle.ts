// Imports conversations from one file, a git bundle. They are checked and merged as a pull does with those of a remote.
import { createReadStream } from "node:fs";
import { type FileHandle, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { BUNDLE_START, type BundleHeader, parseBundleHeader } from "../../core/conversation/name.ts";
import { codeOf, JpgError, userError } from "../../core/errors.ts";
import type { Environment } from "../../store/environment.ts";
import type { TransferOptions } from "../../store/sharing.ts";
import { createSha1 } from "../conversation/runtime.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { pullConversations } from "./pull.ts";
import { requireSharing } from "./remotes.ts";

export interface BundleRow {
  readonly source: string;
  readonly id: string;
  readonly branch: string;
  readonly status: "created" | "updated" | "unchanged" | "merged" | "forked" | "left_out";
  /** Turns that were not here before. */
  readonly turns: number;
  /** For `forked`: the branch with the turns that were here. */
  readonly fork?: string;
  /** Why it was left out. */
  readonly reason?: string;
}

/** Name of the remote that bundles are fetched as. */
const INCOMING = "jpg-incoming";

/** `source` = the file as it was named, default its path. */
export interface BundleFile {
  readonly path: string;
  readonly header: BundleHeader;
  readonly source?: string;
}

/**
 * Imports a bundle. Throws `bundle_incomplete`, `no_conversations`, `damaged_bundle`, `bundle_too_large`; then no branch has
 * changed.
 */
export async function importBundle(
  workspace: Workspace,
  { path, header, source = path }: BundleFile,
  options: TransferOptions = {},
): Promise<readonly BundleRow[]> {
  const { branches, prerequisites } = header;
  if (branches.length === 0)
    throw userError("no_conversations", `${path} is a git bundle without a conversation in it.`, {
      hints: ["`jpg share ID -o FILE` writes one with a conversation."],
    });
  const present = await requireSharing(workspace).present(prerequisites);
  if (prerequisites.some((commit) => !present.has(commit)))
    throw userError("bundle_incomplete", `${path} needs commits that are neither in it nor here.`, {
      hints: ["Ask for a complete bundle: `jpg share ID -o FILE` writes one."],
    });
  await requireWhole(path, header);
  const sharing = requireSharing(workspace);
  await sharing.forgetTracked(INCOMING);
  const remote = { name: INCOMING, url: path, pushUrl: path, as: "branches" } as const;
  const report = await pullConversations(workspace, remote, options).catch(async (error: unknown) => {
    await sharing.forgetTracked(INCOMING);
    throw asDamage(path, error);
  });
  // Branches that were kept stay fetched until the next file, under the name that the reason gives.
  if (!report.branches.some(({ status }) => status === "kept")) await sharing.forgetTracked(INCOMING);
  const changed = new Map(report.branches.map((branch) => [branch.branch, branch]));
  return branches.map(({ name }) => {
    const found = changed.get(name);
    const isRemoved = report.removed.includes(name);
    return {
      source,
      id: name.slice(0, name.lastIndexOf("/")),
      branch: name,
      status: isRemoved ? "left_out" : statusOf(found?.status),
      turns: found?.turns ?? 0,
      fork: found?.fork,
      ...(isRemoved ? { reason: `it was removed here; \`jpg rm --restore ${name}\` brings it back` } : {}),
      ...(found?.reason === undefined ? {} : { reason: found.reason }),
    };
  });
}

function statusOf(status: "new" | "updated" | "merged" | "forked" | "kept" | undefined): BundleRow["status"] {
  if (status === undefined) return "unchanged";
  if (status === "new") return "created";
  return status === "kept" ? "left_out" : status;
}

/** Replaces git's errors about an address by errors about a file. */
function asDamage(path: string, cause: unknown): unknown {
  if (!(cause instanceof JpgError) || !cause.code.startsWith("remote_")) return cause;
  return cause.code === "remote_too_large" ? tooLarge(path, cause) : damagedBundle(path, cause);
}

function tooLarge(path: string, cause: JpgError): Error {
  const message = `${basename(path)} holds a file that unpacks to more than half a GB, which jpg does not read; nothing was imported.`;
  return userError("bundle_too_large", message, {
    hints: ["jpg never writes one that large: ask whoever made the bundle what it is."],
    cause,
  });
}

// A bundle as a file: its header, and whether the pack is complete. Both are checked without a store, so that a truncated or
// damaged file creates none.

/** Bytes of a header that are read first, then twice as many until it ends. */
const FIRST_READ = 64 * 1024;
/** Longest header, bytes: half a million branches. */
const LONGEST_HEAD = 64 * 1024 * 1024;
/** Bytes of the digest that ends a pack. */
const DIGEST = 20;

/** Reads the header of a file; null when it is no bundle, or does not exist. */
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

/** Whether a file that begins so is a bundle. */
export function isBundle(start: Uint8Array): boolean {
  return parseBundleHeader(Buffer.from(start.subarray(0, BUNDLE_START.length)).toString("latin1")) !== null;
}

/** Refuses a bundle whose pack does not end in its own digest. Throws `damaged_bundle`. */
export async function requireWhole(path: string, { packAt }: Pick<BundleHeader, "packAt">): Promise<void> {
  if (packAt === null) return;
  const hash = createSha1();
  let last = Buffer.alloc(0);
  for await (const chunk of createReadStream(path, { start: packAt })) {
    const bytes = Buffer.concat([last, chunk as Buffer]);
    last = bytes.subarray(-DIGEST);
    hash.update(bytes.subarray(0, -DIGEST));
  }
  if (last.length !== DIGEST || !hash.digest().equals(last)) throw damagedBundle(path);
}

function damagedBundle(path: string, cause?: unknown): Error {
  return userError(
    "damaged_bundle",
    `${basename(path)} cannot be read: it is cut off or damaged. Nothing was imported.`,
    {
      hints: ["Get the file again; `git bundle verify FILE` says what git finds."],
      cause,
    },
  );
}

/** Writes bytes to a temporary file, runs `act` with its path, and removes it. */
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
