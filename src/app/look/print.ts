// Prints a conversation: the full history or the view that a model sees; all turns or a range of them.
import type { TurnRange, View } from "../../core/conversation/event.ts";
import type { WrittenRange } from "../../core/conversation/range-bound.ts";
import { renderViewLines } from "../../formats/jsonl/write.ts";
import { renderMarkdown } from "../../formats/markdown/write.ts";
import { conversationTitle } from "../conversation/title.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { loadHistory, loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { isWithinTurns, resolveTurns } from "../conversation/written-range.ts";
import { type LineageReport, readLineage } from "./show.ts";

interface PrintRequest {
  /** The view instead of the full history. */
  readonly compacted: boolean;
  readonly format: "markdown" | "jsonl";
  /** Only these turns. */
  readonly turns?: WrittenRange;
}

export async function renderPrinted(workspace: Workspace, tree: BranchTree, request: PrintRequest): Promise<string> {
  const selection = request.turns === undefined ? undefined : await resolveTurns(workspace, tree, request.turns);
  const view = await loadPrinted(workspace, tree, {
    compacted: request.compacted,
    turns: selection,
  });
  if (request.format === "jsonl") return renderViewLines(view);
  return renderMarkdown(view, {
    title: await conversationTitle(workspace, tree),
    ...describeLineage(await readLineage(workspace, tree)),
  });
}

/** What a document says about the conversation's parent, and at calls that started sub-agents. */
function describeLineage({ parent, agents = [] }: LineageReport): { lineage?: string; remarks: Map<string, string[]> } {
  const remarks = new Map<string, string[]>();
  for (const { id, title, call } of agents) {
    if (call === undefined) continue;
    remarks.set(call, [...(remarks.get(call) ?? []), `Sub-agent: ${id} (${title})`]);
  }
  if (parent === undefined) return { remarks };
  const what = parent.kind === "agent" ? "Sub-agent" : "Fork";
  const turn = parent.turn === undefined ? "" : `, turn ${parent.turn}`;
  return { remarks, lineage: `${what} of ${parent.id ?? `session ${parent.session}`}${turn}.` };
}

export function renderShown(view: View): string {
  return renderMarkdown(view);
}

async function loadPrinted(
  workspace: Workspace,
  tree: BranchTree,
  options: { readonly compacted: boolean; readonly turns?: TurnRange },
): Promise<View> {
  const { turns } = options;
  if (!options.compacted) return loadHistory(workspace.store, tree, turns);
  const { view } = await loadView(workspace.store, tree);
  return turns === undefined ? view : { turns: view.turns.filter((turn) => isWithinTurns(turn, turns)) };
}
