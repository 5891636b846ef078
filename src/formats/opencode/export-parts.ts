// Events as parts of OpenCode's messages. What it has no part for is named, so that the model sees that something is missing.

import {
  type ChatResponse,
  type Content,
  type ContentPart,
  type EventMetadata,
  plainText,
  type ToolCallRequest,
  type ToolCallResponse,
} from "../../core/conversation/event.ts";
import { defined } from "../../core/json.ts";
import { isSameModelFamily } from "../../core/model/model-name.ts";
import { isRecord, type RawLine } from "../json-line.ts";
import { OPENCODE_PART } from "./content-parts.ts";
import { UNANSWERED } from "./own-marks.ts";

/** The parts of what was asked; `synthetic` = nobody typed it. */
export function requestParts(content: Content, synthetic: boolean): readonly RawLine[] {
  return partsOf(content).flatMap((part): readonly RawLine[] => {
    const file = filePart(part);
    if (file !== null) return [file];
    const text = textOfPart(part);
    return text === "" ? [] : [{ type: "text", text, ...(synthetic && { synthetic: true }) }];
  });
}

/** The parts of what was said; `model` = the one that will read it, where that is known; `time` in milliseconds. */
export function saidParts(event: ChatResponse, model: string | undefined, time: number): readonly RawLine[] {
  if (event.reasoning !== undefined) return reasoningParts(event, model, time);
  const metadata = ownMetadata(event.metadata);
  const text =
    event.message === undefined ? JSON.stringify(event.data ?? null) : partsOf(event.message).map(namePart).join("\n");
  return text === "" && metadata === undefined ? [] : [{ type: "text", text, ...given(metadata) }];
}

/** The part of a call with its result; null = it was never answered. */
export function toolPart(
  call: ToolCallRequest,
  result: ToolCallResponse | null,
  { callId, time, interrupted }: { readonly callId: string; readonly time: number; readonly interrupted: string },
): RawLine {
  const { name, arguments: args, metadata } = call;
  const input = isRecord(args) ? args : { input: args };
  const state = result === null ? unanswered(interrupted) : resultState(result, name);
  return {
    type: "tool",
    callID: callId,
    tool: name,
    state: { ...state, input, time: { start: time, end: time } },
    ...given(ownMetadata(metadata)),
  };
}

function unanswered(error: string): RawLine {
  return { status: "error", error, metadata: UNANSWERED };
}

function resultState({ content, is_error: isError, metadata }: ToolCallResponse, title: string): RawLine {
  const child = metadata?.["session"];
  const linked = typeof child === "string" ? { sessionId: child } : {};
  if (isError) {
    const error = partsOf(content).map(namePart).join("\n");
    return { status: "error", error, ...(typeof child === "string" && { metadata: linked }) };
  }
  const parts = partsOf(content).map((part) => ({ part, file: filePart(part) }));
  const attachments = parts.flatMap(({ file }) => file ?? []);
  const output = parts.flatMap(({ part, file }) => (file === null ? [textOfPart(part)] : [])).join("\n");
  return {
    status: "completed",
    output,
    title,
    metadata: linked,
    ...(attachments.length > 0 && { attachments }),
  };
}

/** OpenCode's own goes back as it was. Of other agents' only what Anthropic signed: of the others it needs more than they keep. */
function reasoningParts(
  { reasoning = "", metadata = {} }: ChatResponse,
  model: string | undefined,
  start: number,
): readonly RawLine[] {
  const { provider, model: maker, signature, encrypted } = metadata;
  if (model !== undefined && maker !== undefined && !isSameModelFamily(model, maker)) return [];
  const own = ownMetadata(metadata) ?? (metadata["provider_metadata"] === undefined ? undefined : {});
  const signed =
    signature !== undefined ? { signature } : encrypted !== undefined ? { redactedData: encrypted } : undefined;
  const anthropic = provider === "anthropic" && signed !== undefined ? { anthropic: signed } : undefined;
  const kept = own ?? anthropic;
  return kept === undefined
    ? []
    : [{ type: "reasoning", text: plainText(reasoning), ...given(kept), time: { start, end: start } }];
}

/** What OpenCode itself kept with a part, for the part's provider. */
function ownMetadata(metadata: EventMetadata | undefined): RawLine | undefined {
  const own = metadata?.["provider_metadata"];
  return isRecord(own) && Object.keys(own).length > 0 ? own : undefined;
}

function given(metadata: RawLine | undefined): RawLine {
  return metadata === undefined || Object.keys(metadata).length === 0 ? {} : { metadata };
}

function partsOf(content: Content): readonly ContentPart[] {
  return Array.isArray(content) ? content : [{ type: "text", text: content as string }];
}

/** A file as a part of a message; null for what is no file, or has no bytes and no address. */
function filePart(part: ContentPart): RawLine | null {
  if (part.type === "opaque")
    return part.provider === OPENCODE_PART && isRecord(part.value) && part.value["type"] === "file" ? part.value : null;
  if (part.type !== "image" && part.type !== "document") return null;
  const mime = part.media_type ?? (part.type === "image" ? "image/png" : "application/pdf");
  const url = typeof part.data === "string" ? `data:${mime};base64,${part.data}` : part.url;
  if (url === undefined) return null;
  return { type: "file", mime, url, ...defined({ filename: part.title }) };
}

function namePart(part: ContentPart): string {
  const isMedia = part.type === "image" || part.type === "document";
  if (!isMedia) return textOfPart(part);
  return `[${[part.type, part.title, part.url].filter((word) => word !== undefined).join(" ")}]`;
}

function textOfPart(part: ContentPart): string {
  switch (part.type) {
    case "text":
      return plainText(part.text);
    case "attachment":
      return [part.name, plainText(part.text ?? "")].filter(Boolean).join("\n");
    case "opaque":
      return "";
    case "image":
    case "document":
      return namePart(part);
  }
}
