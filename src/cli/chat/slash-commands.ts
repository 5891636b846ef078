// The slash commands of the chat, and their help.
import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { compactionIdOfPath } from "../../app/conversation/append.ts";
import { diffConversation } from "../../app/diff/diff.ts";
import { exportConversation } from "../../app/import/export.ts";
import { readCompactionLog } from "../../app/look/log.ts";
import { readStats } from "../../app/look/stats.ts";
import { forkConversation } from "../../app/manage/fork.ts";
import { revertCompactions } from "../../app/manage/revert.ts";
import { writeNamedFile } from "../../app/sessions/named-file.ts";
import { loadChatStatus, loadLastRequest, openChatModel } from "../../app/talk/chat-model.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { userError } from "../../core/errors.ts";
import { listModelNames } from "../../core/model/model-name.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type Rendering, type Style, unpainted } from "../frame/terminal.ts";
import { renderDiff } from "../render/diff.ts";
import { renderLog } from "../render/list.ts";
import { wrapSpans } from "../render/markdown-blocks.ts";
import { renderRevert } from "../render/sharing.ts";
import { renderStats } from "../render/stats.ts";
import { type ChatChange, type SlashCommand, type SlashContext, wrongWords } from "./slash-command.ts";
import { compactCommand } from "./slash-compact.ts";

// Slash commands about the conversation as a whole: `/new`, `/retry`, `/tokens`.

const newCommand: SlashCommand = {
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

const retryCommand: SlashCommand = {
  name: "retry",
  aliases: [],
  forms: [{ usage: "", explains: "ask your last message again, on a fork; the first answer stays" }],
  run: async (words, context) => {
    requireNoWords(retryCommand, words);
    const { unanswered } = context.state;
    // A message without an answer was not kept.
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
    terminal.write(safe`Asking turn 0 again in a new conversation; ${forTerminalLine(tree.branch)} stays as it is\n`);
    return { branch: null, ask: last.content };
  }
  const { branch } = await forkConversation(workspace, tree, { first: last.turn, activate: true });
  terminal.write(
    safe`Asking turn ${last.turn} again on the fork ${forTerminalLine(branch)}; ${forTerminalLine(tree.branch)} stays as it is\n`,
  );
  return { branch, ask: last.content };
}

const tokensCommand: SlashCommand = {
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

/** Formats by the ending of the file's name; default Markdown. */
const FORMATS: Readonly<Record<string, string>> = { ".jsonl": "jsonl", ".md": "markdown" };

const FULL = "--include-full-history";

const exportCommand: SlashCommand = {
  name: "export",
  aliases: [],
  forms: [{ usage: `[${FULL}] [FILE]`, explains: "write what the model sees, or all turns; FILE.md or FILE.jsonl" }],
  complete: async (words) => (words.includes(FULL) ? [] : [FULL]),
  run: async (words, { workspace, runtime, terminal, loadTree }) => {
    const names = words.filter((word) => word !== FULL);
    const option = names.find((word) => word.startsWith("--"));
    if (option !== undefined) throw wrongWords(exportCommand, `does not know ${option}`);
    const tree = await loadTree();
    const name = names.length === 0 ? `${conversationOf(tree.branch).replaceAll("/", "-")}.md` : names.join(" ");
    const path = resolve(runtime.cwd, name);
    if (names.length === 0 && existsSync(path)) throw inTheWay(path);
    const text = await exportConversation(workspace, tree, {
      to: FORMATS[extname(name).toLowerCase()] ?? "markdown",
      fullHistory: names.length < words.length,
    });
    await writeNamedFile(runtime, path, text);
    terminal.write(safe`Wrote ${forTerminalLine(path)}\n`);
    return {};
  },
};

/** Refuses to replace a file that the user did not name. */
function inTheWay(path: string): Error {
  return userError("file_exists", `${path} already exists.`, { hints: ["Name the file: /export FILE replaces it."] });
}

// Slash commands about the conversation's history: `/log`, `/diff`, `/revert`, `/fork`.

const logCommand: SlashCommand = {
  name: "log",
  aliases: [],
  forms: [{ usage: "", explains: "show the compactions of this conversation" }],
  run: async (words, context) => {
    if (words.length > 0) throw wrongWords(logCommand, `takes no words; got ${words.join(" ")}`);
    const rows = await readCompactionLog(context.workspace, await context.loadTree());
    if (rows.length === 0) context.terminal.write(safe`No compactions yet: /compact makes one.\n`);
    else await page(renderLog(rows, renderingOf(context)), context);
    return {};
  },
};

const diffCommand: SlashCommand = {
  name: "diff",
  aliases: [],
  forms: [{ usage: "[COMPACTION]", explains: "show what the model sees before and after, default the newest" }],
  complete: completeCompaction,
  run: async (words, context) => {
    if (words.length > 1) throw wrongWords(diffCommand, `expected one compaction; got ${words.join(" ")}`);
    const { branch } = await context.loadTree();
    const report = await diffConversation(context.workspace, [branch, ...words], {});
    if (report.hunks.length === 0) context.terminal.write(safe`No difference: the model sees the same.\n`);
    else await page(renderDiff(report, renderingOf(context)), context);
    return {};
  },
};

const revertCommand: SlashCommand = {
  name: "revert",
  aliases: [],
  forms: [{ usage: "COMPACTION", explains: "undo a compaction; reverting the revert brings it back" }],
  complete: completeCompaction,
  run: async (words, context) => {
    if (words.length === 0) throw wrongWords(revertCommand, "expected a compaction; /log lists them");
    const { branch } = await context.loadTree();
    const report = await revertCompactions(context.workspace, words, branch);
    context.terminal.write(safe`${renderRevert(report, renderingOf(context))}\n`);
    for (const warning of report.warnings ?? []) context.output.warn(forTerminal(warning));
    return {};
  },
};

const forkCommand: SlashCommand = {
  name: "fork",
  aliases: [],
  forms: [{ usage: "[NAME]", explains: "continue on a fork; this branch stays as it is" }],
  run: async (words, context) => {
    if (words.length > 1) throw wrongWords(forkCommand, `expected one name; got ${words.join(" ")}`);
    const [name] = words;
    const tree = await context.loadTree();
    const fork = await forkConversation(context.workspace, tree, {
      activate: true,
      name,
    });
    context.terminal.write(
      safe`Forked ${forTerminalLine(tree.branch)}; this chat continues on ${forTerminalLine(fork.branch)}\n`,
    );
    return { branch: fork.branch };
  },
};

/** Compactions in force, newest first. */
async function completeCompaction(words: readonly string[], context: SlashContext): Promise<readonly string[]> {
  if (words.length > 0) return [];
  const { compactions } = await context.loadTree();
  return compactions.flatMap(({ path }) => compactionIdOfPath(path) ?? []).reverse();
}

function renderingOf({ output, terminal }: SlashContext): Rendering {
  return { style: output.style, width: terminal.columns() };
}

function page(text: SafeText, { output, terminal }: SlashContext): Promise<void> {
  return terminal.lend(() => output.page(text));
}

// `/model`: which model answers, or another one from the next message on.

const modelCommand: SlashCommand = {
  name: "model",
  aliases: [],
  forms: [{ usage: "[NAME]", explains: "show the model, or switch to another one, e.g. anthropic/claude-haiku" }],
  complete: async (words) => (words.length === 0 ? listModelNames() : []),
  run: async (words, { workspace, terminal, state, loadTree }) => {
    if (words.length > 1) throw wrongWords(modelCommand, `expected one name; got ${words.join(" ")}`);
    const [name] = words;
    const tree = state.branch === null ? null : await loadTree();
    const model = name === undefined ? state.model : await openChatModel(workspace, { tree, named: name });
    const { contextWindow } = model.facts;
    const window =
      contextWindow === null ? safe`context window unknown` : safe`${formatTokens(contextWindow)} tokens of context`;
    terminal.write(safe`${forTerminalLine(model.name)} (${window})\n`);
    return name === undefined ? {} : { model, isNamed: true };
  },
};

const helpCommand: SlashCommand = {
  name: "help",
  aliases: ["?"],
  forms: [{ usage: "", explains: "show this" }],
  run: async (_words, { terminal, output }) => {
    terminal.write(safe`${renderSlashHelp(output.style, terminal.columns())}\n`);
    return {};
  },
};

const quitCommand: SlashCommand = {
  name: "quit",
  aliases: ["exit"],
  forms: [{ usage: "", explains: "leave; so does Ctrl-D" }],
  run: async () => ({ leave: true }),
};

/** In the order of help. */
export const SLASH_COMMANDS: readonly SlashCommand[] = [
  compactCommand,
  forkCommand,
  logCommand,
  diffCommand,
  revertCommand,
  newCommand,
  retryCommand,
  tokensCommand,
  modelCommand,
  exportCommand,
  helpCommand,
  quitCommand,
];

/** Renders the commands and what else can be typed: in two columns, or one below the other on a narrow terminal. */
function renderSlashHelp(style: Style, columns: number): SafeText {
  const rows = [
    ...SLASH_COMMANDS.flatMap(({ name, aliases, forms }) => [
      ...forms.map(({ usage, explains }) => [`/${name} ${usage}`.trimEnd(), explains] as const),
      ...aliases.map((alias) => [`/${alias}`, `the same as /${name}`] as const),
    ]),
    ...KEYS,
  ];
  const widest = Math.max(...rows.map(([typed]) => typed.length));
  const explanationColumns = columns - widest - 5;
  const isNarrow = explanationColumns < 30;
  const indent = forTerminal(" ".repeat(isNarrow ? 6 : widest + 4));
  return joinLines(
    rows.flatMap(([typed, explains]) => {
      const text = { text: forTerminal(explains), paint: unpainted };
      const [first = "", ...rest] = wrapSpans([text], isNarrow ? Math.max(2, columns - 7) : explanationColumns);
      const shown = style.heading(forTerminal(typed));
      const blanks = forTerminal(" ".repeat(Math.max(0, widest - typed.length)));
      const opening = isNarrow
        ? ([safe`  ${shown}`, safe`${indent}${first}`] as const)
        : [safe`  ${shown}${blanks}  ${first}`];
      return [...opening, ...rest.map((line) => safe`${indent}${line}`)];
    }),
  );
}

const KEYS: readonly (readonly [typed: string, explains: string])[] = [
  ["Alt+Enter, Ctrl-J, or \\ at the end", "continues the message on the next line"],
  ["Ctrl-G", "writes the message in your editor ($VISUAL, $EDITOR)"],
  ["@FILE", "attaches a file, Tab completes its name; \\@ is a plain @; pasted text attaches nothing"],
  ["Up, Down, Ctrl-R", "messages typed before; search them"],
  ["Esc", "interrupts the answer; what came is kept, else your message is back in the line"],
  ["Ctrl-C", "the same; empties the line; twice leaves"],
];
