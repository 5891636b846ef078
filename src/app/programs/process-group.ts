// Groups of processes that jpg started: a program ends together with everything that it started, and with jpg.
import { codeOf } from "../../core/errors.ts";

/** What is known of a started program; `pid` is also the id of its group. */
export interface GroupLeader {
  readonly pid?: number | undefined;
}

const ENDING_SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

/** The groups that must not outlive jpg. One listener for all: it has to know whether anybody else listens. */
const held = new Set<GroupLeader>();

/** Ends a program with everything that it started. */
export function endGroup({ pid }: GroupLeader, signal: NodeJS.Signals = "SIGKILL"): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // The whole group has ended by itself; macOS says EPERM of one that nobody has waited for yet.
    const code = codeOf(error);
    if (code !== "ESRCH" && code !== "EPERM") throw error;
  }
}

/** Has a group end when jpg does, by itself or by a signal; gives what lets go of it. */
export function holdGroup(leader: GroupLeader): () => void {
  if (held.size === 0) {
    process.on("exit", endAll);
    for (const signal of ENDING_SIGNALS) process.on(signal, endOnSignal);
  }
  held.add(leader);
  return () => {
    if (!held.delete(leader) || held.size > 0) return;
    stopListening();
  };
}

function endAll(): void {
  for (const leader of held) endGroup(leader);
}

/** Whoever else listens decides what a signal means; to these groups alone, it means the end of all. */
function endOnSignal(signal: NodeJS.Signals): void {
  if (process.listenerCount(signal) > 1) return;
  endAll();
  stopListening();
  process.kill(process.pid, signal);
}

function stopListening(): void {
  process.off("exit", endAll);
  for (const signal of ENDING_SIGNALS) process.off(signal, endOnSignal);
}
