import { cherryPick } from "../../app/manage/revert.ts";
import { resolveFork } from "../../app/names/resolve-id.ts";
import { abbreviateCommit } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandSpec, text } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "cherry-pick",
  summary: "apply a compaction of one fork to another",
  description:
    "Commits the same compaction on another fork with the same turns, as stock `git cherry-pick` does. A fork whose turns differ is refused.",
  arguments: [{ name: "<compaction>", description: "id of the compaction" }],
  options: [{ flags: "--onto <fork>", description: "the fork to apply it to; default @" }],
  examples: [
    { command: "jpg cherry-pick k3f9q2 --onto fix-parser-k3f9/main", explains: "apply it to the main fork too" },
  ],
  run: async ({ args, options, output, json, open }) => {
    const [id] = args;
    if (id === undefined) throw userError("usage", "jpg cherry-pick needs a compaction.");
    const workspace = await open();
    const report = await cherryPick(workspace, id, await resolveFork(workspace, text(options, "onto")));
    const [compaction, branch] = [forTerminalLine(report.compaction), forTerminalLine(report.branch)];
    if (json) output.json(report);
    else if (report.commit === null) output.info(safe`${branch} has ${compaction} already.`);
    else
      output.data(
        safe`Applied ${compaction} to ${branch} (commit ${forTerminalLine(abbreviateCommit(report.commit))})`,
      );
    return 0;
  },
};
