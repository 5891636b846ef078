// One message and its answer: streamed to the terminal while it is written to the conversation, tools asked about, Ctrl-C
// an interruption that keeps what came.

import type { Workspace } from "../../app/conversation/workspace.ts";
import type { OpenedModel } from "../../app/models/models.ts";
import type { Tool, ToolBox } from "../../app/models/tool-box.ts";
import { newConversation } from "../../app/names/conversations.ts";
import { OWN_DEFINITIONS, withOwnTools } from "../../app/talk/own-tools.ts";
import { type QueryObserver, type QueryReport, query } from "../../app/talk/query.ts";
import type { ShownCall } from "../../app/talk/talk.ts";
import { type Content, wordsOfContent } from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { forTerminal } from "../../core/safe-text.ts";
import type { Output } from "../frame/output.ts";
import { createAnswerPrinter } from "../render/answer-printer.ts";
import { type AnswerPrinter, observeWaiting, renderCall, renderResult } from "../render/stream-printer.ts";
import { askAboutCall } from "./ask-about-call.ts";
import type { ChatTerminal } from "./chat-terminal.ts";
import type { ChatState, SlashContext } from "./slash-command.ts";

/** What an answer needs beside the conversation. */
export interface Answering {
  /** Tools of MCP servers; null = the model gets no tools, jpg's own neither. */
  readonly servers: ToolBox | null;
  /** Tools that the user allowed for the rest of this chat; added to. */
  readonly allowed: Set<string>;
}

/** Sends a message and prints the answer. Throws what `query` throws; what came before is printed and kept then. */
export async function answerMessage(
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
        ...defined({ root }),
        ...(servers === null ? {} : { tools: boxFor(servers, workspace, { branch, state }) }),
      };
      return query(workspace, branch, request, observe(printer, { terminal, output, allowed }));
    });
  } finally {
    printer.close();
  }
}

/** What each message offers the model: jpg's own tools, then those of the servers. */
export function toolsOffered(servers: ToolBox | null, { client }: OpenedModel): readonly Tool["definition"][] {
  if (servers === null || client.takesTools === false) return [];
  return [...OWN_DEFINITIONS, ...servers.tools.map(({ definition }) => definition)];
}

/** Jpg's own tools are of a branch, and the chat may go on in another one. Problems of servers were said when it began. */
function boxFor(
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

/** A tool of another server may have the same name. */
function nameOf({ origin, name }: ShownCall): string {
  return `${origin}/${name}`;
}
