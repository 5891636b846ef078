// Reads requests of Google's generateContent: `{systemInstruction, contents, tools}`, or the contents alone.
import { readToolDefinition, type ToolDefinition } from "../../core/conversation/defined-tools.ts";
import {
  type Content,
  type ContentPart,
  type EventMetadata,
  type Fields,
  fieldsOf,
  isFields,
  isText,
} from "../../core/conversation/event.ts";
import type { AgentFormat } from "../agent-format.ts";
import { type BodyMessage, createBodyFormat, type UnnamedEvent } from "../request-body/read.ts";
import { stringOf } from "../session-source.ts";

/** Requests of Google's generateContent. */
export const GOOGLE_REQUESTS: AgentFormat = createBodyFormat({
  name: "google",
  title: "Google generateContent",
  shape: "an object with `contents` that have `parts`",
  read: (body, list) => {
    const { model, tools } = body;
    const readContent = createContentReader({ provider: "google", ...(typeof model === "string" && { model }) });
    return {
      prompt: textOfParts(partsOf(keyOf(body, "systemInstruction"))),
      messages: list.map((content) => readContent(fieldsOf(content))),
      tools: toolsOf(tools),
    };
  },
});

function toolsOf(tools: unknown): readonly ToolDefinition[] {
  if (!Array.isArray(tools)) return [];
  return tools.flatMap((tool) => {
    const declared = keyOf(fieldsOf(tool), "functionDeclarations");
    return Array.isArray(declared) ? declared.flatMap((one) => toolOf(one) ?? []) : [];
  });
}

function toolOf(declaration: unknown): ToolDefinition | null {
  const fields = fieldsOf(declaration);
  const parameters = keyOf(fields, "parametersJsonSchema") ?? fields["parameters"];
  return readToolDefinition({ name: fields["name"], description: fields["description"], parameters });
}

// Contents of generateContent as events. Most models give calls no ids: a result answers the oldest open call of its name. Keys are
// read in both spellings of the API, `functionCall` and `function_call`.

/** Reads a key in either spelling. */
function keyOf(fields: Fields, key: string): unknown {
  return fields[key] ?? fields[key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)];
}

/** The parts of a content; a text counts as one. */
function partsOf(content: unknown): readonly Fields[] {
  if (typeof content === "string") return [{ text: content }];
  const { parts } = fieldsOf(content);
  return Array.isArray(parts) ? parts.filter(isFields) : isFields(parts) ? [parts] : [];
}

function textOfParts(parts: readonly Fields[]): string {
  return parts.flatMap((part) => stringOf(part, "text") ?? []).join("\n\n");
}

/** A call without a result so far. */
interface OpenCall {
  readonly id: string;
  readonly name: string;
}

/** Creates a function that reads the contents of a request, in order. `metadata` is for model output. */
function createContentReader(metadata: EventMetadata): (content: Fields) => BodyMessage {
  const open: OpenCall[] = [];
  let calls = 0;
  const readCall = (part: Fields, call: Fields): UnnamedEvent => {
    const name = stringOf(call, "name") ?? "";
    const id = stringOf(call, "id") ?? `call-${calls++}`;
    open.push({ id, name });
    return {
      type: "tool_call_request",
      call_id: id,
      name,
      arguments: call["args"] ?? {},
      metadata: signed(part, metadata),
    };
  };
  const readResult = (response: Fields): UnnamedEvent => {
    const name = stringOf(response, "name") ?? "";
    const id = stringOf(response, "id");
    const at = open.findIndex((call) => (id === undefined ? call.name === name : call.id === id));
    const [answered] = at === -1 ? [] : open.splice(at, 1);
    return {
      type: "tool_call_response",
      call_id: id ?? answered?.id ?? "",
      ...readAnswer(response),
    };
  };
  const readPart = (part: Fields): UnnamedEvent | null => {
    const call = keyOf(part, "functionCall");
    if (isFields(call)) return readCall(part, call);
    const response = keyOf(part, "functionResponse");
    if (isFields(response)) return readResult(response);
    if (part["thought"] !== true) return null;
    return { type: "chat_response", reasoning: stringOf(part, "text") ?? "", metadata: signed(part, metadata) };
  };
  return (content) => {
    const isFromModel = content["role"] === "model";
    const events: UnnamedEvent[] = [];
    for (const run of runsOf(partsOf(content).map((part) => ({ part, read: readPart(part) })))) {
      const [first] = run;
      if (first?.read != null) events.push(first.read);
      else
        events.push(
          sayParts(
            run.map(({ part }) => part),
            isFromModel,
            metadata,
          ),
        );
    }
    const isAsked = events.some(({ type }) => type === "chat_request") && !events.some(isResult);
    return { events, isFromUser: isAsked };
  };
}

/** A part, and its event if it is one by itself. */
interface ReadPart {
  readonly part: Fields;
  readonly read: UnnamedEvent | null;
}

/** Groups neighbouring plain parts; every other part is a group of its own. */
function runsOf(parts: readonly ReadPart[]): readonly (readonly ReadPart[])[] {
  const runs: ReadPart[][] = [];
  for (const part of parts) {
    const last = runs.at(-1);
    if (part.read === null && last?.[0]?.read === null) last.push(part);
    else runs.push([part]);
  }
  return runs;
}

function isResult({ type }: UnnamedEvent): boolean {
  return type === "tool_call_response";
}

function sayParts(parts: readonly Fields[], isModels: boolean, metadata: EventMetadata): UnnamedEvent {
  const content = toGoogleContent(parts);
  return isModels ? { type: "chat_response", message: content, metadata } : { type: "chat_request", content };
}

function signed(part: Fields, metadata: EventMetadata): EventMetadata {
  const signature = keyOf(part, "thoughtSignature");
  return typeof signature === "string" ? { ...metadata, signature } : metadata;
}

/** A result is an object: one text under a name that shows success or failure, or whatever the tool returned. */
export function readFunctionResponse(response: unknown): { readonly content: Content; readonly is_error: boolean } {
  const [only, ...others] = Object.entries(fieldsOf(response));
  const isPlain = only !== undefined && others.length === 0 && typeof only[1] === "string";
  if (isPlain && ["output", "result", "error"].includes(only[0]))
    return { content: String(only[1]), is_error: only[0] === "error" };
  return { content: typeof response === "string" ? response : JSON.stringify(response ?? {}), is_error: false };
}

/** Newer models get images and files with a result. */
function readAnswer(answer: Fields): ReturnType<typeof readFunctionResponse> {
  const { content, is_error } = readFunctionResponse(answer["response"]);
  return { content: withMedia(content, partsOf(answer)), is_error };
}

/** A result's text and what came with it. */
export function withMedia(content: Content, media: readonly Fields[]): Content {
  if (media.length === 0) return content;
  const partsIn = (some: Content): readonly ContentPart[] =>
    !isText(some) ? some : some === "" ? [] : [{ type: "text", text: some }];
  return [...partsIn(content), ...partsIn(toGoogleContent(media))];
}

/** Parts that are neither call nor result as the content of an event. */
export function toGoogleContent(parts: readonly Fields[]): Content {
  const converted = parts.map(toPart);
  const [only] = converted;
  return converted.length === 1 && only?.type === "text" ? only.text : converted;
}

function toPart(part: Fields): ContentPart {
  const text = stringOf(part, "text");
  if (text !== undefined) return { type: "text", text };
  const inline = fieldsOf(keyOf(part, "inlineData"));
  const data = stringOf(inline, "data");
  const mime = keyOf(inline, "mimeType");
  if (data !== undefined && typeof mime === "string")
    return { type: mime.startsWith("image/") ? "image" : "document", media_type: mime, data };
  return { type: "opaque", provider: "google", value: part };
}
