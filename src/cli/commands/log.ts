import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { diffConversation } from "../../app/diff/diff.ts";
import { drawConversation, type LogReport, readCompactionLog } from "../../app/look/log.ts";
import { resolveTree } from "../../app/names/resolve-id.ts";
import { agentName } from "../../app/sessions/session-registry.ts";
import { abbreviateCommit, conversationOf } from "../../core/conversation/name.ts";
import { forTerminal, forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import { type CommandSpec, count, flag } from "../frame/command.ts";
import type { Output } from "../frame/output.ts";
import { renderDiff } from "../render/diff.ts";
import { type LogRendering, renderGraph, renderLog, renderLogLine } from "../render/list.ts";
import { renderTime } from "../render/quantity.ts";

export const command: CommandSpec = {
  name: "log",
  summary: "show the history of compactions and reverts",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [
    { flags: "-n, --limit <n>", description: "only the newest N" },
    {
      flags: "-p, --patch",
      description: "with what each changed for the model, as in `jpg diff`",
      conflicts: ["oneline"],
    },
    { flags: "--oneline", description: "one line each, without dates" },
    {
      flags: "--graph",
      description: "turns and compactions of all forks, drawn as git does",
      conflicts: ["patch"],
    },
  ],
  withoutGit: true,
  run: async ({ args, options, output, json, open }) => {
    const limit = count(options, "limit");
    const workspace = await open();
    const tree = await resolveTree(workspace, args[0]);
    if (flag(options, "graph") && !json) {
      const lines = await drawConversation(workspace, conversationOf(tree.branch), limit);
      await output.page(renderGraph(lines, output));
      return 0;
    }
    const rows = (await readCompactionLog(workspace, tree)).slice(0, limit);
    if (json) output.json(rows);
    else if (rows.length === 0) output.info(nothingIn(tree));
    else if (flag(options, "patch")) await output.page(await withPatches({ workspace, tree, rows }, output));
    else {
      const rendering = renderingOf(tree, output);
      const isDated = output.seen && !output.verbose && !flag(options, "oneline");
      await output.page(isDated ? withDates(rows, rendering) : renderLog(rows, rendering));
    }
    if (!json && rows.some((row) => row.cut_off === true))
      output.info(safe`The history before is not in this shallow clone: \`jpg git fetch --unshallow\` downloads it.`);
    return 0;
  },
};

interface LoggedRows {
  readonly workspace: Workspace;
  readonly tree: BranchTree;
  readonly rows: LogReport;
}

/** Each row with its date, and with what it changed for the model below it. */
async function withPatches({ workspace, tree, rows }: LoggedRows, output: Output): Promise<SafeText> {
  const parts: SafeText[] = [];
  for (const row of rows) {
    const what = row.squashed === true ? row.compaction : row.commit;
    const report = await diffConversation(workspace, [tree.branch, what], {});
    const diff = renderDiff(report, { style: output.style, width: output.width, full: false });
    parts.push(joinLines([withDates([row], renderingOf(tree, output)), "", diff]));
  }
  return joinSafe(parts, "\n\n");
}

/** For people who look at a terminal; programs get the lines as they were. */
function withDates(rows: LogReport, rendering: LogRendering): SafeText {
  const { faint } = rendering.style;
  return joinLines(rows.map((row) => renderLogLine(row, rendering, safe`${faint(renderTime(row.timestamp))} `)));
}

function renderingOf({ header: { source } }: BranchTree, { style, width, verbose }: Output): LogRendering {
  return { style, width, verbose, agent: source === null ? undefined : agentName(source.format) };
}

function nothingIn({ branch, commit, revision }: BranchTree): SafeText {
  const name = forTerminalLine(branch);
  if (revision !== undefined) return safe`${name} has no compactions up to ${forTerminal(abbreviateCommit(commit))}.`;
  return safe`${name} has no compactions yet: \`jpg compact\` makes one.`;
}
