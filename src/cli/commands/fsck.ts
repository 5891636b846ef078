import { checkStore } from "../../app/integrity/fsck.ts";
import { resolveId } from "../../app/names/resolve-id.ts";
import type { CommandContext, CommandSpec } from "../frame/command.ts";
import { renderFsck } from "../render/check.ts";

export const command: CommandSpec = {
  name: "fsck",
  summary: "check that everything stored is complete and consistent",
  description:
    "Reads the whole store once: git's objects and refs, each file of each branch, ids, calls and results, the chain of turns, what compactions cover, attachments, sources and views. Each line gives the severity (E: unreadable, or changed since it was written; W: readable, but not as it should be), the kind, the place, and what to do. Changes nothing. Exit code 1 if there is an error.",
  arguments: [{ name: "[id]", description: "conversation; default the whole store" }],
  examples: [
    { command: "jpg fsck", explains: "the whole store" },
    { command: "jpg fsck @ --json", explains: "the active conversation, as JSON" },
  ],
  withoutGit: true,
  run: async (context) => {
    const report = await check(context);
    if (context.json) context.output.json(report);
    else await context.output.page(renderFsck(report, context.output));
    return report.ok ? 0 : 1;
  },
};

async function check({ args: [word], open }: CommandContext): ReturnType<typeof checkStore> {
  const workspace = await open();
  if (word === undefined) return await checkStore(workspace);
  const { branch } = await resolveId(workspace, word);
  return await checkStore(workspace, new Set([branch]));
}
