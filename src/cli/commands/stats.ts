import { readAnatomy } from "../../app/look/anatomy.ts";
import { readStats } from "../../app/look/stats.ts";
import { resolveTree } from "../../app/names/resolve-id.ts";
import { readSpending, type SpendingReport } from "../../app/overview/spending.ts";
import { userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag, text } from "../frame/command.ts";
import { readSince } from "../frame/range-argument.ts";
import { errorDocument } from "../frame/render-error.ts";
import { renderAnatomy } from "../render/anatomy.ts";
import { renderCount } from "../render/quantity.ts";
import { renderSpending } from "../render/spending.ts";
import { renderStats } from "../render/stats.ts";

/** What `--all` counts without `--since`. */
const A_MONTH = "30d";

export const command: CommandSpec = {
  name: "stats",
  summary: "show sizes and token counts, of everything and of the view",
  description:
    "With --anatomy, shows what fills the model's window: the view by kind, by tool and by turn, the tokens and price of requests as far as the provider's counts are recorded, what each strategy of `jpg compact` would still free, and how long that would last. Prices are today's list prices. *Saved so far* counts the recorded requests that ran on a view shortened by jpg: the tokens that they did not send, at the price of their input, less what was written to the cache anew. With --all, each recorded request since --since counts once, however many forks and copies have it; a model without a known price has its tokens listed and is in no sum of dollars (*at least*).",
  details:
    "--json has what was saved as `saved` (`requests`, `tokens`, `usd`, null where a price is unknown), and adds with --anatomy the key `anatomy`: `window` and `tokens` of the view, with who counted (`window_source`, `tokens_source`, `overhead_source`); what fills it as `by_kind`, `by_tool` (largest first) and `by_turn` (`from`, `to`, in the order of the view); `recorded` requests, of each turn and of all, with `price_usd`, null where none is recorded; `headroom`, with what each of the `strategies` frees and leaves, all of them together (`mechanical`), the `threshold` above which only a summary helps, and `turns_left` until then, null where that is unknown. Tokens are whole numbers, shares 0 to 1 of the window, turns counted from 0. With --all it has `total`, `by_project`, `by_agent` and `by_model` with `requests`, `tokens_sent` (`input`, `cache_read`, `cache_write`), `output`, `price_usd` (null where no price is known) and `unpriced`, and the number of sessions `not_imported`.",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [
    { flags: "--anatomy", description: "show what fills the window, and what can still be freed" },
    {
      flags: "--all",
      description: "requests, tokens sent and list price of the whole machine, by project, agent and model",
      conflicts: ["anatomy"],
    },
    { flags: "--since <time>", description: "with --all: since then; default 30d; 7d, yesterday, 2026-11-22" },
  ],
  examples: [
    { command: "jpg stats", explains: "where the tokens are, raw and in the view" },
    { command: "jpg stats --anatomy", explains: "what fills the window, as bars" },
    { command: "jpg stats --all", explains: "what a month came to, in every project and agent" },
  ],
  run: async (context) => {
    const { args, options, output, json, open } = context;
    if (flag(options, "all")) return printSpending(context);
    if (text(options, "since") !== undefined)
      throw userError("usage", "jpg stats: --since needs --all: one conversation is always counted whole.", {
        hints: ["For example: jpg stats --all --since 7d"],
      });
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

/** Returns the exit code: 1 = nothing is recorded. */
async function printSpending({ args, options, runtime, output, json }: CommandContext): Promise<number> {
  if (args.length > 0)
    throw userError("contradictory_flags", "--all counts every conversation, so it cannot be used with an ID.", {
      hints: ["Leave one of them out."],
    });
  const sinceMs = readSince(text(options, "since") ?? A_MONTH, runtime);
  const warn = (message: string): void => output.warn(forTerminal(message));
  const report = await readSpending(runtime, { sinceMs, progress: output.counts, warn });
  const isEmpty = report.total.requests === 0;
  if (json) output.json({ ...report, unreadable: report.unreadable.map(unreadableRow) });
  else if (isEmpty) output.info(safe`No conversation on this machine has a recorded request since then.`);
  else output.data(renderSpending(report, { ...output, home: runtime.home }));
  for (const { directory, branch = "its store", error } of report.unreadable)
    output.warn(
      safe`Not counted: ${forTerminalLine(branch)} of ${forTerminalLine(directory)}: ${forTerminal(error.message)}`,
    );
  if (!json && report.not_imported > 0)
    output.info(
      safe`Not counted: what is new in ${renderCount(report.not_imported, "session")} that jpg has not imported; \`jpg sync --all\` imports it.`,
    );
  return isEmpty ? 1 : 0;
}

function unreadableRow({ error, ...place }: SpendingReport["unreadable"][number]) {
  return { ...place, ...errorDocument(error) };
}
