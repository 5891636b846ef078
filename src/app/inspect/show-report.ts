// What `jpg show` tells of a conversation, an event or a compaction, as `--json` prints it.

import type { HiddenContent } from "../../core/compact/hidden-content.ts";
import type { Compaction, LossReceipt } from "../../core/conversation/compaction.ts";
import type { Event } from "../../core/conversation/event.ts";
import type { TokenSource } from "../../core/model/token-meter.ts";
import type { ParentSession } from "../branch/branch-tree.ts";
import type { LogRow } from "./log-row.ts";

/** A conversation in detail. */
export interface ShowConversation {
  readonly kind: "conversation";
  readonly id: string;
  readonly title: string;
  readonly branch: string;
  /** Newest commit of the branch, or the one that was asked for. */
  readonly commit: string;
  /** What named that commit, e.g. `main~2`, where it is not the branch as it stands. */
  readonly revision?: string;
  readonly created_at: string;
  readonly updated_at: string;
  /** What it was imported from, its format and the id of its session; null when it was begun here. */
  readonly source: string | null;
  readonly turns: number;
  /** Turns of a partial clone that are not here: neither `events` nor `tokens.raw` counts them. Absent = none. */
  readonly turns_elsewhere?: number;
  readonly events: number;
  readonly tokens: { readonly raw: number; readonly view: number };
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  readonly branches: readonly { readonly name: string; readonly turns: number; readonly active: boolean }[];
  /** Live compactions, newest first. */
  readonly compactions: readonly LogRow[];
  /** The session that it comes from; `id` and `turn`: the conversation here, and the turn that began it. */
  readonly parent?: ParentSession & { readonly id?: string; readonly turn?: number };
  /** Conversations of the sub-agents that it began, by turn; absent = none. */
  readonly agents?: readonly {
    readonly id: string;
    readonly title: string;
    readonly turn?: number;
    readonly call?: string;
  }[];
  readonly labels?: readonly string[];
  readonly archived?: boolean;
  readonly pinned?: boolean;
}

/** One event, raw, and how the view reads it. */
export interface ShowEvent {
  readonly kind: "event";
  readonly conversation: string;
  readonly branch: string;
  /** Turn position, 0-based. */
  readonly turn: number;
  readonly event: Event;
  readonly tokens: number;
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  /** `shown` as it is, `changed` by a policy, `hidden` by a summary or omission, `internal`: no model sees its kind. */
  readonly state: "shown" | "changed" | "hidden" | "internal";
  /** Compaction that changes or hides it. */
  readonly compaction?: string;
  /** The event as the view has it, when changed. */
  readonly projected?: Event;
}

/** A compaction in detail; `--json` prints the event with the rest added. */
export interface ShowCompaction {
  readonly kind: "compaction";
  readonly conversation: string;
  readonly branch: string;
  readonly commit: string;
  /** The commit's own subject, where it tells something else than the record. */
  readonly message?: string;
  readonly event: Compaction;
  /** Policies in words, as in the commit's subject. */
  readonly policies: string;
  /** All that its commit added as one, in order of their ranges: `hidden` and `receipt` are of all of them. Absent = only it. */
  readonly compactions?: readonly Compaction[];
  readonly live: boolean;
  readonly not_applied?: string;
  /** What it took out of the view. */
  readonly hidden: HiddenContent;
  /** The record's own; of an imported one, which has none, worked out. */
  readonly receipt: LossReceipt;
}

export type ShowReport = ShowConversation | ShowEvent | ShowCompaction;
