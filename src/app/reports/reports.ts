// What the app functions hand to the front ends: the JSON documents of DESIGN §5, plain data, keys as printed by --json.
// Keys that the design names stay; optional ones may be added. Tokens are of the view unless named raw;
// `tokens_source` says who counted them.
import type { Compaction } from "../../core/compaction/compaction.ts";
import type { LossReceipt } from "../../core/compaction/loss-receipt.ts";
import type { Event } from "../../core/event/event.ts";
import type { Calibration } from "../../core/tokens/calibration.ts";
import type { TokenSource } from "../../core/tokens/token-meter.ts";
import type { SkippedLine } from "../../formats/imported-session.ts";

/** What happened to one session that was imported. */
export interface ImportReport {
  /** Conversation id. */
  readonly id: string;
  readonly branch: string;
  /** Turns of the branch after the import. */
  readonly turns: number;
  /** Events of the branch after the import. */
  readonly events: number;
  /** Live compactions of the branch after the import, the user's and the agent's. */
  readonly compactions: number;
  /** Lines that are no event; they are kept in sources/. 0 when unchanged: no line was read then. */
  readonly skipped_lines: number;
  readonly status: "created" | "updated" | "unchanged" | "forked";
  /** Where it was read from. */
  readonly source?: string;
  readonly title?: string;
  /** Turns that this import added. */
  readonly turns_added?: number;
  readonly bytes?: number;
  /** Time of the newest event, RFC 3339 UTC. */
  readonly updated_at?: string;
  /** Which lines were skipped and why; may be cut short, `skipped_lines` is the count. */
  readonly skipped?: readonly SkippedLine[];
  /** Branches made of what the agent left (`--all-branches`). */
  readonly abandoned?: readonly string[];
  /** What stood in the folder of the session's name. Absent when nothing did, and when unchanged: nothing was taken then. */
  readonly side_files?: SideFilesReport;
}

/** What an import took from the folder beside a session. */
export interface SideFilesReport {
  /** How many files of the agent the conversation holds now, and their bytes. */
  readonly files: number;
  readonly bytes: number;
  /** Names of what the agent did not write, folders with `/` at their end: not looked into, not taken. */
  readonly left: readonly string[];
}

/** One commit of the compaction history, newest first in a log. */
export interface LogRow {
  readonly kind: "compaction" | "revert" | "reapply";
  /** Id of the compaction that the commit adds, takes back or brings back. */
  readonly compaction: string;
  readonly commit: string;
  /** Turn positions, 0-based, inclusive; null when the record cannot be read. */
  readonly from_turn: number | null;
  readonly to_turn: number | null;
  /** What the commit did, worded from the record. */
  readonly subject: string;
  /** The commit's own subject, where it tells something else than the record. */
  readonly message?: string;
  readonly source: string | null;
  /** Whether the compaction is in force at the tip. */
  readonly live: boolean;
  /** Tokens of the whole view before and after; null when nobody recorded them. */
  readonly tokens: { readonly before: number; readonly after: number } | null;
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  /** Commit time, RFC 3339 UTC. */
  readonly timestamp: string;
  readonly policies?: string;
  readonly profile?: string;
  readonly author?: string;
  /** Text of its summary, for the verbose form. */
  readonly summary?: string;
  /** Present when the commit only brought it along, with turns: history is squashed or cut off there. */
  readonly squashed?: true;
  /** Why a live compaction has no effect, e.g. `stale: turn 7 differs`. */
  readonly not_applied?: string;
}

export type LogReport = readonly LogRow[];

/** One conversation of `ls`, seen on one branch. */
export interface ListRow {
  readonly id: string;
  readonly title: string;
  readonly branch: string;
  readonly turns: number;
  readonly tokens: { readonly raw: number; readonly view: number };
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  /** Live compactions. */
  readonly compactions: number;
  /** Branches beside this one. */
  readonly forks: number;
  /** RFC 3339 UTC. */
  readonly updated_at: string;
  /** Whether it is the active conversation (`@`). */
  readonly active?: boolean;
  readonly archived?: boolean;
  readonly pinned?: boolean;
  readonly labels?: readonly string[];
  /** Some turns do not follow the turn before them: git put them together. */
  readonly spliced?: true;
  /** Whether records of the branch are damaged: they are not applied. */
  readonly damaged?: true;
}

export type ListReport = readonly ListRow[];

/** Sizes and token accounting of a branch. */
export interface StatsReport {
  readonly turns: number;
  readonly events: number;
  /** Bytes of the events' lines. */
  readonly bytes: number;
  readonly tokens: {
    readonly raw: number;
    readonly view: number;
    /** Tokens by what they are, e.g. `tool_results`: raw, and what the view still shows. `overhead`: system prompt and tools. */
    readonly by_kind: Readonly<Record<string, { readonly raw: number; readonly view: number }>>;
  };
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  /** How estimates follow the usage that the provider recorded; absent when too little is recorded. */
  readonly calibration?: Calibration;
  readonly id?: string;
  readonly branch?: string;
  /** The commit that was counted. */
  readonly commit?: string;
  /** What named that commit, e.g. `main~2`, where it is not the branch as it stands. */
  readonly revision?: string;
  /** Messages (requests of the user and answers) of the view. */
  readonly messages?: number;
  readonly compactions?: number;
}

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
  /** What it was imported from, e.g. `claude-code 3b1f…`; null when it was begun here. */
  readonly source: string | null;
  readonly turns: number;
  readonly events: number;
  readonly tokens: { readonly raw: number; readonly view: number };
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  readonly branches: readonly { readonly name: string; readonly turns: number; readonly active: boolean }[];
  /** Live compactions, newest first. */
  readonly compactions: readonly LogRow[];
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

/** What a compaction took out of the view: content, and facts. */
export interface Receipt extends LossReceipt {
  /** Tokens of what it covers. */
  readonly tokens: { readonly before: number; readonly after: number };
  /** Bytes of what it covers. */
  readonly bytes: { readonly before: number; readonly after: number };
  readonly events_removed: number;
  readonly events_changed: number;
  readonly tools: readonly {
    readonly name: string;
    readonly calls: number;
    readonly errors: number;
    readonly bytes: number;
    readonly tokens: number;
  }[];
  /** Files that hidden calls touched, ordered by name. */
  readonly files: readonly string[];
  /** Commands that hidden calls ran, in order. */
  readonly commands: readonly string[];
}

/** A compaction in detail; `--json` prints the event with `receipt` added. */
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
  readonly live: boolean;
  readonly not_applied?: string;
  readonly receipt: Receipt;
}

export type ShowReport = ShowConversation | ShowEvent | ShowCompaction;

/** What `revert` and `undo` did. */
export interface RevertReport {
  /** The newest commit written; null when nothing was. */
  readonly commit: string | null;
  /** Ids of the compactions taken back, in the order asked. */
  readonly reverted: readonly string[];
  /** Those of them that were brought back: what was reverted was a revert. */
  readonly restored?: readonly string[];
  readonly conversation?: string;
  readonly branch?: string;
  readonly tokens?: { readonly before: number; readonly after: number };
  /** E.g. `nothing changes in the view: turns 0..12 stay under summary k3f9q2`. */
  readonly warnings?: readonly string[];
}

/** What `fork` made. */
export interface ForkReport {
  readonly conversation: string;
  readonly branch: string;
  readonly turns: number;
  /** Branch it was made from. */
  readonly from?: string;
  readonly activated?: boolean;
  /** Present when history had no commit that ends with the fork's last turn: one on the fork takes the later turns away. */
  readonly cut?: true;
}

/** Where `checkout` put the branch. */
export interface CheckoutReport {
  /** Absolute path of the worktree. */
  readonly path: string;
  readonly branch: string;
  /** The commit that is checked out with HEAD detached; absent = the branch. */
  readonly commit?: string;
  /** File in which the repository around the worktree is told to leave it alone; absent where none is around. */
  readonly excluded_by?: string;
  /** Whether turns and sources are there too. */
  readonly full?: boolean;
  /** Turns of the view. */
  readonly turns?: number;
}
