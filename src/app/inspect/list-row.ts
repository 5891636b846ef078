// The rows of `jpg ls`, as `--json` prints them: keys may be added, none goes or is renamed.

import type { OverheadSource, TokenSource } from "../../core/model/token-meter.ts";
import type { ParentSession } from "../branch/branch-tree.ts";

/** One conversation of `ls`, seen on one branch. */
export interface ListRow {
  readonly id: string;
  readonly title: string;
  readonly branch: string;
  readonly turns: number;
  readonly tokens: { readonly raw: number; readonly view: number };
  /** Turns of a partial clone that are not here: `tokens.raw` does not count them. Absent = none. */
  readonly turns_elsewhere?: number;
  /** Who counted `tokens`: the provider, or an estimate of ours. */
  readonly tokens_source?: TokenSource;
  /** Where the size of system prompt and tools is from; absent = recorded. */
  readonly overhead_source?: Exclude<OverheadSource, "recorded">;
  /** Live compactions. */
  readonly compactions: number;
  /** Last turn that a live compaction covers, 0-based; absent = there is none. */
  readonly compacted_to?: number;
  /** Branches beside this one. */
  readonly forks: number;
  /** RFC 3339 UTC. */
  readonly updated_at: string;
  /** Whether it is the active conversation (`@`). */
  readonly active?: boolean;
  readonly archived?: boolean;
  readonly pinned?: boolean;
  readonly labels?: readonly string[];
  /** The session that this one comes from, of a sub-agent's or one that was forked off elsewhere; `id`: its conversation here. */
  readonly parent?: ParentSession & { readonly format: string; readonly id?: string };
  /** Conversations of sub-agents that are left out of the list; absent = none. */
  readonly agents?: number;
  /** Some turns do not follow the turn before them: git put them together. */
  readonly spliced?: true;
  /** Whether records of the branch are damaged: they are not applied. */
  readonly damaged?: true;
}

export type ListReport = readonly ListRow[];
