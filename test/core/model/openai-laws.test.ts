// @module-tag law
// Laws of both OpenAI renderings over random conversations under random stacks of compactions, and over streams as rough as
// agents' logs are: what is sent is valid, nothing is lost without being named, and later turns change nothing before them.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Event, traitsOf, type View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { checkOpenAiChat } from "../../../src/core/model/openai-chat-rules.ts";
import { toOpenAiChatThread } from "../../../src/core/model/openai-chat-thread.ts";
import { checkOpenAiResponses } from "../../../src/core/model/openai-responses-rules.ts";
import { toOpenAiResponsesThread } from "../../../src/core/model/openai-responses-thread.ts";
import type { ItemThread, ThreadItem } from "../../../src/core/model/openai-thread.ts";
import type { Violation } from "../../../src/core/model/provider-rules.ts";
import { drawnOnce } from "../../helpers/drawn-once.ts";
import { randomConversation, TINY_PNG } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

type Render = (view: View, systemMessages: boolean) => ItemThread;
type Check = (items: readonly unknown[]) => readonly Violation[];

const providers: readonly [string, Render, Check][] = [
  ["Chat", (view, systemMessages) => toOpenAiChatThread(view, { systemMessages }), checkOpenAiChat],
  [
    "Chat with reasoning",
    (view, systemMessages) => toOpenAiChatThread(view, { systemMessages, reasoning: true }),
    (items) => checkOpenAiChat(items, { reasoning: true }),
  ],
  ["Responses", (view, systemMessages) => toOpenAiResponsesThread(view, { systemMessages }), checkOpenAiResponses],
];

const text = fc.constantFrom("hi", " ", "", "two\nlines");
const part = fc.oneof(
  text.map((value) => ({ type: "text", text: value })),
  fc.constant({ type: "image", media_type: "image/png", data: TINY_PNG }),
  fc.constant({ type: "image", url: "https://example.invalid/a.png" }),
  fc.constant({ type: "document", media_type: "application/pdf", data: "AAAA" }),
  fc.constant({ type: "attachment", name: "a.txt" }),
  fc
    .record({
      provider: fc.constantFrom("openai", "anthropic"),
      type: fc.constantFrom("compaction", "web_search_call", "shell_call", "reasoning", "input_text", "message", 7),
      id: fc.constantFrom("x_1", undefined),
      call_id: fc.constantFrom("a", undefined),
      text: fc.constantFrom("t", undefined),
      encrypted_content: fc.constantFrom("e", undefined),
    })
    .map(({ provider, ...value }) => ({ type: "opaque", provider, value })),
);
const content = fc.oneof(text, text, fc.array(part, { maxLength: 3 }));
const callId = fc.constantFrom("a", "b", "c:d", "", "x".repeat(70));
const message_id = fc.constantFrom("m1", "m2", undefined);
const role = fc.constantFrom("user", "system", "developer", undefined);
const encrypted = { provider: "openai", encrypted: "e" };

/** An event without id and time, rougher than any agent writes it. */
const roughEvent = fc.oneof(
  fc.record({
    type: fc.constant("chat_request"),
    content,
    role,
    metadata: fc.constantFrom(undefined, { origin: "harness" }),
  }),
  fc.record({ type: fc.constant("chat_response"), message: content, metadata: fc.record({ message_id }) }),
  fc.record({
    type: fc.constant("chat_response"),
    reasoning: text,
    metadata: fc.oneof(fc.constant(encrypted), fc.record({ message_id })),
  }),
  fc.record({
    type: fc.constant("tool_call_request"),
    call_id: callId,
    name: fc.constantFrom("read", "mcp.read", ""),
    arguments: fc.constantFrom({ a: 1 }, {}, "text", '{"a":1}', null, [1]),
    metadata: fc.oneof(fc.constant({ call_type: "custom" }), fc.record({ message_id })),
  }),
  fc.record({ type: fc.constant("tool_call_response"), call_id: callId, content, is_error: fc.boolean() }),
);

const roughView: fc.Arbitrary<View> = fc
  .array(fc.array(roughEvent, { maxLength: 8 }), { maxLength: 5 })
  .map((turns) => ({
    turns: turns.map((events, turn) => ({
      origin: { kind: "kept", turn },
      events: events.map(
        (event, at) => ({ ...event, id: `e${turn}.${at}`, timestamp: "2026-03-01T09:00:00.000Z" }) as unknown as Event,
      ),
    })),
  }));

const projectedView = randomConversation.map(({ turns, compactions }) => projectTurns(turns, compactions));
const anyView = drawnOnce(fc.oneof(projectedView, roughView));

describe("Chat: any view", () => {
  it("becomes messages of which no two of one role are in a row, except results (C7)", () => {
    fc.assert(
      fc.property(anyView, fc.boolean(), (view, systemMessages) => {
        const list = toOpenAiChatThread(view, { systemMessages, system: "Be brief." }).items.map(({ item }) => item);
        const found = checkOpenAiChat(list, { compatible: true });
        expect(found.filter(({ message }) => message.includes("in a row"))).toEqual([]);
      }),
      { numRuns: runs(500) },
    );
  });
});

describe.each(providers)("%s: any view", (name, render, check) => {
  const law = (holds: (view: View, systemMessages: boolean) => void): void => {
    fc.assert(fc.property(anyView, fc.boolean(), holds), { numRuns: runs(500) });
  };

  it("becomes a list that breaks no rule, the same every time", () => {
    law((view, systemMessages) => {
      const thread = render(view, systemMessages);
      if (thread.items.length > 0) expect(check(thread.items.map(({ item }) => item))).toEqual([]);
      expect(render(view, systemMessages)).toEqual(thread);
    });
  });

  it("is sent whole: each visible event is either in the list or named as dropped", () => {
    law((view, systemMessages) => {
      const { items, hardening } = render(view, systemMessages);
      const sent = new Set(items.flatMap(({ events }) => events));
      const dropped = new Set(hardening.flatMap(({ action, event }) => (action === "dropped" ? [event] : [])));
      const own = view.turns.flatMap(({ origin, events }) => (origin.kind === "summary" ? [] : events));
      for (const { id } of own.filter((event) => traitsOf(event).providerVisible)) {
        expect([id, sent.has(id) !== dropped.has(id)]).toEqual([id, true]);
      }
      const known = new Set(own.map(({ id }) => id));
      expect([...sent].filter((id) => !known.has(id))).toEqual([]);
    });
  });

  it("keeps its items byte for byte when a turn is added, but for synthetic results of calls answered late", () => {
    fc.assert(
      fc.property(fc.oneof(projectedView, roughView.map(withoutMedia)), fc.boolean(), (view, systemMessages) => {
        // There a late result is where it was recorded, and not in the place of the synthetic one.
        const placed = (all: readonly ThreadItem[]) =>
          name === "Responses" ? all.filter((item) => !isSynthetic(item)) : all;
        const items = placed(render(view, systemMessages).items);
        const shorter = placed(render({ turns: view.turns.slice(0, -1) }, systemMessages).items);
        for (const [at, item] of shorter.entries()) {
          if (isSynthetic(item)) continue;
          const isGrown = name !== "Responses" && at === shorter.length - 1;
          expect(isGrown ? beginningOf(items[at], item) : JSON.stringify(items[at])).toBe(JSON.stringify(item));
        }
      }),
      { numRuns: runs(500) },
    );
  });
});

function isSynthetic({ events, compaction }: ThreadItem): boolean {
  return events.length === 0 && compaction === undefined;
}

/** A message as it was before another of its role was joined to it. */
function beginningOf(grown: ThreadItem | undefined, before: ThreadItem): string {
  const { content, tool_calls: calls, reasoning_content: thoughts, ...rest } = grown?.item ?? {};
  const { content: said, tool_calls: called, reasoning_content: thought } = before.item;
  const item = {
    ...rest,
    content: beginning(content, said),
    ...(thought !== undefined && { reasoning_content: beginning(thoughts, thought) }),
    ...(called !== undefined && { tool_calls: calls }),
  };
  const events = grown?.events.slice(0, before.events.length);
  const compaction = before.compaction !== undefined && { compaction: grown?.compaction };
  return JSON.stringify({ events, ...compaction, item });
}

/** The part of a content that is as long as another: of the same kind, or the texts of parts. */
function beginning(content: unknown, like: unknown): unknown {
  if (Array.isArray(content) && Array.isArray(like)) return content.slice(0, like.length);
  const texts = Array.isArray(content) ? content.map((part: { readonly text?: string }) => part.text) : [content];
  return texts.join("\n\n").slice(0, String(like).length);
}

/** Media of a late result take a message of their own, and OpenAI's compaction goes to the front: both move what follows. */
function withoutMedia({ turns }: View): View {
  const isPlain = (event: Event): boolean => !/"(?:image|document|opaque)"/.test(JSON.stringify(event));
  return { turns: turns.map((turn) => ({ ...turn, events: turn.events.filter(isPlain) })) };
}
