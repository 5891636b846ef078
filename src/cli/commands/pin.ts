import { addPin, boundOf, listPins, removePin } from "../../app/conversation/marks.ts";
import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { resolveTurns } from "../../app/conversation/written-range.ts";
import { resolveBranch, resolveTree } from "../../app/names/resolve-id.ts";
import { badTurnBound, isBound, isRange, parseRange, parseTurnBound } from "../../core/conversation/range-bound.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag } from "../frame/command.ts";
import { renderCount } from "../render/quantity.ts";

export const command: CommandSpec = {
  name: "pin",
  summary: "protect a turn or an event from compactions, or list the pins",
  description:
    "Pinned turns and events stay in the view as they are: later compactions list them under `keep`, and a compaction that cannot keep them is refused. Pinning a call also pins its result.",
  arguments: [
    { name: "[id]", description: "conversation; default @" },
    { name: "[what]", description: "a turn (5, -3), turns (3..7), or an event of one (5:EVENT)" },
  ],
  options: [{ flags: "--remove", description: "remove the pin" }],
  examples: [
    { command: "jpg pin 0", explains: "keep the first request and its answer through every compaction" },
    { command: "jpg pin", explains: "what is pinned" },
    { command: "jpg pin 0 --remove", explains: "let compactions touch it again" },
  ],
  run: async (context) => {
    const { args, options, output, json, open } = context;
    const { id, what } = readArguments(args);
    const workspace = await open();
    if (what !== undefined && isRange(what)) return pinSeveral(context, workspace, { id, what });
    const bound = what === undefined ? undefined : parseTurnBound(what);
    const tree = bound === undefined ? await treeToList(workspace, id) : await resolveBranch(workspace, id);
    if (bound === undefined) {
      if (flag(options, "remove"))
        throw userError("usage", "jpg pin --remove: say which pin.", { hints: ["`jpg pin` lists them."] });
      return list(context, await listPins(workspace, tree));
    }
    const report = flag(options, "remove")
      ? await removePin(workspace, tree, bound)
      : await addPin(workspace, tree, bound);
    if (json) output.json(report);
    else output.data(sentence(report, flag(options, "remove")));
    for (const warning of report.warnings) output.warn(forTerminal(warning));
    return 0;
  },
};

/** A single word that is no bound names a conversation; if there is none, adds a hint on turns. */
async function treeToList(workspace: Workspace, id: string | undefined): Promise<BranchTree> {
  try {
    return await resolveTree(workspace, id);
  } catch (error) {
    if (id === undefined || !(error instanceof JpgError && error.code === "unknown_id")) throw error;
    throw badTurnBound(id, [`No conversation is called "${id}" either; \`jpg ls\` lists them.`]);
  }
}

/** Pins each turn of a range, or unpins it: one commit each. */
async function pinSeveral(
  { options, runtime, output, json }: CommandContext,
  workspace: Workspace,
  { id, what }: { readonly id?: string; readonly what: string },
): Promise<number> {
  const { from, to } = await resolveTurns(workspace, await resolveBranch(workspace, id), parseRange(what, runtime));
  const isRemoved = flag(options, "remove");
  const change = isRemoved ? removePin : addPin;
  const reports: Awaited<ReturnType<typeof addPin>>[] = [];
  for (let turn = from; turn <= to; turn++) {
    reports.push(await change(workspace, await resolveBranch(workspace, id), { type: "turn", turn }));
  }
  if (json) output.json(reports);
  else output.data(joinLines(reports.map((report) => sentence(report, isRemoved))));
  for (const warning of new Set(reports.flatMap(({ warnings }) => warnings))) output.warn(forTerminal(warning));
  return 0;
}

/** A single word that parses as a bound or a range is what to pin; otherwise it names a conversation. */
function readArguments(args: readonly string[]): { readonly id?: string; readonly what?: string } {
  const [first, second] = args;
  if (second !== undefined) return { id: first, what: second };
  if (first === undefined) return {};
  return isBound(first) || isRange(first) ? { what: first } : { id: first };
}

function sentence({ pin, events, commit }: Awaited<ReturnType<typeof addPin>>, removed: boolean): SafeText {
  const what = forTerminalLine(boundOf(pin));
  const count = renderCount(events.length, "event");
  if (commit === null) return safe`${what} is pinned already (${count}).`;
  return safe`${removed ? "Unpinned" : "Pinned"} ${what} (${count}).`;
}

function list({ output, json }: CommandContext, pins: Awaited<ReturnType<typeof listPins>>): number {
  if (json) output.json(pins);
  else if (pins.length === 0) output.info(safe`Nothing is pinned.`);
  else {
    const line = (pin: (typeof pins)[number]): SafeText =>
      safe`${forTerminalLine(boundOf(pin))}  ${renderCount(pin.events, "event")}${pin.compacted === 0 ? "" : safe`, ${pin.compacted} compacted before it was pinned`}`;
    output.data(joinLines(pins.map(line)));
  }
  return 0;
}
