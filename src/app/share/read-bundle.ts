// Takes in a conversation that was handed over as one file: a git bundle. It is looked at as what a remote has is, and what is
// here goes on or makes way as with a pull.
import { basename } from "node:path";
import type { BundleHeader } from "../../core/conversation/name.ts";
import { JpgError, userError } from "../../core/errors.ts";
import type { TransferOptions } from "../../store/sharing.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { damagedBundle, requireWhole } from "./bundle-file.ts";
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

/** What was fetched stands under this name while it is taken in. */
const INCOMING = "jpg-incoming";

/** A bundle to be taken in; `source` = how it was named, default its path. */
export interface BundleFile {
  readonly path: string;
  readonly header: BundleHeader;
  readonly source?: string;
}

/** Takes in what a bundle holds. Throws `bundle_incomplete`, `no_conversations`, `damaged_bundle`, `bundle_too_large`; nothing changed then. */
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
  // What was not taken in stays until the next file, under the name that the reason gives.
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
