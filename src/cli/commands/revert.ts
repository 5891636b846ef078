import { revertNamed } from "../../app/manage/revert.ts";
import { userError } from "../../core/errors.ts";
import { forTerminal } from "../../core/safe-text.ts";
import type { CommandSpec } from "../frame/command.ts";
import { renderRevert } from "../render/sharing.ts";

export const command: CommandSpec = {
  name: "revert",
  summary: "undo compactions; reverting a revert brings one back",
  description: "Adds one commit for each, as `git revert` does. Nothing is lost; the history stays.",
  arguments: [
    {
      name: "<compactions...>",
      description:
        "compactions of the active conversation, their commits, or commits of reverts; of another one if its name comes first",
    },
  ],
  examples: [{ command: "jpg revert k3f9 6gw8rz", explains: "undo a compaction of a conversation that is not active" }],
  withoutGit: true,
  run: async ({ args, output, json, open }) => {
    if (args.length === 0)
      throw userError("usage", "jpg revert needs a compaction.", {
        hints: ["`jpg log` lists them; `jpg undo` undoes the newest."],
      });
    const report = await revertNamed(await open(), args);
    if (json) output.json(report);
    else output.data(renderRevert(report, output));
    for (const warning of report.warnings ?? []) output.warn(forTerminal(warning));
    return 0;
  },
};
