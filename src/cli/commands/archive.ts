import { archiveConversation } from "../../app/manage/marks.ts";
import { resolveBranch } from "../../app/names/resolve-id.ts";
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "archive",
  summary: "hide a conversation from the list; nothing else changes",
  description:
    "`jpg ls` no longer lists it; `jpg ls --archived` does. Everything else works as before. --undo lists it again.",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [{ flags: "--undo", description: "list it again" }],
  run: (context) => runArchive(context, !flag(context.options, "undo")),
};

/** Archives a conversation, or unarchives it. */
export async function runArchive({ args, output, json, open }: CommandContext, archived: boolean): Promise<number> {
  const workspace = await open();
  const report = await archiveConversation(workspace, await resolveBranch(workspace, args[0]), archived);
  const { commit } = report;
  const branch = forTerminalLine(report.branch);
  const verb = archived ? "Archived" : "Unarchived";
  const idle = archived ? safe`${branch} is archived already` : safe`${branch} is not archived`;
  const hint = archived ? safe`; \`jpg archive --undo ${branch}\` undoes it` : "";
  if (json) output.json(report);
  else output.data(commit === null ? safe`${idle}.` : safe`${verb} ${branch}${hint}.`);
  return 0;
}
