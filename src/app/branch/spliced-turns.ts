// What is said of a branch whose turns do not follow each other (see turn-links.ts), and where its sides are found whole: no
// model ever saw such a conversation, and no agent's file ever held it, so that nothing is made of it until somebody chose.
import { conversationOf } from "../../core/conversation-name.ts";
import { type JpgError, repositoryError } from "../../core/errors.ts";
import type { BranchTip, ConversationStore } from "../../store/conversation-store.ts";
import type { Workspace } from "../workspace/workspace.ts";
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
