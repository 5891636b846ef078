// Hands a conversation over as one file, a git bundle: what the model sees of it, masked, as a conversation of its own; or all of
// it as it is. Nothing is written before it was looked at as a push would.

import type { Event, ProjectedTurn } from "../../core/conversation/event.ts";
import { titleOfRequest } from "../../core/conversation/marks.ts";
import { branchName, conversationId, conversationOf, shortId } from "../../core/conversation/name.ts";
import { sourceFileOf, turnPath } from "../../core/conversation/turn-file.ts";
import { messageOf, repositoryError } from "../../core/errors.ts";
import { createMasker, type Masker, maskLine } from "../../core/secrets/mask.ts";
import { needsGit } from "../../store/git-dir.ts";
import { turnMessage } from "../../store/messages.ts";
import type { BranchTip, NewHistoryCommit } from "../../store/store.ts";
import { inlineView } from "../branch/attachments.ts";
import { type BranchTree, FORMAT_VERSION } from "../branch/branch-tree.ts";
import { readComments } from "../branch/comments.ts";
import { loadView } from "../branch/load-view.ts";
import { prepareTurn } from "../branch/prepared-turn.ts";
import { rootCommit, sign } from "../branch/root-commit.ts";
import { checkOutgoing } from "../share/check-outgoing.ts";
import { localError } from "../share/local.ts";
import { chooseTips } from "../share/push-plan.ts";
import { requireSharing } from "../share/remotes.ts";
import { findLeavingSecrets } from "../share/scan-outgoing.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { findMasksInLines, type TextAtPath } from "./find-masks.ts";
import { type MaskedSecret, standingIn } from "./mask-list.ts";
import { readSaidLines } from "./said-lines.ts";
import { sharedTitle } from "./shared-title.ts";

/** A file to hand over. */
export interface SharedFile {
  readonly report: ShareReport;
  /** Made while it is read, once. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** What is in it, and what is not. */
export interface ShareReport {
  /** The conversation that it was made of. */
  readonly conversation: string;
  /** Branches in the file. */
  readonly branches: readonly string[];
  readonly turns: number;
  readonly full: boolean;
  /** `sources` = files of the agent: a session counts once, however many pieces it is kept in. */
  readonly left_out: { readonly turns: number; readonly sources: number; readonly comments: number };
  readonly secrets: readonly MaskedSecret[];
}

/**
 * Makes a file of a branch's view. Secrets are masked but for those of rules that are allowed. Throws `needs_git`,
 * `local_conversation`, `redact_incomplete`.
 */
export async function shareView(
  workspace: Workspace,
  whole: BranchTree,
  { allow }: { readonly allow: readonly string[] },
): Promise<SharedFile> {
  const { store } = workspace;
  if (store.histories === null) throw needsGit("Handing a conversation over", workspace.runtime.env);
  const conversation = conversationOf(whole.branch);
  const sharing = requireSharing(workspace);
  await refuseLocal(workspace, whole);
  const view = await inlineView(store, whole.commit, (await loadView(store, whole)).view);
  const tree = { ...whole, header: { ...whole.header, title: await sharedTitle(store, whole, view.turns) } };
  const { config } = await workspace.config();
  const wanted = { rules: [], texts: [], allowed: config.secrets.allow, passing: allow };
  const { secrets, masks } = await findMasksInLines(workspace, linesOf(workspace, tree, view.turns), wanted);
  const masker = createMasker(masks);
  const branch = nameShared(tree, masker);
  const title = masker.mask(tree.header.title);
  const turns = view.turns.map(({ events }) => events.map((event) => maskEvent(event, masker)));
  const header = { ...tree.header, title };
  const written = await store.histories.write(
    writeView({ header, turns, masker, branch, person: await store.identity() }),
  );
  const tip = { name: branch, commit: written.at(-1) ?? "" };
  await requireClean(workspace, tip, { allow, allowed: wanted.allowed });
  const kept = new Set(view.turns.flatMap(({ origin }) => (origin.kind === "kept" ? [origin.turn] : [])));
  const sources = await store.listTree(tree.commit, { under: ["sources"] });
  return {
    pieces: await sharing.bundle([tip]),
    report: {
      conversation,
      branches: [branch],
      turns: view.turns.length,
      full: false,
      left_out: {
        turns: tree.turnOids.length - kept.size,
        sources: new Set(sources.map(({ path }) => sourceFileOf(path))).size,
        comments: (await readComments(workspace, whole)).length,
      },
      secrets: standingIn(secrets, [branch, title, ...turns.flat().map((event) => JSON.stringify(event))]),
    },
  };
}

/** Refuses a conversation that never leaves its store. Throws `local_conversation`. */
export async function refuseLocal(workspace: Workspace, { branch }: Pick<BranchTree, "branch">): Promise<void> {
  const conversation = conversationOf(branch);
  if ((await requireSharing(workspace).localConversations()).has(conversation)) throw localError([conversation]);
}

/** Makes a file of a conversation with all its forks, hidden turns and sources. Throws as `checkOutgoing` does. */
export async function shareWhole(
  workspace: Workspace,
  tree: BranchTree,
  { allow }: { readonly allow: readonly string[] },
): Promise<SharedFile> {
  const conversation = conversationOf(tree.branch);
  const { tips } = await chooseTips(workspace, { id: conversation, all: false });
  // A clone checks the first out.
  const ordered = [...tips].sort((a, b) => Number(b.name === tree.branch) - Number(a.name === tree.branch));
  await checkOutgoing(workspace, { tips: ordered, known: [] }, { allow, command: "jpg share --full" });
  // Whoever has the file pulls what comes later: what is in it stays as it is.
  const commits = ordered.map(({ commit }) => commit);
  await workspace.store.recordPublished(commits).catch((error: unknown) => workspace.warn(messageOf(error)));
  return {
    pieces: await requireSharing(workspace).bundle(ordered),
    report: {
      conversation,
      branches: ordered.map(({ name }) => name),
      turns: tree.turnOids.length,
      full: true,
      left_out: { turns: 0, sources: 0, comments: 0 },
      secrets: [],
    },
  };
}

/** The view first: where it shows a secret counts more than where that was said. */
async function* linesOf(
  workspace: Workspace,
  tree: BranchTree,
  turns: readonly ProjectedTurn[],
): AsyncGenerator<TextAtPath> {
  const { branch, header } = tree;
  yield { path: "names of branches and files", text: branch };
  yield { path: "conversation.json", text: JSON.stringify(header) };
  for (const [at, { events }] of turns.entries())
    yield { path: turnPath(at), text: events.map((event) => JSON.stringify(event)).join("\n") };
  yield* readSaidLines(workspace, tree);
}

/** The same view has the same name, so that a later file of it goes on with an earlier one. */
export function nameShared(
  { branch, header }: { readonly branch: string; readonly header: { readonly title: string } },
  { mask }: Masker,
): string {
  const suffix = shortId(sha256(`view of ${branch}`));
  return branchName(conversationId(titleOfRequest(mask(header.title)) || "conversation", suffix), "main");
}

interface WrittenView {
  readonly header: Pick<BranchTree["header"], "title" | "created_at">;
  /** Events by turn, masked. */
  readonly turns: readonly (readonly Event[])[];
  readonly masker: Masker;
  readonly branch: string;
  readonly person: { readonly name: string; readonly email: string };
}

/** A conversation whose turns are those of a view. Equal views make equal commits. */
async function* writeView({
  header: { title, created_at },
  turns,
  masker,
  branch,
  person,
}: WrittenView): AsyncGenerator<NewHistoryCommit> {
  const header = { format: FORMAT_VERSION, id: conversationOf(branch), title, created_at, source: null };
  yield { ...rootCommit(header, person), parents: [] };
  let prev: string | undefined;
  for (const [at, events] of turns.entries()) {
    const turn = prepareTurn(events, prev);
    prev = turn.oid;
    const signature = sign(person, turn.endSeconds);
    yield {
      parents: [at],
      author: signature,
      committer: signature,
      message: masker.mask(turnMessage({ turn: at, request: turn.request, continued: false })),
      changes: [...turn.attachments, { path: turnPath(at), bytes: turn.bytes }],
    };
  }
}

function maskEvent(event: Event, masker: Masker): Event {
  // The turn before is another one here, and usage is of requests that held more than is here.
  const { prev: _, ...own } = event as Event & { readonly prev?: string };
  const { usage: __, ...metadata } = own.metadata ?? {};
  return JSON.parse(maskLine(JSON.stringify(own.metadata === undefined ? own : { ...own, metadata }), masker)) as Event;
}

async function requireClean(
  workspace: Workspace,
  tip: BranchTip,
  { allow, allowed }: { readonly allow: readonly string[]; readonly allowed: readonly string[] },
): Promise<void> {
  const { objects } = await requireSharing(workspace).outgoing({ tips: [tip.commit], known: [] });
  const left = (await findLeavingSecrets(workspace, { objects, names: [tip.name] })).filter(
    ({ rule, fingerprint }) => !allow.includes(rule) && !allowed.includes(fingerprint),
  );
  const [first] = left;
  if (first === undefined) return;
  throw repositoryError(
    "redact_incomplete",
    `${left.length === 1 ? "A secret" : `${left.length} secrets`} could not be masked, the first in ${first.path}, line ${first.line} (${first.rule}); nothing was written.`,
    { hints: [`\`--allow ${first.rule}\` allows what that rule finds.`], data: { secrets: left } },
  );
}
