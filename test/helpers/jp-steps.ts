// Random streams of jp, as jp would save them: sound, in stored form, with overlays, settings and unknown entries between.
import fc from "fast-check";
import type { Entry } from "./jp-rules.ts";

export const base64 = (text: string): string => Buffer.from(text).toString("base64");

const word = fc.constantFrom(
  "kelp",
  "reef",
  "grüße 🌊",
  "a\nb",
  "",
  "LT4gPz8+Pg==",
  "c3JjL21haW4ucnM=",
  "x_y-z",
  "<b>",
);

type Step =
  | { readonly kind: "ask" | "think" | "say" | "data" | "inquire" | "settings" | "future"; readonly text: string }
  | { readonly kind: "call"; readonly text: string; readonly isError: boolean; readonly isParallel: boolean }
  | {
      readonly kind: "overlay";
      readonly text: string;
      readonly from: number;
      readonly length: number;
      readonly policy: number;
    };

const plain = fc.record({
  kind: fc.constantFrom(
    "ask" as const,
    "ask" as const,
    "think" as const,
    "say" as const,
    "say" as const,
    "data" as const,
    "inquire" as const,
    "settings" as const,
    "future" as const,
  ),
  text: word,
});
const call = fc.record({
  kind: fc.constant("call" as const),
  text: word,
  isError: fc.boolean(),
  isParallel: fc.boolean(),
});
const overlay = fc.record({
  kind: fc.constant("overlay" as const),
  text: word,
  from: fc.nat(6),
  length: fc.nat(4),
  policy: fc.nat(5),
});

const POLICIES: readonly ((text: string) => Entry)[] = [
  (summary) => ({ summary: { summary } }),
  () => ({ reasoning: "strip" }),
  () => ({ tool_calls: { policy: "omit" } }),
  () => ({ reasoning: "strip", tool_calls: { policy: "strip", request: true, response: true } }),
  () => ({ tool_calls: { policy: "strip", request: false, response: true } }),
  (summary) => ({ summary: { summary }, reasoning: "strip" }),
];

/** Writes a stream; each entry has a time of its own unless `isCoarse`. */
export function writeJpStream(steps: readonly Step[], isCoarse = false): readonly Entry[] {
  const entries: Entry[] = [];
  let count = 0;
  let turn = -1;
  const time = (): string => {
    count += 1;
    const fraction = isCoarse ? "0" : String(count).padStart(6, "0").replace(/0+$/, "");
    return `2026-03-04 05:${String(Math.max(turn, 0) % 60).padStart(2, "0")}:06.${fraction}`;
  };
  const add = (type: string, fields: Entry): void => void entries.push({ timestamp: time(), type, ...fields });
  const ask = (text: string): void => {
    turn += 1;
    add("turn_start", {});
    add("chat_request", { content: text, ...(turn % 3 === 1 && { author: "Ada" }) });
  };
  ask("Map the kelp.");
  for (const step of steps) {
    const { text } = step;
    const id = `call-${count}`;
    switch (step.kind) {
      case "ask":
        ask(text);
        break;
      case "think":
        add("chat_response", { reasoning: text, metadata: { anthropic_thinking_signature: base64(`sign ${text}`) } });
        break;
      case "say":
        add("chat_response", { message: text });
        break;
      case "data":
        add("chat_response", { data: { of: text, none: null, list: [1, true] } });
        break;
      case "inquire":
        add("inquiry_request", {
          id,
          source: { source: "assistant" },
          question: { text, answer_type: { type: "boolean" } },
        });
        add("inquiry_response", { id, answer: true });
        break;
      case "settings":
        entries.push({
          type: "config_delta",
          timestamp: time(),
          delta: { assistant: { model: { id: { provider: "anthropic", name: "claude-haiku-4-5" } } } },
        });
        break;
      case "future":
        entries.push({ type: "subagent_call", timestamp: time(), of: text, metadata: { raw: "YmFy" } });
        break;
      case "call": {
        const ids = step.isParallel ? [id, `${id}-b`] : [id];
        for (const own of ids)
          add("tool_call_request", {
            id: own,
            name: "fs_read_file",
            arguments: { path: base64(text), lines: [1, null], opts: { q: base64("é") } },
          });
        for (const own of ids)
          add("tool_call_response", { id: own, content: base64(`${text}\n`), is_error: step.isError });
        break;
      }
      case "overlay": {
        const from = step.from % (turn + 1);
        const to = Math.min(from + step.length, turn);
        entries.push({
          type: "compaction",
          timestamp: time(),
          from_turn: from,
          to_turn: to,
          ...POLICIES[step.policy]?.(text),
        });
        break;
      }
    }
  }
  return entries;
}

/** Random streams. */
export const jpStream: fc.Arbitrary<readonly Entry[]> = fc
  .tuple(
    fc.array(fc.oneof({ weight: 5, arbitrary: plain }, { weight: 2, arbitrary: call }, overlay), { maxLength: 25 }),
    fc.boolean(),
  )
  .map(([steps, isCoarse]) => writeJpStream(steps, isCoarse));

/** A stream of every kind. */
export function variedJpStream(): readonly Entry[] {
  return writeJpStream([
    { kind: "think", text: "Where is it?" },
    { kind: "call", text: "reef.txt", isError: false, isParallel: true },
    { kind: "say", text: "There." },
    { kind: "settings", text: "" },
    { kind: "ask", text: "And the reef?" },
    { kind: "inquire", text: "Dive?" },
    { kind: "call", text: "deep.txt", isError: true, isParallel: false },
    { kind: "data", text: "reef" },
    { kind: "future", text: "reef" },
    { kind: "overlay", text: "", from: 1, length: 0, policy: 3 },
    { kind: "overlay", text: "The kelp is mapped.", from: 0, length: 0, policy: 0 },
    { kind: "ask", text: "Thanks." },
    { kind: "say", text: "Welcome." },
  ]);
}
