// Pins of a conversation: turns and events that every compaction leaves as they are. Pinning is one commit with one record.

import { type Event, type Turn, traitsOf, type View } from "../../core/conversation/event.ts";
import { isSamePin, type Pin, pinnedEvents, pinsInForce } from "../../core/conversation/marks.ts";
import type { TurnBound } from "../../core/conversation/range-bound.ts";
import { findEvent } from "../../core/conversation/range-location.ts";
import { type JpgError, userError } from "../../core/errors.ts";
import { forLine } from "../../core/safe-text.ts";
import { recordMessage } from "../../store/messages.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { appendMeta } from "./append-meta.ts";
import type { BranchTree } from "./branch-tree.ts";
import { loadAround, loadTurns } from "./load-view.ts";
import { readMetas } from "./titles.ts";

/** A pin as it stands in the view. */
export interface PinRow extends Pin {
  /** How many events it protects. */
  readonly events: number;
  /** How many of the events it protects the view hides or changes all the same: they were compacted before they were pinned. */
  readonly compacted: number;
}

export interface PinReport {
  readonly branch: string;
  /** Null when nothing had to be written. */
  readonly commit: string | null;
  readonly pin: Pin;
  /** Ids of the events it protects, in order. */
  readonly events: readonly string[];
  readonly warnings: readonly string[];
}

/** The pins in force on a branch. */
export async function readPins(workspace: Workspace, tree: BranchTree): Promise<readonly Pin[]> {
  return tree.metas.length === 0 ? [] : pinsInForce(await readMetas(workspace, tree));
}

/** Lists the pins with how the view reads them. */
export async function listPins(workspace: Workspace, tree: BranchTree): Promise<readonly PinRow[]> {
  const pins = await readPins(workspace, tree);
  if (pins.length === 0) return [];
  const { turns, view } = await loadAround(
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
  const { turns, view } = await loadAround(workspace.store, tree, [pin.turn]);
  const events = pinnedEvents([pin], turns.values());
  if (events.length === 0) {
    throw userError(
      "nothing_to_pin",
      `Nothing of ${pin.event ?? `turn ${pin.turn}`} is sent to a model, so there is nothing to pin.`,
      {
        hints: [`To see the turn: \`jpg print --turn ${pin.turn}\`.`],
      },
    );
  }
  const commit = await writePin(workspace, tree, { pin });
  const compacted = changedPins(events, turns.values(), view).length;
  const warnings =
    compacted === 0
      ? []
      : [
          `${saySome(compacted, events.length)} compacted already: \`jpg blame ${boundOf(pin)}\` says by what; \`jpg revert\` brings them back.`,
        ];
  return { branch: tree.branch, commit, pin, events, warnings };
}

/** Some of the events of a pin, and their verb. */
function saySome(some: number, all: number): string {
  if (all === 1) return "Its event is";
  return some === all ? `All of its ${all} events are` : `${some} of its ${all} events ${some === 1 ? "is" : "are"}`;
}

/** Takes a pin back. Throws `not_pinned` with the pins there are. */
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

/**
 * Checks that what is pinned and visible stays as it is. Throws `pin_hidden` naming the events; nothing has been committed by
 * then.
 */
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

/** Those pinned events that a view does not show as they are. */
function changedPins(pinned: readonly string[], turns: Iterable<Turn>, view: View): readonly string[] {
  if (pinned.length === 0) return [];
  const shown = new Set<Event>(view.turns.flatMap((turn) => turn.events));
  const raw = new Map([...turns].flatMap((turn) => turn.events.map((event) => [event.id, event] as const)));
  return pinned.filter((id) => {
    const event = raw.get(id);
    return event !== undefined && traitsOf(event).providerVisible && !shown.has(event);
  });
}

/** A pin as one writes it: `3` or `3:EVENT`. */
export function boundOf({ turn, event }: Pin): string {
  return event === undefined ? String(turn) : `${turn}:${event}`;
}

/** What a bound names: a turn that is there, or an event of it. Throws `unknown_turn`, `unknown_event`, `ambiguous_event`. */
export async function resolvePlace(workspace: Workspace, tree: BranchTree, bound: TurnBound): Promise<Pin> {
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

/** Says which turns there are. */
export function unknownTurn(branch: string, turn: number, newest: number): JpgError {
  return userError("unknown_turn", `${branch} has no turn ${turn}: its turns are 0..${newest}.`, {
    hints: ["5 is turn 5, -3 is three turns before the last; `jpg print --turn 0..5` shows turns."],
  });
}

/** The position of the turn that a bound names, 0-based; it may lie outside of the conversation. */
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
