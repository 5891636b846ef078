// The title of a conversation: the newest meta record that names one, else the first title in conversation.json.

import { compareTimestamps } from "../../core/conversation/compaction.ts";
import { type CommentRecord, type MarkRecord, type PinRecord, shownTitle } from "../../core/conversation/marks.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { BranchTree } from "./branch-tree.ts";
import { readMetaRecords } from "./stored-records.ts";

/** A record under meta/. */
export interface MetaRecord extends PinRecord, MarkRecord, CommentRecord {
  readonly title?: string;
  /** Of a record that came in one commit with compactions: their group. */
  readonly group?: string;
}

/** The title in force, fit to show. */
export async function conversationTitle(workspace: Workspace, tree: BranchTree): Promise<string> {
  return titleIn(await readMetas(workspace, tree), tree.header);
}

/** The title that records under meta/, oldest first, put in force. */
export function titleIn(metas: readonly MetaRecord[], header: BranchTree["header"]): string {
  const named = metas.filter((meta) => typeof meta.title === "string");
  return shownTitle(named[named.length - 1]?.title ?? "") || header.title;
}

/** All meta records that can be read, oldest first. */
export async function readMetas(workspace: Pick<Workspace, "store">, tree: BranchTree): Promise<MetaRecord[]> {
  const { records } = await readMetaRecords(workspace.store, tree);
  return records
    .map(({ record }) => record as unknown as MetaRecord)
    .sort((a, b) => compareTimestamps(a.timestamp, b.timestamp) || (a.id < b.id ? -1 : 1));
}
