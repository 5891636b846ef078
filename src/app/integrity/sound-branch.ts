// Whether a branch is sound, from the files of it that are new and from what is known of all others: what it costs is what
// changed. Whatever it doubts is left to the check of the whole branch.

import { type BranchFiles, type Finding, sortBranchFiles } from "../../core/conversation/branch-files.ts";
import { checkTurnFile } from "../../core/conversation/conversation-check.ts";
import { turnPath } from "../../core/conversation/turn-file.ts";
import { JpgError } from "../../core/errors.ts";
import type { BranchTip, ConversationStore } from "../../store/store.ts";
import { decodeLines } from "../branch/turn-bytes.ts";
import { checkStoredAttachments } from "./fsck-attachments.ts";
import { checkHeader, readRecords } from "./fsck-branch.ts";
import { type SoundFiles, type SoundTurn, soundTurn } from "./sound-files.ts";

/**
 * Whether nothing in a branch is an error, as `checkBranch` finds them; false where that is not certain without all of its turns.
 * What is new and sound is added to what is known. The coverage of the view is not looked at: no file can break it, but jpg's
 * own code alone, and each compaction is checked when it is made. So one of which no turn was known before is left to the check
 * of the whole where it has compactions. `read` = turns that were just found sound by themselves.
 */
export async function isSoundBranch(
  store: ConversationStore,
  tip: BranchTip,
  { known, read }: { readonly known: SoundFiles; readonly read: ReadonlyMap<string, SoundTurn> },
): Promise<boolean> {
  try {
    const files = await store.listTree(tip.commit);
    const sorted = sortBranchFiles(files);
    const oids = sorted.turns.flatMap((file) => file?.oid ?? []);
    const isKnown = oids.some((oid) => known.turns.has(oid));
    const isPlain = sorted.records.compactions.length === 0 && oids.some((oid) => read.has(oid));
    if ((!isKnown && !isPlain) || hasErrors(sorted.findings)) return false;
    addTurns(known, read, oids);
    if ((await checkHeader(store, tip, files)).length > 0) return false;
    const turns = await readSoundTurns(store, sorted, known);
    if (turns === null || !isChain(turns, sorted) || hasRepeatedIds(turns)) return false;
    const records = await readRecords(store, sorted);
    if (hasErrors(records.findings)) return false;
    const branch = { commit: tip.commit, files: sorted, turns, records, checked: known };
    return !hasErrors(await checkStoredAttachments(store, branch));
  } catch (error) {
    if (error instanceof JpgError && error.kind === "repository") return false;
    throw error;
  }
}

function addTurns({ turns }: SoundFiles, read: ReadonlyMap<string, SoundTurn>, oids: readonly string[]): void {
  for (const oid of oids) {
    const turn = read.get(oid);
    if (turn !== undefined && !turns.has(oid)) turns.set(oid, turn);
  }
}

function hasErrors(findings: readonly Finding[]): boolean {
  return findings.some(({ severity }) => severity === "error");
}

/** The turns in order; null where one of those that are new is not sound. */
async function readSoundTurns(
  store: ConversationStore,
  { turns }: BranchFiles,
  known: SoundFiles,
): Promise<readonly SoundTurn[] | null> {
  const oids = turns.flatMap((file) => file?.oid ?? []);
  const unknown = [...oids.keys()].filter((at) => !known.turns.has(oids[at] ?? ""));
  let next = 0;
  for await (const bytes of store.readBlobs(unknown.map((at) => oids[at] ?? ""))) {
    const at = unknown[next++] ?? 0;
    const turn = soundTurn(checkTurnFile(decodeLines(bytes), turnPath(at)));
    if (turn === null) return null;
    known.turns.set(oids[at] ?? "", turn);
  }
  return oids.flatMap((oid) => known.turns.get(oid) ?? []);
}

function isChain(turns: readonly SoundTurn[], files: BranchFiles): boolean {
  return turns.every(({ previous }, at) => previous === null || previous === files.turns[at - 1]?.oid);
}

function hasRepeatedIds(turns: readonly SoundTurn[]): boolean {
  const seen = new Set<number>();
  for (const { ids } of turns)
    for (const id of ids) {
      if (seen.has(id)) return true;
      seen.add(id);
    }
  return false;
}
