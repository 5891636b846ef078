import { resolve } from "node:path";
import { type AcceptedSummary, acceptedSummary, createBundle } from "../../app/compact/accepted-summary.ts";
import { adviseAuto } from "../../app/compact/advise-auto.ts";
import { type CompactRequest, compact } from "../../app/compact/compact.ts";
import type { CompactReport } from "../../app/compact/compact-report.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { refusePastEnd } from "../../app/conversation/written-range.ts";
import { resolveWhole } from "../../app/names/resolve-id.ts";
import { writeNamedFile } from "../../app/sessions/named-file.ts";
import { PIPELINE_NAMES, STRATEGY_NAMES } from "../../core/compact/strategies/strategy-names.ts";
import { describeSettings } from "../../core/compact/strategies/strategy-words.ts";
import type { RangeRequest } from "../../core/conversation/bound-resolution.ts";
import { badBound, isBound } from "../../core/conversation/range-bound.ts";
import { forTerminalLine, joinLines, joinSafe, type SafeText, safe, shellWord } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag, INTERRUPTED, type OptionSpec, text } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/interrupt.ts";
import { idAndTurns, readIdAndTurns } from "../frame/range-argument.ts";
import { displayWidth } from "../frame/terminal.ts";
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
import { idToType } from "./next-steps.ts";

const MORE_OPTIONS: readonly OptionSpec[] = [
  {
    flags: "--text",
    conflicts: ["chunks", "turns", "tangents"],
    description: "with --dry-run: the whole view as it would be",
  },
  { flags: "--no-activate", description: "with --fork: stay on the active conversation" },
  { flags: "--in-place", description: "compact this branch (the default unless `fork` is configured)" },
  { flags: "--concise", description: "a shorter summary: key points, open questions, context" },
  { flags: "--strict", description: "reject a summary that claims anything its turns do not say" },
  {
    flags: "--tangents <list>",
    conflicts: ["from", "to", "keep", "keepLast", "model", "yes", "chunks", "turns"],
    description: "leave out these turns, e.g. 3,5-7, as -s classify-tangents does with those that a model proposes",
  },
  { flags: "--yes", description: "leave out all tangents that the model proposes, without asking" },
  { flags: "--first-line", description: "stubs show the first line of the result" },
  { flags: "--pointers", description: "stubs name their event, so that `jpg show EVENT` prints the original" },
  {
    flags: "--index",
    conflicts: ["emit"],
    description: "list what is hidden (files, commands, errors, names) in at most 1,500 tokens (the default)",
  },
  { flags: "--no-index", description: "leave that list out" },
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
].map((option): OptionSpec => ({ ...option, listed: "more" }));

/** What `-s NAME:key=value` and `--tangents` say now. */
const OLDER_OPTIONS: readonly OptionSpec[] = [
  { flags: "--max-chars <n>", description: "as -s NAME:max-chars=N" },
  { flags: "--head <share>", description: "as -s NAME:head=SHARE" },
  { flags: "--newest <n>", description: "as -s NAME:newest=N" },
  { flags: "--target <size>", description: "as -s NAME:target=SIZE" },
  { flags: "--protect <tokens>", description: "as -s NAME:protect=N" },
  { flags: "--min-gain <tokens>", description: "as -s NAME:min-gain=N" },
  {
    flags: "--turns <list>",
    description: "as --tangents",
    conflicts: ["from", "to", "keep", "keepLast", "model", "yes", "chunks"],
  },
].map((option): OptionSpec => ({ ...option, listed: "never" }));

export const command: CommandSpec = {
  name: "compact",
  summary: "shorten what the model sees, without losing anything",
  description:
    "Changes how turns are read, in one commit. Nothing that was said is touched: `jpg diff` shows what the model sees before and after, `jpg undo` undoes it. The last turns stay as they are (keep_last, 3).",
  details: `Without a range it starts at turn 0. --strategy takes ${[...PIPELINE_NAMES, ...STRATEGY_NAMES].join(", ")}; without a name, at the end of the line or before an option, it means the strategy in your settings. Settings of a strategy follow its name, as in \`-s auto:protect=5000,min-gain=1000\`; so much of a name is enough as begins no other. ${describeSettings()}. If two of several strategies touch one call, the stronger one is used. --from without a bound means last. --chunks without a range starts after the last summary. --force also commits a view that grows.`,
  arguments: idAndTurns("which turns"),
  options: [
    {
      flags: "-p, --profile <name>",
      description: "default, light, heavy, or a profile from your settings",
      conflicts: ["strategy"],
      asks: "profiles",
    },
    {
      flags: "-s, --strategy [name]",
      description:
        "what to take out, instead of a profile: auto, or single steps such as truncate:head=0.7 (--all lists them); without a name the one in your settings",
      repeatable: true,
      optionalValue: (word) => !word.startsWith("-"),
      values: [...PIPELINE_NAMES, ...STRATEGY_NAMES],
    },
    {
      flags: "--from [bound]",
      description: "first turn: 5, -3, 5:EVENT, 5h, yesterday, last",
      optionalValue: isBound,
      refuse: (word) => badBound(word, ["If you meant a conversation: `jpg ls` lists them."]),
    },
    { flags: "--to <bound>", description: "last turn, in the same forms" },
    { flags: "--keep <n>", description: "leave the last N turns alone", conflicts: ["keepLast"] },
    { flags: "--keep-last <n>", description: "the same as --keep", listed: "never" },
    {
      flags: "-m, --model <name>",
      description: "model that writes the summary; extractive: an extract",
    },
    { flags: "--focus <text>", description: "what the summary should focus on", repeatable: true },
    {
      flags: "--chunks <n>",
      description: "summarise in N parts, one commit each; auto: where the topic changes",
    },
    { flags: "--dry-run", description: "show what would change, commit nothing" },
    { flags: "--full", description: "print the whole report, not its largest parts" },
    {
      flags: "--diff",
      conflicts: ["chunks", "turns", "tangents", "text"],
      description: "with --dry-run: how the view would change",
    },
    { flags: "--fork", description: "compact on a new fork, which becomes active", conflicts: ["inPlace"] },
    { flags: "--force", description: "also if it saves little, or a turn is unfinished" },
    ...MORE_OPTIONS,
    ...OLDER_OPTIONS,
  ],
  formerOptions: { "--heads": "Use --pointers: `jpg show EVENT` prints the call that a stub names." },
  examples: [
    { command: "jpg compact --dry-run", explains: "look first" },
    { command: "jpg compact -s auto", explains: "reasoning, repeats, old calls" },
    { command: "jpg compact 0..5", explains: "only these turns" },
    { command: "jpg compact -p heavy --focus 'the parser'", explains: "a summary by a model" },
    { command: "jpg compact --profile light --keep 5", explains: "strip reasoning, leave the last 5 turns alone" },
    {
      command: "jpg compact -s strip-reasoning -s dedup-tools",
      explains: "remove reasoning, and repeated calls except the newest",
    },
    { command: "jpg compact --from 5h --to 1h", explains: "the turns of an afternoon" },
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
    if (turns !== undefined) refusePastEnd(tree, turns);
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
    return compactUntilStopped(context, workspace, async (signal) => {
      const report = await compact(workspace, tree, { ...request, signal });
      return adviseAuto(workspace, tree, { report, request });
    });
  },
};

function compactUntilStopped(
  { output, options, json }: CommandContext,
  workspace: Workspace,
  work: (signal: AbortSignal) => Promise<CompactReport>,
): Promise<number> {
  return endOnInterrupt(output, async (signal) => {
    const report = await work(signal);
    if (report.views !== undefined && (flag(options, "diff") || flag(options, "text"))) {
      await showPreview({ output, options, json }, { ...report, views: report.views });
    } else if (json) output.json(documentOf(report));
    else {
      output.data(renderTimeline(report, output, { isFull: flag(options, "full") }));
      if (output.seen && report.compaction !== null && !report.dryRun) {
        output.info(nextSteps(await idToType(workspace, report.branch), output.width));
      }
    }
    if (report.summary_error === "interrupted") return INTERRUPTED;
    const idle = summaryOptions(options);
    if (idle.length > 0 && !hasSummary(report) && report.compaction !== null)
      output.warn(safe`no summary was needed: ${forTerminalLine(idle.join(", "))} had no effect here`);
    return 0;
  });
}

/** What to type next: on one line if it fits. */
function nextSteps(id: SafeText, width: number): SafeText {
  const steps = [
    safe`Continue: jpg resume${id} --exec`,
    safe`What is hidden: jpg diff${id} --stat`,
    safe`Undo: jpg undo${id}`,
  ];
  const line = joinSafe(steps, "  ");
  return displayWidth(line) <= width ? line : joinLines(steps);
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
  await writeNamedFile(runtime, path, bundle);
  if (json) output.json({ path });
  else
    output.info(
      safe`Wrote ${forTerminalLine(path)}. Have the summary written, then: jpg compact --accept ${forTerminalLine(shellWord(file))}`,
    );
  return 0;
}
