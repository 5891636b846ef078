// What a list says of a conversation, worked out once for each commit and kept beside the store: a commit never changes, so
// a list costs what was added since the last one. The file may be deleted at any time.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { marksInForce } from "../../core/conversation-marks.ts";
import { type Fields, fieldsOf } from "../../core/event/fields.ts";
import { previousTurn } from "../../core/event/turn.ts";
import type { BranchTip, ConversationStore } from "../../store/conversation-store.ts";
import { replaceFile } from "../../store/files/replace-file.ts";
import { type BranchTree, loadBranchTree } from "../branch/branch-tree.ts";
import { type LoadedWhole, loadWhole } from "../branch/load-view.ts";
import { warnOfDamage } from "../branch/stored-records.ts";
import { readMetas, titleIn } from "../branch/titles.ts";
import { meterOf, reportTokens } from "../branch/token-report.ts";
import { isBrokenLink } from "../branch/turn-links.ts";
import type { ListRow } from "../reports/reports.ts";
import type { Workspace } from "../workspace/workspace.ts";

/** What a row says that follows from the commit alone. */
export type ConversationFacts = Omit<ListRow, "id" | "branch" | "forks" | "active">;

/** Facts by commit id. */
export interface KnownFacts {
  find(commit: string): ConversationFacts | null;
  add(commit: string, facts: ConversationFacts): void;
  /** Writes what was added, and drops commits that are no longer a branch's tip. A store that cannot be written keeps none. */
  save(tips: readonly BranchTip[]): Promise<void>;
}

/** Raised when other facts are kept, or jpg counts otherwise. */
const FORMAT = 4;

/** Opens what is known; nothing where there is no file, or one that cannot be read. */
export async function openKnownFacts(store: ConversationStore): Promise<KnownFacts> {
  const isKept = store.engine === "native";
  const known = isKept ? await readKnown(pathOf(store)) : {};
  const added = new Map<string, ConversationFacts>();
  return {
    find: (commit) => added.get(commit) ?? parseFacts(Object.hasOwn(known, commit) ? known[commit] : null),
    add: (commit, facts) => added.set(commit, facts),
    async save(tips) {
      if (!isKept || added.size === 0) return;
      const commits = tips.flatMap(({ commit }) => {
        const facts = added.get(commit) ?? (Object.hasOwn(known, commit) ? known[commit] : undefined);
        return facts === undefined ? [] : [[commit, facts] as const];
      });
      const content = JSON.stringify({ format: FORMAT, commits: Object.fromEntries(commits) });
      await replaceFile(pathOf(store), content).catch(() => undefined);
    },
  };
}

/** Works facts out: every turn is read. Throws what a damaged conversation throws. */
export async function readFacts(workspace: Workspace, { name, commit }: BranchTip): Promise<ConversationFacts> {
  const { store } = workspace;
  const tree = await loadBranchTree(store, name, commit);
  const damaged = await warnOfDamage(workspace, tree);
  const [loaded, [seconds = 0]] = await Promise.all([loadWhole(store, tree), store.readCommitTimes([commit])]);
  const metas = await readMetas(workspace, tree);
  const { archived, labels } = marksInForce(metas);
  return {
    title: titleIn(metas, tree.header),
    turns: loaded.turns.size,
    ...reportTokens(loaded, meterOf(loaded)),
    compactions: loaded.live.all.length,
    ...(isSpliced(loaded, tree) ? { spliced: true as const } : {}),
    ...(damaged > 0 ? { damaged: true as const } : {}),
    updated_at: new Date(seconds * 1000).toISOString(),
    ...(archived ? { archived } : {}),
    ...(labels.length === 0 ? {} : { labels }),
  };
}

/** As `findBrokenLinks` says, of turns that are read already: nothing is read again, or kept for each conversation. */
function isSpliced({ turns }: LoadedWhole, { turnOids }: BranchTree): boolean {
  if (turnOids.length < 2) return false;
  return turnOids.some((_, turn) => isBrokenLink(previousTurn(turns.get(turn)?.events ?? []), turnOids[turn - 1]));
}

async function readKnown(path: string): Promise<Fields> {
  try {
    const { format, commits } = fieldsOf(JSON.parse(await readFile(path, "utf8")));
    return format === FORMAT ? fieldsOf(commits) : {};
  } catch {
    return {}; // never written, or damaged: the facts are worked out anew
  }
}

function pathOf(store: ConversationStore): string {
  return join(store.gitDir, "jpg-list.json");
}

/** The file is beside the store, where anything may have written to it. */
function parseFacts(value: unknown): ConversationFacts | null {
  const { title, turns, tokens, compactions, updated_at } = fieldsOf(value);
  const { raw, view } = fieldsOf(tokens);
  const isWhole =
    typeof title === "string" &&
    typeof turns === "number" &&
    typeof raw === "number" &&
    typeof view === "number" &&
    typeof compactions === "number" &&
    typeof updated_at === "string";
  return isWhole ? (value as ConversationFacts) : null;
}
