import { type ForkReport, forkConversation } from "../../app/manage/fork.ts";
import { resolveForkArguments } from "../../app/names/resolve-id.ts";
import { parseBound } from "../../core/conversation/range-bound.ts";
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, count, text } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/interrupt.ts";
import { refuseBoth, takeRange } from "../frame/range-argument.ts";
import { documentOf, renderTimeline } from "../render/compact.ts";
import { renderCount } from "../render/quantity.ts";

export const command: CommandSpec = {
  name: "fork",
  summary: "make a new branch that shares the history",
  description:
    "Without options, a fork is just one new ref. --first and --until end the fork at that turn; --last and --from hide earlier turns from its view (they stay in the history). The fork becomes active unless --no-activate is given.",
  arguments: [
    { name: "[id]", description: "conversation; default @" },
    { name: "[name]", description: "name of the fork; default: chosen by jpg" },
    { name: "[turns]", description: "what the fork shows, in any place: 3..7, ..7 ends it, 3.. begins there" },
  ],
  options: [
    { flags: "--first <n>", description: "only the first N turns" },
    { flags: "--last <n>", description: "show only the last N turns" },
    { flags: "--from <bound>", description: "show turns from here on: 5, -3, 5h, yesterday, 2026-11-22" },
    { flags: "--until <bound>", description: "end with this turn, in the same forms" },
    {
      flags: "--compact [profile]",
      description: "compact the fork, with that profile (--compact=NAME)",
      optionalValue: () => false,
    },
    { flags: "--no-activate", description: "stay on the active conversation" },
  ],
  examples: [
    { command: "jpg fork @ try-b", explains: "try something else from here" },
    { command: "jpg fork ..11", explains: "go back to turn 11" },
    { command: "jpg fork --first 12 --compact=light", explains: "the same, compacted" },
  ],
  withoutGit: true,
  run: (context) => endOnInterrupt(context.output, (signal) => runFork(context, signal)),
};

async function runFork(
  { args, options, runtime, output, json, open }: CommandContext,
  signal: AbortSignal,
): Promise<number> {
  const workspace = await open();
  const { rest, turns } = takeRange(args, runtime);
  const { tree, name } = await resolveForkArguments(workspace, rest);
  const first = count(options, "first");
  const last = count(options, "last");
  const from = text(options, "from");
  const until = text(options, "until");
  refuseBoth(turns, { "--first": first, "--last": last, "--from": from, "--until": until });
  const profile = options["compact"];
  const report = await forkConversation(workspace, tree, {
    name,
    first,
    last,
    from: from === undefined ? turns?.from : parseBound(from, runtime),
    until: until === undefined ? turns?.to : parseBound(until, runtime),
    compact:
      profile === undefined ? undefined : typeof profile === "string" && profile !== "" ? profile : (true as const),
    activate: !(options["activate"] === false),
    signal,
  });
  printFork(output, json, report);
  return 0;
}

function printFork(output: CommandContext["output"], json: boolean, report: ForkReport): void {
  const { compaction } = report;
  if (json) output.json(compaction === undefined ? report : { ...report, compaction: documentOf(compaction) });
  else
    output.data(
      safe`Forked ${forTerminalLine(report.from ?? "")} to ${forTerminalLine(report.branch)} (${renderCount(report.turns, "turn")})${report.activated === true ? ", now active" : ""}`,
    );
  if (compaction !== undefined && !json) output.data(renderTimeline(compaction, output));
  for (const id of report.left_out ?? [])
    output.info(
      safe`${forTerminalLine(id)} is not on the fork: its summary covers turns after ${report.turns - 1}, so the fork shows what it hid.`,
    );
  if (report.cut === true)
    output.info(
      safe`The history here is squashed: no commit ends with turn ${report.turns - 1}, so a commit on the fork removes the turns after it.`,
    );
}
