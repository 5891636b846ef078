// A copy that an agent made of a session that jpg exported. The copy lacks jpg's side line, but the ids of its lines are derived
// from the export's id and from what they show.

import { conversationOf } from "../../core/conversation/name.ts";
import { boundaryName, type ExportOrigin, lineName } from "../../formats/imported-session.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { compactionIdOfPath } from "../conversation/append.ts";
import { sha1Bytes } from "../conversation/runtime.ts";
import { loadBranchTree } from "../conversation/tree.ts";
import { exportSessionId, MOST_REWRITTEN } from "../names/find-session.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import { type WritingAgent, writingAgents } from "../sessions/session-registry.ts";
import { storedTurn } from "./shared-turns.ts";

/** The export that a session was copied from. */
export interface CopiedExport {
  readonly origin: ExportOrigin;
  /** Id of the exported session. */
  readonly exportedAs: string;
}

/** A name-based UUID, as jpg derives them; those of agents are random. */
const DERIVED = /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-/;

/** Whether a session's first line may be one that jpg exported, although the session names no origin. */
export function mayBeCopiedExport({ start, origin }: Pick<OpenSession, "start" | "origin">): boolean {
  return origin === null && start !== null && DERIVED.test(start.line);
}

/** Finds the export by the id of a session's first line; null = no branch has one. Looks at all commits of all branches. */
export async function findCopiedExport(
  store: ConversationStore,
  tips: readonly BranchTip[],
  { format, start }: Pick<OpenSession, "format" | "start">,
): Promise<CopiedExport | null> {
  const writer = writingAgents().find(({ name }) => name === format.name);
  if (writer === undefined || start === null) return null;
  for (const { name: branch, commit: tip } of tips) {
    const names = await namesOfFirstLines(store, { branch, tip }).catch(() => []);
    for (const { commit } of names.length === 0 ? [] : await store.readLog({ from: tip })) {
      const exportedAs = exportedFrom(writer, { branch, commit }, { names, line: start.line });
      if (exportedAs !== null) return { origin: { conversation: conversationOf(branch), branch, commit }, exportedAs };
    }
  }
  return null;
}

function exportedFrom(
  writer: WritingAgent,
  from: { readonly branch: string; readonly commit: string },
  { names, line }: { readonly names: readonly string[]; readonly line: string },
): string | null {
  for (let n = 0; n < MOST_REWRITTEN; n++) {
    const session = exportSessionId(writer, from, n);
    if (names.some((name) => writer.write.lineId(session, lineName(name, 0), sha1Bytes) === line)) return session;
  }
  return null;
}

/** What the first line of an export of a branch may be named after: an event of its first turn, a compaction, or nothing. */
async function namesOfFirstLines(
  store: ConversationStore,
  { branch, tip }: { readonly branch: string; readonly tip: string },
): Promise<readonly string[]> {
  const tree = await loadBranchTree(store, branch, tip);
  const events = tree.turnOids.length === 0 ? [] : await storedTurn(store, tree, 0);
  const compactions = tree.compactions.flatMap(({ path }) => compactionIdOfPath(path) ?? []);
  return ["", ...events.map(({ id }) => id), ...compactions.flatMap((id) => [boundaryName(id), id])];
}
