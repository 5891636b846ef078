import { readStats } from "../../app/inspect/stats.ts";
import { resolveTree } from "../../app/names/resolve-id.ts";
import type { CommandSpec } from "../frame/command.ts";
import { renderStats } from "../render/render-stats.ts";

export const command: CommandSpec = {
  name: "stats",
  summary: "show sizes and token counts, of everything and of the view",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  run: async ({ args, output, json, open }) => {
    const workspace = await open();
    const report = await readStats(workspace, await resolveTree(workspace, args[0]));
    if (json) output.json(report);
    else output.data(renderStats(report, output));
    return 0;
  },
};
