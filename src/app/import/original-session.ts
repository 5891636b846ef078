// Finds the conversation whose lines a session repeats although its file does not say so. Agents continue a copy under a new
// session id; ids and times of the lines stay.
import { conversationId, conversationOf, forkOf } from "../../core/conversation/name.ts";
import type { ImportedSession } from "../../formats/imported-session.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { loadBranchTree, parentSession } from "../conversation/tree.ts";
import { readFirstEvent } from "../conversation/turns.ts";
import { titleForId } from "../names/conversations.ts";
import { findSession } from "../names/find-session.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import { lineOf } from "./continued-session.ts";

/** What a branch begins with. */
interface BranchStart {
  readonly format: string | undefined;
  /** Id of the line that opens its first turn. */
  readonly line: string;
  /** The session that its file names as the one it was copied from. */
  readonly parent: string | undefined;
}

/**
 * The conversation that begins with the same line as a session, or that has what comes before it; undefined = none. Conversations
 * are named after their first request, so few are read.
 */
export async function findOriginal(
  store: ConversationStore,
  tips: readonly BranchTip[],
  { open, session }: { readonly open: OpenSession; readonly session: ImportedSession },
): Promise<string | undefined> {
  const { lineage } = session;
  if (lineage === undefined || open.descent?.kind === "agent") return undefined;
  const { continuedIn } = lineage;
  const copy =
    continuedIn === undefined
      ? null
      : await findSession(store, tips, { format: open.format.name, session: continuedIn });
  if (copy !== null) return conversationOf(copy.name);
  if (lineage.after !== undefined) return findByCompaction(store, tips, lineage.after.line);
  const opener = lineage.originalOf(lineOf(session.readTurn(0)[0]?.id ?? ""));
  const stem = conversationId(await titleForId(session.title), "");
  const named = tips.filter(({ name }) => isNamedAs(conversationOf(name), stem));
  for (const tip of named.sort((a, b) => Number(forkOf(b.name) === "main") - Number(forkOf(a.name) === "main"))) {
    const start = await readStart(store, tip);
    if (start?.format !== open.format.name) continue;
    const isOther = start.parent !== undefined && [open.sessionId, ...parentsOf(open)].includes(start.parent);
    if (start.line === opener || isOther) return conversationOf(tip.name);
  }
  return undefined;
}

/** Whether a conversation's id is the stem and a suffix, which has no hyphen. */
function isNamedAs(conversation: string, stem: string): boolean {
  return conversation.startsWith(stem) && !conversation.includes("-", stem.length);
}

function parentsOf({ descent }: OpenSession): readonly string[] {
  return descent?.kind === "fork" ? descent.sessions : [];
}

/** Characters: longer ones are no ids of an agent. */
const LONGEST_ID = 200;

/** The conversation with the compaction that a boundary line made. */
async function findByCompaction(
  store: ConversationStore,
  tips: readonly BranchTip[],
  boundary: string,
): Promise<string | undefined> {
  if (boundary.length > LONGEST_ID) return undefined;
  const texts = [`"boundary":${JSON.stringify(boundary)}`];
  const commits = tips.map(({ commit }) => commit);
  const found = await store.findText(commits, { texts, under: ["compactions"] });
  const tip = tips.find(({ commit }) => found.has(commit));
  return tip === undefined ? undefined : conversationOf(tip.name);
}

/** By commit; what a commit begins with never changes. */
const starts = new WeakMap<ConversationStore, Map<string, BranchStart | null>>();

/** A branch that cannot be read begins with nothing here; reading it reports the damage. */
async function readStart(store: ConversationStore, { name, commit }: BranchTip): Promise<BranchStart | null> {
  const known = starts.get(store) ?? new Map<string, BranchStart | null>();
  starts.set(store, known);
  const cached = known.get(commit);
  if (cached !== undefined) return cached;
  const start = await loadStart(store, name, commit).catch(() => null);
  known.set(commit, start);
  return start;
}

async function loadStart(store: ConversationStore, name: string, commit: string): Promise<BranchStart | null> {
  const { turnOids, header } = await loadBranchTree(store, name, commit);
  const [oid] = turnOids;
  if (oid === undefined) return null;
  const [first] = await readFirstEvent(store, oid, 0);
  return { format: header.source?.format, line: lineOf(first?.id ?? ""), parent: parentSession(header)?.session };
}
