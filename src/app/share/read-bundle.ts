// Takes in a conversation that was handed over as one file: a git bundle. It is looked at as what a remote has is, and what is
// here goes on or makes way as with a pull.
import { open } from "node:fs/promises";
import { basename } from "node:path";
import { BUNDLE_START, type BundleHeader, parseBundleHeader } from "../../core/bundle-header.ts";
import { codeOf, JpgError, userError } from "../../core/errors.ts";
import type { TransferOptions } from "../../store/sharing.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { pullConversations } from "./pull.ts";
import { requireSharing } from "./remotes.ts";

/** What became of a branch of a bundle. */
export interface BundleRow {
  readonly source: string;
  /** The conversation. */
  readonly id: string;
  readonly branch: string;
  readonly status: "created" | "updated" | "unchanged" | "merged" | "forked" | "left_out";
  /** Turns that were not here before. */
  readonly turns: number;
  /** Where one's own turns are now, of `forked`. */
  readonly fork?: string;
  /** Why it was left out. */
  readonly reason?: string;
}

/** Bytes of a bundle's head that are looked at. */
const HEAD = 256 * 1024;
/** What was fetched stands under this name while it is taken in. */
const INCOMING = "jpg-incoming";

/** Reads the head of a file; null when it is no bundle, or is not there. */
export async function readBundleHeader(path: string): Promise<BundleHeader | null> {
  const file = await open(path, "r").catch((error: unknown) => {
    if (["ENOENT", "EISDIR", "EACCES"].includes(codeOf(error) ?? "")) return null;
    throw error;
  });
  if (file === null) return null;
  try {
    if (!(await file.stat()).isFile()) return null;
    const start = await file.read(Buffer.alloc(BUNDLE_START.length), 0, BUNDLE_START.length, 0);
    if (parseBundleHeader(start.buffer.toString("latin1", 0, start.bytesRead)) === null) return null;
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD), 0, HEAD, 0);
    return parseBundleHeader(buffer.toString("latin1", 0, bytesRead));
  } finally {
    await file.close();
  }
}

/** Takes in what a bundle holds. Throws `bundle_incomplete`, `no_conversations`, `damaged_bundle`; nothing changed then. */
export async function importBundle(
  workspace: Workspace,
  { path, header }: { readonly path: string; readonly header: BundleHeader },
  options: TransferOptions = {},
): Promise<readonly BundleRow[]> {
  const { branches, prerequisites } = header;
  if (branches.length === 0)
    throw userError("no_conversations", `${path} is a bundle of git without a conversation in it.`, {
      hints: ["`jpg share ID -o FILE` writes one that has."],
    });
  const present = await requireSharing(workspace).present(prerequisites);
  if (prerequisites.some((commit) => !present.has(commit)))
    throw userError("bundle_incomplete", `${path} needs commits that are neither in it nor here.`, {
      hints: ["Ask for a bundle that is whole: `jpg share ID -o FILE` writes one."],
    });
  const sharing = requireSharing(workspace);
  await sharing.forgetTracked(INCOMING);
  const remote = { name: INCOMING, url: path, pushUrl: path, as: "branches" } as const;
  const report = await pullConversations(workspace, remote, options).catch(async (error: unknown) => {
    await sharing.forgetTracked(INCOMING);
    throw damagedBundle(path, error);
  });
  // What was not taken in stays until the next file, under the name that the reason gives.
  if (!report.branches.some(({ status }) => status === "kept")) await sharing.forgetTracked(INCOMING);
  const changed = new Map(report.branches.map((branch) => [branch.branch, branch]));
  return branches.map(({ name }) => {
    const found = changed.get(name);
    const isRemoved = report.removed.includes(name);
    return {
      source: path,
      id: name.slice(0, name.lastIndexOf("/")),
      branch: name,
      status: isRemoved ? "left_out" : statusOf(found?.status),
      turns: found?.turns ?? 0,
      ...(found?.fork === undefined ? {} : { fork: found.fork }),
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

/** What git says of an address is no help with a file. */
function damagedBundle(path: string, cause: unknown): unknown {
  if (!(cause instanceof JpgError) || !cause.code.startsWith("remote_")) return cause;
  return userError(
    "damaged_bundle",
    `${basename(path)} cannot be read: it is cut off or damaged; nothing was imported.`,
    {
      hints: ["Get the file again; `git bundle verify FILE` says what git finds."],
      cause,
    },
  );
}
