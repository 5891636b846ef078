import { blame } from "../../app/look/blame.ts";
import { userError } from "../../core/errors.ts";
import type { CommandSpec } from "../frame/command.ts";
import { renderBlame } from "../render/list.ts";

export const command: CommandSpec = {
  name: "blame",
  summary: "show which compaction changed an event",
  description:
    "Shows which compaction decides how an event is read, when and by whom it was made, and what the model sees instead.",
  arguments: [
    { name: "<what>", description: "a turn (5, -3), an event of it (5:EVENT), or an event id" },
    { name: "[id]", description: "conversation of the turn; default @" },
  ],
  examples: [
    { command: "jpg blame 3", explains: "every event of turn 3" },
    { command: "jpg blame 3:toolu_01", explains: "one event, and what replaces it" },
  ],
  run: async ({ args, output, json, open }) => {
    const [what, id] = args;
    if (what === undefined) throw userError("usage", "jpg blame: say which turn or event.", { hints: ["jpg blame 3"] });
    const report = await blame(await open(), what, id);
    if (json) output.json(report);
    else await output.page(renderBlame(report, output));
    return 0;
  },
};
