// Appends events that a program made: each request of a person begins a turn, and what comes before one continues the newest turn.
// One commit for each turn. The events are checked like lines of a stored turn, before anything is written.
import { type Event, isUserRequest, previousTurn, type TurnStart } from "../../core/conversation/event.ts";
import { GIVEN_KINDS, type GivenKind, isGivenKind, readGivenEvent } from "../../core/conversation/given-event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { turnPath } from "../../core/conversation/turn-file.ts";
import { asSentence, repositoryError, userError } from "../../core/errors.ts";
import { turnMessage } from "../../store/messages.ts";
import { commitChange, timestampAfter } from "../conversation/append.ts";
import { activateIfNoneIs } from "../conversation/checked-out.ts";
import { recordTurn } from "../conversation/record-turn.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import { type Runtime, randomId } from "../conversation/runtime.ts";
import { refuseSplice } from "../conversation/spliced-turns.ts";
import { type BranchTree, type ConversationHeader, loadBranchTree } from "../conversation/tree.ts";
import { prepareTurn, requestText } from "../conversation/turns.ts";
import { loadTurns } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { newConversation } from "../names/conversations.ts";

type Unnamed<Kind> = Kind extends Event ? Omit<Kind, "id" | "timestamp"> : never;

/** An event to append. Without an id it gets a random one, without a time that of the call. */
export type NewEvent = Unnamed<Extract<Event, { readonly type: GivenKind }>> & Partial<Pick<Event, "id" | "timestamp">>;

export interface AppendReport {
  readonly conversation: string;
  /** Another one than was named if another process added a turn there meanwhile: then a new fork. */
  readonly branch: string;
  readonly commit: string;
  /** Positions of the turns that were begun or continued, 0-based, ascending. */
  readonly turns: readonly number[];
  /** Ids of the events, in order. */
  readonly events: readonly string[];
}

/** Characters of an event's id: 60 bits, to be unique in a conversation of any length. */
const ID_LENGTH = 12;

/** Begins a conversation with the events, of which the first is a request; it becomes active if none is. Throws `bad_event`. */
export async function createConversation(
  workspace: Workspace,
  events: readonly NewEvent[],
  { title }: { readonly title?: string } = {},
): Promise<AppendReport> {
  const checked = completeEvents(workspace.runtime, events, []);
  const { begun, continuing } = splitRequests(checked);
  if (continuing.length > 0) throw badEvent(0, `A conversation begins with a request; got ${continuing[0]?.type}.`);
  const { branch, root } = await newConversation(workspace, title ?? requestText(checked));
  const report = await appendTurns(workspace, { branch, root }, begun, checked);
  await activateIfNoneIs(workspace, report.branch);
  return report;
}

/**
 * Appends events to a branch. Throws `bad_event` for one that is no event of the format or has an id that the conversation has
 * already, and `conversation_grew` if another process added a turn while the newest one was continued.
 */
export async function appendEvents(
  workspace: Workspace,
  tree: BranchTree,
  events: readonly NewEvent[],
): Promise<AppendReport> {
  await refuseSplice(workspace, tree);
  const stored = [...(await loadTurns(workspace.store, tree)).values()].flatMap((turn) => turn.events);
  const checked = completeEvents(workspace.runtime, events, stored);
  const { begun, continuing } = splitRequests(checked);
  if (continuing.length === 0) return appendTurns(workspace, { tree }, begun, checked);
  const continued = await continueNewest(workspace, tree, continuing);
  const turn = tree.turnOids.length - 1;
  if (begun.length === 0) return { ...reportOn(tree.branch, continued.commit, checked), turns: [turn] };
  const report = await appendTurns(workspace, { tree: continued }, begun, checked);
  return { ...report, turns: [turn, ...report.turns] };
}

/** A branch, or a conversation to begin. */
type Place = { readonly tree: BranchTree } | { readonly branch: string; readonly root: ConversationHeader };

async function appendTurns(
  workspace: Workspace,
  start: Place,
  begun: readonly (readonly Event[])[],
  all: readonly Event[],
): Promise<AppendReport> {
  let place = start;
  const turns: number[] = [];
  for (const events of begun) {
    const opening: TurnStart = {
      type: "turn_start",
      id: randomId(workspace.runtime, ID_LENGTH),
      timestamp: events[0]?.timestamp ?? "",
    };
    const record = "tree" in place ? placeAfter(place.tree) : { ...FIRST, branch: place.branch, root: place.root };
    const { branch, commit, parent } = await recordTurn(workspace, {
      ...record,
      start: opening.id,
      events: [opening, ...events],
    });
    await refreshViews(workspace, branch, parent);
    turns.push(record.turn);
    place = { tree: await loadBranchTree(workspace.store, branch, commit) };
  }
  if (!("tree" in place)) throw userError("no_events", "No events were given.");
  return { ...reportOn(place.tree.branch, place.tree.commit, all), turns };
}

const FIRST = { turn: 0, parent: null, prev: null } as const;

function placeAfter({ branch, commit, turnOids }: BranchTree) {
  return { branch, turn: turnOids.length, parent: commit, prev: turnOids.at(-1) ?? null };
}

function reportOn(branch: string, commit: string, events: readonly Event[]): Omit<AppendReport, "turns"> {
  return { conversation: conversationOf(branch), branch, commit, events: events.map(({ id }) => id) };
}

/** Adds events to the newest turn, in a commit of its own; returns the branch with it. */
async function continueNewest(workspace: Workspace, tree: BranchTree, events: readonly Event[]): Promise<BranchTree> {
  const turn = tree.turnOids.length - 1;
  const appended = await commitChange(workspace, tree, async (current) => {
    if (current.turnOids.length !== tree.turnOids.length || current.turnOids[turn] !== tree.turnOids[turn])
      throw repositoryError("conversation_grew", `Turn ${turn} of ${tree.branch} is not as it was read any more.`, {
        hints: ["Another process added to it. Read the conversation again, then decide what to append."],
      });
    const stored = (await loadTurns(workspace.store, current, [turn])).get(turn)?.events ?? [];
    const known = new Map(stored.map((event) => [event.id, event]));
    const prepared = prepareTurn([...stored, ...events], previousTurn(stored) ?? undefined, known);
    return {
      message: turnMessage({ turn, request: prepared.request, continued: true }),
      changes: [{ path: turnPath(turn), bytes: prepared.bytes }, ...prepared.attachments],
      sign: false,
    };
  });
  await refreshViews(workspace, tree.branch, appended?.parent);
  return loadBranchTree(workspace.store, tree.branch, appended?.commit ?? tree.commit);
}

/** Splits events before each request of a person. */
function splitRequests(events: readonly Event[]) {
  const begun: Event[][] = [];
  const continuing: Event[] = [];
  for (const event of events) {
    if (isUserRequest(event)) begun.push([event]);
    else (begun.at(-1) ?? continuing).push(event);
  }
  return { begun, continuing };
}

/** Names, dates and checks events; each is later than, and named unlike, those that are stored. */
function completeEvents(runtime: Runtime, given: readonly NewEvent[], stored: readonly Event[]): readonly Event[] {
  if (given.length === 0) throw userError("no_events", "No events were given.");
  const ids = new Set(stored.map(({ id }) => id));
  const newest = stored.at(-1)?.timestamp;
  const time = timestampAfter(runtime.now(), newest === undefined ? [] : [newest]);
  return given.map((one, at) => {
    const event = checkEvent(
      { ...one, id: one.id ?? randomId(runtime, ID_LENGTH), timestamp: one.timestamp ?? time },
      at,
    );
    if (ids.has(event.id)) throw badEvent(at, `The conversation has an event with the id ${event.id} already.`);
    ids.add(event.id);
    return event;
  });
}

/** Returns an event as its line is read again, so that nothing but JSON is in it. */
function checkEvent(given: NewEvent, at: number): Event {
  if (!isGivenKind(given.type))
    throw badEvent(at, `Events of the type ${given.type} are not appended: expected ${GIVEN_KINDS.join(", ")}.`);
  const event = readGivenEvent({ ...given });
  if (typeof event === "string") throw badEvent(at, asSentence(`Event ${at} of those given is no event: ${event}`));
  if (!Number.isFinite(Date.parse(event.timestamp)))
    throw badEvent(at, `The timestamp of ${event.id} is no RFC 3339 time: ${event.timestamp}.`);
  return event;
}

function badEvent(at: number, message: string): Error {
  return userError("bad_event", message, {
    data: { index: at },
    hints: ["docs/FORMAT.md describes each kind of event. Nothing was written."],
  });
}
