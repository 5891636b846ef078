// Makes a store of its own from what stands at an address: all conversations as branches, one of them active. A clone that
// fails leaves nothing behind.
import { readdir, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { asSentence, codeOf, repositoryError, userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { checkRemoteUrl, isLocalPath, type PublishedAs, repositoryName, shownUrl } from "../../core/remote-address.ts";
import type { TransferOptions } from "../../store/sharing.ts";
import { makeStore, requireGit } from "../workspace/engine.ts";
import { listRefsAt } from "../workspace/git-program.ts";
import type { Runtime } from "../workspace/runtime.ts";
import { makeActive } from "../workspace/standing.ts";
import { openWorkspace, type WorkspaceOptions } from "../workspace/workspace.ts";
import { type PullReport, pullConversations } from "./pull.ts";
import { addRemote, findRemote } from "./remotes.ts";

/** What to clone, and where to. */
export interface CloneRequest {
  readonly url: string;
  /** Default: a folder here named after the repository. */
  readonly directory?: string;
  /** What is left there until it is read: the contents of files. Default nothing. */
  readonly filter?: "blob:none";
}

/** What a clone made. */
export interface CloneReport extends PullReport {
  /** The store, absolute. */
  readonly path: string;
}

/** Clones. Throws `directory_not_empty`, `no_conversations`, `bad_remote_url`, `remote_*`. */
export async function cloneConversations(
  runtime: Runtime,
  request: CloneRequest,
  { transfer, voice }: { readonly transfer: TransferOptions; readonly voice: WorkspaceOptions },
): Promise<CloneReport> {
  requireGit(runtime, "A clone");
  const { cwd } = runtime;
  const url = isLocalPath(checkRemoteUrl(request.url)) ? resolve(cwd, request.url) : request.url;
  const path = resolve(cwd, request.directory ?? repositoryName(url));
  const isNew = await requireFree(path);
  const refs = await listRefsAt(runtime, url, transfer);
  const as: PublishedAs = refs.hidden.length > 0 ? "hidden" : "branches";
  if (refs[as].length === 0) throw noConversations(url);
  try {
    await makeStore(runtime, path);
    return { path, ...(await fill(runtime, { ...request, path, url, as, head: refs.head }, { transfer, voice })) };
  } catch (error) {
    await rm(isNew ? path : join(path, ".git"), { recursive: true, force: true });
    throw error;
  }
}

/** A store to be filled from an address. */
interface NewStore extends CloneRequest {
  readonly path: string;
  readonly as: PublishedAs;
  readonly head: string | null;
}

async function fill(
  runtime: Runtime,
  { path, url, as, head, filter }: NewStore,
  { transfer, voice }: { readonly transfer: TransferOptions; readonly voice: WorkspaceOptions },
): Promise<PullReport> {
  const empty = await openWorkspace(runtime, { ...voice, store: path });
  await addRemote(empty, { name: "origin", url, as, ...defined({ filter }) });
  await empty.close();
  // What it is, a partial clone or not, is found out when it is opened.
  const workspace = await openWorkspace(runtime, { ...voice, store: path });
  try {
    const report = await pullConversations(workspace, await findRemote(workspace, "origin"), transfer);
    const begun = report.branches.filter(({ status }) => status === "new").map(({ branch }) => branch);
    if (begun.length === 0) throw noConversations(url, report.branches[0]);
    if (head === null || !begun.includes(head) || report.active === head) return report;
    await makeActive(workspace, head);
    return { ...report, active: head };
  } finally {
    await workspace.close();
  }
}

/** Whether a folder is still to be made. Throws `directory_not_empty`. */
async function requireFree(path: string): Promise<boolean> {
  const names = await readdir(path).catch((error: unknown) => (codeOf(error) === "ENOENT" ? null : ["?"]));
  if (names === null || names.length === 0) return names === null;
  throw userError("directory_not_empty", `${path} exists and is not empty.`, {
    hints: ["Name a directory that does not exist yet: `jpg clone URL DIR`."],
  });
}

/** `kept` = a branch of which nothing became, and why. */
function noConversations(url: string, kept?: PullReport["branches"][number]): Error {
  if (kept?.reason !== undefined)
    return repositoryError(
      "no_conversations",
      `No conversation at ${shownUrl(url)} can be read; ${kept.branch}: ${asSentence(kept.reason)}`,
      {
        hints: ["Whoever made it sees what is wrong with `jpg fsck`."],
      },
    );
  return repositoryError("no_conversations", `There is no conversation at ${shownUrl(url)}.`, {
    hints: ["Check the address; `jpg push` sends conversations there."],
  });
}
