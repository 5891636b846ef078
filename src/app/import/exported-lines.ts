// Which lines of a session jpg exported, and what each stands for. The lines are known by their ids, which derive from the
// session's and from what they show; the export itself is not made again.
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { View } from "../../core/conversation/event.ts";
import type { SessionWriter } from "../../formats/agent-format.ts";
import { type ImportedSession, lineName, listLineSources } from "../../formats/imported-session.ts";
import type { ConversationStore } from "../../store/store.ts";
import type { BranchTree } from "../branch/branch-tree.ts";
import { loadHistory, loadView } from "../branch/load-view.ts";
import { sha1Bytes } from "../workspace/object-id.ts";

/** The exported lines that a session holds. */
export interface ExportedLines {
  /** What each line stands for, by line id, in the order in which they were exported: an event or a compaction. */
  readonly lines: ReadonlyMap<string, string>;
  /** The lines among them that are not the first of what they stand for: results are, which the export made up. */
  readonly further: ReadonlySet<string>;
  /** The events that a line holds, by what it stands for: those of one message that have no lines of their own. */
  readonly held: ReadonlyMap<string, readonly string[]>;
  /** The turn of the conversation that an event or compaction belongs to, by its id. */
  readonly turnOf: ReadonlyMap<string, number>;
}

/** The lines, and the compactions that some of them are of. */
export interface FoundLines extends ExportedLines {
  /** Those in force at the export, by id. */
  readonly inForce: ReadonlyMap<string, Compaction>;
}

type Held = Pick<ImportedSession, "sessionId" | "exportedAs" | "hasLine">;

/** Finds the lines. A session is exported from the view, from the full history, or from both: it is that of which it holds more lines. */
export async function findExportedLines(
  store: ConversationStore,
  exported: BranchTree,
  { session, writer }: { readonly session: Held; readonly writer: SessionWriter },
): Promise<FoundLines> {
  // With the notice that it may have been handed on with: whether its line is there, the session tells.
  const { view, live } = await loadView(store, exported, { notice: true });
  const inForce = new Map(live.applied.map((compaction) => [compaction.id, compaction]));
  const shown = knownLines(view, session, writer);
  if (exported.compactions.length === 0) return { ...shown, inForce };
  const whole = knownLines(await loadHistory(store, exported), session, writer);
  if (writer.takesHistory === true) return { ...joinLines(whole, shown), inForce };
  return { ...(shown.lines.size >= whole.lines.size ? shown : whole), inForce };
}

/** The lines of an export that shows some turns as the view does, and others as they were said. */
function joinLines(whole: ExportedLines, shown: ExportedLines): ExportedLines {
  return {
    lines: new Map([...whole.lines, ...shown.lines]),
    further: new Set([...whole.further, ...shown.further]),
    held: new Map([...whole.held, ...shown.held]),
    turnOf: new Map([...whole.turnOf, ...shown.turnOf]),
  };
}

/** Finds the lines that an export of a view has, among those that a session holds. */
export function knownLines(
  view: View,
  { sessionId, exportedAs = sessionId, hasLine }: Held,
  writer: SessionWriter,
): ExportedLines {
  const lines = new Map<string, string>();
  const further = new Set<string>();
  const turnOf = new Map<string, number>();
  const held = new Map<string, string[]>();
  let open: { readonly message: string | undefined; readonly events: string[] } | undefined;
  for (const { name, shows, turn, message } of listLineSources(view)) {
    if (turn !== undefined) turnOf.set(shows, turn);
    const ids = linesOf(name);
    for (const [n, id] of ids.entries()) {
      lines.set(id, shows);
      if (n > 0) further.add(id);
    }
    if (ids.length > 0) {
      open = { message, events: [shows] };
      held.set(shows, open.events);
    } else if (message !== undefined && open?.message === message) open.events.push(shows);
  }
  return { lines, further, held, turnOf };

  function linesOf(name: string): readonly string[] {
    const ids: string[] = [];
    for (let n = 0; ; n++) {
      const id = writer.lineId(exportedAs, lineName(name, n), sha1Bytes);
      if (!hasLine(id)) return ids;
      ids.push(id);
    }
  }
}
