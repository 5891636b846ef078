import { loadConversationConfig } from "../../app/conversation/marks.ts";
import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { forkConversation } from "../../app/manage/fork.ts";
import type { ToolBox } from "../../app/models/tool-box.ts";
import { resolveWhole } from "../../app/names/resolve-id.ts";
import { keepTypedMessage, openChatModel, readTypedMessages } from "../../app/talk/chat-model.ts";
import { openServers } from "../../app/talk/own-tools.ts";
import { NO_OFFERS } from "../../core/compact/automatic.ts";
import { JpgError, messageOf, userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, joinLines, safe } from "../../core/safe-text.ts";
import { createHistory, hasTerminal, type MessageHistory, openProcessTerminal } from "../chat/chat-terminal.ts";
import { runChat } from "../chat/run-chat.ts";
import { createAssumptionVoice } from "../frame/ask.ts";
import { type CommandContext, type CommandSpec, flag, text } from "../frame/command.ts";
import { isAsciiOnly } from "../frame/screen.ts";
import { unpainted } from "../frame/terminal.ts";
import { wrapSpans } from "../render/markdown-blocks.ts";

export const command: CommandSpec = {
  name: "chat",
  summary: "talk to a model in a conversation",
  description:
    "Continues a conversation, or starts one, message by message; each turn is committed when it ends. Works with imported conversations too, and with any model. Slash commands compact, fork, revert and more; /help lists them. Needs a terminal; use `jpg query` without one.",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [
    { flags: "--new", description: "start a new conversation", conflicts: ["fork"] },
    { flags: "--fork", description: "continue on a new fork, which becomes active" },
    { flags: "-m, --model <name>", description: "model that answers, as provider/model" },
    { flags: "--no-tools", description: "start no MCP servers and offer the model no tools" },
    { flags: "--no-markdown", description: "print answers as the model writes them" },
  ],
  examples: [
    { command: "jpg chat", explains: "continue the active conversation" },
    { command: "jpg chat --new -m anthropic/claude-haiku", explains: "begin one" },
    { command: "jpg chat fix-parser-k3f9 --fork", explains: "try something else from here" },
  ],
  run: async (context) => {
    checkCall(context);
    const { options, output, runtime } = context;
    const workspace = await context.open({ create: true });
    const found = flag(options, "new") ? null : await resolveOrNone(workspace, context.args[0]);
    const named = text(options, "model");
    const model = await openChatModel(workspace, { tree: found, named, voice: createAssumptionVoice(output) });
    // Only once the model is known to answer.
    const tree = flag(options, "fork") ? await forkOf(workspace, found) : found;
    const servers = options["tools"] === false ? null : await startServers(workspace, tree, context);
    try {
      const plain = runtime.env["TERM"] === "dumb";
      const terminal = openProcessTerminal(output, { history: await openHistory(context), plain });
      const { style } = output;
      const look = { style, ascii: isAsciiOnly(runtime.env), markdown: options["markdown"] !== false && !plain };
      const where = tree === null ? safe`a new conversation` : forTerminalLine(tree.branch);
      try {
        const heading = [
          { text: where, paint: style.heading },
          { text: safe` · ${forTerminalLine(model.name)} · `, paint: unpainted },
          { text: safe`/help lists the commands`, paint: style.faint },
        ];
        terminal.write(safe`${joinLines(wrapSpans(heading, terminal.columns() - 1))}\n`);
        await runChat(
          { workspace, runtime, output, terminal, look, servers },
          {
            branch: tree?.branch ?? null,
            model,
            isNamed: named !== undefined,
            offers: NO_OFFERS,
            draft: "",
            unanswered: null,
            settingsKept: false,
          },
        );
      } finally {
        terminal.close();
      }
    } finally {
      await servers?.close();
    }
    return 0;
  },
};

/** Opens the history of chat messages. If it cannot be stored, warns once and continues. */
async function openHistory({ runtime, output }: CommandContext): Promise<MessageHistory> {
  let isSaid = false;
  const warn = (error: unknown): void => {
    if (!isSaid) output.warn(safe`what you type could not be saved for later chats: ${forTerminal(messageOf(error))}`);
    isSaid = true;
  };
  const earlier = await readTypedMessages(runtime).catch((error: unknown) => {
    warn(error);
    return [];
  });
  let kept = Promise.resolve();
  return createHistory(earlier, (text) => {
    kept = kept.then(() => keepTypedMessage(runtime, text)).catch(warn);
  });
}

/** Throws `needs_terminal`, and `usage` for contradictory options. */
function checkCall({ args, options, json }: CommandContext): void {
  if (json)
    throw userError("usage", "jpg chat has no JSON form.", {
      hints: ["`jpg query --json` asks and prints a document."],
    });
  if (flag(options, "new") && args.length > 0)
    throw userError("contradictory_flags", "--new starts a new conversation, so it cannot be used with an ID.", {
      hints: ["`jpg chat ID --fork` continues a conversation on a new fork."],
    });
  if (!hasTerminal())
    throw userError("needs_terminal", "jpg chat needs a terminal, but standard input or output is not one.", {
      hints: ["`jpg query TEXT` asks without one, and `jpg query -` takes the text from standard input."],
    });
}

async function forkOf(workspace: Workspace, tree: BranchTree | null): Promise<BranchTree> {
  if (tree === null)
    throw userError("no_conversation", "There is no conversation to fork yet.", {
      hints: ["`jpg chat` starts one; `jpg import` imports sessions."],
    });
  const { branch } = await forkConversation(workspace, tree, { activate: true });
  return resolveWhole(workspace, branch);
}

/** Returns the conversation to continue; null = none yet, so the chat begins one. */
async function resolveOrNone(workspace: Workspace, id: string | undefined): Promise<BranchTree | null> {
  try {
    return await resolveWhole(workspace, id);
  } catch (error) {
    if (id === undefined && error instanceof JpgError && error.code === "no_conversation") return null;
    throw error;
  }
}

async function startServers(
  workspace: Workspace,
  tree: BranchTree | null,
  { output }: CommandContext,
): Promise<ToolBox> {
  const { config } = await (tree === null ? workspace.config() : loadConversationConfig(workspace, tree));
  const box = await openServers(workspace, config);
  for (const problem of box.problems) output.warn(forTerminal(problem));
  return box;
}
