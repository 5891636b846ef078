// Settings, pins and comments of a conversation, stored as records of its branch.
import {
  parseConfigDelta,
  type RecordedTool,
  recordedTools,
  type StoredDelta,
  selectDeltas,
  settingsOf,
} from "../../config/config.ts";
import { asksForSummary } from "../../config/layers.ts";
import { type LoadedConfig, parseOverride, toDelta } from "../../config/load.ts";
import { recordPath } from "../../core/conversation/compaction-line.ts";
import { type Event, isFields, type Turn, traitsOf, type View } from "../../core/conversation/event.ts";
import {
  type Comment,
  type CommentRecord,
  commentOf,
  commentsInForce,
  isSamePin,
  type Pin,
  parseComment,
  pinnedEvents,
  pinsInForce,
} from "../../core/conversation/marks.ts";
import { conversationOf, isTurnNumber, mayBeBeginning, SHORTEST_BEGINNING } from "../../core/conversation/name.ts";
import type { TurnBound } from "../../core/conversation/range-bound.ts";
import { findEvent } from "../../core/conversation/range-location.ts";
import { type JpgError, userError } from "../../core/errors.ts";
import { forLine } from "../../core/safe-text.ts";
import { recordMessage } from "../../store/messages.ts";
import type { FileChange } from "../../store/store.ts";
import { type AppendedCommit, appendMeta, commitChange, recordChange, timestampAfter } from "./append.ts";
import { readRecordLog } from "./log.ts";
import { randomId } from "./runtime.ts";
import { type BranchTree, collectBlobs, decodeText } from "./tree.ts";
import { type MetaRecord, readMetas } from "./turns.ts";
import { loadTurns, loadViewWithTurns } from "./view.ts";
import { rememberedProviders, type Workspace } from "./workspace.ts";

export interface ConversationConfig extends LoadedConfig {
  /** Tools that its newest requests offered; null = not recorded. */
  readonly tools: readonly RecordedTool[] | null;
}

/** Loads the settings, with the conversation's layer at its newest turn and the providers that the user named for it. */
export async function loadConversationConfig(workspace: Workspace, tree: BranchTree): Promise<ConversationConfig> {
  const [deltas, named] = await Promise.all([
    readDeltas(workspace, tree),
    rememberedProviders(workspace, conversationOf(tree.branch)),
  ]);
  const selected = selectDeltas(deltas, tree.atTurn);
  const settings = selected.map((stored) => ({ ...stored, delta: settingsOf(stored.delta) }));
  return { ...(await workspace.config(settings, named)), tools: recordedTools(selected) };
}

/** Stores this call's `--cfg` settings on the conversation; returns null when none may be stored. */
export async function storeOverrides(workspace: Workspace, tree: BranchTree): Promise<AppendedCommit | null> {
  if (workspace.overrides.length === 0) return null;
  const { config } = await workspace.config();
  const delta = toDelta(workspace.overrides.map(parseOverride), (profile) => asksForSummary(profile, config));
  return delta === null ? null : storeDelta(workspace, tree, delta);
}

/** Stores a delta on the conversation, from its next turn on. */
export function storeDelta(
  workspace: Workspace,
  tree: BranchTree,
  delta: Readonly<Record<string, unknown>>,
): Promise<AppendedCommit | null> {
  return commitChange(workspace, tree, async (current) => {
    const deltas = await readDeltas(workspace, current);
    const timestamp = timestampAfter(
      workspace.runtime.now(),
      deltas.map((stored) => stored.timestamp),
    );
    const record = {
      type: "config_delta",
      id: randomId(workspace.runtime),
      timestamp,
      at_turn: current.turnOids.length,
      delta,
    };
    return {
      message: recordMessage("config", settingNames(delta).join(", ")),
      changes: [recordChange(workspace, "config", record)],
      sign: false,
    };
  });
}

/** Lists the keys that a delta sets or unsets; values stay out of commit messages. */
function settingNames(table: Readonly<Record<string, unknown>>, prefix = ""): string[] {
  return Object.entries(table).flatMap(([name, value]) =>
    isFields(value) ? settingNames(value, `${prefix}${name}.`) : [`${value === null ? "unset " : ""}${prefix}${name}`],
  );
}

/** Reads the deltas stored on a conversation, one per file. */
export async function readDeltas(workspace: Pick<Workspace, "store">, tree: BranchTree): Promise<StoredDelta[]> {
  const blobs = await collectBlobs(
    workspace.store,
    tree.configs.map((file) => file.oid),
  );
  return blobs.map((bytes, index) => parseConfigDelta(decodeText(bytes), tree.configs[index]?.path ?? ""));
}

// Pins: turns and events that every compaction leaves unchanged. Pinning is one commit with one record.

interface PinRow extends Pin {
  /** Number of events it protects. */
  readonly events: number;
  /** How many of these the view hides or changes, because they were compacted before they were pinned. */
  readonly compacted: number;
}

interface PinReport {
  readonly branch: string;
  readonly commit: string | null;
  readonly pin: Pin;
  /** Ids of the protected events, in order. */
  readonly events: readonly string[];
  readonly warnings: readonly string[];
}

/** Reads the pins of a branch that are in force. */
export async function readPins(workspace: Workspace, tree: BranchTree): Promise<readonly Pin[]> {
  return tree.metas.length === 0 ? [] : pinsInForce(await readMetas(workspace, tree));
}

/** Lists the pins with counts of their events and of those that the view changes. */
export async function listPins(workspace: Workspace, tree: BranchTree): Promise<readonly PinRow[]> {
  const pins = await readPins(workspace, tree);
  if (pins.length === 0) return [];
  const { turns, view } = await loadViewWithTurns(
    workspace.store,
    tree,
    pins.map(({ turn }) => turn).filter((turn) => turn < tree.turnOids.length),
  );
  return pins.map((pin) => {
    const events = pinnedEvents([pin], turns.values());
    return { ...pin, events: events.length, compacted: changedPins(events, turns.values(), view).length };
  });
}

/** Pins a turn or an event. Throws `unknown_turn`, `unknown_event`, `ambiguous_event`, `nothing_to_pin`. */
export async function addPin(workspace: Workspace, tree: BranchTree, bound: TurnBound): Promise<PinReport> {
  const pin = await resolvePlace(workspace, tree, bound);
  const { turns, view } = await loadViewWithTurns(workspace.store, tree, [pin.turn]);
  const events = pinnedEvents([pin], turns.values());
  if (events.length === 0) {
    throw userError(
      "nothing_to_pin",
      `Nothing of ${pin.event ?? `turn ${pin.turn}`} is sent to a model, so there is nothing to pin.`,
      {
        hints: [`To see the turn: \`jpg print ${pin.turn}\`.`],
      },
    );
  }
  const commit = await writePin(workspace, tree, { pin });
  const compacted = changedPins(events, turns.values(), view).length;
  const warnings =
    compacted === 0
      ? []
      : [
          `${countPhrase(compacted, events.length)} compacted already: \`jpg blame ${boundOf(pin)}\` says by what; \`jpg revert\` brings them back.`,
        ];
  return { branch: tree.branch, commit, pin, events, warnings };
}

/** Writes subject and verb of a sentence about some of a pin's events. */
function countPhrase(some: number, all: number): string {
  if (all === 1) return "Its event is";
  return some === all ? `All of its ${all} events are` : `${some} of its ${all} events ${some === 1 ? "is" : "are"}`;
}

/** Removes a pin. Throws `not_pinned` with the existing pins. */
export async function removePin(workspace: Workspace, tree: BranchTree, bound: TurnBound): Promise<PinReport> {
  const pin = await resolvePlace(workspace, tree, bound);
  const pins = await readPins(workspace, tree);
  if (!pins.some((other) => isSamePin(other, pin))) {
    throw userError("not_pinned", `${boundOf(pin)} is not pinned on ${tree.branch}.`, {
      hints: [pins.length === 0 ? "Nothing is pinned." : `Pinned: ${pins.map(boundOf).join(", ")}`],
    });
  }
  const commit = await writePin(workspace, tree, { unpin: pin });
  const turns = await loadTurns(workspace.store, tree, [pin.turn]);
  return { branch: tree.branch, commit, pin, events: pinnedEvents([pin], turns.values()), warnings: [] };
}

/** Checks that pinned and visible content stays unchanged. Throws `pin_hidden` naming the events, before anything is committed. */
export function requirePins(
  pinned: readonly string[],
  facts: { readonly turns: Iterable<Turn>; readonly before: View; readonly after: View },
): void {
  const turns = [...facts.turns];
  const already = new Set(changedPins(pinned, turns, facts.before));
  const lost = changedPins(pinned, turns, facts.after).filter((id) => !already.has(id));
  if (lost.length === 0) return;
  throw userError(
    "pin_hidden",
    `The compaction would change pinned content: ${lost.join(", ")}; nothing was committed.`,
    {
      hints: ["`jpg pin` lists the pins; `jpg pin TURN[:EVENT] --remove` removes one."],
      data: { events: lost },
    },
  );
}

/** Lists the pinned events that a view hides or changes. */
function changedPins(pinned: readonly string[], turns: Iterable<Turn>, view: View): readonly string[] {
  if (pinned.length === 0) return [];
  const shown = new Set<Event>(view.turns.flatMap((turn) => turn.events));
  const raw = new Map([...turns].flatMap((turn) => turn.events.map((event) => [event.id, event] as const)));
  return pinned.filter((id) => {
    const event = raw.get(id);
    return event !== undefined && traitsOf(event).providerVisible && !shown.has(event);
  });
}

/** Formats a pin as users type it: `3` or `3:EVENT`. */
export function boundOf({ turn, event }: Pin): string {
  return event === undefined ? String(turn) : `${turn}:${event}`;
}

/** Resolves a bound to an existing turn or an event of it. Throws `unknown_turn`, `unknown_event`, `ambiguous_event`. */
async function resolvePlace(workspace: Workspace, tree: BranchTree, bound: TurnBound): Promise<Pin> {
  const newest = tree.turnOids.length - 1;
  const turn = turnOf(bound, newest);
  if (turn < 0 || turn > newest) {
    throw unknownTurn(tree.branch, turn, newest);
  }
  if (bound.type !== "event") return { turn };
  const { events } = (await loadTurns(workspace.store, tree, [turn])).get(turn) ?? { events: [] };
  const index = findEvent(events, bound.event, turn);
  return { turn, event: events[index]?.id ?? bound.event };
}

/** Creates the error for a missing turn; it names the range of turns. */
export function unknownTurn(branch: string, turn: number, newest: number): JpgError {
  return userError("unknown_turn", `${branch} has no turn ${turn}: its turns are 0..${newest}.`, {
    hints: ["5 is turn 5, -3 is three turns before the last; `jpg print 0..5` shows turns."],
  });
}

/** Returns the turn position that a bound names, 0-based; it may be out of range. */
export function turnOf(bound: TurnBound, newest: number): number {
  return bound.type === "before_last" ? newest - bound.turns : bound.turn;
}

function writePin(
  workspace: Workspace,
  tree: BranchTree,
  change: { readonly pin: Pin } | { readonly unpin: Pin },
): Promise<string | null> {
  return appendMeta(workspace, tree, (metas) => {
    const wanted = "pin" in change ? change.pin : change.unpin;
    if (pinsInForce(metas).some((pin) => isSamePin(pin, wanted)) === "pin" in change) return null;
    return { fields: change, message: recordMessage("pin" in change ? "pin" : "unpin", forLine(boundOf(wanted), 100)) };
  });
}

// Comments: what people say about turns. Adding or removing one is one commit with one record.

/** A comment with its author; absent = no commit names one. */
export interface CommentRow extends Comment {
  readonly author?: string;
}

export interface CommentReport {
  readonly branch: string;
  /** Null when another process had already removed it. */
  readonly commit: string | null;
  readonly comment: Omit<Comment, "timestamp">;
}

/** Lists the comments in force by turn, then by time. */
export async function listComments(workspace: Workspace, tree: BranchTree): Promise<readonly CommentRow[]> {
  const comments = await readComments(workspace, tree);
  if (comments.length === 0) return [];
  const authors = new Map(
    (await readRecordLog(workspace.store, tree.commit, ["meta"])).flatMap(({ added, author }) =>
      added.map((path) => [path, author.name] as const),
    ),
  );
  return comments
    .map((comment): CommentRow => {
      const author = authors.get(recordPath("meta", comment.timestamp, comment.id));
      return { ...comment, author };
    })
    .sort((a, b) => a.turn - b.turn);
}

/** Reads the comments in force, oldest first. */
export async function readComments(workspace: Pick<Workspace, "store">, tree: BranchTree): Promise<readonly Comment[]> {
  return tree.metas.length === 0 ? [] : commentsInForce(await readMetas(workspace, tree));
}

/** Adds a comment on a turn or an event. Throws `bad_comment`, `unknown_turn`, `unknown_event`, `ambiguous_event`. */
export async function addComment(
  workspace: Workspace,
  tree: BranchTree,
  { about, text }: { readonly about: TurnBound; readonly text: string },
): Promise<CommentReport> {
  const said = parseComment(text);
  const place = await resolvePlace(workspace, tree, about);
  let id = "";
  const commit = await appendMeta(workspace, tree, (_, __, own) => {
    id = own;
    return { fields: { comment: { ...place, text: said } }, message: messageOf("comment", place) };
  });
  return { branch: tree.branch, commit, comment: { id, ...place, text: said } };
}

/** Removes a comment; `id` = its record's id, or the beginning of it. Throws `unknown_comment`, `ambiguous_id`. */
export async function removeComment(workspace: Workspace, tree: BranchTree, id: string): Promise<CommentReport> {
  const comments = await readComments(workspace, tree);
  const exact = comments.filter((comment) => comment.id === id);
  const begun = comments.filter((comment) => comment.id.startsWith(id));
  const matches = exact.length > 0 ? exact : mayBeBeginning(id) ? begun : [];
  const [comment] = matches;
  if (comment === undefined) throw unknownComment(tree, id, { comments, begun });
  if (matches.length > 1) {
    throw userError("ambiguous_id", `${id} could mean ${matches.map((one) => one.id).join(", ")}.`, {
      hints: ["Type more of the name you mean."],
    });
  }
  const commit = await appendMeta(workspace, tree, (metas) =>
    commentsInForce(metas).some((one) => one.id === comment.id)
      ? { fields: { uncomment: comment.id }, message: messageOf("uncomment", comment) }
      : null,
  );
  const { timestamp: _, ...named } = comment;
  return { branch: tree.branch, commit, comment: named };
}

function unknownComment(
  { branch }: BranchTree,
  id: string,
  { comments, begun }: { readonly comments: readonly Comment[]; readonly begun: readonly Comment[] },
): JpgError {
  const isTurn = isTurnNumber(id);
  const near = isTurn ? comments.filter(({ turn }) => turn === Number(id)) : id === "" ? [] : begun;
  const names = near.map((comment) => comment.id).join(", ");
  const why = isTurn
    ? `${id} is the number of a turn, not the id of a comment.`
    : near.length > 0
      ? `${id} is too short to be the beginning of a comment's id: expected ${SHORTEST_BEGINNING} characters or more.`
      : `${branch} has no comment ${id}.`;
  return userError("unknown_comment", why, {
    hints: [
      ...(near.length === 0 ? [] : [`${isTurn ? `Comments on turn ${id}` : "Ids that begin with it"}: ${names}`]),
      "`jpg comment` lists them with their ids.",
    ],
  });
}

/**
 * Lists the files to add so that a branch with the tip's first turns has the tip's comments on these turns, removed ones included.
 */
export async function commentsToCarry(
  { store }: Pick<Workspace, "store">,
  tip: BranchTree,
  start: { readonly metas: BranchTree["metas"]; readonly turnCount: number },
): Promise<readonly FileChange[]> {
  if (tip.metas.length === 0) return [];
  const metas = await readMetas({ store }, tip);
  const isHere = (record: CommentRecord): boolean => (commentOf(record)?.turn ?? start.turnCount) < start.turnCount;
  const here = new Set(metas.filter(isHere).map(({ id }) => id));
  const wanted = new Set(
    metas
      .filter((record) => here.has(record.id) || here.has(String(record.uncomment)))
      .map(({ timestamp, id }: MetaRecord) => recordPath("meta", timestamp, id)),
  );
  const has = new Set(start.metas.map(({ path }) => path));
  return tip.metas.flatMap(({ path, oid }) => (wanted.has(path) && !has.has(path) ? [{ path, oid }] : []));
}

function messageOf(what: "comment" | "uncomment", place: Pick<Comment, "turn" | "event">): string {
  return recordMessage(what, forLine(boundOf(place), 100));
}
