// A plan in the user's editor, again and again until it can be followed: what is wrong with it comes back as comments, and when
// the branch moved meanwhile, the plan of the branch as it stands comes with the verbs brought over.

import { carryOver, type EditReport, offerPlan, type PlanOffer } from "../../app/compact/edit-plan.ts";
import type { Runtime } from "../../app/conversation/runtime.ts";
import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { editorFailed, openEditor } from "../../app/models/external-process.ts";
import { resolveWhole } from "../../app/names/resolve-id.ts";
import { markPlan, type PlanProblem, withoutMarks } from "../../core/compact/edit-plan.ts";
import { JpgError } from "../../core/errors.ts";
import { renderPlan } from "../render/render-plan.ts";

/** What is edited, and how it is followed. */
export interface EditSession {
  readonly workspace: Workspace;
  readonly tree: BranchTree;
  readonly runtime: Runtime;
  readonly columns: number;
  readonly calls: boolean;
  readonly apply: (tree: BranchTree, text: string) => Promise<EditReport>;
}

/** What is put into the editor. */
interface Round {
  readonly tree: BranchTree;
  readonly text: string;
  /** Why the plan before could not be followed; absent = the text is new. */
  readonly refused?: JpgError;
}

/** Edits until a plan is followed, or is empty or unchanged. Throws `editor_failed`, and what following throws; the plan is kept then. */
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

/** Gives what the editor left. Throws where it failed, and where what cannot be followed was not changed. */
async function editOnce(session: EditSession, { text, refused }: Round): Promise<string> {
  const { env, cwd } = session.runtime;
  const configured = await session.workspace.store.editor();
  const edited = await openEditor(text, { env, cwd, what: "plan", configured });
  const isSame = withoutMarks(edited.text) === withoutMarks(text);
  const error = edited.code === 0 ? (isSame ? refused : undefined) : editorFailed(edited, "plan");
  if (error === undefined) return edited.text;
  throw isSame && refused === undefined ? error : await kept(session, edited.text, error);
}

/** What comes into the editor after a plan that could not be followed. Throws what no editing helps against. */
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

/** The error, and where the plan is kept that was written in vain. */
async function kept({ workspace, tree }: EditSession, text: string, error: JpgError): Promise<JpgError> {
  const { kind, code, message, data, cause } = error;
  const path = await workspace.store.keepText("edit-plan", text);
  const hints =
    path === null ? [] : [`Your plan is kept: \`jpg edit ${tree.branch} --plan ${path}\` continues with it.`];
  return new JpgError(kind, code, message, { data, cause, hints: [...hints, ...error.hints] });
}
