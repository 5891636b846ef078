// Second pass: converts a line to its events. The same line always gives the same events.
import type { ContentPart, Event, EventMetadata } from "../../core/conversation/event.ts";
import { decodeBase64 } from "../../core/json.ts";
import { plainValues } from "../imported-session.ts";
import { readArguments } from "../openai-chat/content.ts";
import { isRecord, nonBlankStringOf, type ParsedLines, type RawLine, recordOf, stringOf } from "../session-source.ts";
import { dataOf } from "./lines.ts";
import type { CopilotEntry, CopilotIndex, CopilotTurn } from "./session-index.ts";

/** Provider of the reasoning, which only this service can read, whichever company's model wrote it. */
export const COPILOT_PROVIDER = "github-copilot";

/** What Copilot CLI sends for a call that ended without a result. */
const STOPPED = "The execution of this tool, or a previous tool was interrupted.";

/** What it sends for a call whose result may only be missing in the file. */
const UNANSWERED =
  "Tool execution was interrupted before a result was recorded. Its effects may be absent, partial, or already complete, " +
  "and other tools may have completed successfully. Check the current state before retrying; do not assume success or " +
  "replay this operation blindly.";

/** What it sends for a failed call without a message. */
const FAILED = "Tool execution failed";

/** An event without id and time. */
type EventBody = Readonly<Record<string, unknown>> & { readonly type: string };

/** Where events are read from. */
export interface CopilotReading {
  readonly lines: ParsedLines;
  readonly index: CopilotIndex;
}

/** Reads a turn, turn_start first. */
export function readCopilotTurn(reading: CopilotReading, turn: CopilotTurn | undefined): readonly Event[] {
  if (turn === undefined) return [];
  const { id, timestamp } = turn.opener;
  const start: Event = { type: "turn_start", id: `${id}.turn`, timestamp };
  return [start, ...turn.entries.flatMap((entry) => readCopilotEntry(reading, entry))];
}

/** Reads the events of an entry; the first has the entry's id. */
export function readCopilotEntry(reading: CopilotReading, entry: CopilotEntry): readonly Event[] {
  const line = reading.lines.at(entry.line);
  if (line === null || typeof line === "string") return [];
  const { id, timestamp } = entry;
  return bodiesOf(reading, line, entry).map((body, n) => {
    const { type, ...rest } = body;
    return { type, id: n === 0 ? id : `${id}.${n}`, timestamp, ...rest } as Event;
  });
}

function bodiesOf(reading: CopilotReading, line: RawLine, entry: CopilotEntry): readonly EventBody[] {
  const data = dataOf(line);
  if (entry.isSummary === true) return [harness(sentSummary([], stringOf(data, "summaryContent") ?? ""))];
  switch (entry.kind) {
    case "prompt":
      return requestBodies(reading, data, entry);
    case "harness":
      return harnessBodies(reading, data, entry);
    case "shell":
      return [harness(shellText(reading, data, entry))];
    case "answer":
      return answerBodies(reading, data, entry);
    case "output":
      return [outputBody(data, entry)];
    case "stopped":
      return (entry.calls ?? []).map(stoppedBody);
    case "compaction":
      return [compactionNote(line, data)];
    case "clearing":
      return clearingBodies(line, data);
    default:
      return [noteBody(line, data)];
  }
}

/** What the user typed, and what Copilot CLI added before and after it: pieces of one text. */
function requestBodies(reading: CopilotReading, data: RawLine, entry: CopilotEntry): readonly EventBody[] {
  const typed = stringOf(data, "content") ?? "";
  const sent = stringOf(data, "transformedContent") ?? typed;
  const origin = entry.isQueued === true ? "queued" : undefined;
  const request = (content: string): EventBody => ({
    type: "chat_request",
    content,
    ...(origin !== undefined && { metadata: { origin } }),
  });
  const at = placeOfTyped(sent, typed);
  const pieces =
    at < 0 ? [request(sent)] : [...around(sent.slice(0, at)), request(typed), ...around(sent.slice(at + typed.length))];
  const tagged = around(taggedFiles(data));
  return [...joined([...pieces, ...tagged]), ...attachmentBodies(reading, data, entry)];
}

/** The words are a paragraph of what is sent; an earlier occurrence is part of what was added. */
function placeOfTyped(sent: string, typed: string): number {
  const paragraph = `\n\n${sent}\n\n`.indexOf(`\n\n${typed}\n\n`);
  return paragraph < 0 ? sent.indexOf(typed) : paragraph;
}

function around(text: string): readonly EventBody[] {
  return text.trim() === "" ? [] : [harness(text)];
}

/** Marks pieces of one text: each continues the one before it. */
function joined(pieces: readonly EventBody[]): readonly EventBody[] {
  return pieces.map((piece, n) =>
    n === 0 ? piece : { ...piece, metadata: { ...(piece["metadata"] as EventMetadata | undefined), continues: true } },
  );
}

function harness(content: string | readonly ContentPart[]): EventBody {
  return { type: "chat_request", content, metadata: { origin: "harness" } };
}

function harnessBodies(reading: CopilotReading, data: RawLine, entry: CopilotEntry): readonly EventBody[] {
  const sent = stringOf(data, "transformedContent") ?? stringOf(data, "content") ?? "";
  return [...joined([harness(sent), ...around(taggedFiles(data))]), ...attachmentBodies(reading, data, entry)];
}

/** The list of attached files that are not sent themselves, as Copilot CLI kept it. */
function taggedFiles(data: RawLine): string {
  const entries = attachmentsOf(data).flatMap((attachment) => stringOf(attachment, "taggedFilesEntry") ?? []);
  return entries.length === 0 ? "" : `\n\n\n\n<tagged_files>\n${entries.join("\n")}\n</tagged_files>`;
}

function attachmentsOf(data: RawLine): readonly RawLine[] {
  const attachments = data["attachments"];
  return Array.isArray(attachments) ? attachments.filter(isRecord) : [];
}

/** Attached images and texts come after the request. */
function attachmentBodies(reading: CopilotReading, data: RawLine, { line }: CopilotEntry): readonly EventBody[] {
  return attachmentsOf(data).flatMap((attachment): readonly EventBody[] => {
    const file = fileOf(reading, attachment, line);
    if (file === undefined) return [];
    if (file.mediaType.startsWith("image/"))
      return [
        harness([
          { type: "text", text: imageLabel(attachment) },
          { type: "image", media_type: file.mediaType, data: file.data },
        ]),
      ];
    const bytes = attachment["type"] === "blob" && file.mediaType.startsWith("text/") ? decodeBase64(file.data) : null;
    return bytes === null ? [] : [harness(attachedText(attachment, file.mediaType, new TextDecoder().decode(bytes)))];
  });
}

interface AttachedFile {
  readonly mediaType: string;
  /** Base64. */
  readonly data: string;
}

/** A file is in the attachment itself, or in a line before it. */
function fileOf({ lines, index }: CopilotReading, attachment: RawLine, before: number): AttachedFile | undefined {
  const own = stringOf(attachment, "data");
  const mediaType = stringOf(attachment, "mimeType");
  if (own !== undefined) return mediaType === undefined ? undefined : { mediaType, data: own };
  const at = index.assets.get(stringOf(attachment, "assetId") ?? "");
  const line = at === undefined || at > before ? null : lines.at(at);
  if (line === null || typeof line === "string") return undefined;
  const asset = dataOf(line);
  const data = stringOf(asset, "data");
  const type = mediaType ?? stringOf(asset, "mimeType");
  return data === undefined || type === undefined ? undefined : { mediaType: type, data };
}

function imageLabel(attachment: RawLine): string {
  const path = attachment["type"] === "file" ? stringOf(attachment, "path") : undefined;
  if (path !== undefined) return `Image file at path ${path}`;
  return nonBlankStringOf(attachment, "displayName") ?? "Attached image";
}

function attachedText(attachment: RawLine, mediaType: string, text: string): string {
  const name = stringOf(attachment, "displayName");
  const named = name === undefined ? "" : ` name="${name}"`;
  return `<attachment mimeType="${mediaType}"${named}>\n${text}\n</attachment>`;
}

/** A command that the user ran, in the words in which Copilot CLI tells its model. */
function shellText({ lines }: CopilotReading, data: RawLine, { command: at }: CopilotEntry): string {
  const line = at === undefined ? null : lines.at(at);
  const asked = line === null || typeof line === "string" ? {} : dataOf(line);
  const command = stringOf(recordOf(asked, "arguments") ?? {}, "command") ?? "";
  const isDone = data["success"] === true;
  const output = isDone ? outputText(data) : (stringOf(recordOf(data, "error") ?? {}, "message") ?? "Command failed");
  return [
    "<user_shell_command_output>",
    `The user executed a shell command directly in their terminal (${isDone ? "exit code 0" : "non-zero exit code"}).`,
    "",
    "Command:",
    command,
    "",
    "Output:",
    output,
    "</user_shell_command_output>",
  ].join("\n");
}

function answerBodies(reading: CopilotReading, data: RawLine, entry: CopilotEntry): readonly EventBody[] {
  const model = stringOf(data, "model") ?? entry.model;
  const made: EventMetadata = { provider: COPILOT_PROVIDER, model, message_id: entry.continues ?? entry.id };
  const bodies = [
    ...reasoningBodies(data, made),
    ...messageBodies(data, made, entry.continues !== undefined),
    ...callBodies(data, made),
  ];
  const usage = usageOf(reading, data, entry);
  const [first, ...rest] = bodies;
  if (first === undefined || usage === undefined) return bodies;
  return [{ ...first, metadata: { ...(first["metadata"] as EventMetadata), usage } }, ...rest];
}

/** Older versions count only what was answered. */
function usageOf({ lines }: CopilotReading, data: RawLine, entry: CopilotEntry): RawLine | undefined {
  const line = entry.usage === undefined ? null : lines.at(entry.usage);
  const counted =
    line === null || typeof line === "string" ? undefined : readTokens(recordOf(dataOf(line), "usage") ?? {});
  const { outputTokens } = data;
  return counted ?? (typeof outputTokens === "number" ? { outputTokens } : undefined);
}

/** Copilot CLI counts what was read from the cache, and written to it, as input. */
function readTokens(usage: RawLine): RawLine | undefined {
  const [sent, output, cacheRead = 0, cacheWrite = 0] = [
    usage["inputTokens"],
    usage["outputTokens"],
    usage["cacheReadTokens"],
    usage["cacheWriteTokens"],
  ];
  if (typeof sent !== "number" || typeof cacheRead !== "number" || typeof cacheWrite !== "number") return undefined;
  return { input: Math.max(0, sent - cacheRead - cacheWrite), cacheRead, cacheWrite, output };
}

function reasoningBodies(data: RawLine, made: EventMetadata): readonly EventBody[] {
  const reasoning = stringOf(data, "reasoningText") ?? "";
  const encrypted = stringOf(data, "encryptedContent");
  const signature = stringOf(data, "reasoningOpaque");
  if (reasoning === "" && encrypted === undefined && signature === undefined) return [];
  return [{ type: "chat_response", reasoning, metadata: { ...made, signature, encrypted } }];
}

function messageBodies(data: RawLine, made: EventMetadata, continues: boolean): readonly EventBody[] {
  const message = stringOf(data, "content") ?? "";
  if (message === "") return [];
  return [{ type: "chat_response", message, metadata: continues ? { ...made, continues } : made }];
}

function callBodies(data: RawLine, made: EventMetadata): readonly EventBody[] {
  const metadata: EventMetadata = { ...made, unanswered: UNANSWERED };
  const calls = data["toolRequests"];
  if (!Array.isArray(calls)) return [];
  return calls.filter(isRecord).map((call) => ({
    type: "tool_call_request",
    call_id: stringOf(call, "toolCallId") ?? "",
    name: stringOf(call, "name") ?? "",
    ...argumentsOf(call, metadata),
  }));
}

/** A call with a text of a grammar of its own is sent with the text under `input`. */
function argumentsOf(call: RawLine, metadata: EventMetadata): RawLine {
  const text = call["type"] === "custom" ? stringOf(call, "arguments") : undefined;
  return text === undefined
    ? { arguments: readArguments(call["arguments"]), metadata }
    : { arguments: { input: text }, metadata: { ...metadata, custom: true } };
}

function outputBody(data: RawLine, { isOneOfSeveral }: CopilotEntry): EventBody {
  return {
    type: "tool_call_response",
    call_id: stringOf(data, "toolCallId") ?? "",
    content: outputText(data),
    is_error: isFailed(data),
    ...(isOneOfSeveral === true && { metadata: { in_call_order: true } }),
  };
}

function isFailed(data: RawLine): boolean {
  return data["success"] === false || recordOf(data, "error") !== undefined;
}

function outputText(data: RawLine): string {
  if (isFailed(data)) return stringOf(recordOf(data, "error") ?? {}, "message") ?? FAILED;
  return stringOf(recordOf(data, "result") ?? {}, "content") ?? "";
}

function stoppedBody(call: string): EventBody {
  return {
    type: "tool_call_response",
    call_id: call,
    content: STOPPED,
    is_error: true,
    metadata: { origin: "harness", in_call_order: true },
  };
}

/** The note has what the request for the summary cost. */
function compactionNote(line: RawLine, data: RawLine): EventBody {
  const used = recordOf(data, "compactionTokensUsed") ?? {};
  const usage = readTokens(used);
  const model = stringOf(used, "model") ?? stringOf(data, "model");
  const note = noteBody(line, data);
  return usage === undefined ? note : { ...note, metadata: { provider: COPILOT_PROVIDER, model, usage } };
}

function clearingBodies(line: RawLine, data: RawLine): readonly EventBody[] {
  const first = nonBlankStringOf(data, "initialMessage");
  return [noteBody(line, data), ...(first === undefined ? [] : [harness(first)])];
}

/** The message that Copilot CLI sends in place of what it compacted. */
export function sentSummary(words: readonly string[], summary: string): string {
  const asked =
    words.length === 0
      ? []
      : [
          "You were originally given instructions from a user over one or more turns. Here were the user messages:",
          ...words.map((text) => `<user_message>\n${text}\n</user_message>`),
          "",
        ];
  return [
    "Some of the conversation history has been summarized to free up context.",
    "",
    ...asked,
    "Here is a summary of the prior context:",
    `<summary>\n${summary}\n</summary>`,
  ].join("\n");
}

/** Texts that a note leaves out: they are long, or elsewhere. */
const LEFT_OUT: ReadonlySet<string> = new Set(["cwd", "content", "summaryContent"]);

/** A note keeps the small plain values; the whole line stays in the sources. */
function noteBody(line: RawLine, data: RawLine): EventBody {
  const values = { ...plainValues(data), ...plainValues(recordOf(data, "context") ?? {}) };
  const kept = Object.fromEntries(Object.entries(values).filter(([key]) => !LEFT_OUT.has(key)));
  return { type: "note", kind: String(line["type"]), ...(Object.keys(kept).length > 0 && { data: kept }) };
}
