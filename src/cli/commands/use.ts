import { resolveBranch } from "../../app/resolve-id.ts";
import { useConversation } from "../../app/use.ts";
import { userError } from "../../core/errors.ts";
import type { CommandSpec } from "../command.ts";

export const command: CommandSpec = {
  name: "use",
  summary: "make a conversation the active one (@)",
  description:
    'Switches HEAD of the store, so that `jpg git log`, `git -C "$(jpg path)" revert` and VIEW.md speak of that conversation. JPG_CONVERSATION overrides @ in one terminal.',
  arguments: [{ name: "<id>", description: "conversation or branch; - = the one before" }],
  run: async ({ args, output, json, open }) => {
    const id = args[0];
    if (id === undefined) throw userError("usage", "jpg use needs an ID.");
    const workspace = await open();
    const report = await useConversation(workspace, await resolveBranch(workspace, id));
    if (json) output.json(report);
    else output.data(`Now on ${report.branch}`);
    return 0;
  },
};
