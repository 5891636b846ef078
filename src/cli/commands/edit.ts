import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { applyPlan } from "../../app/compact/edit.ts";
import { carryOver, type EditReport, offerPlan, type PlanOffer } from "../../app/compact/edit-plan.ts";
import type { Runtime } from "../../app/conversation/runtime.ts";
import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { editorFailed, openEditor } from "../../app/models/external-process.ts";
import { resolveWhole } from "../../app/names/resolve-id.ts";
import { writeNamedFile } from "../../app/sessions/named-file.ts";
import { markPlan, type PlanProblem, withoutMarks } from "../../core/compact/edit-plan.ts";
import { JpgError, reasonOf, userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, safe, shellWord } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag, text } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/interrupt.ts";
import { editDocument, isIdle, PLAN_COLUMNS, planDocument, renderEdit, renderPlan } from "../render/compact.ts";
import { readWish } from "./compact-options.ts";

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
      // An id contains no dot and does not begin with a slash.
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

/** An editor needs a terminal. Throws `needs_terminal`. */
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
    await writeNamedFile(runtime, path, plan);
    if (json) output.json({ path });
    else
      output.info(
        safe`Wrote ${forTerminalLine(path)}. Change it, then: jpg edit --plan ${forTerminalLine(shellWord(file))}`,
      );
  } else if (json) output.json(planDocument(offer, plan));
  else output.data(forTerminal(plan));
  return 0;
}

export interface EditSession {
  readonly workspace: Workspace;
  readonly tree: BranchTree;
  readonly runtime: Runtime;
  readonly columns: number;
  readonly calls: boolean;
  readonly apply: (tree: BranchTree, text: string) => Promise<EditReport>;
}

interface Round {
  readonly tree: BranchTree;
  readonly text: string;
  /** Why the previous plan could not be followed; absent = first round. */
  readonly refused?: JpgError;
}

/** Edits until a plan is applied, empty or unchanged. Throws `editor_failed`, and what applying throws; the plan is then kept in a file. */
export async function editInEditor(session: EditSession): Promise<EditReport> {
  const { workspace, tree } = session;
  const offer = await offerPlan(workspace, tree, session);
  if (offer.items.length === 0) return session.apply(tree, "");
  let round: Round = { tree, text: renderOffer(session, offer) };
  for (;;) {
    const text = await editOnce(session, round);
    try {
      return await session.apply(round.tree, text);
    } catch (error) {
      if (!(error instanceof JpgError)) throw error;
      round = await nextRound(session, round.tree, { text, error });
    }
  }
}

/** Returns the edited text. Throws if the editor failed, or if a refused plan was saved unchanged. */
async function editOnce(session: EditSession, { text, refused }: Round): Promise<string> {
  const { env, cwd } = session.runtime;
  const configured = await session.workspace.store.editor();
  const edited = await openEditor(text, { env, cwd, what: "plan", configured });
  const isSame = withoutMarks(edited.text) === withoutMarks(text);
  const error = edited.code === 0 ? (isSame ? refused : undefined) : editorFailed(edited, "plan");
  if (error === undefined) return edited.text;
  throw isSame && refused === undefined ? error : await kept(session, edited.text, error);
}

/** Returns the text for the next round after a refused plan. Throws errors that editing cannot fix. */
async function nextRound(
  session: EditSession,
  tree: BranchTree,
  { text, error }: { readonly text: string; readonly error: JpgError },
): Promise<Round> {
  if (error.code === "bad_plan") return { tree, text: markPlan(text, problemsOf(error)), refused: error };
  if (error.code !== "plan_moved") throw await kept(session, text, error);
  const moved = await resolveWhole(session.workspace, tree.branch);
  return { tree: moved, text: renderOffer(session, await carryOver(session.workspace, moved, text), [error.message]) };
}

function renderOffer({ columns, runtime }: EditSession, offer: PlanOffer, moved: readonly string[] = []): string {
  const lost =
    offer.lost.length === 0 ? [] : [`Not carried over, because it is no longer there: ${offer.lost.join(", ")}`];
  const notes = [...moved, ...lost];
  const ending = notes.length === 0 ? [] : ["Save to continue with the plan above; empty the file to stop.", ""];
  return renderPlan(offer, { columns, now: runtime.now() }, [...notes, ...ending]);
}

function problemsOf({ data }: JpgError): readonly PlanProblem[] {
  return data["problems"] as readonly PlanProblem[];
}

/** Adds to the error where the plan is kept. */
async function kept({ workspace, tree }: EditSession, text: string, error: JpgError): Promise<JpgError> {
  const { kind, code, message, data, cause } = error;
  const path = await workspace.store.keepText("edit-plan", text);
  const hints =
    path === null ? [] : [`Your plan is kept: \`jpg edit ${tree.branch} --plan ${path}\` continues with it.`];
  return new JpgError(kind, code, message, { data, cause, hints: [...hints, ...error.hints] });
}
