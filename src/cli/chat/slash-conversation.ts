// Slash commands about the conversation as a whole: `/new`, `/retry`, `/tokens`.
import { readStats } from "../../app/look/stats.ts";
import { forkConversation } from "../../app/manage/fork.ts";
import { loadChatStatus, loadLastRequest } from "../../app/talk/chat-model.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { userError } from "../../core/errors.ts";
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { renderStats } from "../render/render-stats.ts";
import { type ChatChange, type SlashCommand, type SlashContext, wrongWords } from "./slash-command.ts";

export const newCommand: SlashCommand = {
  name: "new",
  aliases: ["clear"],
  forms: [{ usage: "", explains: "start a new conversation; this one stays as it is" }],
  run: async (words, { terminal, state }) => {
    requireNoWords(newCommand, words);
    const back =
      state.branch === null ? "" : safe`; \`jpg chat ${forTerminalLine(state.branch)}\` continues the one before`;
    terminal.write(safe`Your next message starts a new conversation${back}\n`);
    return { branch: null, unanswered: null, offers: { ...state.offers, offeredAt: null } };
  },
};

export const retryCommand: SlashCommand = {
  name: "retry",
  aliases: [],
  forms: [{ usage: "", explains: "ask your last message again, on a fork; the first answer stays" }],
  run: async (words, context) => {
    requireNoWords(retryCommand, words);
    const { unanswered } = context.state;
    // Of a message that nobody answered nothing was kept.
    return unanswered === null ? askOnFork(context) : { ask: unanswered };
  },
};

async function askOnFork({ workspace, terminal, loadTree }: SlashContext): Promise<ChatChange> {
  const tree = await loadTree();
  const last = await loadLastRequest(workspace, tree);
  if (last === null)
    throw userError("nothing_to_retry", `The newest turn of ${tree.branch} has no message of yours.`, {
      hints: ["Type the message again."],
    });
  if (last.turn === 0) {
    terminal.write(safe`Asking again in a new conversation; ${forTerminalLine(tree.branch)} stays as it is\n`);
    return { branch: null, ask: last.content };
  }
  const { branch } = await forkConversation(workspace, tree, { first: last.turn, activate: true });
  terminal.write(safe`Asking again on ${forTerminalLine(branch)}; ${forTerminalLine(tree.branch)} stays as it is\n`);
  return { branch, ask: last.content };
}

export const tokensCommand: SlashCommand = {
  name: "tokens",
  aliases: ["stats"],
  forms: [{ usage: "", explains: "show where the tokens are, and how many will be sent" }],
  run: async (words, context) => {
    requireNoWords(tokensCommand, words);
    const { output, terminal, state, workspace, tools } = context;
    const tree = await context.loadTree();
    const report = await readStats(workspace, tree);
    const { tokens, window } = await loadChatStatus(workspace, tree, { model: state.model, tools });
    const stats = renderStats(report, { style: output.style, width: terminal.columns() });
    const model = forTerminalLine(state.model.name);
    const sent = safe`Your next message sends ${model} about ${formatTokens(tokens)} tokens`;
    const share =
      window === null ? "" : safe`, ${Math.round((tokens / window) * 100)} % of its window of ${formatTokens(window)}`;
    terminal.write(safe`${stats}\n\n${sent}${share}\n`);
    return {};
  },
};

function requireNoWords(command: SlashCommand, words: readonly string[]): void {
  if (words.length > 0) throw wrongWords(command, `takes no words; got ${words.join(" ")}`);
}
