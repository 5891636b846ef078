// Writes a masked copy and looks at it as a push would. It has no name yet: what is found wanting is left to git's gc.
import { repositoryError } from "../../core/errors.ts";
import { needsGit } from "../../store/git-dir.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { openCleanObjects } from "../share/clean-objects.ts";
import { describeDamage, findDamage } from "../share/refuse-damage.ts";
import { requireSharing } from "../share/remotes.ts";
import { findLeavingSecrets } from "../share/scan-outgoing.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { CopyNames } from "./copy-names.ts";
import { findLeftTexts } from "./left-texts.ts";
import { maskHistory } from "./mask-history.ts";
import type { RedactPlan } from "./redact-plan.ts";

/** A copy that is written and has no name yet. */
export interface WrittenCopy {
  readonly names: CopyNames;
  readonly branches: readonly BranchTip[];
}

/** Writes the copy. Throws `redact_incomplete`, `redact_damages`. */
export async function writeCopy(workspace: Workspace, plan: RedactPlan, names: CopyNames): Promise<WrittenCopy> {
  const { store } = workspace;
  const { history, tips, found } = plan;
  if (store.histories === null) throw needsGit("A masked copy of a conversation", workspace.runtime.env);
  const objects = new Map<string, string>();
  const { id, masker, bytesMasker, branches: renamed } = names;
  const written = await store.histories.write(
    maskHistory(history, { store, masker, bytesMasker, id, renamed, attachments: found.attachments }, objects),
  );
  const commits = new Map(history.map(({ commit }, position) => [commit, written[position] ?? ""]));
  const branches = tips.map(({ name, commit }) => ({
    name: renamed.get(name) ?? "",
    commit: commits.get(commit) ?? "",
  }));
  // What was clean and has other digests in it now is as clean.
  await openCleanObjects(store).add([...objects].flatMap(([old, fresh]) => (found.clean.has(old) ? [fresh] : [])));
  await requireMasked(workspace, plan, branches);
  await requireSound(store, plan, branches);
  return { names, branches };
}

/** Looks at what was written as a push would. Throws `redact_incomplete`. */
async function requireMasked(
  workspace: Workspace,
  { wanted, found }: RedactPlan,
  branches: readonly BranchTip[],
): Promise<void> {
  const tips = branches.map(({ commit }) => commit);
  const { objects } = await requireSharing(workspace).outgoing({ tips, known: [] });
  const names = branches.map(({ name }) => name);
  const rules = new Set(wanted.rules.length > 0 ? wanted.rules : found.secrets.map(({ rule }) => rule));
  const isAll = wanted.rules.length === 0 && wanted.texts.length === 0;
  const left = [
    ...(await findLeavingSecrets(workspace, { objects, names })).filter(
      ({ rule, fingerprint }) => (isAll || rules.has(rule)) && !wanted.allowed.includes(fingerprint),
    ),
    // What somebody names no rule finds.
    ...(await findLeftTexts(workspace.store, { objects, names }, wanted.texts)),
  ];
  const [first] = left;
  if (first === undefined) return;
  throw repositoryError(
    "redact_incomplete",
    `${left.length === 1 ? "A secret" : `${left.length} secrets`} could not be masked, the first in ${first.path}, line ${first.line} (${first.rule}); nothing was made.`,
    {
      hints: ["`jpg redact ID --text -` masks exactly the text that it reads from standard input. Please report this."],
      data: { secrets: left },
    },
  );
}

/** A text that somebody names may be a word of jpg's own files. Throws `redact_damages`, unless the original is as damaged. */
async function requireSound(
  store: ConversationStore,
  { tips }: RedactPlan,
  branches: readonly BranchTip[],
): Promise<void> {
  const damaged = await findDamage(store, branches);
  if (damaged === null || (await findDamage(store, tips)) !== null) return;
  throw repositoryError(
    "redact_damages",
    `The masked copy would be damaged, so none was made:\n${describeDamage(damaged.finding)}`,
    {
      hints: ["A word of jpg's own file format, such as `type`, cannot be masked: give more of the text around it."],
      data: { code: damaged.finding.code },
    },
  );
}
