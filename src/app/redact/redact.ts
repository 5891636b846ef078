// Makes a masked copy of a conversation: load its history and find the secrets → plan the masks → write a new conversation, look
// at it as a push would, and only then give it names. The original stays as it is, byte for byte, and becomes local.
import { branchName, conversationId, conversationOf, forkOf } from "../../core/conversation-name.ts";
import { repositoryError } from "../../core/errors.ts";
import { sourceFileOf } from "../../core/event/turn-file.ts";
import { createMasker, type Masker } from "../../core/secrets/masker.ts";
import { titleOfRequest } from "../../core/title.ts";
import type { BranchTip, ConversationStore, HistoryCommit } from "../../store/conversation-store.ts";
import { needsGit } from "../../store/needs-git.ts";
import { loadTip } from "../branch/branch-tree.ts";
import { resolveId } from "../names/resolve-id.ts";
import { openCleanObjects } from "../share/clean-objects.ts";
import { keepingLocal, listConversationRemotes } from "../share/local.ts";
import { describeDamage, findDamage } from "../share/refuse-damage.ts";
import { requireSharing } from "../share/remotes.ts";
import { findLeavingSecrets } from "../share/scan-outgoing.ts";
import { randomId } from "../workspace/runtime.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { type FoundMasks, findMasks, isSourcePath, type MaskedSecret, type WantedSecrets } from "./find-masks.ts";
import { findLeftTexts } from "./left-texts.ts";
import { maskHistory } from "./mask-history.ts";

/** What to mask; see `WantedSecrets`. */
export type RedactRequest = Pick<WantedSecrets, "rules" | "texts">;

/** A masked copy that can be made. */
export interface RedactPlan {
  readonly conversation: string;
  readonly tips: readonly BranchTip[];
  readonly history: readonly HistoryCommit[];
  readonly found: FoundMasks;
  readonly wanted: WantedSecrets;
  /** The new conversation; null when there is nothing to mask. */
  readonly redacted: NewNames | null;
  readonly leftOut: LeftSources;
}

interface NewNames {
  readonly id: string;
  readonly masker: Masker;
  /** The same for bytes; see `MaskedHistory`. */
  readonly bytesMasker: Masker;
  /** Names of the new branches, by those of the old ones. */
  readonly branches: ReadonlyMap<string, string>;
}

/** The agents' own bytes, which stay behind. */
export interface LeftSources {
  /** Files: a session counts once, however many pieces it is kept in. */
  readonly sources: number;
  readonly bytes: number;
}

/** What was masked, or would be. */
export interface RedactReport {
  readonly conversation: string;
  /** The new conversation; null when there is nothing to mask, or nothing was made. */
  readonly redacted: string | null;
  readonly branches: readonly string[];
  readonly secrets: readonly MaskedSecret[];
  readonly left_out: LeftSources;
  /** Remotes on which the original was seen. */
  readonly seen_on: readonly string[];
}

/** Plans a masked copy. Throws `needs_git` and the errors of ids. */
export async function planRedact(workspace: Workspace, id: string, request: RedactRequest): Promise<RedactPlan> {
  const { store } = workspace;
  if (store.histories === null) throw needsGit("A masked copy of a conversation");
  const { branch } = await resolveId(workspace, id);
  const conversation = conversationOf(branch);
  const tips = (await store.listBranches()).filter(({ name }) => conversationOf(name) === conversation);
  const title = (await loadTip(store, branch))?.header.title ?? "";
  const [history, leftOut] = await Promise.all([
    store.histories.read(tips.map((tip) => tip.commit)),
    countSources(store, tips),
  ]);
  const { config } = await workspace.config();
  const wanted = { ...request, allowed: config.secrets.allow };
  const found = await findMasks(store, history, { wanted, names: tips.map(({ name }) => name) });
  const redacted = found.secrets.length === 0 ? null : await nameCopy(workspace, { tips, found, title });
  return { conversation, tips, history, found, wanted, redacted, leftOut };
}

/** Makes the copy. Nothing has a name before all of it stands and was looked at. Throws `redact_incomplete`, `redact_damages`. */
export async function redact(workspace: Workspace, plan: RedactPlan): Promise<RedactReport> {
  const { store } = workspace;
  const { redacted, history, tips, found } = plan;
  if (redacted === null || store.histories === null) return reportRedact(workspace, plan, null);
  const objects = new Map<string, string>();
  const { id, masker, bytesMasker, branches: renamed } = redacted;
  const written = await store.histories.write(
    maskHistory(history, { store, masker, bytesMasker, id, renamed, attachments: found.attachments }, objects),
  );
  const commits = new Map(history.map(({ commit }, position) => [commit, written[position] ?? ""]));
  const branches = tips.map(({ name, commit }) => ({
    name: redacted.branches.get(name) ?? "",
    commit: commits.get(commit) ?? "",
  }));
  // What was clean and has other digests in it now is as clean.
  await openCleanObjects(store).add([...objects].flatMap(([old, fresh]) => (found.clean.has(old) ? [fresh] : [])));
  await requireMasked(workspace, plan, branches);
  await requireSound(store, plan, branches);
  const { histories } = store;
  await keepingLocal(workspace, plan.conversation, () => histories.create(branches));
  return reportRedact(workspace, plan, id);
}

/** The report of a plan; `redacted` = the conversation that was made of it. */
export async function reportRedact(
  workspace: Workspace,
  plan: RedactPlan,
  redacted: string | null,
): Promise<RedactReport> {
  return {
    conversation: plan.conversation,
    redacted,
    branches: redacted === null ? [] : [...(plan.redacted?.branches.values() ?? [])],
    secrets: plan.found.secrets,
    left_out: plan.leftOut,
    seen_on: await listConversationRemotes(workspace, plan.conversation),
  };
}

async function countSources(store: ConversationStore, tips: readonly BranchTip[]): Promise<LeftSources> {
  const sizes = new Map<string, number>();
  const files = new Set<string>();
  for (const { commit } of tips)
    for (const { path, oid, size = 0 } of await store.listTree(commit, { under: ["sources"], sizes: true }))
      if (isSourcePath(path)) {
        sizes.set(oid, size);
        files.add(sourceFileOf(path));
      }
  return { sources: files.size, bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0) };
}

async function nameCopy(
  { store, runtime }: Workspace,
  { tips, found, title }: { readonly tips: readonly BranchTip[]; readonly found: FoundMasks; readonly title: string },
): Promise<NewNames> {
  const conversation = conversationOf(tips[0]?.name ?? "");
  const { mask } = createMasker(found.masks);
  const taken = new Set((await store.listBranches()).map(({ name }) => conversationOf(name)));
  let id: string;
  do id = conversationId(titleOfRequest(mask(title)) || "conversation", randomId(runtime, 4));
  while (taken.has(id));
  const isGivenAway = isSlugOf(found.masks);
  // An id that was made of a secret is one itself, wherever it is said.
  const masks = isGivenAway(conversation) ? new Map([...found.masks, [conversation, id]]) : found.masks;
  const branches = new Map<string, string>();
  for (const { name } of tips) {
    const plain = mask(forkOf(name));
    const fork = plain === forkOf(name) && isGivenAway(plain) ? "redacted" : plain;
    const used = new Set(branches.values());
    let free = branchName(id, fork);
    for (let number = 2; used.has(free); number++) free = branchName(id, `${fork}-${number}`);
    branches.set(name, free);
  }
  const bytesMasks = new Map(
    [...masks].flatMap(([secret, mask]) => [secret, inBytes(secret)].map((form) => [form, mask])),
  );
  return { id, masker: createMasker(masks), bytesMasker: createMasker(bytesMasks), branches };
}

/** A text as its UTF-8 reads where each byte is a character. */
function inBytes(text: string): string {
  return Buffer.from(text).toString("latin1");
}

/** So much of a secret gives it away in a name, characters. */
const LEAST = 8;

/** Names are of lower-case letters, digits and hyphens, and may be cut: whether one has such a form of a secret in it. */
function isSlugOf(masks: ReadonlyMap<string, string>): (name: string) => boolean {
  const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]+/g, "-");
  const begun = [...masks.keys()].map((secret) =>
    plain(secret)
      .replace(/^-/, "")
      .slice(0, LEAST + 4),
  );
  const known = begun.filter((text) => text.length >= LEAST && !text.startsWith("begin-"));
  return (name) => known.some((text) => plain(name).includes(text));
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
    ...(await findLeavingSecrets(workspace.store, { objects, names })).filter(
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
      hints: [
        "`jpg redact ID --text -` reads the very text that is to be masked from standard input; please report this.",
      ],
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
    `The masked copy would be damaged; nothing was made:\n${describeDamage(damaged.finding)}`,
    {
      hints: [
        "A text that jpg's own files are made of, such as `type`, cannot be masked: name more of what stands around it.",
      ],
      data: { code: damaged.finding.code },
    },
  );
}
