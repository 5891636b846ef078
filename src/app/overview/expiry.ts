// Which sessions their agents will delete. Some delete old sessions when they start; what jpg has of them stays.
import type { Runtime } from "../conversation/runtime.ts";
import { agents, machineOf } from "../sessions/session-registry.ts";

/** Sessions of one agent that are in no store, or have more than it, and will be deleted. */
export interface ExpiringSessions {
  /** The agent's display name. */
  readonly agent: string;
  readonly sessions: number;
  /** Days until the first is deleted, rounded down; 0 = when the agent starts the next time. */
  readonly days: number;
}

const DAY_MS = 24 * 3600 * 1000;

/** Sums up by agent; `missing` = sessions that no store has as they are, by the agent's display name. */
export function findExpiring(
  runtime: Runtime,
  missing: readonly { readonly agent: string; readonly changedMs: number }[],
): readonly ExpiringSessions[] {
  const machine = machineOf(runtime);
  return agents().flatMap(({ agent: { name }, files }) => {
    const days = files.keptDays?.(machine);
    const own = missing.filter(({ agent }) => agent === name);
    if (days === undefined || own.length === 0) return [];
    const oldestMs = own.reduce((oldest, { changedMs }) => Math.min(oldest, changedMs), Number.POSITIVE_INFINITY);
    const left = Math.floor((oldestMs + days * DAY_MS - runtime.now().getTime()) / DAY_MS);
    return [{ agent: name, sessions: own.length, days: Math.max(0, left) }];
  });
}
