// Slash commands about the conversation's history: `/log`, `/diff`, `/revert`, `/fork`.
import { compactionIdOfPath } from "../../app/conversation/append.ts";
import { diffConversation } from "../../app/diff/diff.ts";
import { readCompactionLog } from "../../app/look/log.ts";
import { forkConversation } from "../../app/manage/fork.ts";
import { revertCompactions } from "../../app/manage/revert.ts";
import { defined } from "../../core/json.ts";
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import type { Rendering } from "../frame/style.ts";
import { renderDiff } from "../render/render-diff.ts";
import { renderLog } from "../render/render-log.ts";
import { renderRevert } from "../render/render-revert.ts";
import { type SlashCommand, type SlashContext, wrongWords } from "./slash-command.ts";

export const logCommand: SlashCommand = {
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

export const diffCommand: SlashCommand = {
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

export const revertCommand: SlashCommand = {
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

export const forkCommand: SlashCommand = {
  name: "fork",
  aliases: [],
  forms: [{ usage: "[NAME]", explains: "continue on a fork; this branch stays as it is" }],
  run: async (words, context) => {
    if (words.length > 1) throw wrongWords(forkCommand, `expected one name; got ${words.join(" ")}`);
    const [name] = words;
    const tree = await context.loadTree();
    const fork = await forkConversation(context.workspace, tree, {
      activate: true,
      ...defined({ name }),
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
