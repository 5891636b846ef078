// Prints a conversation: the full history or the view that a model sees; all turns or a range of them.
import type { ProjectedTurn, View } from "../../core/conversation/event.ts";
import { userError } from "../../core/errors.ts";
import { renderViewLines } from "../../formats/jsonl/write.ts";
import { renderMarkdown } from "../../formats/markdown/write.ts";
import { conversationTitle } from "../conversation/title.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { loadHistory, loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { type LineageReport, readLineage } from "./show.ts";

interface TurnSelection {
  /** Turn positions, 0-based, inclusive. */
  readonly from: number;
  readonly to: number;
}

interface PrintRequest {
  /** The view instead of the full history. */
  readonly compacted: boolean;
  readonly format: "markdown" | "jsonl";
  /** As `parseTurnSelection` accepts it. */
  readonly turns?: string;
}

export async function renderPrinted(workspace: Workspace, tree: BranchTree, request: PrintRequest): Promise<string> {
  const selection = request.turns === undefined ? undefined : parseTurnSelection(request.turns, tree.turnOids.length);
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
  options: { readonly compacted: boolean; readonly turns?: TurnSelection },
): Promise<View> {
  const { turns } = options;
  if (!options.compacted) return loadHistory(workspace.store, tree, turns);
  const { view } = await loadView(workspace.store, tree);
  return turns === undefined ? view : { turns: view.turns.filter((turn) => touches(turn, turns)) };
}

/** Parses `A..B`, `A..`, `..B` or `A`; a negative position counts from the last turn (`-1` = one before it). Throws `bad_turns`. */
function parseTurnSelection(text: string, turnCount: number): TurnSelection {
  const match = /^(-?\d+)?(\.\.)?(-?\d+)?$/.exec(text.trim());
  const last = Math.max(0, turnCount - 1);
  if (match === null || text.trim() === "" || (match[2] === undefined && match[3] !== undefined))
    throw badTurns(text, last);
  const position = (word: string | undefined, otherwise: number): number =>
    word === undefined ? otherwise : Number(word) < 0 ? last + Number(word) : Number(word);
  const from = position(match[1], 0);
  const to = match[2] === undefined ? from : position(match[3], last);
  if (from > to || from < 0 || to > last) throw badTurns(text, last);
  return { from, to };
}

function touches({ origin }: ProjectedTurn, { from, to }: TurnSelection): boolean {
  return origin.kind === "kept" ? from <= origin.turn && origin.turn <= to : origin.from <= to && from <= origin.to;
}

function badTurns(text: string, last: number): Error {
  return userError(
    "bad_turns",
    `--turn ${text} does not fit this conversation: expected A or A..B, within 0..${last}.`,
    { hints: ["`--turn 3..5`, `--turn 7`, `--turn -2..`"] },
  );
}
