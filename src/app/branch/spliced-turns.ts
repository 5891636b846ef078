// What is said of a branch whose turns do not follow each other (see turn-links.ts) or have a hole (missing-turns.ts), and where
// its sides are found whole: no model ever saw such a conversation, and no agent's file ever held it, so that nothing is made of it
// until somebody chose.
import { abbreviateCommit, conversationOf } from "../../core/conversation/name.ts";
import { type JpgError, repositoryError } from "../../core/errors.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { MissingTurn } from "./missing-turns.ts";
import { findBrokenLinks, type Turns } from "./turn-links.ts";
import { findSides, type Side } from "./turn-sides.ts";

/** Refuses a branch whose turns do not follow each other. Throws `spliced_turns`, with what gives each side back. */
export async function refuseSplice({ store }: Pick<Workspace, "store">, tree: Turns): Promise<void> {
  const error = await findSplice(store, tree);
  if (error !== null) throw error;
}

/** Says once a call that the turns of a branch do not follow each other. */
export async function warnOfSplice({ store, warn }: Pick<Workspace, "store" | "warn">, tree: Turns): Promise<void> {
  const error = await findSplice(store, tree);
  if (error !== null) warn([error.message, ...error.hints].join("\n"));
}

/** The error that a branch is refused with; null when its turns follow each other. */
export async function findSplice(store: ConversationStore, tree: Turns): Promise<JpgError | null> {
  if (tree.missing?.[0] !== undefined) return missingError(tree.branch, tree.missing, tree.missing[0]);
  const broken = await findBrokenLinks(store, tree);
  if (broken.length === 0) return null;
  const sides = await findSides(store, tree);
  const branches = await store.listBranches();
  return repositoryError("spliced_turns", describe(tree.branch, broken), {
    hints: [
      ...sides.map((side, at) => sideHint(side, at + 1, { branch: tree.branch, branches })),
      ...(sides.length === 0 ? ["`jpg git log -- turns` shows the commits that wrote the turns."] : []),
    ],
    data: { branch: tree.branch, turns: broken },
  });
}

/** Of turns that stock git took out, and that are shown as they were. */
function missingError(branch: string, missing: readonly MissingTurn[], first: MissingTurn): JpgError {
  const listed = missing.slice(0, LISTED).map(({ turn }) => turn);
  const turns = `${missing.length === 1 ? "Turn" : "Turns"} ${listed.join(", ")}${missing.length > LISTED ? " …" : ""}`;
  const was = missing.length === 1 ? "was" : "were";
  const removals = [...new Set(missing.flatMap(({ removedBy }) => (removedBy === null ? [] : [removedBy])))];
  const by = removals.length === 1 && removals[0] !== undefined ? ` by commit ${abbreviateCommit(removals[0])}` : "";
  const back =
    removals.length === 0
      ? `\`jpg git branch ${conversationOf(branch)}/before ${abbreviateCommit(first.commit, SHOWN_DIGITS)}\` makes a fork of what it was before.`
      : `\`jpg git revert ${removals.map((commit) => abbreviateCommit(commit)).join(" ")}\` gives ${missing.length === 1 ? "it" : "them"} back.`;
  const message = `${turns} of ${branch} ${was} taken out${by}, and ${was === "was" ? "is" : "are"} shown here as before.`;
  return repositoryError("turn_missing", message, {
    hints: [back],
    data: { branch, turns: missing.map(({ turn }) => turn) },
  });
}

const LISTED = 5;

function describe(branch: string, broken: readonly number[]): string {
  const listed = broken.slice(0, LISTED).join(", ") + (broken.length > LISTED ? " …" : "");
  const [first = 0] = broken;
  const which =
    broken.length > 1
      ? `Turns ${listed} of ${branch} do not continue the turns before them`
      : `Turn ${listed} of ${branch} does not continue ${first === 0 ? "nothing, but another turn" : `turn ${first - 1}`}`;
  return `${which}: git joined turns of different histories.`;
}

function sideHint(
  { commit, turns }: Side,
  number: number,
  { branch, branches }: { readonly branch: string; readonly branches: readonly BranchTip[] },
): string {
  const holds = `turns 0..${turns - 1} of one side`;
  const own = branches.find((tip) => tip.commit === commit);
  if (own !== undefined) return `\`jpg use ${own.name}\`: ${holds}.`;
  let name = `${conversationOf(branch)}/side-${number}`;
  for (let more = number + 1; branches.some((tip) => tip.name === name); more++)
    name = `${conversationOf(branch)}/side-${number}-${more}`;
  return `\`jpg git branch ${name} ${commit.slice(0, SHOWN_DIGITS)}\` makes a fork with ${holds}.`;
}

const SHOWN_DIGITS = 12;
