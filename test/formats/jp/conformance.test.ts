// The conformance cases of jp's stored form, through importer and exporter: `roundtrip` and `sanitize` as they stand, `project` and
// `view` as what is read projects. Read from JPG_CORPUS or ../shared; without them the tests are skipped by name, loudly.
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Event, traitsOf } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { formatStream } from "../../../src/formats/jp/write.ts";
import { type Entry, sentByJp } from "../../helpers/jp-rules.ts";
import { jpTurns, readJp, throughJpg } from "../../helpers/jp-session.ts";

interface Case {
  readonly name: string;
  readonly op: string;
  readonly input: { readonly events: readonly Entry[] };
  readonly expected: unknown;
  readonly expected_jpg?: unknown;
  readonly upstream_defect?: unknown;
}

const root = fileURLToPath(new URL("../../../", import.meta.url));
const shared = process.env["JPG_CORPUS"] ?? join(root, "..", "shared");
const folder = [join(shared, "conformance"), join(dirname(shared), "conformance")].find((place) =>
  existsSync(join(place, "cases.json")),
);
const cases = folder === undefined ? [] : (JSON.parse(read("cases.json")) as { cases: readonly Case[] }).cases;

function read(name: string): string {
  return readFileSync(join(folder ?? "", name), "utf8");
}

function named(op: string): readonly (readonly [string, Case])[] {
  return cases.filter((one) => one.op === op && one.upstream_defect === undefined).map((one) => [one.name, one]);
}

function decodeText(text: string): string {
  const bytes = Buffer.from(text, "base64");
  const decoded = bytes.toString("utf8");
  return bytes.toString("base64") === text && !decoded.includes("�") ? decoded : text;
}

/** A stored entry as the cases give results: decoded. */
function decoded(entry: Entry): Entry {
  const texts = (value: unknown): unknown => {
    if (typeof value === "string") return decodeText(value);
    if (Array.isArray(value)) return value.map(texts);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, texts(item)]));
  };
  const { arguments: args, metadata, content } = entry;
  return {
    ...entry,
    ...(args !== undefined && { arguments: texts(args) }),
    ...(metadata !== undefined && entry["type"] !== "unknown_future_kind" && { metadata: texts(metadata) }),
    ...(content !== undefined && { content: entry["type"] === "tool_call_response" ? texts(content) : content }),
  };
}

/** What an event says, as the cases say it. */
function said(event: Event): Entry {
  const { id: _, call_id: callId, metadata: __, timestamp: ___, ...rest } = event as unknown as Entry;
  return { ...rest, ...(callId !== undefined && { id: callId }) };
}

function withoutTime({ timestamp: _, metadata: __, ...rest }: Entry): Entry {
  return rest;
}

function testCases(): void {
  it("are all there", () => {
    expect(["roundtrip", "sanitize", "project", "view"].map((op) => named(op).length)).toEqual([4, 6, 37, 8]);
  });

  it.each(named("roundtrip"))("roundtrip: %s", (_, one) => {
    expect(JSON.stringify(throughJpg(one.input.events))).toBe(JSON.stringify(one.expected));
  });

  it.each(named("sanitize"))("sanitize: %s", (_, one) => {
    expect(JSON.stringify(throughJpg(one.input.events).map(decoded))).toBe(JSON.stringify(one.expected));
  });

  /** jp passes settings and unknown entries of hidden turns on, jpg reads none of these turns. */
  it.each([...named("project"), ...named("view")])("reads what projects as jp projects it: %s", (_, one) => {
    const session = readJp(one.input.events);
    const wanted = (one.expected_jpg ?? one.expected) as { readonly events?: readonly Entry[] };
    const isSent = (entry: Entry): boolean => traitsOf(entry as unknown as Event).providerVisible;
    const { turns } = projectTurns(jpTurns(session), session.compactions);
    const events = turns.flatMap((turn) => turn.events).map(said);
    expect(events.filter(isSent)).toEqual(
      (wanted.events ?? (wanted as readonly Entry[])).filter(isSent).map(withoutTime),
    );
  });

  it.each(named("view").filter(([, one]) => one.expected_jpg === undefined))(
    "the stand-in for jp sends what jp sends: %s",
    (_, one) => {
      const isSent = ({ type }: Entry): boolean => type !== "config_delta";
      const wanted = sentByJp((one.expected as readonly Entry[]).filter(isSent));
      expect(sentByJp(one.input.events)).toEqual(wanted);
    },
  );

  it("the sample comes back byte for byte, and projects as it should", () => {
    const text = read("sample/events.json");
    expect(formatStream(throughJpg(text))).toBe(text);
    const session = readJp(text);
    const { turns } = projectTurns(jpTurns(session), session.compactions);
    const expected = JSON.parse(read("sample/projected.expected.json")) as { readonly events: readonly Entry[] };
    const isCompared = (entry: Entry): boolean => entry["type"] !== "config_delta";
    expect(turns.flatMap((turn) => turn.events).map(said)).toEqual(expected.events.filter(isCompared).map(withoutTime));
    expect(session.skippedLines).toEqual([]);
  });
}

describe("conformance cases of jp", () => {
  if (folder !== undefined) testCases();
  else it.skip("SKIPPED: no conformance/cases.json under JPG_CORPUS or ../shared", () => {});
});
