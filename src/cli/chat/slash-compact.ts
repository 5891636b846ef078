// `/compact`: the history before the newest messages becomes a summary, or loses reasoning and tool calls; `undo` takes the
// newest compaction back, `--preview` shows what would be done.

import { compactHistory, type HistoryOutcome } from "../../app/compact/history.ts";
import { loadView } from "../../app/conversation/view.ts";
import { undoCompaction } from "../../app/manage/revert.ts";
import { type ChatSummaryModel, chatSummaryModel } from "../../app/talk/chat-model.ts";
import { KEEP_RECENT, LEAST_MESSAGES } from "../../core/compact/compaction-request.ts";
import { renderCompacted } from "../../core/conversation/token-estimate.ts";
import { defined } from "../../core/json.ts";
import { countMessages } from "../../core/model/token-meter.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { createAnswerPrinter } from "../render/answer-printer.ts";
import { renderNothing } from "../render/render-nothing.ts";
import { renderCount } from "../render/render-quantity.ts";
import { renderRevert } from "../render/render-revert.ts";
import { renderTimeline } from "../render/render-timeline.ts";
import { chatHints, compactFailure } from "./compact-failure.ts";
import { type CompactAsk, parseCompactWords } from "./compact-words.ts";
import { type ChatChange, type SlashCommand, type SlashContext, wrongWords } from "./slash-command.ts";

export const compactCommand: SlashCommand = {
  name: "compact",
  aliases: ["summarize", "compress"],
  forms: [
    { usage: "[N]", explains: `summarise old messages, keeping N recent ones (default ${KEEP_RECENT})` },
    { usage: "strip [N]", explains: "strip reasoning and tool calls from old messages, without asking a model" },
    { usage: "--preview [N]", explains: "show what would be removed, without doing it" },
    { usage: "--model NAME", explains: "let another model write the summary" },
    { usage: "undo", explains: "undo the newest compaction" },
  ],
  complete: async (words) => (words.length === 0 ? ["undo", "strip", "--preview", "--model"] : []),
  run: async (words, context) => {
    const asked = parseCompactWords(words);
    if (asked === null)
      throw wrongWords(
        compactCommand,
        `expected how many recent messages stay, a whole number, 0 or more; got ${words.join(" ")}`,
      );
    try {
      return await (asked.kind === "undo" ? undoNewest(context) : compactChat(context, asked));
    } catch (thrown) {
      throw compactFailure(thrown);
    }
  },
};

/** Compacts as `/compact` does and says what came of it. Ctrl-C stops it; nothing is committed then. */
export async function compactChat(context: SlashContext, asked: CompactAsk, anyway = false): Promise<ChatChange> {
  const { terminal, output, state } = context;
  const outcome = await runCompaction(context, asked, anyway);
  terminal.write(safe`${renderOutcome(outcome, { style: output.style, width: terminal.columns() })}\n`);
  if (outcome.kind === "too_short") {
    const next = asked.kind === "preview" ? asked : await askAnyway(context, asked, outcome);
    return next === null ? {} : compactChat(context, next, true);
  }
  if (outcome.kind === "nothing" || outcome.kind === "planned") return {};
  for (const warning of outcome.report.warnings) output.warn(forTerminal(warning));
  terminal.write(safe`${output.style.faint(safe`/diff shows what the model reads now; /compact undo undoes it`)}\n`);
  const { branch, activated } = outcome.report;
  if (activated !== undefined) terminal.write(safe`Forked to ${forTerminalLine(branch)}, now active\n`);
  // Messages are counted anew from here.
  return { branch: outcome.report.branch, offers: { ...state.offers, offeredAt: null }, settingsKept: true };
}

async function runCompaction(context: SlashContext, asked: CompactAsk, anyway: boolean): Promise<HistoryOutcome> {
  const { workspace, terminal, output, look, state, tools } = context;
  const { style } = output;
  const tree = await context.loadTree();
  const { as, keep } = asked;
  const chosen =
    asked.model !== undefined || as === "strip" ? null : await chatSummaryModel(workspace, tree, state.model);
  const model = asked.model ?? chosen?.name;
  const printer = createAnswerPrinter(terminal, look);
  const outcome = await terminal.interruptible((signal) => {
    signal.addEventListener("abort", printer.end);
    if (chosen?.isChats === true) printer.line(style.faint(tellChatsModel(chosen)));
    if (as === "summary" && asked.kind === "compact") printer.waitFor("writing the summary");
    return compactHistory(workspace, tree, {
      as,
      preview: asked.kind === "preview",
      tools,
      signal,
      progress: (text) => printer.line(style.faint(forTerminal(text))),
      ...defined({ keep, model }),
      ...(anyway ? { anyway } : {}),
    }).finally(printer.close);
  });
  if (outcome.kind === "compacted" || outcome.kind === "stripped")
    terminal.write(safe`${renderCompacted(outcome.report.tokens)}\n`);
  if (outcome.kind === "planned")
    terminal.write(safe`${renderTimeline(outcome.report, { style, width: terminal.columns() })}\n`);
  return outcome;
}

/** Said because nobody named who writes summaries. */
function tellChatsModel({ name }: ChatSummaryModel): SafeText {
  return safe`The summary is by ${forTerminalLine(name)}, the model of this chat; --model NAME has another write it.`;
}

/** Asks whether a short conversation is to be compacted all the same, and how; null when not. */
async function askAnyway(
  { terminal }: SlashContext,
  asked: CompactAsk,
  { messages, keep }: { readonly messages: number; readonly keep: number },
): Promise<CompactAsk | null> {
  const kept = asked.keep ?? keep;
  terminal.write(
    joinLines([
      safe`It has ${renderCount(messages, "message")}. Compact anyway?`,
      safe`[Y] Yes, a summary, keeping the last ${kept}`,
      safe`[S] Strip reasoning and tool calls`,
      safe`[N] No`,
      "",
    ]),
  );
  const key = await terminal.readKey(["y", "s", "n"]);
  if (key === "y") return asked;
  return key === "s" ? { kind: asked.kind, as: "strip", ...defined({ keep: asked.keep }) } : null;
}

/** Renders what came of it in a line. */
export function renderOutcome(outcome: HistoryOutcome, { style, width }: Rendering): SafeText {
  switch (outcome.kind) {
    case "too_short":
      return safe`Conversation too short to compact (< ${LEAST_MESSAGES} messages)`;
    case "nothing":
      return renderNothing({ ...outcome, hints: chatHints(outcome.hints ?? []) }, style, width);
    case "planned":
      return style.faint(
        safe`Would compact ${renderCount(outcome.messages, "message")}; without --preview it is done.`,
      );
    case "stripped":
      return safe`Stripped reasoning and tool calls from old messages`;
    case "compacted":
      return safe`Compacted ${renderCount(outcome.messages, "message")} into summary`;
  }
}

async function undoNewest({ workspace, terminal, output, state, loadTree }: SlashContext): Promise<ChatChange> {
  const tree = await loadTree();
  const report = await undoCompaction(workspace, tree);
  terminal.write(safe`${renderRevert(report, { style: output.style, width: terminal.columns() })}\n`);
  for (const warning of report.warnings ?? []) output.warn(forTerminal(warning));
  // Whoever takes a compaction back has just decided: the offer waits for ten more messages.
  const { messages } = countMessages((await loadView(workspace.store, await loadTree())).view);
  return { offers: { ...state.offers, offeredAt: messages } };
}
