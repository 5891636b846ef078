// What the agent sends with its path although the path does not lead through it. The agent writes parallel calls, their
// results and what hooks say of them as branches of the graph, wherever other lines came between: one message is known by
// its id, a result by its call's.
import type { SessionGraph } from "./session-graph.ts";
import type { LineEntry, SessionIndex } from "./session-index.ts";

/** Lines beside a path, in file order, each with the line of the path, or beside it, that it goes with. */
export type LinesBeside = ReadonlyMap<LineEntry, LineEntry>;

/** Finds the lines beside a chain of lines. */
export function findLinesBeside(index: SessionIndex, graph: SessionGraph, chain: readonly LineEntry[]): LinesBeside {
  const path = new Set(chain);
  const beside = new Map<LineEntry, LineEntry>();
  const add = (entry: LineEntry, anchor: LineEntry): void => {
    path.add(entry);
    beside.set(entry, anchor);
  };
  addMessageParts(index, path, add);
  addResults(index, path, add);
  addReminders(index, graph, path, add);
  return new Map([...beside].sort(([a], [b]) => a.line - b.line));
}

type Add = (entry: LineEntry, anchor: LineEntry) => void;

/** Lines that share their message's id with the path, whatever they follow. */
function addMessageParts({ entries }: SessionIndex, path: ReadonlySet<LineEntry>, add: Add): void {
  const messages = new Map(
    [...path].flatMap((entry) => (entry.messageId === undefined ? [] : [[entry.messageId, entry]])),
  );
  for (const entry of entries) {
    const anchor = messages.get(entry.messageId ?? "");
    if (anchor !== undefined && !path.has(entry)) add(entry, anchor);
  }
}

/** The first result of each call that has none on the path before it. */
function addResults({ entries }: SessionIndex, path: ReadonlySet<LineEntry>, add: Add): void {
  const makers = new Map(
    [...path].flatMap((entry) =>
      entry.kind === "assistant" ? (entry.calls ?? []).map((call) => [call, entry] as const) : [],
    ),
  );
  const answered = new Set<string>();
  for (const entry of entries) {
    if (entry.kind !== "result") continue;
    const call = entry.calls?.find((id) => makers.has(id) && !answered.has(id));
    const anchor = makers.get(call ?? "");
    if (!path.has(entry) && anchor === undefined) continue;
    if (!path.has(entry) && anchor !== undefined) add(entry, anchor);
    for (const id of entry.calls ?? []) answered.add(id);
  }
}

/** What the harness says behind calls and results, unless the conversation went on from there. */
function addReminders({ entries }: SessionIndex, graph: SessionGraph, path: ReadonlySet<LineEntry>, add: Add): void {
  const left = findLeftLines(entries, graph, path);
  for (const entry of entries) {
    if (path.has(entry) || left.has(entry) || !isReminder(entry)) continue;
    const owner = findOwner(entry, graph, path);
    if (owner?.kind === "result" || (owner?.kind === "assistant" && owner.calls !== undefined)) add(entry, owner);
  }
}

function isReminder(entry: LineEntry): boolean {
  return entry.kind === "attachment" || (entry.kind === "harness" && entry.isMeta === true);
}

/** Lines off the path from which something was said or answered. */
function findLeftLines(
  entries: readonly LineEntry[],
  graph: SessionGraph,
  path: ReadonlySet<LineEntry>,
): ReadonlySet<LineEntry> {
  const left = new Set<LineEntry>();
  for (const entry of entries) {
    if (path.has(entry) || !entry.isMessage || isReminder(entry)) continue;
    for (
      let at: LineEntry | undefined = entry;
      at !== undefined && !path.has(at) && !left.has(at);
      at = graph.parentOf(at)
    )
      left.add(at);
  }
  return left;
}

/** The line of the path that a line hangs on, through others that nobody said. */
function findOwner(entry: LineEntry, graph: SessionGraph, path: ReadonlySet<LineEntry>): LineEntry | undefined {
  const seen = new Set([entry]);
  for (let at = graph.parentOf(entry); at !== undefined && !seen.has(at); at = graph.parentOf(at)) {
    // What stands beside the path already was found to hang on it.
    if (path.has(at) && !isReminder(at) && at.kind !== "side") return at;
    seen.add(at);
  }
  return undefined;
}
