import { worktreeOf } from "../../app/manage/checkout.ts";
import { resolveTree } from "../../app/names/resolve-id.ts";
import type { CommandSpec } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "path",
  summary: "print where the store is, or where a conversation is checked out",
  arguments: [{ name: "[id]", description: "conversation; default: the store" }],
  examples: [{ command: 'git -C "$(jpg path)" log', explains: "stock git on the active conversation" }],
  withoutGit: true,
  run: async ({ args, output, json, open }) => {
    const workspace = await open();
    const path =
      args[0] === undefined ? workspace.store.root : await worktreeOf(workspace, await resolveTree(workspace, args[0]));
    if (json) output.json({ path });
    else output.raw(`${path}\n`);
    return 0;
  },
};
