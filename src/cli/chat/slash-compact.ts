// `/compact`: replaces the history before the newest messages by a summary, or strips reasoning and tool calls from it; `undo` undoes
// the newest compaction, `--preview` shows what would be done.
import { compactHistory, type HistoryOutcome } from "../../app/compact/history.ts";
import { loadView } from "../../app/conversation/view.ts";
import { undoCompaction } from "../../app/manage/revert.ts";
import { type ChatSummaryModel, chatSummaryModel } from "../../app/talk/chat-model.ts";
import { KEEP_RECENT, LEAST_MESSAGES } from "../../core/compact/compaction-request.ts";
import { renderCompacted } from "../../core/conversation/token-estimate.ts";
import { JpgError } from "../../core/errors.ts";
import { countMessages } from "../../core/model/token-meter.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { displayWidth, fitWidth, type Rendering } from "../frame/terminal.ts";
import { createAnswerPrinter } from "../render/answer.ts";
import { renderNothing, renderTimeline } from "../render/compact.ts";
import { renderCount } from "../render/quantity.ts";
import { renderRevert } from "../render/sharing.ts";
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

/** Compacts as `/compact` does and prints the outcome. Ctrl-C stops it before anything is committed. */
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
  // The next offer counts messages from here.
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
    if (chosen?.isChatModel === true) printer.line(style.faint(noteChatModel(chosen)));
    if (as === "summary" && asked.kind === "compact") printer.waitFor("writing the summary");
    return compactHistory(workspace, tree, {
      as,
      preview: asked.kind === "preview",
      tools,
      signal,
      progress: (text) => printer.line(style.faint(forTerminal(text))),
      keep,
      model,
      ...(anyway ? { anyway } : {}),
    }).finally(printer.close);
  });
  if (outcome.kind === "compacted" || outcome.kind === "stripped")
    terminal.write(safe`${renderCompacted(outcome.report.tokens)}\n`);
  if (outcome.kind === "planned")
    terminal.write(safe`${renderTimeline(outcome.report, { style, width: terminal.columns() })}\n`);
  return outcome;
}

/** Printed if no model for summaries is configured. */
function noteChatModel({ name }: ChatSummaryModel): SafeText {
  return safe`This chat's model writes the summary: ${forTerminalLine(name)}. --model NAME names another one.`;
}

/** Asks whether and how to compact a short conversation anyway; null = no. */
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
  return key === "s" ? { kind: asked.kind, as: "strip", keep: asked.keep } : null;
}

/** Renders the outcome in a line. */
function renderOutcome(outcome: HistoryOutcome, { style, width }: Rendering): SafeText {
  switch (outcome.kind) {
    case "too_short":
      return safe`Conversation too short to compact (< ${LEAST_MESSAGES} messages)`;
    case "nothing":
      return renderNothing({ ...outcome, hints: chatHints(outcome.hints ?? []) }, style, width);
    case "planned":
      return style.faint(
        safe`Would compact ${renderCount(outcome.messages, "message")}; leave out --preview to do it.`,
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
  // The user has just undone a compaction: the next offer waits for ten more messages.
  const { messages } = countMessages((await loadView(workspace.store, await loadTree())).view);
  return { offers: { ...state.offers, offeredAt: messages } };
}

/** Matches options of the command line, and commands of jpg. */
const ELSEWHERE = /(?:^|[\s`])(?:--[a-z]|jpg [a-z])/;

const HERE = [
  "/compact --model NAME lets another model write the summary; /compact N leaves more or fewer messages alone",
  "/compact strip removes reasoning and tool calls without asking a model",
];

/** Replaces hints about `jpg compact` by one about `/compact`; keeps the others. */
function chatHints(hints: readonly string[]): readonly string[] {
  return [
    ...hints.filter((hint) => !hint.includes("jpg compact")),
    "/compact N keeps N messages, /compact strip N strips the others.",
  ];
}

/** Replaces an error's hints about the command line by those of the chat; returns anything but a JpgError unchanged. */
export function compactFailure(thrown: unknown): unknown {
  if (!(thrown instanceof JpgError) || thrown.code === "bad_slash_argument") return thrown;
  const { kind, code, message, data, cause, hints } = thrown;
  const kept = hints.filter((hint) => !ELSEWHERE.test(hint));
  const here = code === "nothing_to_undo" ? ["/log shows the compactions and what was reverted"] : HERE;
  return new JpgError(kind, code, message, { data, cause, hints: [...kept, ...(code === "no_turn_yet" ? [] : here)] });
}

type CompactWords = { readonly kind: "undo" } | CompactAsk;

interface CompactAsk {
  readonly kind: "compact" | "preview";
  /** What happens to old messages. */
  readonly as: "summary" | "strip";
  /** Newest messages to keep; absent = the default. */
  readonly keep?: number;
  /** Who writes the summary. */
  readonly model?: string;
}

/** Parses the words after `/compact`; returns null if they make no sense. */
function parseCompactWords(words: readonly string[]): CompactWords | null {
  if (words.length === 1 && words[0] === "undo") return { kind: "undo" };
  let ask: CompactAsk = { kind: "compact", as: "summary" };
  const seen = new Set<string>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? "";
    const read = word === "--model" ? readModel(words[++at]) : readWord(word);
    if (read === null || seen.has(read.what)) return null;
    seen.add(read.what);
    ask = { ...ask, ...read.asks };
  }
  return seen.has("model") && ask.as === "strip" ? null : ask;
}

interface ReadWord {
  readonly what: string;
  readonly asks: Partial<CompactAsk>;
}

function readWord(word: string): ReadWord | null {
  if (word === "--preview") return { what: word, asks: { kind: "preview" } };
  if (word === "strip") return { what: word, asks: { as: "strip" } };
  return /^\d{1,9}$/.test(word) ? { what: "keep", asks: { keep: Number(word) } } : null;
}

function readModel(name: string | undefined): ReadWord | null {
  return name === undefined ? null : { what: "model", asks: { model: name } };
}

// A box of text lines, as wide as its text but never wider than the terminal; in ASCII if the terminal cannot draw lines.

interface BoxRendering {
  /** Columns of the terminal. */
  readonly width: number;
  /** Without line-drawing characters and emoji. */
  readonly ascii: boolean;
}

/** Renders the offer to compact a conversation of so many messages, keeping so many. */
export function renderOffer(messages: number, keep: number, rendering: BoxRendering): SafeText {
  const mark = rendering.ascii ? "" : "📦 ";
  const paragraphs = [
    `${mark}Conversation History Compaction`,
    "",
    `Your conversation has ${messages} messages and may be affecting performance. Compact older messages while preserving the most recent context?`,
    "",
    `[Y] Yes, compact now (keep last ${keep})`,
    "[N] Not now",
    "[V] Never ask again this session",
    "",
    "Tip: Use /compact anytime to compact manually",
  ];
  return renderBox(paragraphs, rendering);
}

/** Widest text in a box, columns. */
const TEXT_WIDTH = 46;
/** A frame and a blank on either side. */
const FRAME = 4;

/** Renders paragraphs in a box; an empty one is an empty line. */
function renderBox(paragraphs: readonly string[], { width, ascii }: BoxRendering): SafeText {
  const columns = Math.max(1, Math.min(TEXT_WIDTH, width - FRAME));
  const [across, down, ...corners] = ascii ? ["-", "|", "+", "+", "+", "+"] : ["─", "│", "┌", "┐", "└", "┘"];
  const [topLeft, topRight, bottomLeft, bottomRight] = corners;
  const edge = (across ?? "").repeat(columns + 2);
  const lines = paragraphs.flatMap((paragraph) => wrap(paragraph, columns));
  const drawn = [
    `${topLeft}${edge}${topRight}`,
    ...lines.map((line) => `${down} ${line}${" ".repeat(columns - displayWidth(line))} ${down}`),
    `${bottomLeft}${edge}${bottomRight}`,
  ];
  return forTerminal(drawn.join("\n"));
}

/** Wraps a text at blanks; cuts longer words. */
function wrap(text: string, columns: number): readonly string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && displayWidth(longer) > columns) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].map((each) => fitWidth(forTerminalLine(each), columns));
}
