import type { BranchTree } from "../../app/conversation/tree.ts";
import { readCompactionLog } from "../../app/look/log.ts";
import { resolveTree } from "../../app/names/resolve-id.ts";
import { abbreviateCommit } from "../../core/conversation/name.ts";
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import type { CommandSpec } from "../frame/command.ts";
import { renderLog } from "../render/list.ts";

export const command: CommandSpec = {
  name: "log",
  summary: "show the history of compactions and reverts",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  withoutGit: true,
  run: async ({ args, output, json, open }) => {
    const workspace = await open();
    const tree = await resolveTree(workspace, args[0]);
    const rows = await readCompactionLog(workspace, tree);
    if (json) output.json(rows);
    else if (rows.length === 0) output.info(nothingIn(tree));
    else await output.page(renderLog(rows, { style: output.style, width: output.width, verbose: output.verbose }));
    if (!json && rows.some((row) => row.cut_off === true))
      output.info(safe`The history before is not in this shallow clone: \`jpg git fetch --unshallow\` downloads it.`);
    return 0;
  },
};

function nothingIn({ branch, commit, revision }: BranchTree): SafeText {
  const name = forTerminalLine(branch);
  if (revision !== undefined) return safe`${name} has no compactions up to ${forTerminal(abbreviateCommit(commit))}.`;
  return safe`${name} has no compactions yet: \`jpg compact\` makes one.`;
}
