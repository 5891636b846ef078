// Makes the events of a conversation awkward for providers: ids of other makers that repeat, texts that are blank, messages
// that were cut off, reasoning with and without signatures, content that only one provider reads. Event ids stay.
import fc from "fast-check";
import type { Content, ContentPart, Event, EventMetadata, Turn } from "../../src/core/conversation/event.ts";
import { drawnOnce } from "./drawn-once.ts";
import { type RandomConversation, randomConversation, TINY_PNG } from "./random-conversation.ts";

/** Models that views are rendered for, and that made the events. */
const MODELS = ["claude-opus-4-8", "claude-sonnet-4-5", "gpt-5.2", "gemini-2.5-pro", "gemini-3-pro"] as const;

const callId = fc.constantFrom("a", "b", "call 1|fc_2", "", "x".repeat(80), "ünï:c");
const blank = fc.constantFrom("", " ", "\n\n");

const part: fc.Arbitrary<ContentPart> = fc.oneof(
  fc.constantFrom("words", "").map((text) => ({ type: "text" as const, text })),
  fc.constantFrom<ContentPart>(
    { type: "image", media_type: "image/png", data: TINY_PNG },
    { type: "image", url: "https://example.invalid/a.png" },
    { type: "image" },
    { type: "document", media_type: "application/pdf", data: "AAAA", title: "A" },
    { type: "attachment", name: "a.txt", text: "low tide" },
    { type: "attachment" },
    { type: "opaque", provider: "anthropic", value: { type: "search_result", title: "T" } },
    { type: "opaque", provider: "anthropic", value: { type: "tool_reference", tool_name: "Grep" } },
    {
      type: "opaque",
      provider: "anthropic",
      value: { type: "server_tool_use", id: "s", name: "web_search", input: {} },
    },
    { type: "opaque", provider: "anthropic", value: { type: "web_search_tool_result", tool_use_id: "s", content: [] } },
    { type: "opaque", provider: "google", value: { executableCode: { language: "PYTHON", code: "1" } } },
    { type: "opaque", provider: "openai", value: "no item" },
    { type: "opaque", value: null },
  ),
);
const content: fc.Arbitrary<Content> = fc.oneof(blank, fc.array(part, { maxLength: 3 }));

const maker: fc.Arbitrary<EventMetadata> = fc
  .tuple(
    fc.constantFrom("anthropic", "openai", "google"),
    fc.constantFrom(...MODELS, undefined),
    fc.constantFrom("m1", "m2", undefined),
    fc.constantFrom<Partial<EventMetadata>>(
      {},
      { signature: "c2ln" },
      { signature: "no way!" },
      { signature: "" },
      { encrypted: "ZW5j" },
    ),
  )
  .map(([provider, model, message_id, signed]) => ({
    provider,
    ...(model !== undefined && { model }),
    ...(message_id !== undefined && { message_id }),
    ...signed,
  }));

/** What an event of any kind can be made of. */
const change = fc.record({
  call_id: fc.option(callId, { freq: 3, nil: undefined }),
  content: fc.option(content, { freq: 3, nil: undefined }),
  arguments: fc.constantFrom<unknown>(undefined, undefined, null, "*** patch", '{"a":1}', ["x"], 7),
  name: fc.constantFrom(undefined, undefined, "9 odd tool", "", "n".repeat(90)),
  metadata: fc.option(maker, { freq: 2, nil: undefined }),
  role: fc.constantFrom(undefined, undefined, "system", "developer"),
});
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;

/** A random conversation of awkward events, and a model to render it for. */
export const foreignConversation: fc.Arbitrary<RandomConversation & { readonly model?: string }> = drawnOnce(
  fc
    .tuple(randomConversation, fc.array(change, { minLength: 1, maxLength: 40 }), fc.constantFrom(undefined, ...MODELS))
    .map(([{ turns, compactions }, changes, model]) => ({
      turns: makeForeign(turns, changes),
      compactions,
      ...(model !== undefined && { model }),
    })),
);

function makeForeign(turns: readonly Turn[], changes: readonly Change[]): readonly Turn[] {
  let at = 0;
  return turns.map((turn) => ({
    ...turn,
    events: turn.events.map((event) => applyChange(event, changes[at++ % changes.length]!)),
  }));
}

function applyChange(event: Event, given: Change): Event {
  const own = given.metadata ?? event.metadata;
  const metadata = own === undefined ? {} : { metadata: { ...event.metadata, ...own } };
  switch (event.type) {
    case "chat_request":
      return {
        ...event,
        ...(given.content !== undefined && { content: given.content }),
        ...(given.role !== undefined && { role: given.role as "system" | "developer" }),
      };
    case "chat_response":
      if (event.message !== undefined && given.content !== undefined)
        return { ...event, message: given.content, ...metadata };
      return { ...event, ...metadata };
    case "tool_call_request":
      return {
        ...event,
        ...(given.call_id !== undefined && { call_id: given.call_id }),
        ...(given.arguments !== undefined && { arguments: given.arguments }),
        ...(given.name !== undefined && { name: given.name }),
        ...metadata,
      };
    case "tool_call_response":
      return {
        ...event,
        ...(given.call_id !== undefined && { call_id: given.call_id }),
        ...(given.content !== undefined && { content: given.content }),
      };
    default:
      return event;
  }
}
