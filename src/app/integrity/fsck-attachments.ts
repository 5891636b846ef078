// Checks the attachments of a branch: each is used, is there, and holds what its name says.
import { attachmentsOf } from "../../core/conversation/attachment.ts";
import { type BranchFiles, createFinding, type Finding } from "../../core/conversation/branch-files.ts";
import { checkAttachments, type StoredTurn } from "../../core/conversation/conversation-check.ts";
import type { ConversationStore } from "../../store/store.ts";
import { collectBlobs } from "../branch/branch-tree.ts";
import { parseReference } from "../sessions/source-pieces.ts";
import { sha256 } from "../workspace/object-id.ts";
import type { CheckedFiles, ReadBranch } from "./checked-files.ts";

/** A branch as far as it has attachments, or names them. */
interface NamingBranch extends Pick<ReadBranch, "files" | "records"> {
  readonly commit: string;
  readonly turns: readonly (Pick<StoredTurn, "attachments"> | undefined)[];
  /** What is known of attachments, and what is found. */
  readonly checked: Pick<CheckedFiles, "attachments">;
}

/** Checks the attachments that a branch has against those that its events, replacements, settings and sources name. */
export async function checkStoredAttachments(
  store: ConversationStore,
  { commit, files, turns, records, checked }: NamingBranch,
): Promise<readonly Finding[]> {
  const used = new Set([...turns.flatMap((turn) => [...(turn?.attachments ?? [])]), ...records.attachments]);
  for (const { compaction } of records.compactions)
    for (const event of compaction.replacement ?? []) for (const name of attachmentsOf(event)) used.add(name);
  // Only sources refer to lines of a session: without any that is not accounted for, no source has to be read.
  const lines = [...files.attachments.keys()].some((name) => name.endsWith(".jsonl") && !used.has(name));
  if (lines) for (const name of await sourceReferences(store, commit)) used.add(name);
  const damaged = await findDamaged(store, files, checked);
  return [...checkAttachments(new Set(files.attachments.keys()), used), ...damaged];
}

/** Names of attachments that overlong lines of the agent were moved to. */
async function sourceReferences(store: ConversationStore, commit: string): Promise<readonly string[]> {
  const sources = await store.listTree(commit, { under: ["sources"], sizes: true });
  const small = sources.filter(({ size = 0 }) => size <= 200).map(({ oid }) => oid);
  return (await collectBlobs(store, small)).flatMap((bytes) => parseReference(bytes) ?? []);
}

async function findDamaged(
  store: ConversationStore,
  { attachments }: BranchFiles,
  checked: NamingBranch["checked"],
): Promise<readonly Finding[]> {
  const plain = [...attachments].filter(([, { special }]) => special === undefined);
  const unknown = plain.filter(([name, { oid }]) => !checked.attachments.has(`${name} ${oid}`));
  let next = 0;
  for await (const bytes of store.readBlobs(unknown.map(([, { oid }]) => oid))) {
    const [name = "", file] = unknown[next++] ?? [];
    checked.attachments.set(`${name} ${file?.oid}`, sha256(bytes) === name.slice(0, 64));
  }
  const damaged = plain.filter(([name, { oid }]) => checked.attachments.get(`${name} ${oid}`) === false);
  return damaged.map(([, { path }]) =>
    createFinding("attachment_damaged", {
      path,
      message: "its content is not what its name says (SHA-256)",
      hint: `\`jpg git log -p -- ${path}\` shows who changed it; revert that commit`,
    }),
  );
}
