// What an import keeps for the next one: which branch holds which file, and how many events a commit holds.
import { defined } from "../../core/json.ts";
import type { WriteResult } from "../../store/store.ts";
import { rememberWhole } from "../branch/turn-links.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { HeldContent, ImportReport } from "./import-report.ts";
import type { ImportRun } from "./import-run.ts";
import { proofOf, type StoreFacts } from "./source-cache.ts";

/** What is known of a commit because it was just made. */
export async function rememberWritten(
  { store }: Workspace,
  { counts }: ImportRun,
  { result, report }: { readonly result: WriteResult; readonly report: ImportReport },
): Promise<void> {
  counts.set(result.commit, report.events);
  if (report.status === "created") await rememberWhole(store, result);
}

/** What of a report is remembered with the file. */
export function heldIn({ turns, events, compactions, title, agent_of }: ImportReport): HeldContent {
  const named = { ...defined({ title, agent_of }) };
  return { turns, events, compactions, ...named };
}

/** The branches as one write left them; other writes of the pass are of other sessions. */
export function tipsAfter(tips: StoreFacts["tips"], write: WriteResult): StoreFacts["tips"] {
  const others = tips.filter(({ name }) => name !== write.branch);
  const written = { name: write.branch, commit: write.commit };
  return [...others, written].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Keeps what was found, the newest last. Of several branches that hold a file the active one is reported. */
export function rememberFound({ sources, found }: ImportRun, active: string | null): void {
  for (const { path, source, facts } of found) {
    sources.delete(path);
    sources.set(path, { ...source, proof: proofOf({ active, ...facts }, source) });
  }
}
