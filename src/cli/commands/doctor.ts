import { examine } from "../../app/integrity/doctor.ts";
import { type CommandSpec, flag, text } from "../frame/command.ts";
import { renderDoctor } from "../render/check.ts";

export const command: CommandSpec = {
  name: "doctor",
  summary: "check how the store is set up, and repair what can be repaired",
  description:
    "Checks git, the store's folder, settings and hooks, locks and leftovers of killed processes, worktrees whose folder is gone, loose objects, the active conversation and remotes. --fix repairs everything that needs no decision from you. To check the stored data itself, use `jpg fsck`. Exit code 1 if a problem remains.",
  options: [
    {
      flags: "--fix",
      description:
        "rewrite hooks and settings, remove abandoned locks and leftovers, forget missing worktrees and pack objects",
    },
  ],
  examples: [
    { command: "jpg doctor", explains: "after a project was moved, copied or cloned" },
    { command: "jpg doctor --fix", explains: "repair it" },
  ],
  withoutGit: true,
  run: async ({ options, runtime, output, json }) => {
    const store = text(options, "store");
    const report = await examine(runtime, { fix: flag(options, "fix"), store });
    if (json) output.json(report);
    else output.data(renderDoctor(report, output));
    return report.ok ? 0 : 1;
  },
};
