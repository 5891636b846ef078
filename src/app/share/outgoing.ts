// Checks everything that is sent from the store, by `jpg push` or by stock `git push` (its pre-push hook). What must not be sent is
// refused here, before anything is sent.
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

interface Outgoing {
  /** Branches by their names on both sides, and their commits. */
  readonly tips: readonly BranchTip[];
  /** Commits that the other side has; each is here, too. */
  readonly known: readonly string[];
  /** The objects to send, where they are listed already. */
  readonly list?: OutgoingList;
}

/**
 * Refuses what must not be sent. `allow` = rules whose finds pass this once, `command` = for the messages. Throws `bad_name`,
 * `local_conversation`, `damaged_conversation`, `secrets_found`.
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

/** The error for secrets, each with a branch that contains it. */
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

/** Scans objects and returns the secrets in them. Throws `damaged_conversation` before any other error. */
async function scanChecked(
  workspace: Workspace,
  outgoing: Parameters<typeof findOutgoingSecrets>[1],
  { tips, nothing }: { readonly tips: readonly BranchTip[]; readonly nothing: string },
): Promise<readonly SecretOfObject[]> {
  try {
    return await findOutgoingSecrets(workspace, outgoing);
  } finally {
    // Even if something could not be read: this error names the conversation.
    await refuseDamage(workspace.store, tips, nothing);
  }
}

/** Refuses branches that only stock git can have made: nobody could clone a remote with a branch `HEAD/…`. */
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

/** Refuses files and commits that only local conversations have, whatever branch they are on. */
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
  // Everything sent is on branches that may be sent: a masked copy shares with its original what had no secret.
  if (tips.every(({ name, commit }) => free.some((tip) => tip.name === name && tip.commit === commit))) return;
  const outgoing = new Set(objects.map(({ oid }) => oid));
  for (const tip of [...branches, ...removed].filter(isLocal)) {
    const own = await requireSharing(workspace).outgoing({ tips: [tip.commit], known });
    // Every conversation begins with the same `.gitattributes`.
    const isHeld = own.objects.some(({ oid, path }) => outgoing.has(oid) && path !== ".gitattributes");
    if (isHeld) throw localError([conversationOf(tip.name)]);
  }
}

/** The arguments with which the store lists what these tips would send. */
export function outgoingObjects({ tips, known }: Outgoing): OutgoingObjects {
  return { tips: tips.map(({ commit }) => commit), known };
}

/** The id in a commit's own tree, whatever its branch is called; empty where it is no conversation. */
async function idIn(store: ConversationStore, name: string, commit: string): Promise<readonly string[]> {
  try {
    return [(await loadBranchTree(store, name, commit)).header.id];
  } catch (error) {
    if (error instanceof JpgError) return [];
    throw error;
  }
}

// Finds which of several branches contains an object. Needed only when a push is refused, so that the message can name a
// conversation; objects are listed for all branches at once.

interface Sent {
  readonly tips: readonly BranchTip[];
  readonly known: readonly string[];
}

/**
 * Finds a branch for each object by bisection: of a thousand branches, ten are listed. All `oids` are in what `tips` would send.
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
