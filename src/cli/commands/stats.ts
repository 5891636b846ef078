import { readAnatomy } from "../../app/look/anatomy.ts";
import { readStats } from "../../app/look/stats.ts";
import { resolveTree } from "../../app/names/resolve-id.ts";
import { type CommandSpec, flag } from "../frame/command.ts";
import { renderAnatomy } from "../render/anatomy.ts";
import { renderStats } from "../render/stats.ts";

export const command: CommandSpec = {
  name: "stats",
  summary: "show sizes and token counts, of everything and of the view",
  description:
    "With --anatomy, shows what fills the model's window: the view by kind, by tool and by turn, the tokens and price of requests as far as the provider's counts are recorded, what each strategy of `jpg compact` would still free, and how long that would last. Prices are today's list prices. *Saved so far* counts the recorded requests that ran on a view shortened by jpg: the tokens that they did not send, at the price of their input, less what was written to the cache anew. --json has it as `saved` (`requests`, `tokens`, `usd`, null where a price is unknown), and adds with --anatomy the key `anatomy`: `window` and `tokens` of the view, with who counted (`window_source`, `tokens_source`, `overhead_source`); what fills it as `by_kind`, `by_tool` (largest first) and `by_turn` (`from`, `to`, in the order of the view); `recorded` requests, of each turn and of all, with `price_usd`, null where none is recorded; `headroom`, with what each of the `strategies` frees and leaves, all of them together (`mechanical`), the `threshold` above which only a summary helps, and `turns_left` until then, null where that is unknown. Tokens are whole numbers, shares 0 to 1 of the window, turns counted from 0.",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [{ flags: "--anatomy", description: "show what fills the window, and what can still be freed" }],
  examples: [
    { command: "jpg stats", explains: "where the tokens are, raw and in the view" },
    { command: "jpg stats --anatomy", explains: "what fills the window, as bars" },
  ],
  run: async ({ args, options, output, json, open }) => {
    const workspace = await open();
    const tree = await resolveTree(workspace, args[0]);
    if (!flag(options, "anatomy")) {
      const report = await readStats(workspace, tree);
      if (json) output.json(report);
      else output.data(renderStats(report, output));
      return 0;
    }
    const anatomy = await readAnatomy(workspace, tree);
    if (json) output.json({ ...(await readStats(workspace, tree)), anatomy });
    else output.data(renderAnatomy(anatomy, output));
    return 0;
  },
};
