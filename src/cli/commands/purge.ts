import { branchesOf, planConversationPurge, purgeConversation } from "../../app/manage/trash.ts";
import { forTerminalLine, joinSafe, safe } from "../../core/safe-text.ts";
import { askYesNo } from "../frame/ask.ts";
import { type CommandContext, type CommandSpec, flag } from "../frame/command.ts";
import { renderCount } from "../render/quantity.ts";

export const command: CommandSpec = {
  name: "purge",
  summary: "delete a conversation or a fork for good",
  description:
    "Deletes a conversation with all its forks, or just one fork if ID names a branch, from this store for good: its branches, its copies in the trash, whatever was fetched of it, and every object that no other conversation needs. This cannot be undone. It does not reach remotes, other people's clones, files that `jpg share` wrote, or the agent's own session, which the next `jpg import` would import again.",
  arguments: [{ name: "<id>", description: "conversation, or one of its forks; also one in the trash" }],
  options: [{ flags: "-y, --yes", description: "do not ask" }],
  examples: [{ command: "jpg purge fix-parser-k3f9", explains: "the conversation with all its forks" }],
  run: (context) => purgeNamed(context, context.args[0] ?? ""),
};

/**
 * Deletes what an id names, live or in the trash, after asking. For `jpg rm --purge ID`, which once found names only in the trash,
 * the name must be whole, and JSON has `purged` with commits.
 */
export async function purgeNamed(
  { options, output, json, open }: CommandContext,
  id: string,
  { asRemoval = false }: { readonly asRemoval?: boolean } = {},
): Promise<number> {
  const workspace = await open();
  const plan = await planConversationPurge(workspace, id, { inFull: asRemoval });
  const names = joinSafe(branchesOf(plan).map(forTerminalLine), ", ");
  const text = `Delete ${names} for good? This cannot be undone.`;
  const isAgreed = flag(options, "yes") || (await askYesNo({ text, otherwise: "no", instead: "--yes" }, { output }));
  if (!isAgreed) {
    if (json) output.json({ conversation: plan.conversation, purged: [], objects: 0, seen_on: plan.seen_on });
    else output.info(safe`Nothing was deleted.`);
    return 0;
  }
  const { removals, ...report } = await purgeConversation(workspace, plan);
  if (json) output.json(asRemoval ? { ...report, purged: removals } : report);
  else output.data(safe`Purged ${names}: ${renderCount(report.objects, "object")} removed.`);
  if (report.seen_on.length > 0)
    output.warn(
      safe`It was seen on ${joinSafe(report.seen_on.map(forTerminalLine), ", ")}: the copy there stays, and the next \`jpg pull\` brings it back.`,
    );
  return 0;
}
