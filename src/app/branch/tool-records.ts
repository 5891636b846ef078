// The tools that requests offer, recorded once per change: a record under config/ that names them, and an attachment for each
// definition.
import { type RecordedTool, toolsDelta } from "../../config/config.ts";
import { attachmentPath } from "../../core/conversation/attachment.ts";
import { formatRecordLine, recordPath } from "../../core/conversation/compaction-line.ts";
import { readToolDefinition, type ToolDefinition } from "../../core/conversation/defined-tools.ts";
import { fieldsOf } from "../../core/conversation/event.ts";
import { isTooDeep, MAX_RECORD_DEPTH } from "../../core/json.ts";
import type { ConversationStore, FileChange } from "../../store/store.ts";
import { sha256 } from "../workspace/object-id.ts";
import { type BranchTree, collectBlobs } from "./branch-tree.ts";
import { decodeText } from "./decoded-text.ts";

/** What a record is made of beside the tools. */
export interface ToolRecordPlace {
  readonly id: string;
  /** RFC 3339 UTC. */
  readonly timestamp: string;
  /** The turn from which on the tools are offered, 0-based. */
  readonly atTurn: number;
  /** Spaces before the keys of the record. */
  readonly padding: readonly number[];
}

/** Gives the files that record the tools. */
export function toolRecord(
  tools: readonly ToolDefinition[],
  { id, timestamp, atTurn, padding }: ToolRecordPlace,
): readonly FileChange[] {
  const files = tools.map(definitionFile);
  const delta = toolsDelta(files.map(({ name, attachment }) => ({ name, definition: attachment })));
  const line = formatRecordLine({ type: "config_delta", id, timestamp, at_turn: atTurn, delta }, padding);
  return [
    ...files.map(({ attachment, bytes }) => ({ path: attachmentPath(attachment), bytes })),
    { path: recordPath("config", timestamp, id), bytes: new TextEncoder().encode(`${line}\n`) },
  ];
}

/** Whether a record says that just these tools are offered, in any order. */
export function isRecordOf(recorded: readonly RecordedTool[], tools: readonly ToolDefinition[]): boolean {
  const known = new Set(recorded.map(({ definition }) => definition));
  return recorded.length === tools.length && tools.every((tool) => known.has(definitionFile(tool).attachment));
}

/** Reads the definitions of recorded tools. One that is not there, or is none, is left out. */
export async function readToolDefinitions(
  store: ConversationStore,
  { commit }: Pick<BranchTree, "commit">,
  recorded: readonly RecordedTool[],
): Promise<readonly ToolDefinition[]> {
  const paths = recorded.flatMap(({ definition }) => (definition === undefined ? [] : [attachmentPath(definition)]));
  if (paths.length === 0) return [];
  const found = await store.readEntries(commit, paths);
  const oids = paths.flatMap((path) => found.get(path) ?? []);
  const blobs = await collectBlobs(store, oids);
  return blobs.flatMap((bytes) => parseDefinition(decodeText(bytes)) ?? []);
}

/** The newest turn from which other tools were offered than before, 0-based; 0 when they never changed. */
export async function toolsOfferedFrom(store: ConversationStore, { configs }: BranchTree): Promise<number> {
  if (configs.length < 2) return 0;
  const blobs = await collectBlobs(
    store,
    configs.map(({ oid }) => oid),
  );
  return Math.max(0, ...blobs.map((bytes) => offeredFrom(decodeText(bytes))));
}

function offeredFrom(line: string): number {
  try {
    const record: unknown = JSON.parse(line);
    const { delta, at_turn: turn } = fieldsOf(record);
    return Array.isArray(fieldsOf(delta)["tools"]) && typeof turn === "number" ? turn : 0;
  } catch {
    return 0; // fsck tells of records that are damaged
  }
}

function parseDefinition(text: string): ToolDefinition | null {
  try {
    const value: unknown = JSON.parse(text);
    return isTooDeep(text, value, MAX_RECORD_DEPTH) ? null : readToolDefinition(value);
  } catch {
    return null; // fsck tells of attachments that are not what their names say
  }
}

function definitionFile({ name, description, parameters }: ToolDefinition): {
  readonly name: string;
  readonly attachment: string;
  readonly bytes: Uint8Array;
} {
  const bytes = new TextEncoder().encode(`${JSON.stringify({ name, description, parameters })}\n`);
  return { name, attachment: `${sha256(bytes)}.json`, bytes };
}
