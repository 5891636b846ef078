import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { applyPlan } from "../../app/compact/edit.ts";
import { carryOver, offerPlan, type PlanOffer } from "../../app/compact/edit-plan.ts";
import { writeResultFile } from "../../app/conversation/runtime.ts";
import { resolveWhole } from "../../app/names/resolve-id.ts";
import { reasonOf, userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag, text } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/end-on-interrupt.ts";
import { editDocument, isIdle, planDocument, renderEdit } from "../render/render-edit.ts";
import { PLAN_COLUMNS, renderPlan } from "../render/render-plan.ts";
import { readWish } from "./compact-options.ts";
import { editInEditor } from "./edit-in-editor.ts";

export const command: CommandSpec = {
  name: "edit",
  summary: "edit what the model sees as a list, like git rebase -i",
  description:
    "Opens the view as a plan in your editor ($GIT_EDITOR, core.editor of your git settings, $VISUAL, $EDITOR, else vi): one line per turn, whose first word says what happens to it: keep, strip, truncate, omit, summarise, pin. Saving makes one commit, which `jpg undo` undoes as a whole; an empty or unchanged plan does nothing. If the plan has a mistake, it opens again with those lines marked.",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [
    { flags: "--calls", description: "add a line for each tool call", conflicts: ["plan"] },
    { flags: "--plan <file>", description: "follow the plan in this file (- is standard input) and open no editor" },
    {
      flags: "--emit-plan [file]",
      description:
        "print the plan, or write it with =FILE, and change nothing; with --plan: update that plan to the branch as it is now",
      // No id has a dot in it, or begins with a slash.
      optionalValue: (word) => word === "-" || word.includes(".") || word.startsWith("/"),
      conflicts: ["dryRun", "force", "model", "focus", "concise"],
    },
    {
      flags: "-m, --model <name>",
      description: "model that writes summaries, as provider/model; extractive makes extracts without a model",
    },
    { flags: "--focus <text>", description: "what summaries should focus on", repeatable: true },
    { flags: "--concise", description: "shorter summaries: key points, open questions, context" },
    { flags: "--force", description: "follow the plan even if the view grows" },
    { flags: "--dry-run", description: "show what would change, commit nothing" },
  ],
  examples: [
    { command: "jpg edit", explains: "choose turn by turn what the model still sees" },
    { command: "jpg edit --calls", explains: "call by call, in long turns" },
    { command: "jpg edit --emit-plan > plan.txt", explains: "a plan for a program or a reviewer to change" },
    { command: "jpg edit --plan plan.txt --dry-run", explains: "what it would do" },
    { command: "jpg undo", explains: "undo all of it" },
  ],
  run: async (context) => {
    const { args, options, runtime } = context;
    const file = text(options, "plan");
    const emit = text(options, "emitPlan");
    const isAlone = file === undefined && emit === undefined;
    if (isAlone) await requireTerminal(context);
    const written = file === undefined ? null : await readPlan(context, file);
    const workspace = await context.open();
    const tree = await resolveWhole(workspace, args[0]);
    if (emit !== undefined) {
      const offer =
        written === null
          ? await offerPlan(workspace, tree, { calls: flag(options, "calls") })
          : await carryOver(workspace, tree, written);
      for (const line of offer.lost)
        context.output.warn(safe`${forTerminalLine(line)} is left out: it is not there any more`);
      return emitPlan(context, emit, offer);
    }
    return endOnInterrupt(context.output, async (signal) => {
      const request = {
        ...readWish(context),
        dryRun: flag(options, "dryRun"),
        force: flag(options, "force"),
        signal,
        progress: (line: string) => context.output.info(forTerminalLine(line)),
      };
      const apply = (at: typeof tree, plan: string): ReturnType<typeof applyPlan> =>
        applyPlan(workspace, at, plan, request);
      const columns = Math.min(context.output.width, MOST_COLUMNS);
      const calls = flag(options, "calls");
      const report =
        written === null
          ? await editInEditor({ workspace, tree, runtime, columns, calls, apply })
          : await apply(tree, written);
      if (context.json) context.output.json(editDocument(report));
      else if (isIdle(report)) context.output.info(renderEdit(report, context.output));
      else context.output.data(renderEdit(report, context.output));
      return 0;
    });
  },
};

/** Most columns of a plan in an editor. */
const MOST_COLUMNS = 120;

/** An editor wants to be seen and typed into. Throws `needs_terminal`. */
async function requireTerminal({ runtime, output }: CommandContext): Promise<void> {
  if ((await runtime.inputKind()) === "terminal" && output.width !== Number.POSITIVE_INFINITY) return;
  throw userError(
    "needs_terminal",
    "jpg edit needs a terminal for the editor, but standard input or output is not one.",
    {
      hints: ["`jpg edit --emit-plan=plan.txt` writes the plan; edit it, then `jpg edit --plan plan.txt` follows it."],
    },
  );
}

/** Throws `unreadable_file`. */
async function readPlan({ runtime }: CommandContext, file: string): Promise<string> {
  if (file === "-") return new TextDecoder().decode(await runtime.readStdin());
  try {
    return await readFile(resolve(runtime.cwd, file), "utf8");
  } catch (cause) {
    throw userError("unreadable_file", `${file} cannot be read: ${reasonOf(cause)}.`, {
      hints: ["`jpg edit --emit-plan=FILE` writes a plan; - is standard input."],
      cause,
    });
  }
}

async function emitPlan({ output, runtime, json }: CommandContext, file: string, offer: PlanOffer): Promise<number> {
  const plan = renderPlan(offer, { columns: PLAN_COLUMNS, now: runtime.now() });
  if (file !== "" && file !== "-") {
    const path = resolve(runtime.cwd, file);
    await writeResultFile(path, plan);
    if (json) output.json({ path });
    else output.info(safe`Wrote ${forTerminalLine(path)}. Change it, then: jpg edit --plan FILE`);
  } else if (json) output.json(planDocument(offer, plan));
  else output.data(forTerminal(plan));
  return 0;
}
