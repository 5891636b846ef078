// `/compact`: the history before the newest messages becomes a summary; `undo` takes the newest compaction back, `--preview`
// shows what would be done.
import { loadView } from "../../app/branch/load-view.ts";
import { compactHistory, type HistoryOutcome } from "../../app/compact/compact-history.ts";
import { undoCompaction } from "../../app/manage/revert.ts";
import { chatSummaryModel } from "../../app/query/chat-model.ts";
import { KEEP_RECENT, LEAST_MESSAGES } from "../../core/plan/keep-messages.ts";
import { forTerminal } from "../../core/safe-text.ts";
import { renderCompacted } from "../../core/tokens/compacted-notice.ts";
import { countMessages } from "../../core/tokens/message-count.ts";
import type { Style } from "../frame/style.ts";
import { renderCount } from "../render/render-quantity.ts";
import { renderRevert } from "../render/render-revert.ts";
import { renderTimeline } from "../render/render-timeline.ts";
import { type ChatChange, type SlashCommand, type SlashContext, wrongWords } from "./slash-command.ts";

/** What the words of `/compact` ask for. */
export type CompactWords = { readonly kind: "undo" } | { readonly kind: "compact" | "preview"; readonly keep: number };

/** Reads the words; null when they make no sense. */
export function parseCompactWords(words: readonly string[]): CompactWords | null {
  if (words.length === 1 && words[0] === "undo") return { kind: "undo" };
  const rest = words.filter((word) => word !== "--preview");
  const [keep = String(KEEP_RECENT), ...more] = rest;
  if (more.length > 0 || words.length - rest.length > 1 || !/^\d{1,9}$/.test(keep)) return null;
  return { kind: rest.length === words.length ? "compact" : "preview", keep: Number(keep) };
}

export const compactCommand: SlashCommand = {
  name: "compact",
  aliases: ["summarize", "compress"],
  forms: [
    { usage: "[N]", explains: `summarise old messages, keeping N recent ones (default ${KEEP_RECENT})` },
    { usage: "--preview [N]", explains: "show what would go, without doing it" },
    { usage: "undo", explains: "take the newest compaction back" },
  ],
  complete: async (words) => (words.length === 0 ? ["undo", "--preview"] : []),
  run: async (words, context) => {
    const asked = parseCompactWords(words);
    if (asked === null)
      throw wrongWords(
        compactCommand,
        `expected how many recent messages stay, a whole number, 0 or more; got ${words.join(" ")}`,
      );
    if (asked.kind === "undo") return undoNewest(context);
    return compactChat(context, asked);
  },
};

/** Compacts as `/compact` does and says what came of it. Ctrl-C stops it; nothing is committed then. */
export async function compactChat(
  context: SlashContext,
  asked: { readonly kind: "compact" | "preview"; readonly keep: number },
): Promise<ChatChange> {
  const { workspace, terminal, output, state, tools } = context;
  const { style } = output;
  const tree = await context.loadTree();
  const model = await chatSummaryModel(workspace, tree, state.model);
  const preview = asked.kind === "preview";
  const outcome = await terminal.interruptible((signal) =>
    compactHistory(workspace, tree, {
      keep: asked.keep,
      model,
      preview,
      tools,
      signal,
      progress: (text) => terminal.write(`${style.faint(forTerminal(text))}\n`),
    }),
  );
  if (outcome.kind === "planned" || outcome.kind === "compacted")
    terminal.write(`${renderTimelineOf(outcome, context)}\n`);
  terminal.write(`${renderOutcome(outcome, style)}\n`);
  if (outcome.kind !== "compacted") return {};
  // Messages are counted anew from here.
  return { branch: outcome.report.branch, offers: { ...state.offers, offeredAt: null }, settingsKept: true };
}

function renderTimelineOf(
  outcome: Extract<HistoryOutcome, { readonly report: unknown }>,
  { output, terminal }: SlashContext,
): string {
  if (outcome.kind === "compacted") return renderCompacted(outcome.report.tokens);
  return renderTimeline(outcome.report, { style: output.style, width: terminal.columns() });
}

/** Renders what came of it in a line. */
export function renderOutcome(outcome: HistoryOutcome, style: Style): string {
  switch (outcome.kind) {
    case "too_short":
      return `Conversation too short to compact (< ${LEAST_MESSAGES} messages)`;
    case "nothing":
      return `Nothing to compact: ${forTerminal(outcome.reason)}`;
    case "planned":
      return style.faint(`Would compact ${renderCount(outcome.messages, "message")} into a summary; /compact does it.`);
    case "compacted":
      return `Compacted ${renderCount(outcome.messages, "message")} into summary`;
  }
}

async function undoNewest({ workspace, terminal, output, state, loadTree }: SlashContext): Promise<ChatChange> {
  const tree = await loadTree();
  const report = await undoCompaction(workspace, tree);
  terminal.write(`${renderRevert(report, { style: output.style, width: terminal.columns() })}\n`);
  for (const warning of report.warnings ?? []) output.warn(warning);
  // Whoever takes a compaction back has just decided: the offer waits for ten more messages.
  const { messages } = countMessages((await loadView(workspace.store, await loadTree())).view);
  return { offers: { ...state.offers, offeredAt: messages } };
}
