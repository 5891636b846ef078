// Parses a file of a store for git's diffs: a compaction, a turn or another record, to be put into words.
import { readFile } from "node:fs/promises";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { parseCompactionLine } from "../../core/conversation/compaction-line.ts";
import { type Event, isFields, traitsOf } from "../../core/conversation/event.ts";
import { parseTurnFile } from "../../core/conversation/turn-file.ts";
import { codeOf, JpgError, userError } from "../../core/errors.ts";
import { eventLines, eventTitle } from "../diff/view-text.ts";

/** The content of a file. `text`: none of the others, or damaged. */
export type StoredFile =
  | { readonly kind: "compaction"; readonly compaction: Compaction }
  | { readonly kind: "turn"; readonly events: readonly StoredEvent[] }
  | { readonly kind: "record"; readonly fields: Readonly<Record<string, unknown>> }
  | { readonly kind: "text"; readonly text: string };

export interface StoredEvent {
  readonly id: string;
  readonly timestamp: string;
  /** E.g. `tool result Read`. */
  readonly title: string;
  readonly lines: readonly string[];
}

/** Reads a file of a store. Throws `no_such_file`. */
export async function readStoredFile(path: string): Promise<StoredFile> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (codeOf(error) !== "ENOENT") throw error;
    throw userError("no_such_file", `${path} is not there.`, { cause: error });
  });
  try {
    return parseStored(text, path);
  } catch (error) {
    // Show a damaged file as it is.
    if (error instanceof JpgError) return { kind: "text", text };
    throw error;
  }
}

function parseStored(text: string, path: string): StoredFile {
  const first = parseObject(text.split("\n", 1)[0] ?? "");
  if (first === null) return { kind: "text", text };
  if (first["type"] === "compaction")
    return { kind: "compaction", compaction: parseCompactionLine(text.trimEnd(), path) };
  if (first["type"] === "meta" || first["type"] === "config_delta") return { kind: "record", fields: first };
  if (first["type"] !== "turn_start") return { kind: "text", text };
  const names = new Map<string, string>();
  const events = parseTurnFile(text, path).map((event): StoredEvent => {
    if (event.type === "tool_call_request") names.set(event.call_id, event.name);
    return { id: event.id, timestamp: event.timestamp, title: eventTitle(event, names), lines: linesOf(event) };
  });
  return { kind: "turn", events };
}

/** Events that no model sees as JSON, without what is in the heading. */
function linesOf(event: Event): readonly string[] {
  if (traitsOf(event).providerVisible) return eventLines(event);
  const { type: _type, id: _id, timestamp: _timestamp, ...fields } = event;
  return Object.keys(fields).length === 0 ? [] : JSON.stringify(fields, null, 2).split("\n");
}

function parseObject(line: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(line);
    return isFields(value) ? value : null;
  } catch {
    return null; // no JSON: another file
  }
}
