import { examine } from "../../app/integrity/doctor.ts";
import { type CommandSpec, flag, text } from "../frame/command.ts";
import { renderDoctor } from "../render/render-doctor.ts";

export const command: CommandSpec = {
  name: "doctor",
  summary: "look at what surrounds the conversations, and mend what can be mended",
  description:
    "Looks at git, the store's folder, its settings and hooks, locks and leftovers of processes that were killed, worktrees whose folder is gone, loose objects, the active conversation and remotes. With --fix, mends what needs no choice of yours. What is stored is checked by `jpg fsck`. Exit code 1 when a problem is left.",
  options: [
    {
      flags: "--fix",
      description:
        "write hooks and settings, remove stale locks and leftovers, forget worktrees that are gone, pack objects",
    },
  ],
  examples: [
    { command: "jpg doctor", explains: "after a project was moved, copied or cloned" },
    { command: "jpg doctor --fix", explains: "mend it" },
  ],
  run: async ({ options, runtime, output, json }) => {
    const store = text(options, "store");
    const report = await examine(runtime, { fix: flag(options, "fix"), ...(store === undefined ? {} : { store }) });
    if (json) output.json(report);
    else output.data(renderDoctor(report, output));
    return report.ok ? 0 : 1;
  },
};
