// Invented views for the tests of the Claude Code export, and the plain thread of each: what the agent must send for it.
import type { Event, Origin, ProjectedTurn, View } from "../../../src/core/conversation/event.ts";
import type { Thread, ThreadBlock, ThreadMessage } from "../../../src/core/model/thread.ts";

const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
const PDF = "JVBERi0xLjQKJSVFT0Y=";
const MODEL = { provider: "anthropic", model: "claude-sonnet-4-5" };

let clock = 0;
const base = (id: string): { id: string; timestamp: string } => {
  clock += 1;
  return { id, timestamp: `2026-03-04T05:06:${String(clock % 60).padStart(2, "0")}.000Z` };
};
const start = (id: string): Event => ({ type: "turn_start", ...base(`${id}.turn`) });
const user = (id: string, content: unknown, rest: object = {}): Event =>
  ({ type: "chat_request", ...base(id), content, ...rest }) as Event;
const says = (id: string, message: string, metadata: object = {}): Event =>
  ({ type: "chat_response", ...base(id), message, metadata: { ...MODEL, ...metadata } }) as Event;
const thinks = (id: string, reasoning: string, metadata: object): Event =>
  ({ type: "chat_response", ...base(id), reasoning, metadata: { ...MODEL, ...metadata } }) as Event;
const calls = (id: string, call_id: string, name: string, args: unknown, metadata: object = {}): Event =>
  ({
    type: "tool_call_request",
    ...base(id),
    call_id,
    name,
    arguments: args,
    metadata: { ...MODEL, ...metadata },
  }) as Event;
const gives = (id: string, call_id: string, content: unknown, is_error = false): Event =>
  ({ type: "tool_call_response", ...base(id), call_id, content, is_error }) as Event;
const kept = (turn: number, events: Event[], part?: true): ProjectedTurn => ({
  origin: { kind: "kept", turn, ...(part === undefined ? {} : { part }) },
  events,
});
const injected = (compaction: string, from: number, to: number, events: Event[]): ProjectedTurn => ({
  origin: { kind: "summary", from, to, compaction } satisfies Origin,
  events,
});
const summaryRequest = (compaction: string, content: string): Event =>
  user(`${compaction}.request`, content, { metadata: { origin: "summary" } });

/** One view with the rules of the export that it is about. */
export interface ExportCase {
  readonly name: string;
  readonly view: View;
  /** Models of the real agent to try; default one. */
  readonly models?: readonly string[];
}

const message = { message_id: "msg_01" };

/** The views, by what is special in each. */
export const EXPORT_CASES: readonly ExportCase[] = [
  {
    name: "plain",
    view: {
      turns: [
        kept(0, [
          start("a"),
          user("a1", "List the kelp beds."),
          thinks("a2", "I should look.", { ...message, signature: "c2lnbmF0dXJl" }),
          calls("a3", "toolu_a", "Bash", { command: "ls beds" }, message),
          gives("a4", "toolu_a", "north\nsouth"),
          says("a5", "Two beds.", { message_id: "msg_02" }),
        ]),
        kept(1, [start("b"), user("b1", "Which is larger?"), says("b2", "The north one.", { message_id: "msg_03" })]),
      ],
    },
  },
  {
    name: "summary at the start, as a pair",
    view: {
      turns: [
        injected("k3f9q2", 0, 4, [
          start("k3f9q2"),
          summaryRequest("k3f9q2", "[Summary of previous conversation]"),
          says("k3f9q2.response", "We mapped five beds."),
        ]),
        kept(5, [start("b"), user("b1", "And now the reef."), says("b2", "The reef is mapped.")]),
      ],
    },
  },
  {
    name: "summary at the start, as a request, and the remainder of its last turn",
    view: {
      turns: [
        injected("m4d0aa", 0, 2, [
          start("m4d0aa"),
          summaryRequest("m4d0aa", "This session is being continued. We mapped beds."),
        ]),
        kept(
          2,
          [
            start("c"),
            calls("c3", "toolu_c", "Read", { file_path: "/tmp/map.txt" }),
            gives("c4", "toolu_c", "reef"),
            says("c5", "The map says reef."),
          ],
          true,
        ),
        kept(3, [start("d"), user("d1", "Thanks."), says("d2", "Welcome.")]),
      ],
    },
  },
  {
    name: "summary in the middle",
    view: {
      turns: [
        kept(0, [start("a"), user("a1", "Start."), says("a2", "Started.")]),
        injected("p81xz0", 1, 3, [
          start("p81xz0"),
          summaryRequest(
            "p81xz0",
            "[CONVERSATION HISTORY SUMMARY]\n\nThree dives.\n\n[END SUMMARY - Recent conversation continues below]",
          ),
        ]),
        kept(3, [start("c"), says("c5", "Dive three is done.")], true),
      ],
    },
  },
  {
    name: "stripped tools with foreign names, parallel calls and an error",
    view: {
      turns: [
        kept(0, [
          start("a"),
          user("a1", "Run both."),
          calls("a2", "call_1", "shell", {}, message),
          calls("a3", "call_2", "apply_patch", {}, message),
          gives("a4", "call_1", "[compacted] shell: success"),
          gives("a5", "call_2", "[compacted] apply_patch: error", true),
          says("a6", "One failed.", { provider: "openai", model: "gpt-5" }),
        ]),
      ],
    },
  },
  {
    name: "images and documents",
    view: {
      turns: [
        kept(0, [
          start("a"),
          user("a1", [
            { type: "text", text: "See these." },
            { type: "image", media_type: "image/png", data: PNG },
            { type: "document", media_type: "application/pdf", data: PDF },
          ]),
          calls("a2", "toolu_s", "Screenshot", {}),
          gives("a3", "toolu_s", [
            { type: "text", text: "shot" },
            { type: "image", media_type: "image/png", data: PNG },
          ]),
          says("a4", "I see them."),
        ]),
      ],
    },
  },
  {
    name: "redacted thinking and a message id used twice",
    view: {
      turns: [
        kept(0, [
          start("a"),
          user("a1", "Think."),
          thinks("a2", "", { ...message, encrypted: "cmVkYWN0ZWQ=" }),
          says("a3", "Thought.", message),
        ]),
        kept(1, [start("b"), user("b1", "Again."), says("b2", "Thought again.", message)]),
      ],
    },
  },
  {
    name: "a prompt typed while the agent worked, in the middle and at the end",
    models: ["claude-opus-4-8"],
    view: {
      turns: [
        kept(0, [
          start("a"),
          user("a1", "Go."),
          calls("a2", "toolu_q", "Bash", { command: "sleep 1" }),
          gives("a3", "toolu_q", "done"),
          user("a4", "also the south bed", { metadata: { origin: "queued" } }),
          says("a5", "Both."),
          user("a6", "and the reef", { metadata: { origin: "queued" } }),
        ]),
      ],
    },
  },
  {
    name: "harness texts with and without the agent's own attachment",
    models: ["claude-sonnet-4-5", "claude-opus-4-8"],
    view: {
      turns: [
        kept(0, [
          start("a"),
          user("a1", "Edit it."),
          user("a2", "The date has changed.", {
            role: "system",
            metadata: {
              origin: "harness",
              attachment: { type: "date_change", newDate: "2026-03-04" },
              rendered: [{ content: "<system-reminder>\nThe date has changed.\n</system-reminder>" }],
              renderedRole: "system",
            },
          }),
          user("a3", "The file was formatted.", { role: "system", metadata: { origin: "harness" } }),
          says("a4", "Edited."),
        ]),
      ],
    },
  },
];

/** The thread of a view that needs no hardening: requests and results are the user's, all else the assistant's. */
export function plainThread(view: View): Thread {
  const messages: { role: ThreadMessage["role"]; blocks: ThreadBlock[] }[] = [];
  for (const event of view.turns.flatMap((turn) => turn.events)) {
    const role = event.type === "chat_request" || event.type === "tool_call_response" ? "user" : "assistant";
    const blocks = blocksOf(event).map((block) => ({ event: event.id, block }));
    if (blocks.length === 0) continue;
    const last = messages.at(-1);
    if (last?.role === role) last.blocks.push(...blocks);
    else messages.push({ role, blocks });
  }
  return { messages, hardening: [] };
}

function blocksOf(event: Event): Record<string, unknown>[] {
  switch (event.type) {
    case "chat_request":
      if (event.role === "system")
        return [{ type: "text", text: `<system-reminder>\n${event.content as string}\n</system-reminder>` }];
      return contentOf(event.content);
    case "chat_response":
      if (event.message !== undefined) return contentOf(event.message);
      if (event.metadata?.encrypted !== undefined)
        return [{ type: "redacted_thinking", data: event.metadata.encrypted }];
      return [{ type: "thinking", thinking: event.reasoning, signature: event.metadata?.signature }];
    case "tool_call_request":
      return [{ type: "tool_use", id: event.call_id, name: event.name, input: event.arguments }];
    case "tool_call_response":
      return [
        {
          type: "tool_result",
          tool_use_id: event.call_id,
          content: typeof event.content === "string" ? event.content : contentOf(event.content),
          ...(event.is_error ? { is_error: true } : {}),
        },
      ];
    default:
      return [];
  }
}

function contentOf(content: unknown): Record<string, unknown>[] {
  if (!Array.isArray(content)) return [{ type: "text", text: content }];
  return (content as Record<string, unknown>[]).map((part) =>
    part["type"] === "text"
      ? part
      : { type: part["type"], source: { type: "base64", media_type: part["media_type"], data: part["data"] } },
  );
}
