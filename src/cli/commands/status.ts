import { readStatus } from "../../app/overview/status.ts";
import type { CommandSpec } from "../frame/command.ts";
import { renderProjectStatus } from "../render/status.ts";

export const command: CommandSpec = {
  name: "status",
  summary: "show what is here, and what to type next",
  description:
    "Shows the active conversation, how many there are, and the sessions that agents keep for this project. `jpg` without a command does the same. Changes nothing.",
  withoutGit: true,
  run: async ({ output, json, open }) => {
    const report = await readStatus(await open({ create: true }));
    if (json) output.json(report);
    else output.data(renderProjectStatus(report, output));
    return 0;
  },
};
