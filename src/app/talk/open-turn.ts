// The turn in progress: its journal, its events so far, and the view that the model is sent before them, which is read again if the
// branch is compacted meanwhile.
import type { Compaction } from "../../core/conversation/compaction.ts";
import type {
  ChatRequest,
  ChatResponse,
  Content,
  Event,
  EventMetadata,
  ToolCallRequest,
  ToolCallResponse,
  TurnStart,
  View,
} from "../../core/conversation/event.ts";
import { userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { markThisProcess } from "../../store/running-process.ts";
import type { ConversationStore } from "../../store/store.ts";
import type { Signatures } from "../conversation/append.ts";
import { makeStore } from "../conversation/engine.ts";
import { type JournalHead, openJournal, type TurnJournal } from "../conversation/journal.ts";
import { recordTurn } from "../conversation/record-turn.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import { type Runtime, randomId } from "../conversation/runtime.ts";
import { refuseSplice } from "../conversation/spliced-turns.ts";
import { type BranchTree, type ConversationHeader, loadBranchTree, loadTip } from "../conversation/tree.ts";
import { inlineView } from "../conversation/turns.ts";
import { loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";

export interface OpenTurn {
  readonly head: JournalHead;
  readonly live: LiveEvents;
  readonly journal: TurnJournal;
  /** In order, from the turn_start on. */
  readonly events: readonly Event[];
  /** Adds events that are in the journal already. */
  add(events: readonly Event[]): void;
  /** Writes an event to the journal, then adds it. */
  keep(event: Event): void;
  /** What to send the model. */
  sent(): Promise<SentView>;
  /** Its events that are not on the branch yet. */
  unstored(): readonly Event[];
  /** Commits the turn so far, so that it can be compacted; the rest is committed as its continuation. */
  store(signatures: Signatures): Promise<void>;
}

/** What a model is sent, and the compactions in force in it. */
interface SentView {
  /** The branch's view with the notice of what it hides, then the events of the open turn that are not on the branch. */
  readonly view: View;
  readonly compactions: readonly Compaction[];
}

/** An existing branch, or the conversation that the turn begins. */
export type Start = { readonly tree: BranchTree } | { readonly branch: string; readonly root: ConversationHeader };

/** Loads a branch unless it is loaded; `root` = begin it if it does not exist. Throws `unknown_id`. */
export async function loadStart(
  { store }: Workspace,
  branch: string,
  { tree, root }: { readonly tree?: BranchTree; readonly root?: ConversationHeader },
): Promise<Start> {
  if (tree !== undefined) return { tree };
  const stored = await loadTip(store, branch);
  if (stored !== null) return { tree: stored };
  if (root !== undefined) return { branch, root };
  throw userError("unknown_id", `${branch} is not a conversation in this store.`, {
    hints: ["`jpg ls` lists them; `jpg query --new …` starts one."],
  });
}

/** Opens the turn after a branch's newest one with its request. Throws `turn_open`, `spliced_turns` and as the journal does. */
export async function openTurn(workspace: Workspace, start: Start, content: Content): Promise<OpenTurn> {
  const { runtime, location, store } = workspace;
  if (!location.exists && "root" in start) await makeStore(runtime, location.root);
  let readView = createViewReader(workspace, "tree" in start ? start.tree : null);
  let stored = 0;
  if ("tree" in start) await refuseSplice(workspace, start.tree);
  const live = createLiveEvents(runtime);
  const events: Event[] = [live.turnStart(), live.request(content)];
  const writer = await markThisProcess();
  let head = headOf(start, { start: events[0]?.id ?? "", writer });
  const journal = await openJournal(store.journal(), head);
  try {
    // Another process may have added a turn before this one locked the journal.
    const tip = await store.readBranch(head.branch);
    if ("tree" in start && tip !== null && tip !== start.tree.commit) {
      const tree = await loadBranchTree(store, head.branch, tip);
      head = headOf({ tree }, head);
      readView = createViewReader(workspace, tree);
      journal.head(head);
    }
    for (const event of events) journal.event(event);
  } catch (error) {
    await journal.remove();
    throw error;
  }
  return {
    head,
    live,
    journal,
    events,
    add: (more) => appendAll(events, more),
    keep: (event) => {
      journal.event(event);
      events.push(event);
    },
    sent: async () => {
      const { view, compactions, held } = await readView(head, stored);
      return { view: withRest(view, head.turn, { rest: events.slice(held), isBegun: held > 0 }), compactions };
    },
    unstored: () => events.slice(stored),
    store: async (signatures) => {
      const { branch, parent } = await recordTurn(workspace, { ...head, events }, signatures);
      // If another turn was added, this one is on a fork by now, which nobody compacts.
      if (branch !== head.branch) return;
      stored = events.length;
      await refreshViews(workspace, branch, parent);
    },
  };
}

function headOf(start: Start, { start: first, writer }: Pick<JournalHead, "start" | "writer">): JournalHead {
  const facts = { journal: 1, start: first, writer } as const;
  if ("root" in start) return { ...facts, branch: start.branch, turn: 0, parent: null, prev: null, root: start.root };
  const { branch, commit, turnOids } = start.tree;
  return { ...facts, branch, turn: turnOids.length, parent: commit, prev: turnOids.at(-1) ?? null };
}

/** A branch's view, and the number of events of the open turn in it. */
interface StoredView extends SentView {
  readonly held: number;
}

/** Reads the branch's view; reads it again only when the branch moved, and only while its turns are those before the open one. */
function createViewReader(
  { store }: Workspace,
  tree: BranchTree | null,
): (before: JournalHead, stored: number) => Promise<StoredView> {
  let current = tree?.commit ?? null;
  let held = 0;
  // Start reading at once, while the model is being opened.
  let sent = tree === null ? Promise.resolve<SentView>(NOTHING_STORED) : readSent(store, tree);
  sent.catch(() => undefined);
  return async ({ branch, turn, prev }, stored) => {
    const tip = await store.readBranch(branch);
    if (tip !== null && tip !== current && (tree !== null || stored > 0)) {
      const moved = await loadBranchTree(store, branch, tip);
      const isBefore = moved.turnOids.length === turn + (stored > 0 ? 1 : 0);
      if (isBefore && (moved.turnOids[turn - 1] ?? null) === prev) {
        current = tip;
        held = stored;
        sent = readSent(store, moved);
      }
    }
    return { ...(await sent), held };
  };
}

/** Appends to a view the events of the turn that are not on the branch. */
function withRest(
  { turns }: View,
  turn: number,
  { rest, isBegun }: { readonly rest: readonly Event[]; readonly isBegun: boolean },
): View {
  const last = turns.at(-1);
  const isSame = isBegun && last?.origin.kind === "kept" && last.origin.turn === turn;
  if (!isSame) return { turns: [...turns, { origin: { kind: "kept", turn }, events: [...rest] }] };
  return { turns: [...turns.slice(0, -1), { ...last, events: [...last.events, ...rest] }] };
}

const NOTHING_STORED: SentView = { view: { turns: [] }, compactions: [] };

async function readSent(store: ConversationStore, tree: BranchTree): Promise<SentView> {
  const { view, live } = await loadView(store, tree, { notice: true });
  return { view: await inlineView(store, tree.commit, view), compactions: live.applied };
}

/** Characters of an event's id: 60 bits, to be unique in a conversation of any length. */
const ID_LENGTH = 12;

interface Stamp {
  readonly id: string;
  readonly timestamp: string;
}

/** Creates the events of one turn. */
export interface LiveEvents {
  /** A random id, for events and messages. */
  newId(): string;
  turnStart(): TurnStart;
  request(content: Content): ChatRequest;
  /** An empty text of the model. */
  response(kind: "message" | "reasoning", metadata: EventMetadata): ChatResponse;
  call(call: Pick<ToolCallRequest, "call_id" | "name" | "arguments">, metadata: EventMetadata): ToolCallRequest;
  result(result: Pick<ToolCallResponse, "call_id" | "content" | "is_error">): ToolCallResponse;
}

function createLiveEvents(runtime: Runtime): LiveEvents {
  let latest = 0;
  const now = (): string => {
    latest = Math.max(latest, runtime.now().getTime());
    return new Date(latest).toISOString();
  };
  const newId = (): string => randomId(runtime, ID_LENGTH);
  const stamp = (): Stamp => ({ id: newId(), timestamp: now() });
  return {
    newId,
    turnStart: () => ({ type: "turn_start", ...stamp() }),
    request: (content) => ({ type: "chat_request", ...stamp(), content }),
    response: (kind, metadata) => ({ type: "chat_response", ...stamp(), [kind]: "", metadata }),
    call: (call, metadata) => ({ type: "tool_call_request", ...stamp(), ...call, metadata }),
    result: (result) => ({ type: "tool_call_response", ...stamp(), ...result }),
  };
}
