// The chat: status, prompt, message, answer, until the user leaves. If a message fails, the chat prints the error and continues;
// every turn is committed when it ends, so leaving loses nothing.
import { lexer } from "marked";
import type { Runtime } from "../../app/conversation/runtime.ts";
import { type BranchTree, loadTip } from "../../app/conversation/tree.ts";
import { loadTurns } from "../../app/conversation/view.ts";
import { type Workspace, withoutOverrides } from "../../app/conversation/workspace.ts";
import { editText } from "../../app/models/external-process.ts";
import type { Tool, ToolBox } from "../../app/models/tool-box.ts";
import { newConversation } from "../../app/names/conversations.ts";
import { type ChatStatus, emptyStatus, loadChatStatus } from "../../app/talk/chat-model.ts";
import { OWN_DEFINITIONS, withOwnTools } from "../../app/talk/own-tools.ts";
import { type QueryObserver, type QueryReport, query } from "../../app/talk/query.ts";
import { requestContent } from "../../app/talk/request-content.ts";
import type { ShownCall } from "../../app/talk/talk.ts";
import { offersCompaction } from "../../core/compact/automatic.ts";
import { KEEP_RECENT } from "../../core/compact/compaction-request.ts";
import { type Content, type Event, textOfContent, wordsOfContent } from "../../core/conversation/event.ts";
import { JpgError, repositoryError, userError } from "../../core/errors.ts";
import {
  forTerminal,
  forTerminalLine,
  joinLines,
  joinSafe,
  linesForTerminal,
  type SafeText,
  safe,
} from "../../core/safe-text.ts";
import type { Output } from "../frame/output.ts";
import { fromSystemError } from "../frame/render-error.ts";
import { type Style, unpainted } from "../frame/terminal.ts";
import {
  type AnswerLook,
  type AnswerPrinter,
  createAnswerPrinter,
  observeWaiting,
  renderCall,
  renderResult,
} from "../render/answer.ts";
import { tidyPiece } from "../render/markdown.ts";
import { renderBlocks, wrapSpans } from "../render/markdown-blocks.ts";
import { renderCount } from "../render/quantity.ts";
import type { ChatTerminal } from "./chat-terminal.ts";
import {
  type ChatChange,
  type ChatState,
  completeLine,
  findSlashCommand,
  parseSlashLine,
  type SlashContext,
} from "./slash-command.ts";
import { SLASH_COMMANDS } from "./slash-commands.ts";
import { compactChat, compactFailure, renderOffer } from "./slash-compact.ts";

interface ChatParts {
  readonly workspace: Workspace;
  readonly runtime: Runtime;
  readonly output: Output;
  readonly terminal: ChatTerminal;
  readonly look: AnswerLook;
  /** Tools of MCP servers, whose problems are already printed; null = the model gets no tools. */
  readonly servers: ToolBox | null;
}

/** Runs the chat until the user leaves. Throws only if the conversation itself cannot be read. */
export async function runChat(parts: ChatParts, begin: ChatState): Promise<void> {
  const { output, servers } = parts;
  const answering: Answering = { servers, allowed: new Set() };
  let state: ChatState = begin;
  let wasNearlyFull = false;
  if (begin.branch !== null) await showLastExchange(createContext(parts, begin));
  for (;;) {
    const context = createContext(parts, state);
    const status = await readStatus(context);
    if (status.isNearlyFull && !wasNearlyFull && !status.compactsItself) output.warn(renderNearlyFull(status));
    wasNearlyFull = status.isNearlyFull;
    const line = await readLine(context, status);
    if (line === null) return;
    state = { ...state, draft: "" };
    const { leave, ...change } =
      (await attempt(output, () => runLine(line, { parts, context, status, answering }))) ?? {};
    if (leave === true) return;
    state = { ...state, ...change };
  }
}

/** Shows the last exchange of a continued conversation. */
async function showLastExchange({ workspace, terminal, look, loadTree }: SlashContext): Promise<void> {
  const tree = await loadTree();
  const last = tree.turnOids.length - 1;
  if (last < 0) return;
  const events = (await loadTurns(workspace.store, tree, [last])).get(last)?.events ?? [];
  const exchange = renderExchange(events, look, terminal.columns());
  if (exchange !== null) terminal.write(safe`\n${exchange}\n`);
}

/** Reads a line that is not empty; null if the user leaves. */
async function readLine(context: SlashContext, status: ChatStatus): Promise<string | null> {
  const { terminal, output } = context;
  for (;;) {
    terminal.write(safe`\n${renderStatus(status, output.style)}\n`);
    const prompt = safe`${output.style.heading(safe`>`)} `;
    const line = await terminal.readMessage(prompt, {
      text: context.state.draft,
      complete: (typed) => completeLine(typed, SLASH_COMMANDS, context),
      external: (text) => attempt(output, () => terminal.lend(() => editText(text, context.runtime))),
    });
    if (line === null || line.trim() !== "") return line;
  }
}

interface LineWorld {
  readonly parts: ChatParts;
  readonly context: SlashContext;
  /** As shown before the line was typed. */
  readonly status: ChatStatus;
  readonly answering: Answering;
}

/** Runs a line: a slash command, or a message with its answer. */
async function runLine(line: string, { parts, context, status, answering }: LineWorld): Promise<ChatChange> {
  const slash = parseSlashLine(line);
  if (slash !== null) {
    const { ask, ...change } = await findSlashCommand(SLASH_COMMANDS, slash.name).run(slash.words, context);
    return ask === undefined ? change : sendMessage(ask, { parts, state: context.state, answering }, change);
  }
  const text = line.startsWith("//") ? line.slice(1) : line;
  const content = await requestContent(context.runtime.cwd, { text, files: [], stdin: null });
  const { unsent, ...offered } = await offerCompaction(context, status);
  if (unsent === true) {
    context.terminal.write(safe`Nothing was sent; your message is back in the line.\n`);
    return { ...offered, draft: line };
  }
  return sendMessage(content, { parts, state: context.state, answering, line }, offered);
}

/** Sends a message in the state after `change`, and returns both changes together. */
async function sendMessage(
  content: Content,
  {
    parts,
    state,
    answering,
    line = "",
  }: Pick<LineWorld, "parts" | "answering"> & { readonly state: ChatState; readonly line?: string },
  change: ChatChange,
): Promise<ChatChange> {
  const now = createContext(parts, { ...state, ...change });
  try {
    const { branch, turn, interrupted } = await answerMessage(now, content, answering);
    // It was interrupted before anything came: the message is back in the line, to be changed.
    if (turn === null) return { ...change, unanswered: content, draft: line };
    // An interrupted turn is kept without the settings: the next one stores them.
    return { ...change, branch, unanswered: null, settingsKept: now.state.settingsKept || !interrupted };
  } catch (thrown) {
    parts.output.error(fromSystemError(thrown));
    const kept = branchKeptOn(thrown);
    return { ...change, ...kept, unanswered: kept.branch === undefined ? content : null };
  }
}

/** Returns the branch on which a broken answer was kept, which may be a new conversation or a fork. */
function branchKeptOn(thrown: unknown): Pick<ChatChange, "branch"> {
  const branch = thrown instanceof JpgError ? thrown.data["branch"] : undefined;
  return typeof branch === "string" ? { branch } : {};
}

/** The outcome of an offer; `unsent` = Ctrl-C: the message is not sent either. */
type OfferOutcome = ChatChange & { readonly unsent?: true };

/** Offers to compact when the view, with the message that was just typed, is long enough. */
async function offerCompaction(context: SlashContext, status: ChatStatus): Promise<OfferOutcome> {
  const { terminal, output, look, state } = context;
  const messages = status.messages + 1;
  const sinceCompaction = status.sinceCompaction === null ? null : status.sinceCompaction + 1;
  if (!offersCompaction(state.offers, { messages, sinceCompaction })) return {};
  const box = renderOffer(messages, KEEP_RECENT, { width: terminal.columns(), ascii: look.ascii });
  terminal.write(safe`${box}\n`);
  const key = await terminal.readKey(["y", "n", "v"]);
  const offers = { disabled: key === "v", offeredAt: messages };
  if (key === "interrupt") return { offers, unsent: true };
  if (key !== "y") return { offers };
  const asked = { kind: "compact", as: "summary", keep: KEEP_RECENT } as const;
  const compacted = await attempt(output, () =>
    compactChat(context, asked).catch((thrown: unknown) => {
      throw compactFailure(thrown);
    }),
  );
  return { offers, ...compacted };
}

async function readStatus({ workspace, state, tools, loadTree }: SlashContext): Promise<ChatStatus> {
  return state.branch === null
    ? emptyStatus(state.model.facts.contextWindow)
    : loadChatStatus(workspace, await loadTree(), { model: state.model, tools });
}

function createContext(parts: ChatParts, state: ChatState): SlashContext {
  const { workspace, servers } = parts;
  const loadTree = async (): Promise<BranchTree> => {
    const { branch } = state;
    if (branch === null)
      throw userError("no_turn_yet", "This conversation is still empty.", {
        hints: ["Type a message; `jpg chat ID` continues an existing conversation."],
      });
    const tree = await loadTip(workspace.store, branch);
    if (tree !== null) return tree;
    throw repositoryError("branch_gone", `${branch} is no longer a branch in the store.`, {
      hints: ["Another program has removed it; `jpg ls` lists what is there."],
    });
  };
  // These settings still apply, but are not stored again.
  const current = state.settingsKept ? withoutOverrides(workspace) : workspace;
  return { ...parts, workspace: current, state, tools: toolsOffered(servers), loadTree };
}

/** Runs `work`; prints an error and returns null if it fails. */
async function attempt<Result>(output: Output, work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work();
  } catch (thrown) {
    output.error(fromSystemError(thrown));
    return null;
  }
}

interface Answering {
  /** Tools of MCP servers; null = the model gets no tools, jpg's own neither. */
  readonly servers: ToolBox | null;
  /** Tools that the user allowed for the rest of this chat; added to. */
  readonly allowed: Set<string>;
}

/** Sends a message and prints the answer. Throws what `query` throws; text that came before is printed and kept. */
async function answerMessage(
  context: SlashContext,
  content: Content,
  { servers, allowed }: Answering,
): Promise<QueryReport> {
  const { workspace, terminal, output, state } = context;
  const { branch, root } =
    state.branch === null
      ? await newConversation(workspace, wordsOfContent(content))
      : { branch: state.branch, root: undefined };
  const printer = createAnswerPrinter(terminal, context.look);
  try {
    return await terminal.interruptible((signal) => {
      signal.addEventListener("abort", printer.end);
      const request = {
        content,
        opened: state.model,
        signal,
        ...(state.isNamed ? { model: state.model.name } : {}),
        root,
        ...(servers === null ? {} : { tools: toolsFor(servers, workspace, { branch, state }) }),
      };
      return query(workspace, branch, request, observe(printer, { terminal, output, allowed }));
    });
  } finally {
    printer.close();
  }
}

/** Lists the tools that each message offers: jpg's own, then those of the servers. */
function toolsOffered(servers: ToolBox | null): readonly Tool["definition"][] {
  if (servers === null) return [];
  return [...OWN_DEFINITIONS, ...servers.tools.map(({ definition }) => definition)];
}

/** Adds jpg's own tools, which belong to a branch: the chat may have moved to another one. Problems of servers are already printed. */
function toolsFor(
  servers: ToolBox,
  workspace: Workspace,
  { branch, state }: { readonly branch: string; readonly state: ChatState },
): ToolBox {
  const { name, facts } = state.model;
  return { ...servers, tools: withOwnTools(workspace, branch, { name, facts, others: servers.tools }), problems: [] };
}

interface Observing {
  readonly terminal: ChatTerminal;
  readonly output: Output;
  readonly allowed: Set<string>;
}

function observe(printer: AnswerPrinter, { terminal, output, allowed }: Observing): QueryObserver {
  const { style } = output;
  return {
    delta: printer.delta,
    ...observeWaiting(printer, style),
    toolCall: (call) => {
      printer.line(renderCall(call.name, call.arguments, style));
      printer.waitFor(`running ${call.name}`);
    },
    toolResult: (result) => {
      printer.line(renderResult(result.name, result.text, { isError: result.isError, style }));
      printer.waitFor(null);
    },
    notice: (text) => printer.line(style.faint(forTerminal(text))),
    async confirm(call) {
      if (allowed.has(nameOf(call))) return true;
      printer.end();
      const answer = await askAboutCall(call, { terminal, output });
      if (answer.kind === "always") allowed.add(nameOf(call));
      if (answer.kind === "no") return answer.reason === "" ? false : { refused: answer.reason };
      printer.waitFor(`running ${call.name}`);
      return true;
    },
  };
}

/** Includes the server, as tools of two servers may have the same name. */
function nameOf({ origin, name }: ShownCall): string {
  return `${origin}/${name}`;
}

/** The user's answer about a call; `reason` is empty if none was given. */
type CallAnswer =
  | { readonly kind: "yes" }
  /** For the rest of the chat. */
  | { readonly kind: "always" }
  | { readonly kind: "no"; readonly reason: string };

interface Asking {
  readonly terminal: ChatTerminal;
  readonly output: Output;
}

/** Asks whether to run a call. Reads a whole line: a letter of a message being typed meanwhile must not allow it. */
async function askAboutCall(call: ShownCall, { terminal, output }: Asking): Promise<CallAnswer> {
  const shown = renderArguments(call.arguments, output.style);
  const show = async (): Promise<void> => {
    if (shown !== "") await terminal.lend(() => output.page(shown));
  };
  await show();
  terminal.write(
    safe`Run ${forTerminalLine(call.name)} of ${forTerminalLine(call.origin)}? [y]es, [n]o (a reason may follow), [a]lways in this chat, [v]iew\n`,
  );
  for (;;) {
    const line = await terminal.readAnswer("? ");
    if (line === null) return { kind: "no", reason: "" };
    const answer = parseCallAnswer(line);
    if (answer === "view") await show();
    else if (answer !== null) return answer;
  }
}

/** Parses an answer; null if it is none. */
function parseCallAnswer(line: string): CallAnswer | "view" | null {
  const [, word = "", rest = ""] = /^\s*([a-z]+)[,:.]?\s*(.*)$/is.exec(line) ?? [];
  const reason = rest.trim();
  const named = word.toLowerCase();
  if (named === "n" || named === "no") return { kind: "no", reason };
  if (reason !== "") return null;
  if (named === "y" || named === "yes") return { kind: "yes" };
  if (named === "a" || named === "always") return { kind: "always" };
  return named === "v" || named === "view" ? "view" : null;
}

/** Renders all arguments: one a line, texts of several lines as they are, marked at the margin. */
function renderArguments(args: unknown, style: Style): SafeText {
  if (typeof args !== "object" || args === null || Array.isArray(args)) return safe`  ${renderValue(args, style)}`;
  return joinLines(
    Object.entries(args).map(
      ([name, value]) => safe`  ${style.heading(safe`${forTerminalLine(name)}:`)} ${renderValue(value, style)}`,
    ),
  );
}

function renderValue(value: unknown, style: Style): SafeText {
  const text = typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
  if (!text.includes("\n")) return forTerminal(text);
  const mark = style.faint(safe`|`);
  return joinSafe(
    linesForTerminal(text).map((line) => safe`\n    ${mark} ${line}`),
    "",
  );
}

/** Lines shown of a request and of an answer. */
const REQUEST_LINES = 6;
const ANSWER_LINES = 20;
/** Characters of a text that are rendered for them, from its end. */
const LONGEST_READ = 32_768;

/** Renders the last request among events and the last text of its answer; null when nobody asked for anything. */
export function renderExchange(events: readonly Event[], look: AnswerLook, columns: number): SafeText | null {
  const request = endOf(requestOf(events));
  if (request === "") return null;
  const { style, markdown } = look;
  const width = Math.max(2, columns - 1);
  const asked = wrapSpans([{ text: request, paint: style.faint }], Math.max(2, width - 2));
  const text = endOf(answerOf(events));
  const answer = markdown
    ? renderBlocks(lexer(text), { ...look, width })
    : wrapSpans([{ text, paint: unpainted }], width);
  return joinLines([
    ...shortened(asked, REQUEST_LINES).map((line, at) => safe`${at === 0 ? style.faint(safe`>`) : " "} ${line}`),
    ...(text === "" ? [] : (["", ...shortened(answer, ANSWER_LINES)] as const)),
  ]);
}

function requestOf(events: readonly Event[]): string {
  const request = events.findLast(
    (event) => event.type === "chat_request" && (event.role === undefined || event.role === "user"),
  );
  return request?.type === "chat_request" ? wordsOfContent(request.content) : "";
}

function answerOf(events: readonly Event[]): string {
  const answer = events.findLast((event) => event.type === "chat_response" && event.message !== undefined);
  return answer?.type === "chat_response" ? textOfContent(answer.message ?? "") : "";
}

function endOf(text: string): SafeText {
  return tidyPiece(text.trim().slice(-LONGEST_READ));
}

/** Keeps the last lines, below a mark if there were more. */
function shortened(lines: readonly SafeText[], most: number): readonly SafeText[] {
  return lines.length <= most ? lines : [forTerminal("…"), ...lines.slice(1 - most)];
}

/** Renders the status, e.g. `[52 messages] [ctx: 72%]`, `[Summary + 15 messages]`; the second part only if the window is known. */
export function renderStatus(status: ChatStatus, style: Style): SafeText {
  const { messages, summaries, window, isNearlyFull } = status;
  const count = renderCount(messages, "message");
  const hidden = summaries === 0 ? "" : summaries === 1 ? "Summary + " : safe`${summaries} summaries + `;
  const shown = style.faint(safe`[${hidden}${count}]`);
  if (window === null) return shown;
  const fill = safe`[ctx: ${Math.round((status.tokens / window) * 100)}%]`;
  return safe`${shown} ${isNearlyFull ? style.caution(fill) : style.faint(fill)}`;
}

/** The warning printed once when the view nears the window. */
export function renderNearlyFull({ tokens, window }: ChatStatus): SafeText {
  const share = window === null ? "much" : safe`${Math.round((tokens / window) * 100)}%`;
  return safe`the conversation fills ${share} of the model's context; /compact makes room, /compact --preview shows what it would remove`;
}
