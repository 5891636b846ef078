import { type CheckoutReport, checkoutBranch } from "../../app/manage/checkout.ts";
import { resolveCheckoutArguments } from "../../app/names/resolve-id.ts";
import { abbreviateCommit } from "../../core/conversation/name.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe, shellWord } from "../../core/safe-text.ts";
import { type CommandSpec, flag } from "../frame/command.ts";
import type { Output } from "../frame/output.ts";
import { wrapProse } from "../frame/wrap.ts";
import { idToType } from "./next-steps.ts";

export const command: CommandSpec = {
  name: "checkout",
  summary: "check out a conversation into a worktree that shows its view",
  description:
    "Makes a git worktree of the branch with VIEW.md (for people) and view.jsonl (projected events). After a stock `git switch`, `revert`, `pull` or `rebase` in the worktree, both show the new view at once. Without --full it is sparse: only compactions/, config/ and meta/.",
  arguments: [
    { name: "[id]", description: "conversation, or a commit such as HEAD~1; default @" },
    { name: "[dir]", description: "directory; default jpg-worktrees/BRANCH in the project's git dir" },
  ],
  options: [{ flags: "--full", description: "include turns/ and sources/" }],
  run: async ({ args, options, output, json, open }) => {
    const workspace = await open();
    const { tree, directory } = await resolveCheckoutArguments(workspace, args);
    const report = await checkoutBranch(workspace, tree, {
      directory,
      full: flag(options, "full"),
    });
    if (json) output.json(report);
    else {
      const branch = forTerminalLine(report.branch);
      const what =
        report.commit === undefined ? branch : safe`${forTerminal(abbreviateCommit(report.commit))} of ${branch}`;
      const done = safe`${what} is checked out at ${forTerminalLine(report.path)}; VIEW.md shows what the model sees`;
      output.data(joinLines(wrapProse(done, output.width)));
      if (report.excluded_by !== undefined)
        output.info(
          safe`${forTerminalLine(report.excluded_by)} names it, so that \`git add\` in the repository around it leaves it alone.`,
        );
      if (output.seen) sayWhatNext(report, await idToType(workspace, report.branch), output);
    }
    return 0;
  },
};

/** For those who know git's checkout: the active conversation is still the one before, and the files are a worktree's. */
function sayWhatNext({ commit, path }: CheckoutReport, id: SafeText, { info }: Output): void {
  if (commit === undefined && id !== "") info(safe`To make it the active conversation: \`jpg use${id}\``);
  info(safe`To remove the files again: \`jpg git worktree remove ${forTerminalLine(shellWord(path))}\``);
}
