import { resolve } from "node:path";
import { type AcceptedSummary, acceptedSummary, createBundle } from "../../app/compact/accepted-summary.ts";
import { adviseAuto } from "../../app/compact/advise-auto.ts";
import { type CompactRequest, compact } from "../../app/compact/compact.ts";
import type { CompactReport } from "../../app/compact/compact-report.ts";
import { writeResultFile } from "../../app/conversation/runtime.ts";
import { resolveWhole } from "../../app/names/resolve-id.ts";
import { PIPELINE_NAMES, STRATEGY_NAMES } from "../../core/compact/strategies/strategy-names.ts";
import type { RangeRequest } from "../../core/conversation/bound-resolution.ts";
import { badBound, isBound } from "../../core/conversation/range-bound.ts";
import { forTerminalLine, safe, shellWord } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag, INTERRUPTED, text } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/interrupt.ts";
import { idAndTurns, readIdAndTurns } from "../frame/range-argument.ts";
import { documentOf, renderTimeline } from "../render/compact.ts";
import {
  checkActivation,
  checkDependentFlags,
  checkSummaryOptions,
  readManner,
  readPartCount,
  readRange,
  readStrategies,
  readStrategyWords,
  readTurns,
  readWish,
  summaryOptions,
} from "./compact-options.ts";
import { runParts, runTangents } from "./compact-parts.ts";
import { showPreview } from "./compact-preview.ts";

export const command: CommandSpec = {
  name: "compact",
  summary: "shorten what the model sees, without losing anything",
  description:
    "Adds one commit with one compaction, which changes how turns are read. Nothing that was said is touched: `jpg diff` shows what the model sees before and after, `jpg revert` undoes it. Without a range it starts at turn 0 and leaves the last turns alone (the setting keep_last, 3 by default).",
  arguments: idAndTurns("which turns"),
  options: [
    {
      flags: "-p, --profile <name>",
      description: "compaction profile: default, light, heavy, or one from your settings",
      conflicts: ["strategy"],
    },
    {
      flags: "--from [bound]",
      description: "first turn: 5, -3, 5:EVENT, 5h, yesterday, 2026-11-22, last (the default when no bound is given)",
      optionalValue: isBound,
      refuse: (word) => badBound(word, ["If you meant a conversation: `jpg ls` lists them."]),
    },
    { flags: "--to <bound>", description: "last turn, in the same forms" },
    { flags: "--keep <n>", description: "leave the last N turns alone", conflicts: ["keepLast"] },
    { flags: "--keep-last <n>", description: "the same as --keep" },
    {
      flags: "-s, --strategy [name]",
      description: `what to take out, instead of a profile; if two of several touch one call, the stronger one is used: ${[...PIPELINE_NAMES, ...STRATEGY_NAMES].join(", ")}; without a name, at the end of the line or before an option, it means the strategy in your settings (default auto)`,
      repeatable: true,
      optionalValue: (word) => !word.startsWith("-"),
    },
    {
      flags: "-m, --model <name>",
      description: "model that writes the summary, as provider/model; extractive makes an extract without a model",
    },
    { flags: "--focus <text>", description: "what the summary should focus on", repeatable: true },
    { flags: "--concise", description: "a shorter summary: key points, open questions, context" },
    {
      flags: "--max-chars <n>",
      description: "longest text that is left whole (truncate-results, supersede)",
    },
    { flags: "--head <share>", description: "share kept at the start of a truncated result, 0 to 1; default 0.5" },
    { flags: "--newest <n>", description: "results that mask-results leaves alone; default 10" },
    {
      flags: "--turns <list>",
      conflicts: ["from", "to", "keep", "keepLast", "model", "yes", "chunks"],
      description: "turns that are tangents, e.g. 3,5-7; without it a model proposes them (classify-tangents)",
    },
    { flags: "--yes", description: "accept everything the model proposes without asking (classify-tangents)" },
    {
      flags: "--chunks <n>",
      description:
        "summarise in N parts, one commit each; auto splits where the topic changes; without --from it starts after the last summary",
    },
    { flags: "--first-line", description: "stubs show the first line of the result" },
    { flags: "--pointers", description: "stubs name their event, so that `jpg show EVENT` prints the original" },
    {
      flags: "--index",
      conflicts: ["emit"],
      description: "list what is hidden (files, commands, errors, names) in at most 1,500 tokens (the default)",
    },
    { flags: "--no-index", description: "leave that list out" },
    {
      flags: "--target <size>",
      description: "size that tiered reduces the view to: tokens such as 60k, or a share of the window; default 0.5",
    },
    {
      flags: "--protect <tokens>",
      description:
        "newest tokens that auto, tiered and mask-results leave alone in addition to keep_last; default 10000, or 2000 for auto, which keeps the newest calls whole anyway",
    },
    {
      flags: "--min-gain <tokens>",
      description:
        "fewest tokens that auto and mask-results must save; default 15 % of the conversation, at most 20000",
    },
    {
      flags: "--force",
      description: "commit even if the view grows or a batch saves little, and compact an unfinished turn too",
    },
    { flags: "--strict", description: "reject a summary that claims anything its turns do not say" },
    { flags: "--dry-run", description: "show what would change, commit nothing" },
    { flags: "--full", description: "print the whole report: all segments, all kinds of facts, each step" },
    {
      flags: "--diff",
      conflicts: ["chunks", "turns", "text"],
      description: "with --dry-run: how the view would change, as in `jpg diff`",
    },
    {
      flags: "--text",
      conflicts: ["chunks", "turns"],
      description: "with --dry-run: the whole view as it would be",
    },
    { flags: "--fork", description: "compact on a new fork, which becomes active", conflicts: ["inPlace"] },
    { flags: "--no-activate", description: "with --fork: stay on the active conversation" },
    { flags: "--in-place", description: "compact this branch (the default unless `fork` is configured)" },
    {
      flags: "--emit <file>",
      conflicts: ["accept", "dryRun", "fork", "strategy", "model", "chunks", "strict"],
      description: "write everything needed to summarise the range elsewhere (- is standard output)",
    },
    {
      flags: "--suffix",
      description: "with --emit: write only a message to send to the agent that has the conversation open",
    },
    {
      flags: "--accept <file>",
      description: "store the summary in this file (- is standard input)",
      conflicts: ["profile", "strategy", "model", "focus", "concise", "chunks"],
    },
  ],
  formerOptions: { "--heads": "Use --pointers: `jpg show EVENT` prints the call that a stub names." },
  examples: [
    { command: "jpg compact --dry-run", explains: "what the default profile would do" },
    { command: "jpg compact --profile light --keep 5", explains: "strip reasoning, leave the last 5 turns alone" },
    { command: "jpg compact -s auto", explains: "reasoning, repeated, obsolete and older calls, in one batch" },
    {
      command: "jpg compact -s strip-reasoning -s dedup-tools",
      explains: "remove reasoning, and repeated calls except the newest",
    },
    { command: "jpg compact --from 5h --to 1h", explains: "the turns of an afternoon" },
    {
      command: "jpg compact -p heavy --focus 'the parser'",
      explains: "have a model write a summary; without any key, an extract",
    },
    {
      command: "jpg compact --chunks auto",
      explains: "summarise a very long conversation in parts, after the last summary",
    },
    { command: "jpg compact -s classify-tangents", explains: "a model proposes off-task turns, you confirm each" },
    { command: "jpg compact --emit bundle.json", explains: "have any agent or person write the summary" },
  ],
  withoutGit: true,
  run: async (given) => {
    const call = readStrategyWords(given);
    const { context } = call;
    checkDependentFlags(context);
    const { id, turns } = readIdAndTurns(context.args, context.runtime);
    const range = readRange(context, turns);
    const chunks = readPartCount(context.options);
    const workspace = await context.open();
    const tree = await resolveWhole(workspace, id);
    const { leavesTangents, chosen: strategies } = await readStrategies(call, { workspace, tree });
    await checkActivation(context, { workspace, tree });
    const wish = readWish(context);
    const emit = text(context.options, "emit");
    if (emit !== undefined) {
      const suffixOnly = flag(context.options, "suffix");
      const profile = text(context.options, "profile");
      if (profile !== undefined)
        await checkSummaryOptions({ workspace, tree }, ["--emit"], {
          profile,
          strategies: null,
          leavesTangents: false,
        });
      return writeBundle(context, emit, await createBundle(workspace, tree, { range, ...wish, suffixOnly, profile }));
    }
    const accepted = await readAccepted(context, range);
    const manner = readManner(context);
    const idle = accepted === null && chunks === null ? summaryOptions(context.options) : [];
    await checkSummaryOptions({ workspace, tree }, idle, { ...manner, strategies, leavesTangents });
    const request: CompactRequest = {
      range: accepted?.range ?? range,
      ...wish,
      ...manner,
      ...(strategies === null ? {} : { strategies }),
      summary: accepted?.summary,
      profile: accepted?.profile ?? manner.profile,
      expects: accepted?.covers === undefined ? undefined : { covers: accepted.covers },
      progress: (line) => context.output.info(forTerminalLine(line)),
    };
    if (leavesTangents) {
      return runTangents(context, workspace, { tree, request, turns: readTurns(context) });
    }
    if (chunks !== null) {
      return runParts(context, workspace, { tree, request: { ...request, chunks } });
    }
    return compactUntilStopped(context, async (signal) => {
      const report = await compact(workspace, tree, { ...request, signal });
      return adviseAuto(workspace, tree, { report, request });
    });
  },
};

function compactUntilStopped(
  { output, options, json }: CommandContext,
  work: (signal: AbortSignal) => Promise<CompactReport>,
): Promise<number> {
  return endOnInterrupt(output, async (signal) => {
    const report = await work(signal);
    if (report.views !== undefined && (flag(options, "diff") || flag(options, "text"))) {
      await showPreview({ output, options, json }, { ...report, views: report.views });
    } else if (json) output.json(documentOf(report));
    else output.data(renderTimeline(report, output, { isFull: flag(options, "full") }));
    if (report.summary_error === "interrupted") return INTERRUPTED;
    const idle = summaryOptions(options);
    if (idle.length > 0 && !hasSummary(report) && report.compaction !== null)
      output.warn(safe`no summary was needed: ${forTerminalLine(idle.join(", "))} had no effect here`);
    return 0;
  });
}

/** Whether there is a summary, will be one, or should have been one. */
function hasSummary({ compaction, planned_summary, further, summary_error }: CompactReport): boolean {
  const isThere = compaction?.summary !== undefined || further !== undefined;
  return isThere || planned_summary !== null || summary_error !== undefined;
}

async function readAccepted(
  { options, runtime }: CommandContext,
  range: Omit<RangeRequest, "keepLast">,
): Promise<AcceptedSummary | null> {
  const file = text(options, "accept");
  if (file === undefined) return null;
  return acceptedSummary(runtime, file, range);
}

async function writeBundle({ output, runtime, json }: CommandContext, file: string, bundle: string): Promise<number> {
  if (file === "-") {
    output.raw(bundle);
    return 0;
  }
  const path = resolve(runtime.cwd, file);
  await writeResultFile(path, bundle);
  if (json) output.json({ path });
  else
    output.info(
      safe`Wrote ${forTerminalLine(path)}. Have the summary written, then: jpg compact --accept ${forTerminalLine(shellWord(file))}`,
    );
  return 0;
}
