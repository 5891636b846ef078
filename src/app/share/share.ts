// Exports a conversation as one file, a git bundle: its view, masked, as a conversation of its own; or all of it unchanged.
// Everything is checked as for a push before it is written.
import type { Event, ProjectedTurn } from "../../core/conversation/event.ts";
import { titleOfRequest } from "../../core/conversation/marks.ts";
import { branchName, conversationId, conversationOf, shortId } from "../../core/conversation/name.ts";
import { sourceFileOf, turnPath } from "../../core/conversation/turn-file.ts";
import { messageOf, repositoryError } from "../../core/errors.ts";
import { createMasker, type Masker, maskLine } from "../../core/secrets/mask.ts";
import { needsGit } from "../../store/git-dir.ts";
import { turnMessage } from "../../store/messages.ts";
import type { BranchTip, ConversationStore, NewHistoryCommit } from "../../store/store.ts";
import { readComments } from "../conversation/marks.ts";
import { sha256 } from "../conversation/runtime.ts";
import { type BranchTree, FORMAT_VERSION } from "../conversation/tree.ts";
import { inlineView, prepareTurn, requestText, requireTexts, rootCommit, signatureAt } from "../conversation/turns.ts";
import { loadCompactions, loadTurns, loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { findMasksInLines, type MaskedSecret, maskedIn, type TextAtPath } from "./find-masks.ts";
import { checkOutgoing } from "./outgoing.ts";
import { chooseTips } from "./push.ts";
import { localError, requireSharing } from "./remotes.ts";
import { findOutgoingSecrets } from "./scan-outgoing.ts";

export interface SharedFile {
  readonly report: ShareReport;
  /** Can be read once. */
  readonly pieces: AsyncIterable<Uint8Array>;
}

export interface ShareReport {
  /** The conversation that was exported. */
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
 * Exports a branch's view. Masks secrets except those of `allow`ed rules. Throws `needs_git`, `local_conversation`,
 * `redact_incomplete`.
 */
export async function shareView(
  workspace: Workspace,
  whole: BranchTree,
  { allow }: { readonly allow: readonly string[] },
): Promise<SharedFile> {
  const { store } = workspace;
  if (store.histories === null) throw needsGit("Sharing a conversation as a file", workspace.runtime.env);
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
      secrets: maskedIn(secrets, [branch, title, ...turns.flat().map((event) => JSON.stringify(event))]),
    },
  };
}

/** Refuses a local conversation. Throws `local_conversation`. */
export async function refuseLocal(workspace: Workspace, { branch }: Pick<BranchTree, "branch">): Promise<void> {
  const conversation = conversationOf(branch);
  if ((await requireSharing(workspace).localConversations()).has(conversation)) throw localError([conversation]);
}

/** Exports a conversation with all its forks, hidden turns and sources. Throws as `checkOutgoing` does. */
export async function shareWhole(
  workspace: Workspace,
  tree: BranchTree,
  { allow }: { readonly allow: readonly string[] },
): Promise<SharedFile> {
  const conversation = conversationOf(tree.branch);
  const { tips } = await chooseTips(workspace, { id: conversation, all: false });
  // A clone checks out the first branch.
  const ordered = [...tips].sort((a, b) => Number(b.name === tree.branch) - Number(a.name === tree.branch));
  await checkOutgoing(workspace, { tips: ordered, known: [] }, { allow, command: "jpg share --full" });
  // Others may pull on top of this file, so these commits must not be rewritten.
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

/** The view first: the report shows the first place of a secret, preferably one in the view. */
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

/** Names the exported conversation. The same view has the same name, so that a later file of it continues an earlier one. */
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

/** Writes a conversation with the turns of a view. Equal views make equal commits. */
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
    const signature = signatureAt(person, turn.endSeconds);
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
  // The previous turn is another one here, and usage counts requests that held more than this view.
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
  const left = (await findOutgoingSecrets(workspace, { objects, names: [tip.name] })).filter(
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

// All that was said on a branch, as lines to scan: a view may show the beginning of a secret that is complete only where the view
// hides or cuts it. Reads a few turns at a time with their long texts; images and the agent's files are not read.

/** Turns read at once. */
const BATCH_TURNS = 100;

/** Reads turns as they were said, compactions with their summaries, and comments. Throws `attachment_missing`. */
export async function* readSaidLines(workspace: Workspace, tree: BranchTree): AsyncGenerator<TextAtPath> {
  const { store } = workspace;
  const { all } = await loadCompactions(store, tree);
  yield { path: "compactions", text: linesOfTurns(all) };
  yield { path: "comments", text: linesOfTurns(await readComments(workspace, tree)) };
  for (let from = 0; from < tree.turnOids.length; from += BATCH_TURNS) {
    const positions = [...tree.turnOids.keys()].slice(from, from + BATCH_TURNS);
    const turns = await loadTurns(store, tree, positions);
    for (const { index, events } of turns.values()) {
      requireTexts(tree.commit, events);
      yield { path: turnPath(index), text: linesOfTurns(events) };
    }
  }
}

function linesOfTurns(values: readonly unknown[]): string {
  return values.map((value) => JSON.stringify(value)).join("\n");
}

/** Turns that a title may have been made from: the first ones may say nothing. */
const TITLE_TURNS = 10;

/**
 * The conversation's title for its view; where that was made from hidden turns, one made from the first visible request of the
 * user.
 */
export async function sharedTitle(
  store: ConversationStore,
  tree: BranchTree,
  view: readonly ProjectedTurn[],
): Promise<string> {
  const { title } = tree.header;
  const kept = view.flatMap(({ origin, events }) =>
    origin.kind === "kept" ? [requestText(events.filter(isOwn))] : [],
  );
  if (kept.some((request) => isMadeOf(title, request))) return title;
  const first = await loadTurns(store, tree, [...tree.turnOids.slice(0, TITLE_TURNS).keys()]);
  if (![...first.values()].some(({ events }) => isMadeOf(title, requestText(events)))) return title;
  return kept.map(titleOfRequest).find((made) => made !== "") ?? "conversation";
}

/** Whether an event is not a request that the agent itself inserted. */
function isOwn(event: Event): boolean {
  return event.type !== "chat_request" || event.metadata?.origin !== "harness";
}

/** Whether a request contains every word of a title: agents make titles from parts of it, and cut them. */
function isMadeOf(title: string, request: string): boolean {
  const words = title.replace(/…$/, "").split(/\s+/);
  return words.every((word) => request.includes(word));
}
