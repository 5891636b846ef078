// Random conversations and random stacks of compactions over them, for laws: every policy, cut ranges, keeps, bounds that
// do not exist, clashing timestamps, call ids that repeat, turns without anything a model sees.
import fc from "fast-check";
import type { Compaction, ToolCallPolicy } from "../../src/core/conversation/compaction.ts";
import type { Event, Turn } from "../../src/core/conversation/event.ts";
import { pairCalls } from "../../src/core/conversation/tool-pairing.ts";
import { drawnOnce } from "./drawn-once.ts";
import { parseConversation } from "./notation.ts";

/** A conversation with the compactions made in it. */
export interface RandomConversation {
  readonly turns: readonly Turn[];
  readonly compactions: readonly Compaction[];
}

const letter = fc.constantFrom(
  "U",
  "U",
  "Q",
  "S",
  "A",
  "A",
  "R",
  "R",
  "D",
  "T",
  "T:grep",
  "T",
  "t",
  "t",
  "t!",
  "N",
  "X",
);
const words = fc.array(letter, { maxLength: 7 }).map((list) => list.join(" "));

/** Random turns; results without a call in their turn carry the id of an earlier turn's first call. */
export const randomTurns: fc.Arbitrary<readonly Turn[]> = fc
  .tuple(fc.boolean(), fc.array(words, { minLength: 1, maxLength: 6 }), fc.nat())
  .map(([hasStart, turns, seed]) => {
    const notation = turns.join(" | ");
    const parsed = parseConversation(hasStart ? notation : `^ U ${notation}`);
    return parsed.map(({ index, events }) => ({ index, events: events.map((event, at) => vary(event, seed + at)) }));
  });

/** One black pixel: images that providers take. */
export const TINY_PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNgAAAAAgABSK+kcQAAAABJRU5ErkJggg==";

function vary(event: Event, seed: number): Event {
  const image = { type: "image", media_type: "image/png", data: TINY_PNG } as const;
  if (event.type === "tool_call_response") {
    const content = seed % 5 === 2 ? [{ type: "text", text: String(event.content) } as const, image] : event.content;
    return { ...event, call_id: event.call_id === "c0" ? "c1" : event.call_id, content };
  }
  if (event.type !== "chat_request" || seed % 3 !== 0) return event;
  return {
    ...event,
    content: [{ type: "text", text: `look ${event.id}` }, image, { type: "attachment", name: "a.txt" }],
  };
}

/** Ids of both halves of every call that is answered in another turn: what hides one of them hides the other there. */
export function idsAcrossTurns(turns: readonly Turn[]): ReadonlySet<string> {
  const turnOf = new Map(turns.flatMap(({ index, events }) => events.map((event) => [event, index] as const)));
  const apart = [...pairCalls(turns, () => false)].filter(([a, b]) => turnOf.get(a) !== turnOf.get(b));
  return new Set(apart.flat().map(({ id }) => id));
}

const halves = { request: fc.boolean(), response: fc.boolean() };
const truncation = fc.record({ max_chars: fc.integer({ min: 1, max: 40 }), head: fc.constantFrom(0, 0.3, 0.5, 1) });
const uniform = fc.oneof(
  fc.record({ policy: fc.constant("strip" as const), ...halves }),
  truncation.map((limits) => ({ policy: "truncate" as const, ...limits })),
  fc.constant({ policy: "omit" as const }),
);
const callPolicy = fc.oneof(
  fc.constantFrom("keep" as const, "strip" as const, "omit" as const),
  truncation.map((truncate) => ({ truncate })),
);

/** Arguments can lose long texts besides. */
const argumentPolicy = fc.oneof(
  callPolicy,
  fc.integer({ min: 1, max: 8 }).map((max_chars) => ({ drop: { max_chars } })),
);

function randomToolPolicy(turns: readonly Turn[]): fc.Arbitrary<ToolCallPolicy> {
  const calls = turns.flatMap(({ events }) => events.filter(({ type }) => type === "tool_call_request"));
  if (calls.length === 0) return uniform;
  const named = fc.record(
    { event: fc.constantFrom(...calls.map(({ id }) => id)), request: argumentPolicy, response: callPolicy },
    { requiredKeys: ["event"] },
  );
  const selective = fc.record(
    {
      policy: fc.constant("selective" as const),
      calls: fc.uniqueArray(named, { maxLength: 3, selector: ({ event }) => event }),
      else: uniform,
    },
    { requiredKeys: ["policy", "calls"] },
  );
  return fc.oneof(uniform, selective);
}

const field = fc.constantFrom("keep" as const, "strip" as const);
const hint = fc.record({ request: field, response: field }, { requiredKeys: [] });

const hiding: fc.Arbitrary<Partial<Compaction>> = fc.oneof(
  fc.record({
    summary: fc.record(
      {
        summary: fc.constantFrom("one", "two"),
        source: fc.constantFrom("generated" as const, "imported" as const),
        inject: fc.constantFrom("pair" as const, "request" as const, "system" as const),
      },
      { requiredKeys: ["summary"] },
    ),
  }),
  fc.constant({ turns: "omit" as const }),
  fc.constant({ replacement: [{ type: "chat_request", content: "instead" } as unknown as Event] }),
  fc.constant({ replacement: [] }),
);

/** What a compaction may do besides, whatever the conversation. */
const MECHANICAL = {
  reasoning: fc.constant("strip" as const),
  tool_overrides: fc.dictionary(fc.constantFrom("tool", "grep", "*"), hint, { maxKeys: 2 }),
  attachments: fc.constant("strip" as const),
  images: fc.constant("strip" as const),
  index: fc.constantFrom({ text: "Index: a.ts", entries: 1 }, { text: 'Index: "b"\nc', entries: 2 }),
  stubs: fc.record(
    {
      pointers: fc.constant(true as const),
      first_line: fc.constant(true as const),
      heads: fc.constant(true as const),
      text: fc.constant("[cleared]"),
    },
    { requiredKeys: [] },
  ),
};
const optionalHiding = fc.option(hiding);

/** A random compaction of the conversation, `id` and `timestamp` left to the caller; `keeps` allows `keep`. */
export function randomCompaction(
  turns: readonly Turn[],
  keeps = true,
): fc.Arbitrary<Omit<Compaction, "id" | "timestamp">> {
  const ids = turns.flatMap(({ events }) => events.map(({ id }) => id));
  const bound = fc.integer({ min: 0, max: turns.length + 1 });
  const eventOf = (turn: number): fc.Arbitrary<string | undefined> => {
    const own = turns[turn]?.events.map(({ id }) => id) ?? [];
    return fc.option(fc.constantFrom(...own, "missing"), { nil: undefined, freq: 2 });
  };
  const { reasoning, ...others } = MECHANICAL;
  const mechanical = fc.record({ reasoning, tool_calls: randomToolPolicy(turns), ...others }, { requiredKeys: [] });
  const keep: fc.Arbitrary<string[]> =
    keeps && ids.length > 0 ? fc.subarray(ids, { maxLength: Math.min(ids.length, 4) }) : fc.constant([]);
  return fc
    .tuple(bound, bound)
    .map(([a, b]) => (a > b && (a + b) % 4 !== 0 ? [b, a] : [a, b]) as [number, number])
    .chain(([from_turn, to_turn]) =>
      fc
        .tuple(eventOf(from_turn), eventOf(to_turn), fc.option(keep, { nil: undefined }), optionalHiding, mechanical)
        .map(([from_event, to_event, kept, hides, policies]) => ({
          type: "compaction" as const,
          from_turn,
          to_turn,
          ...(from_event === undefined ? {} : { from_event }),
          ...(to_event === undefined ? {} : { to_event }),
          ...(kept === undefined ? {} : { keep: kept }),
          ...(hides ?? {}),
          ...policies,
        })),
    );
}

/** Gives a compaction its id and a time; equal `second`s clash on purpose. */
export function dateCompaction(
  compaction: Omit<Compaction, "id" | "timestamp">,
  id: string,
  second: number,
): Compaction {
  return { ...compaction, id, timestamp: `2026-02-01T00:00:0${second % 10}Z` };
}

/** A random conversation under up to five compactions, some of them of the same time. */
export const randomConversation: fc.Arbitrary<RandomConversation> = drawnOnce(
  randomTurns.chain((turns) =>
    fc.array(fc.tuple(randomCompaction(turns), fc.integer({ min: 0, max: 3 })), { maxLength: 5 }).map((stack) => ({
      turns,
      compactions: stack.map(([compaction, second], at) => dateCompaction(compaction, `k${at}`, second)),
    })),
  ),
);
