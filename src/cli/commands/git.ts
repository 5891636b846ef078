import { runStoreGit } from "../../app/conversation/git-program.ts";
import type { CommandSpec } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "git",
  summary: "run git in the store",
  description:
    "Runs stock git in the store's worktree, where the active conversation is checked out. Everything after `git` is passed to git.",
  arguments: [{ name: "[args...]", description: "arguments of git" }],
  passThrough: true,
  examples: [
    { command: "jpg git log --oneline", explains: "all commits of the active conversation" },
    { command: "jpg git revert HEAD", explains: "undo the newest compaction" },
  ],
  withoutGit: true,
  run: async ({ args, open }) => {
    const workspace = await open();
    return runStoreGit(workspace, args);
  },
};
