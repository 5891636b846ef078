// The chat: status, prompt, message, answer, until the user leaves. What goes wrong with one message is said, and the chat
// goes on; every turn is on its branch when it ends, so leaving loses nothing.

import type { Runtime } from "../../app/conversation/runtime.ts";
import { type BranchTree, loadTip } from "../../app/conversation/tree.ts";
import { loadTurns } from "../../app/conversation/view.ts";
import { type Workspace, withoutOverrides } from "../../app/conversation/workspace.ts";
import { editText } from "../../app/models/external-process.ts";
import type { ToolBox } from "../../app/models/tool-box.ts";
import { type ChatStatus, emptyStatus, loadChatStatus } from "../../app/talk/chat-model.ts";
import { requestContent } from "../../app/talk/request-content.ts";
import { offersCompaction } from "../../core/compact/automatic.ts";
import { KEEP_RECENT } from "../../core/compact/compaction-request.ts";
import type { Content } from "../../core/conversation/event.ts";
import { JpgError, repositoryError, userError } from "../../core/errors.ts";
import { safe } from "../../core/safe-text.ts";
import type { Output } from "../frame/output.ts";
import { fromSystemError } from "../frame/system-error.ts";
import type { AnswerLook } from "../render/answer-printer.ts";
import { type Answering, answerMessage, toolsOffered } from "./answer.ts";
import type { ChatTerminal } from "./chat-terminal.ts";
import { compactFailure } from "./compact-failure.ts";
import { completeLine } from "./complete-line.ts";
import { renderOffer } from "./render-box.ts";
import { renderExchange } from "./render-exchange.ts";
import { renderNearlyFull, renderStatus } from "./render-status.ts";
import {
  type ChatChange,
  type ChatState,
  findSlashCommand,
  parseSlashLine,
  type SlashContext,
} from "./slash-command.ts";
import { SLASH_COMMANDS } from "./slash-commands.ts";
import { compactChat } from "./slash-compact.ts";

/** What a chat is made of. */
export interface ChatParts {
  readonly workspace: Workspace;
  readonly runtime: Runtime;
  readonly output: Output;
  readonly terminal: ChatTerminal;
  readonly look: AnswerLook;
  /** Tools of MCP servers, with their problems said; null = the model gets no tools. */
  readonly servers: ToolBox | null;
}

/** Talks until the user leaves. Throws only when the conversation itself cannot be read. */
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

/** Shows what was said last, for whoever comes back. */
async function showLastExchange({ workspace, terminal, look, loadTree }: SlashContext): Promise<void> {
  const tree = await loadTree();
  const last = tree.turnOids.length - 1;
  if (last < 0) return;
  const events = (await loadTurns(workspace.store, tree, [last])).get(last)?.events ?? [];
  const exchange = renderExchange(events, look, terminal.columns());
  if (exchange !== null) terminal.write(safe`\n${exchange}\n`);
}

/** Reads what is not empty; null when the user leaves. */
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

/** What a line is run with. */
interface LineWorld {
  readonly parts: ChatParts;
  readonly context: SlashContext;
  /** As shown before the line was typed. */
  readonly status: ChatStatus;
  readonly answering: Answering;
}

/** Does what a line says: a slash command, or a message with its answer. */
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
  return sendMessage(content, { parts, state: context.state, answering }, offered);
}

/** Sends a message where `change` has led, and gives both changes. */
async function sendMessage(
  content: Content,
  { parts, state, answering }: Pick<LineWorld, "parts" | "answering"> & { readonly state: ChatState },
  change: ChatChange,
): Promise<ChatChange> {
  const now = createContext(parts, { ...state, ...change });
  try {
    const { branch, turn, interrupted } = await answerMessage(now, content, answering);
    if (turn === null) return { ...change, unanswered: content };
    // An interrupted turn is kept without the settings: they go with the next one.
    return { ...change, branch, unanswered: null, settingsKept: now.state.settingsKept || !interrupted };
  } catch (thrown) {
    parts.output.error(fromSystemError(thrown));
    const kept = keptOn(thrown);
    return { ...change, ...kept, unanswered: kept.branch === undefined ? content : null };
  }
}

/** The branch on which what came of a broken answer was kept: a new conversation, or a fork, perhaps. */
function keptOn(thrown: unknown): Pick<ChatChange, "branch"> {
  const branch = thrown instanceof JpgError ? thrown.data["branch"] : undefined;
  return typeof branch === "string" ? { branch } : {};
}

/** What came of an offer; `unsent` = Ctrl-C: the message is not sent either. */
type Offered = ChatChange & { readonly unsent?: true };

/** Offers to compact when the view, with the message that was just typed, is long enough. */
async function offerCompaction(context: SlashContext, status: ChatStatus): Promise<Offered> {
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
  // In force all the same, but not stored once more.
  const current = state.settingsKept ? withoutOverrides(workspace) : workspace;
  return { ...parts, workspace: current, state, tools: toolsOffered(servers, state.model), loadTree };
}

/** Does something; what goes wrong is said, and null is given. */
async function attempt<Result>(output: Output, work: () => Promise<Result>): Promise<Result | null> {
  try {
    return await work();
  } catch (thrown) {
    output.error(fromSystemError(thrown));
    return null;
  }
}
