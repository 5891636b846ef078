// What the keys of the daily screen do with a conversation: what changes it is shown first, and asked for.
import { compact } from "../../app/compact/compact.ts";
import { newestCompaction } from "../../app/manage/revert.ts";
import { resolveBranch, resolveWhole } from "../../app/names/resolve-id.ts";
import { JpgError } from "../../core/errors.ts";
import { forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { askYesNo } from "../frame/ask.ts";
import { type CommandContext, type CommandSpec, INTERRUPTED } from "../frame/command.ts";
import { untilStopped } from "../frame/interrupt.ts";
import { waitForKey } from "../frame/pick-row.ts";
import { wrapProse } from "../frame/wrap.ts";
import { renderTimeline } from "../render/compact.ts";
import { renderMaker } from "../render/list.ts";
import { readManner, readRange, readWish } from "./compact-options.ts";

export type RowAction = "resume" | "show" | "compact" | "diff" | "undo" | "page";

interface ActionSpec {
  readonly load: () => Promise<{ readonly command: CommandSpec }>;
  /** Options of the command. */
  readonly options?: CommandContext["options"];
  /** Shows what the command would change. `false` = nothing; then it is not run. */
  readonly preview?: (context: CommandContext, branch: string) => Promise<boolean>;
  /** Asked after the preview. */
  readonly question?: string;
  /** When the list is shown again: once its output is read, at once, or only if the command fails, which else has the last word. */
  readonly returns: "after a key" | "at once" | "if it fails";
}

const ACTIONS_BY_KEY: Readonly<Record<RowAction, ActionSpec>> = {
  resume: { load: () => import("./resume.ts"), returns: "if it fails" },
  show: { load: () => import("./show.ts"), returns: "after a key" },
  compact: {
    load: () => import("./compact.ts"),
    preview: previewCompact,
    question: "Compact it?",
    returns: "after a key",
  },
  diff: { load: () => import("./diff.ts"), options: { stat: true }, returns: "after a key" },
  undo: { load: () => import("./undo.ts"), preview: previewUndo, question: "Undo it?", returns: "after a key" },
  page: { load: () => import("./serve.ts"), options: { open: true }, returns: "at once" },
};

/** Does it. Returns an exit code if the list has ended with it; null = the list is shown again. */
export async function runRowAction(given: CommandContext, action: RowAction, branch: string): Promise<number | null> {
  const spec = ACTIONS_BY_KEY[action];
  const context = { ...given, options: { ...given.options, ...spec.options }, args: [branch] };
  try {
    const isWanted = spec.preview === undefined || (await isConfirmed(context, spec, branch));
    if (isWanted === "no") return null;
    const code = isWanted === "nothing" ? 0 : await runNamed(context, spec);
    if (code === 0 && spec.returns === "if it fails") return 0;
    if (code === 0 && spec.returns === "at once") return null;
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    context.output.error(error);
  }
  return untilStopped(async (signal) => ((await waitForKey(BACK, signal)) ? null : signal.aborted ? INTERRUPTED : 0));
}

const BACK: SafeText = safe`any key: back to the list`;

async function isConfirmed(
  context: CommandContext,
  { preview, question = "" }: ActionSpec,
  branch: string,
): Promise<true | "no" | "nothing"> {
  if (preview !== undefined && !(await preview(context, branch))) return "nothing";
  const isYes = await askYesNo({ text: question, otherwise: "no", instead: "y" }, { output: context.output });
  return isYes || "no";
}

async function runNamed(context: CommandContext, { load, options = {} }: ActionSpec): Promise<number> {
  const { command } = await load();
  const { info, errorStyle } = context.output;
  const flags = Object.keys(options).map((name) => `--${name}`);
  info(errorStyle.faint(safe`$ jpg ${forTerminalLine([command.name, ...flags, ...context.args].join(" "))}`));
  return (await command.run(context)) ?? 0;
}

/** The short report of `jpg compact --dry-run`. */
async function previewCompact(context: CommandContext, branch: string): Promise<boolean> {
  const { open, output } = context;
  const dry = { ...context, options: { ...context.options, dryRun: true } };
  const workspace = await open();
  const tree = await resolveWhole(workspace, branch);
  const request = { range: readRange(dry, undefined), ...readWish(dry), ...readManner(dry) };
  const report = await untilStopped((signal) => compact(workspace, tree, { ...request, signal }));
  output.data(renderTimeline(report, output, { isFull: false }));
  return report.compaction !== null;
}

async function previewUndo({ open, output }: CommandContext, branch: string): Promise<boolean> {
  const workspace = await open();
  const { subject, agent } = await newestCompaction(workspace, await resolveBranch(workspace, branch));
  const what = safe`The newest compaction of ${forTerminalLine(branch)}${renderMaker(agent)}: ${output.style.heading(forTerminalLine(subject))}`;
  output.data(joinLines(wrapProse(what, output.width)));
  return true;
}
