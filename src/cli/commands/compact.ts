import { resolve } from "node:path";
import { compact } from "../../app/compact.ts";
import { resolveBranch } from "../../app/resolve-id.ts";
import { type AcceptedSummary, acceptedSummary, createBundle } from "../../app/summary-bundle.ts";
import type { RangeRequest } from "../../core/bound-resolution.ts";
import type { StubStyle } from "../../core/compaction.ts";
import { userError } from "../../core/errors.ts";
import { isBound, parseBound } from "../../core/range-bound.ts";
import { type ChosenStrategies, choosePipelines, parseTarget } from "../../core/strategies/pipelines.ts";
import { PIPELINE_NAMES, STRATEGIES } from "../../core/strategies/strategy-list.ts";
import { parseTurnList } from "../../core/strategies/turn-list.ts";
import { type CommandContext, type CommandSpec, flag, text, texts } from "../command.ts";
import { count } from "../number-option.ts";
import { renderTimeline } from "../render-timeline.ts";
import { writeResultFile } from "../write-file.ts";

export const command: CommandSpec = {
  name: "compact",
  summary: "shorten what the model sees, without losing anything",
  description:
    "Appends one commit with one compaction: a change of how turns are read. Nothing that was said is touched; `jpg diff` shows what the model sees before and after, `jpg revert` takes it back. Without a range: from turn 0, leaving the last turns alone (keep_last, 3).",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [
    { flags: "-p, --profile <name>", description: "compaction profile (default, light, or one of the config)" },
    {
      flags: "--from [bound]",
      description: "first turn: 5, -3, 5:EVENT, 5h, last (the default when no bound is given)",
      optionalValue: isBound,
    },
    { flags: "--to <bound>", description: "last turn, the same forms" },
    { flags: "--keep <n>", description: "leave the last N turns alone" },
    { flags: "--keep-last <n>", description: "the same as --keep" },
    {
      flags: "-s, --strategy <name>",
      description: `what to take out, in place of a profile; repeatable, the strongest wins: ${[...PIPELINE_NAMES, ...STRATEGIES.map(({ name }) => name)].join(", ")}`,
      repeatable: true,
    },
    { flags: "--max-chars <n>", description: "longest text left whole (truncate-results, strip-arguments, supersede)" },
    { flags: "--head <share>", description: "share kept at the start of a truncated result, 0 to 1; default 0.5" },
    { flags: "--newest <n>", description: "results that mask-results leaves alone; default 10" },
    { flags: "--turns <list>", description: "turns that are tangents, like 5-7 (classify-tangents)" },
    { flags: "--first-line", description: "stubs show the first line of the result" },
    { flags: "--pointers", description: "stubs name their event; `jpg show EVENT` gives the original" },
    {
      flags: "--target <size>",
      description: "what tiered brings the view down to: 60k tokens, or 0.5 of the window (default)",
    },
    {
      flags: "--protect <tokens>",
      description: "newest tokens that auto, tiered and mask-results leave alone; default 10000",
    },
    { flags: "--min-gain <tokens>", description: "least tokens that auto and mask-results must save; default 20000" },
    { flags: "--force", description: "commit even when the view would grow, or a batch gains little" },
    { flags: "--strict", description: "refuse a summary that says what its turns do not" },
    { flags: "--dry-run", description: "show what would change, commit nothing" },
    { flags: "--fork", description: "compact on a new fork, which becomes active" },
    { flags: "--no-activate", description: "with --fork: stay on the active conversation" },
    { flags: "--in-place", description: "compact this branch (the default unless `fork` is configured)" },
    {
      flags: "--emit <file>",
      description: "write what is needed to write a summary of the range (- = standard output)",
    },
    { flags: "--accept <file>", description: "store the summary that was written (- = standard input)" },
  ],
  examples: [
    { command: "jpg compact --dry-run", explains: "what the default profile would do" },
    { command: "jpg compact --profile light --keep 5", explains: "strip reasoning, leave the last 5 turns alone" },
    { command: "jpg compact -s auto", explains: "reasoning, repeated calls, obsolete and old results, in one batch" },
    {
      command: "jpg compact -s strip-reasoning -s dedup-tools",
      explains: "no reasoning, and of equal calls only the newest",
    },
    { command: "jpg compact --from 5h --to 1h", explains: "the turns of an afternoon" },
    { command: "jpg compact --emit bundle.json", explains: "let any agent or person write the summary" },
  ],
  run: async (context) => {
    checkFlags(context);
    checkActivation(context);
    const range = readRange(context);
    const strategies = readStrategies(context);
    const workspace = await context.open();
    const tree = await resolveBranch(workspace, context.args[0]);
    const profile = text(context.options, "profile");
    const emit = text(context.options, "emit");
    if (emit !== undefined) return writeBundle(context, emit, await createBundle(workspace, tree, range));
    const accepted = await readAccepted(context, range);
    const report = await compact(workspace, tree, {
      range: accepted?.range ?? range,
      ...(profile === undefined ? {} : { profile }),
      ...(strategies === null ? {} : { strategies }),
      stubs: readStubs(context),
      force: flag(context.options, "force"),
      strict: flag(context.options, "strict"),
      ...(accepted === null ? {} : { summary: accepted.summary }),
      ...(accepted?.covers === undefined ? {} : { expects: { covers: accepted.covers } }),
      dryRun: flag(context.options, "dryRun"),
      ...(flag(context.options, "fork") ? { fork: true } : flag(context.options, "inPlace") ? { fork: false } : {}),
      activate: context.options["activate"] !== false,
    });
    if (context.json) {
      const { compaction, dryRun, ...rest } = report;
      context.output.json({
        ...rest,
        compaction: compaction?.id ?? null,
        dry_run: dryRun,
        ...(compaction === null ? {} : { event: compaction }),
      });
    } else context.output.data(renderTimeline(report, context.output));
    return 0;
  },
};

function checkFlags({ options }: CommandContext): void {
  const clashes: [string, string][] = [
    ["keep", "keepLast"],
    ["fork", "inPlace"],
    ["emit", "accept"],
    ["accept", "profile"],
    ["emit", "dryRun"],
    ["emit", "fork"],
    ["profile", "strategy"],
    ["accept", "strategy"],
    ["emit", "strategy"],
    ["turns", "from"],
    ["turns", "to"],
    ["turns", "keep"],
    ["turns", "keepLast"],
  ];
  for (const [one, other] of clashes) {
    if (options[one] !== undefined && options[other] !== undefined) {
      throw userError(
        "contradictory_flags",
        `--${dashed(one)} and --${dashed(other)} contradict each other; give one of them.`,
        { hints: ["`jpg compact --help` says what each is for."] },
      );
    }
  }
}

/** Where nothing is forked, nothing else could become active. */
function checkActivation({ options }: CommandContext): void {
  if (options["activate"] !== false || options["fork"] === true) return;
  throw userError("usage", "jpg compact: --no-activate says nothing without --fork.", {
    hints: ["`jpg compact --fork --no-activate` compacts a new fork and stays on the active conversation."],
  });
}

function dashed(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function readRange({ options }: CommandContext): Omit<RangeRequest, "keepLast"> {
  const from = text(options, "from");
  const to = text(options, "to");
  const keep = count(options, "keep") ?? count(options, "keepLast");
  const turns = text(options, "turns");
  if (turns !== undefined) {
    const tangent = parseTurnList(turns);
    return { from: { type: "turn", turn: tangent.from }, to: { type: "turn", turn: tangent.to } };
  }
  return {
    ...(from === undefined ? {} : { from: from === "" ? { type: "last" as const } : parseBound(from) }),
    ...(to === undefined ? {} : { to: parseBound(to) }),
    ...(keep === undefined ? {} : { keep }),
  };
}

/** The strategies that were named; null when none was. */
function readStrategies({ options }: CommandContext): ChosenStrategies | null {
  const names = texts(options, "strategy");
  const target = text(options, "target");
  const [maxChars, newest, head] = [count(options, "maxChars"), count(options, "newest"), text(options, "head")];
  const given = {
    ...(maxChars === undefined ? {} : { maxChars }),
    ...(newest === undefined ? {} : { newest }),
    ...(head === undefined ? {} : { head: head.trim() === "" ? Number.NaN : Number(head) }),
  };
  const chosen = choosePipelines(names, given, target === undefined ? undefined : parseTarget(target));
  const sized = withSizes(chosen, options);
  const isTangent = names.includes("classify-tangents");
  if (isTangent === (options["turns"] !== undefined)) return names.length === 0 ? null : sized;
  throw isTangent
    ? userError(
        "needs_turns",
        "The strategy classify-tangents needs the turns to leave out: no model judges them yet.",
        {
          hints: ["Name them: jpg compact --strategy classify-tangents --turns 5-7"],
        },
      )
    : userError("unused_option", "--turns says nothing without --strategy classify-tangents.", {
        hints: ["Use --from and --to to say which turns are compacted."],
      });
}

/** The sizes as the user gave them, where the strategies have them. */
function withSizes(chosen: ChosenStrategies, options: CommandContext["options"]): ChosenStrategies {
  const [protectTokens, minGainTokens] = [count(options, "protect"), count(options, "minGain")];
  refuseUnused("--target", "tiered", options["target"] !== undefined && !chosen.names.includes("tiered"));
  refuseUnused(
    "--protect",
    "auto, tiered or mask-results",
    protectTokens !== undefined && chosen.protectTokens === undefined,
  );
  refuseUnused("--min-gain", "auto or mask-results", minGainTokens !== undefined && chosen.minGainTokens === undefined);
  return {
    ...chosen,
    ...(protectTokens === undefined ? {} : { protectTokens }),
    ...(minGainTokens === undefined ? {} : { minGainTokens }),
  };
}

function refuseUnused(option: string, strategies: string, isUnused: boolean): void {
  if (!isUnused) return;
  throw userError("unused_option", `${option} says nothing without --strategy ${strategies}.`, {
    hints: [`Add the strategy, or leave ${option} out.`],
  });
}

function readStubs({ options }: CommandContext): StubStyle {
  return {
    ...(flag(options, "pointers") ? { pointers: true } : {}),
    ...(flag(options, "firstLine") ? { first_line: true } : {}),
  };
}

async function readAccepted(
  { options, runtime }: CommandContext,
  range: Omit<RangeRequest, "keepLast">,
): Promise<AcceptedSummary | null> {
  const file = text(options, "accept");
  return file === undefined ? null : acceptedSummary(runtime, file, range);
}

async function writeBundle({ output, runtime, json }: CommandContext, file: string, bundle: string): Promise<number> {
  if (file === "-") {
    output.data(bundle);
    return 0;
  }
  const path = resolve(runtime.cwd, file);
  await writeResultFile(path, bundle);
  if (json) output.json({ path });
  else output.info(`Wrote ${path}. Have the summary written, then: jpg compact --accept FILE`);
  return 0;
}
