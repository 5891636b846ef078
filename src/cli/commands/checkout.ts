import { checkoutBranch } from "../../app/checkout.ts";
import { resolveCheckoutArguments } from "../../app/id-arguments.ts";
import { type CommandSpec, flag } from "../command.ts";

export const command: CommandSpec = {
  name: "checkout",
  summary: "check a conversation out: a worktree with its projected view",
  description:
    "Makes a git worktree of the branch in which VIEW.md (for people) and view.jsonl (projected events) stand; stock `git switch`, `revert`, `pull` and `rebase` in it show the new view at once. Sparse unless --full: compactions/, config/ and meta/ only.",
  arguments: [
    { name: "[id]", description: "conversation; default @" },
    { name: "[dir]", description: "directory; default the conversation's name" },
  ],
  options: [{ flags: "--full", description: "turns/ and sources/ too" }],
  run: async ({ args, options, output, json, open }) => {
    const workspace = await open();
    const { tree, directory } = await resolveCheckoutArguments(workspace, args);
    const report = await checkoutBranch(workspace, tree, { directory, full: flag(options, "full") });
    if (json) output.json(report);
    else output.data(`${report.branch} is checked out at ${report.path}; VIEW.md shows what the model sees`);
    return 0;
  },
};
