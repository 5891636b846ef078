// The conformance cases handed over with the design: projection, provider view, summary ranges and counts. They are read
// from JPG_CORPUS or ../shared; without them the tests are skipped by name, loudly.

import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import {
  type Event,
  type Origin,
  splitTurns,
  type Turn,
  traitsOf,
  type View,
} from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { extendSummaryRange } from "../../../src/core/conversation/range-location.ts";
import { turnFacts } from "../../../src/core/model/usage.ts";

type StoredEvent = Readonly<Record<string, unknown>> & { readonly type: string };

interface Case {
  readonly name: string;
  readonly op: string;
  readonly input: { readonly events: readonly StoredEvent[]; readonly range?: readonly [number, number] };
  readonly expected: unknown;
  readonly expected_jpg?: unknown;
  readonly upstream_defect?: unknown;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));
const file = findCases();
const cases = file === null ? [] : (JSON.parse(readFileSync(file, "utf8")) as { cases: readonly Case[] }).cases;

/** JPG_CORPUS may name the shared folder or the corpus inside it. */
function findCases(): string | null {
  const shared = process.env["JPG_CORPUS"] ?? join(root, "..", "shared");
  const places = [join(shared, "conformance", "cases.json"), join(dirname(shared), "conformance", "cases.json")];
  return places.find((place) => existsSync(place)) ?? null;
}

function listCases(op: string): readonly Case[] {
  return cases.filter((one) => one.op === op && one.upstream_defect === undefined);
}

function wanted(one: Case): unknown {
  return one.expected_jpg ?? one.expected;
}

function decodeText(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const bytes = Buffer.from(value, "base64");
  const text = bytes.toString("utf8");
  return bytes.toString("base64") === value && !text.includes("�") ? text : value;
}

function decodeLeaves(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(decodeLeaves);
  if (typeof value !== "object" || value === null) return decodeText(value);
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, decodeLeaves(item)]));
}

/** A stored event as an event of jpg: ids by position, `id` of tools and inquiries to `call_id`, base64 decoded. */
function toEvent(stored: StoredEvent, at: number): Event {
  const { id, arguments: args, metadata, content, ...rest } = stored;
  const isResponse = stored.type === "tool_call_response";
  return {
    ...rest,
    id: `e${String(at).padStart(4, "0")}`,
    ...(id === undefined ? {} : { call_id: id }),
    ...(args === undefined ? {} : { arguments: decodeLeaves(args) }),
    ...(content === undefined ? {} : { content: isResponse ? decodeText(content) : content }),
    ...(metadata === undefined ? {} : { metadata: decodeLeaves(metadata) }),
  } as unknown as Event;
}

/** An event of jpg in the shape of the cases; the origin mark of injected requests is jpg's own. */
function fromEvent(event: Event): Record<string, unknown> {
  const { id, call_id: callId, metadata, ...rest } = event as unknown as Record<string, unknown>;
  const isInjected = (metadata as { origin?: string } | undefined)?.origin === "summary";
  return {
    ...rest,
    ...(callId === undefined ? {} : { id: callId }),
    ...(metadata === undefined || isInjected ? {} : { metadata }),
  };
}

function load(one: Case): { readonly turns: readonly Turn[]; readonly compactions: readonly Compaction[] } {
  const events = one.input.events.map(toEvent);
  const isCompaction = (event: Event): boolean => (event.type as string) === "compaction";
  return {
    turns: splitTurns(
      events.filter((event) => !isCompaction(event)),
      (event) => traitsOf(event).providerVisible,
    ),
    compactions: events.filter(isCompaction) as unknown as readonly Compaction[],
  };
}

function hidesTurns(compactions: readonly Compaction[]): boolean {
  return compactions.some((compaction) => compaction.summary !== undefined);
}

/** Rule c: config deltas and unknown events of hidden turns are left out of the comparison. */
function comparable(events: readonly unknown[], compactions: readonly Compaction[]): readonly unknown[] {
  if (!hidesTurns(compactions)) return events;
  const isCompared = (event: unknown): boolean => traitsOf(event as Event).hideable && traitsOf(event as Event).counted;
  return events.filter(isCompared);
}

function printOrigin(origin: Origin): unknown {
  return origin.kind === "kept" ? { kept: origin.turn } : { summary: [origin.from, origin.to] };
}

function flatten(view: View): readonly Event[] {
  return view.turns.flatMap((turn) => turn.events);
}

function testCases(): void {
  it("are all there", () => {
    const counts = ["project", "view", "extend_summary_range", "stats"].map((op) => listCases(op).length);
    expect(counts).toEqual([37, 8, 16, 3]);
  });

  it.each(listCases("project").map((one) => [one.name, one] as const))("project: %s", (_, one) => {
    const { turns, compactions } = load(one);
    const view = projectTurns(turns, compactions);
    const expected = wanted(one) as { events: unknown[]; turn_count: number; turn_origins?: unknown[] };
    expect(comparable(flatten(view).map(fromEvent), compactions)).toEqual(comparable(expected.events, compactions));
    expect(view.turns).toHaveLength(expected.turn_count);
    if (expected.turn_origins)
      expect(view.turns.map(({ origin }) => printOrigin(origin))).toEqual(expected.turn_origins);
  });

  it.each(listCases("view").map((one) => [one.name, one] as const))("view: %s", (_, one) => {
    const { turns, compactions } = load(one);
    const sent = flatten(projectTurns(turns, compactions)).filter(
      (event) => traitsOf(event).providerVisible || event.type === "config_delta",
    );
    const expected = wanted(one) as unknown[];
    expect(comparable(sent.map(fromEvent), compactions)).toEqual(comparable(expected, compactions));
  });

  it.each(listCases("extend_summary_range").map((one) => [one.name, one] as const))("extend: %s", (_, one) => {
    const { compactions } = load(one);
    const [from = 0, to = 0] = one.input.range ?? [];
    const summaries = compactions.filter(({ summary }) => summary !== undefined);
    const ranges = summaries.map(({ from_turn, to_turn }) => ({ from: from_turn, to: to_turn }));
    const extended = extendSummaryRange({ from, to }, ranges);
    expect({ from_turn: extended.from, to_turn: extended.to }).toEqual(wanted(one));
  });

  it.each(listCases("stats").map((one) => [one.name, one] as const))("stats: %s", (_, one) => {
    const { turns, compactions } = load(one);
    const events = turns.reduce((sum, turn) => sum + turnFacts(turn).events, 0);
    expect({
      len: events,
      turn_count: turns.length,
      is_empty: events === 0,
      compactions: compactions.length,
    }).toEqual(wanted(one));
  });
}

describe("conformance cases", () => {
  if (file !== null) testCases();
  else it.skip("SKIPPED: no conformance/cases.json under JPG_CORPUS or ../shared", () => {});
});
