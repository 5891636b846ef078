// Sessions of OpenCode, drawn: a list of steps, each a message or two.
import fc from "fast-check";
import { createOpenCodeWriter, type OpenCodeWriter, openCodeCall } from "./opencode-session.ts";

/** What happens next. Numbers choose among what is there. */
export type OpenCodeStep =
  | { readonly kind: "ask" | "say" | "fail" | "stop" | "queue" | "harness" }
  | { readonly kind: "call"; readonly results: readonly ("whole" | "none" | "error" | "image")[] }
  | { readonly kind: "compact"; readonly tail: number | null }
  | { readonly kind: "clear"; readonly calls: number };

const plain = fc.record({ kind: fc.constantFrom("ask", "ask", "say", "say", "fail", "stop", "queue", "harness") });
const call = fc.record({
  kind: fc.constant("call" as const),
  results: fc.array(fc.constantFrom("whole", "none", "error", "image"), { minLength: 1, maxLength: 3 }),
});

/** Steps that add messages, and none that change how those before them are sent. */
export const openCodeSteps: fc.Arbitrary<OpenCodeStep> = fc.oneof(
  plain as fc.Arbitrary<OpenCodeStep>,
  call as fc.Arbitrary<OpenCodeStep>,
);

/** Steps of every kind. */
export const anyOpenCodeSteps: fc.Arbitrary<OpenCodeStep> = fc.oneof(
  { weight: 5, arbitrary: openCodeSteps },
  fc.record({ kind: fc.constant("compact" as const), tail: fc.option(fc.nat(30)) }),
  fc.record({ kind: fc.constant("clear" as const), calls: fc.integer({ min: 1, max: 3 }) }),
);

const IMAGE = { type: "file", mime: "image/png", url: "data:image/png;base64,iVBO" };

/** Writes the session that steps make. It begins with a request. */
export function writeOpenCode(steps: readonly OpenCodeStep[]): OpenCodeWriter {
  const session = createOpenCodeWriter();
  session.user("ask 0");
  for (const [at, step] of steps.entries()) takeStep(session, step, `${step.kind} ${at + 1}`);
  return session;
}

function takeStep(session: OpenCodeWriter, step: OpenCodeStep, words: string): void {
  switch (step.kind) {
    case "ask":
      session.user(words);
      break;
    case "say":
      session.say(words);
      break;
    case "harness":
      session.user({ type: "text", text: words, synthetic: true });
      break;
    case "queue":
      session.queue(words);
      break;
    case "fail":
      session.answer({ error: { name: "APIError", data: { message: "overloaded" } } }, words);
      break;
    case "stop":
      session.answer({ error: { name: "MessageAbortedError", data: { message: "" } } }, words);
      break;
    case "call":
      session.say(...step.results.map((result, at) => callOf(result, `${words} ${at}`)));
      break;
    case "compact":
      session.compact(words, step.tail === null ? undefined : idOf(session, step.tail));
      break;
    case "clear":
      clear(session, step.calls);
  }
}

function idOf({ messages }: OpenCodeWriter, at: number): string {
  return String(messages[at % messages.length]?.info["id"]);
}

function callOf(result: "whole" | "none" | "error" | "image", id: string) {
  if (result === "none") return openCodeCall(id, null);
  if (result === "error")
    return openCodeCall(id, null, { status: "error", error: `no ${id}`, time: { start: 1, end: 1 } });
  return openCodeCall(id, `kelp of ${id}`, result === "image" ? { attachments: [IMAGE] } : {});
}

/** Clears the oldest results that are there. */
function clear({ messages }: OpenCodeWriter, calls: number): void {
  const now = Number((messages.at(-1)!.info["time"] as { readonly created: number }).created) + 6000;
  const states = messages
    .flatMap(({ parts }) => parts)
    .flatMap(({ state }) => (state === undefined ? [] : [state as { status: string; time: Record<string, number> }]))
    .filter(({ status, time }) => status === "completed" && time["compacted"] === undefined);
  for (const state of states.slice(0, calls)) state.time = { ...state.time, compacted: now };
}
