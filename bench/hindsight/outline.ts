// Experiment: the newest tokens whole; of what is older, requests and answers whole, of results the lines that define or import
// something, of arguments the beginnings of texts.

import { isText } from "../../src/core/event/content.ts";
import { type ContentPart, type Event, isReasoning } from "../../src/core/event/event.ts";
import type { CountTokens } from "./baselines.ts";

/** What an outline leaves, characters. */
const RESULT_CHARS = 800;
const LINE_CHARS = 160;
const ARGUMENT_CHARS = 100;
/** Definitions and imports that stand at the beginning of a line, in the languages of the corpus and their like. */
const DEFINES =
  /\b(?:function|class|interface|type|const|let|var|def|fn|func|struct|enum|trait|impl|import|package|module)\b/;
/** What readers put before a line of a file. */
const LINE_NUMBER = /^ {0,10}\d{1,9}[→\t|:] ?/;

/** Gives the outline of a past, all but its newest tokens. */
export function outline(past: readonly Event[], newestTokens: number, count: CountTokens): readonly Event[] {
  let left = newestTokens;
  const last = past.findLastIndex((event) => {
    left -= count(event);
    return left < 0;
  });
  return past.flatMap((event, at) => (at > last ? [event] : outlineOf(event)));
}

function outlineOf(event: Event): readonly Event[] {
  if (isReasoning(event)) return [];
  if (event.type === "tool_call_request") return [outlineCall(event)];
  if (event.type !== "tool_call_response") return [event];
  const text = textOf(event.content);
  if (text.length <= RESULT_CHARS / 2) return [event];
  const lines = takeDefinitions(text);
  return [{ ...event, content: `[compacted] outline\n${lines.join("\n")}` }];
}

function takeDefinitions(text: string): readonly string[] {
  const lines: string[] = [];
  let left = RESULT_CHARS;
  for (const numbered of text.split("\n")) {
    const line = numbered.replace(LINE_NUMBER, "").slice(0, LINE_CHARS);
    if (/^\s/.test(line) || !DEFINES.test(line)) continue;
    if (line.length > left) break;
    lines.push(line);
    left -= line.length + 1;
  }
  return lines;
}

function outlineCall(call: Event & { readonly type: "tool_call_request" }): Event {
  const { arguments: args } = call;
  if (typeof args === "string") return { ...call, arguments: args.slice(0, ARGUMENT_CHARS) };
  if (typeof args !== "object" || args === null || Array.isArray(args)) return call;
  const entries = Object.entries(args);
  if (entries.every(([, value]) => typeof value !== "string" || value.length <= ARGUMENT_CHARS)) return call;
  const short = entries.map(([key, value]) => [
    key,
    typeof value === "string" ? value.slice(0, ARGUMENT_CHARS) : value,
  ]);
  return { ...call, arguments: Object.fromEntries(short) };
}

function textOf(content: (Event & { readonly type: "tool_call_response" })["content"]): string {
  if (isText(content)) return typeof content === "string" ? content : "";
  return content
    .map((part: ContentPart) => (part.type === "text" && typeof part.text === "string" ? part.text : ""))
    .join("\n");
}
