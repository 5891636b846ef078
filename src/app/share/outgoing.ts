// The one place that everything passes before it leaves the store: what `jpg push` sends, and what stock `git push` is about to
// send (its pre-push hook). Whatever must not leave is refused here, before anything is sent.
import { conversationId, conversationOf, forkOf, reservedPart, slugOf } from "../../core/conversation/name.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import type { OutgoingList, OutgoingObject, OutgoingObjects } from "../../store/sharing.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { loadBranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { refuseDamage } from "./refuse-damage.ts";
import { localError, requireSharing } from "./remotes.ts";
import {
  findOutgoingSecrets,
  nothingDone,
  type RefusedCommand,
  refusedOf,
  type SecretOfObject,
  secretsError,
} from "./scan-outgoing.ts";

/** What is about to leave. */
interface Outgoing {
  /** Branches as they are named on either side, and their commits. */
  readonly tips: readonly BranchTip[];
  /** Commits that the other side is known to have; each is here. */
  readonly known: readonly string[];
  /** What leaves, where that was listed already. */
  readonly list?: OutgoingList;
}

/**
 * Refuses what must not leave; `allow` = rules whose secrets may, this once, `command` = by what. Throws `bad_name`, `local_conversation`,
 * `damaged_conversation`, `secrets_found`.
 */
export async function checkOutgoing(
  workspace: Workspace,
  outgoing: Outgoing,
  {
    allow = [],
    command = "jpg push",
  }: { readonly allow?: readonly string[]; readonly command?: RefusedCommand["command"] } = {},
): Promise<void> {
  const sharing = requireSharing(workspace);
  refuseReserved(outgoing);
  const local = await sharing.localConversations();
  await refuseLocal(workspace, local, outgoing);
  const names = outgoing.tips.map(({ name }) => name);
  if (names.length === 0) return;
  const { objects } = outgoing.list ?? (await sharing.outgoing(outgoingObjects(outgoing)));
  await refuseLocalObjects(workspace, local, { tips: outgoing.tips, objects });
  const nothing = nothingDone({ command });
  const found = await scanChecked(workspace, { objects, names }, { tips: outgoing.tips, nothing });
  const { config } = await workspace.config();
  const refused = refusedOf(found, { rules: allow, secrets: config.secrets.allow });
  if (refused.length > 0) throw await placedError(workspace, refused, { ...outgoing, objects, command });
}

/** The error of secrets, each with the branch that would take it along. */
async function placedError(
  workspace: Workspace,
  secrets: readonly SecretOfObject[],
  {
    objects,
    command,
    ...outgoing
  }: Outgoing & { readonly objects: readonly OutgoingObject[]; readonly command: RefusedCommand["command"] },
): Promise<Error> {
  const dirty = new Set(secrets.map(({ oid }) => oid));
  const sent = objects.flatMap(({ oid }) => (dirty.has(oid) ? [oid] : []));
  const carriers = await findCarriers(workspace, outgoing, sent);
  const placed = secrets.map(({ oid, ...secret }) => {
    const branch = carriers.get(oid)?.name;
    return { branch, ...secret };
  });
  const tips = carriers.size === 0 ? outgoing.tips.slice(0, 1) : [...carriers.values()];
  const of = await Promise.all(
    tips.map(async ({ name, commit }) => (await idIn(workspace.store, name, commit))[0] ?? conversationOf(name)),
  );
  return secretsError(placed, { command, of: [...new Set(of)] });
}

/** Looks into what leaves; gives the secrets in it. Throws `damaged_conversation`, before all else that may be wrong. */
async function scanChecked(
  workspace: Workspace,
  outgoing: Parameters<typeof findOutgoingSecrets>[1],
  { tips, nothing }: { readonly tips: readonly BranchTip[]; readonly nothing: string },
): Promise<readonly SecretOfObject[]> {
  try {
    return await findOutgoingSecrets(workspace, outgoing);
  } finally {
    // Also where something could not be read: this says of which conversation it is a part.
    await refuseDamage(workspace.store, tips, nothing);
  }
}

/** Refuses branches that only stock git can have made: with `HEAD/…` on it, nobody can clone the remote any more. */
function refuseReserved({ tips }: Outgoing): void {
  for (const { name } of tips) {
    const part = reservedPart(name);
    if (part === null) continue;
    throw userError("bad_name", `${name} is not sent: "${part}" means something else to git, in every clone.`, {
      hints: [
        `\`jpg git branch -m ${name} ${conversationId(conversationOf(name), "2")}/${slugOf(forkOf(name))}\` gives it another name.`,
      ],
      data: { name },
    });
  }
}

async function refuseLocal(workspace: Workspace, local: ReadonlySet<string>, { tips }: Outgoing): Promise<void> {
  if (local.size === 0) return;
  const found: string[] = [];
  for (const { name, commit } of tips) {
    const ids = [conversationOf(name), ...(await idIn(workspace.store, name, commit))];
    appendAll(
      found,
      ids.filter((id) => local.has(id)),
    );
  }
  if (found.length > 0) throw localError(found);
}

/** Refuses what only local conversations hold: files and commits of them, whatever they are called. */
async function refuseLocalObjects(
  workspace: Workspace,
  local: ReadonlySet<string>,
  { tips, objects }: Pick<Outgoing, "tips"> & { readonly objects: readonly OutgoingObject[] },
): Promise<void> {
  if (local.size === 0 || objects.length === 0) return;
  const { store } = workspace;
  const branches = await store.listBranches();
  const removed = ((await store.trash?.list()) ?? []).map(({ branch: name, commit }) => ({ name, commit }));
  const isLocal = ({ name }: BranchTip): boolean => local.has(conversationOf(name));
  const free = branches.filter((tip) => !isLocal(tip));
  const known = free.map(({ commit }) => commit);
  // What is sent is all held by conversations that may leave: a masked copy shares with its original what had no secret.
  if (tips.every(({ name, commit }) => free.some((tip) => tip.name === name && tip.commit === commit))) return;
  const outgoing = new Set(objects.map(({ oid }) => oid));
  for (const tip of [...branches, ...removed].filter(isLocal)) {
    const own = await requireSharing(workspace).outgoing({ tips: [tip.commit], known });
    // Every conversation begins with the same attributes.
    const isHeld = own.objects.some(({ oid, path }) => outgoing.has(oid) && path !== ".gitattributes");
    if (isHeld) throw localError([conversationOf(tip.name)]);
  }
}

/** What the object database would send for these tips: for what looks into everything that leaves. */
export function outgoingObjects({ tips, known }: Outgoing): OutgoingObjects {
  return { tips: tips.map(({ commit }) => commit), known };
}

/** The id that a commit's own tree names, whatever its branch is called; none where it is no conversation. */
async function idIn(store: ConversationStore, name: string, commit: string): Promise<readonly string[]> {
  try {
    return [(await loadBranchTree(store, name, commit)).header.id];
  } catch (error) {
    if (error instanceof JpgError) return [];
    throw error;
  }
}

// Which branch takes an object along, of several that are sent together. It is asked only where a push is refused, so that what is
// said names a conversation; what leaves is listed for all branches at once.

/** Branches that are sent, and commits that the other side has. */
interface Sent {
  readonly tips: readonly BranchTip[];
  readonly known: readonly string[];
}

/**
 * Finds a branch for each object, of which `sent` takes all along: the first half of the branches is asked, then half of the half
 * that has it, so that of a thousand ten are asked.
 */
async function findCarriers(
  workspace: Workspace,
  { tips, known }: Sent,
  oids: readonly string[],
): Promise<ReadonlyMap<string, BranchTip>> {
  const [first, ...others] = tips;
  if (first === undefined || oids.length === 0) return new Map();
  if (others.length === 0) return new Map(oids.map((oid) => [oid, first]));
  const half = tips.slice(0, Math.ceil(tips.length / 2));
  const { objects } = await requireSharing(workspace).outgoing({ tips: half.map(({ commit }) => commit), known });
  const there = new Set(objects.map(({ oid }) => oid));
  const [inHalf, inRest] = [oids.filter((oid) => there.has(oid)), oids.filter((oid) => !there.has(oid))];
  return new Map([
    ...(await findCarriers(workspace, { tips: half, known }, inHalf)),
    ...(await findCarriers(workspace, { tips: tips.slice(half.length), known }, inRest)),
  ]);
}
