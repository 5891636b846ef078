// Notes: what no model sees. They keep the small plain values of a part or message; the whole lives on in the source.
import { defined } from "../../core/json.ts";
import { type RawLine, recordOf, stringOf, stringsOf } from "../json-line.ts";
import { plainValues, shorten } from "../plain-values.ts";
import { usageOf } from "./usage.ts";

/** An event without id and time. */
export type UnplacedEvent = Readonly<Record<string, unknown>> & { readonly type: string };

/** What every part carries, and says nothing about this one. */
const ENVELOPE: ReadonlySet<string> = new Set(["id", "sessionID", "messageID", "type"]);
/** Parts that frame others. */
const FRAMES: ReadonlySet<unknown> = new Set(["step-start", "step-finish", "compaction"]);

/** Whether a part that is not sent says something of its own. */
export function isNoted({ type, text }: RawLine): boolean {
  return !FRAMES.has(type) && text !== "";
}

/** Creates the note of a part. */
export function noteOfPart(part: RawLine): UnplacedEvent {
  const files = stringsOf(part, "files");
  const values = { ...plainValues(part), ...(files.length > 0 && { files }) };
  return note(stringOf(part, "type") ?? "unknown", withoutEnvelope(values));
}

/** Creates the note of an answer that is never sent again. */
export function noteOfAnswer({
  info,
  parts,
}: {
  readonly info: RawLine;
  readonly parts: readonly RawLine[];
}): UnplacedEvent {
  const error = recordOf(info, "error") ?? {};
  const text = parts.flatMap((part) => (part["type"] === "text" ? (stringOf(part, "text") ?? []) : [])).join("\n");
  const calls = parts.flatMap((part) => (part["type"] === "tool" ? (stringOf(part, "tool") ?? []) : []));
  const name = stringOf(error, "name") ?? "";
  const usage = usageOf(info);
  const data = {
    ...plainValues(recordOf(error, "data") ?? {}),
    ...(name !== "" && { error: name }),
    ...(text !== "" && { text: shorten(text) }),
    ...(calls.length > 0 && { calls }),
    ...defined({ usage }),
  };
  return note(name === "MessageAbortedError" ? "aborted_answer" : "failed_answer", data);
}

/** Creates the note of a session that another one's agent began. */
export function noteOfParent(session: string): UnplacedEvent {
  return note("parent_session", { session });
}

function note(kind: string, data: RawLine): UnplacedEvent {
  return { type: "note", kind, ...(Object.keys(data).length > 0 && { data }) };
}

function withoutEnvelope(values: RawLine): RawLine {
  return Object.fromEntries(Object.entries(values).filter(([key]) => !ENVELOPE.has(key)));
}
