// Reading a session that grew from a mark on gives what reading it whole gives, or nothing at all.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { titlesByTurn } from "../../../src/app/import/turn-sequence.ts";
import { createBufferSource } from "../../../src/app/sessions/buffer-source.ts";
import { readClaudeSession } from "../../../src/formats/claude-code/import.ts";
import { readClaudeTail } from "../../../src/formats/claude-code/import-tail.ts";
import type { ImportedSession } from "../../../src/formats/imported-session.ts";
import type { SessionMark } from "../../../src/formats/session-mark.ts";
import type { Json } from "../../helpers/claude-session.ts";
import { runs } from "../../helpers/runs.ts";
import { anySteps, buildSession, growingSteps, plainTurns, type SessionStep } from "../../helpers/session-builder.ts";

const textOf = (lines: readonly Json[]): Buffer =>
  Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));

const readWhole = (bytes: Buffer): ImportedSession | null => {
  try {
    return readClaudeSession(createBufferSource(bytes));
  } catch {
    return null; // no session yet
  }
};

/** As it comes back from a cache. */
const kept = (mark: SessionMark): SessionMark => ({
  ...mark,
  state: JSON.parse(JSON.stringify(mark.state)) as unknown,
  names: Uint8Array.from(mark.names),
});

const turnsFrom = (session: ImportedSession, first: number, end = session.turnCount) =>
  Array.from({ length: Math.max(0, end - first) }, (_, index) => ({
    events: session.readTurn(first + index),
    line: session.turnLine(first + index),
    time: session.turnTime(first + index),
  }));

/** All that an import takes of a session, from a turn on. */
function contentOf(session: ImportedSession, first: number): unknown {
  const { turnCount, title, createdAt, cwd, sessionId, skippedLines } = session;
  const titles = [...titlesByTurn(session)].filter(([turn]) => turn >= first);
  const tools = session.toolLists?.filter(({ turn }) => turn >= first);
  return { turnCount, title, createdAt, cwd, sessionId, skippedLines, titles, tools, turns: turnsFrom(session, first) };
}

/** Reads a file as it grows, from the mark of the state before each time; gives how often that could be done. */
function followGrowth(bytes: Buffer, ends: readonly number[]): { readonly short: number; readonly whole: number } {
  const last: { session: ImportedSession | null; whole: ImportedSession | null } = { session: null, whole: null };
  const count = { short: 0, whole: 0 };
  for (const end of ends) {
    const now = bytes.subarray(0, end);
    const whole = readWhole(now);
    const { whole: beforeWhole } = last;
    const mark: SessionMark | null = last.session?.mark?.() ?? null;
    const tail: ImportedSession | null = mark === null ? null : readClaudeTail(createBufferSource(now), kept(mark));
    if (tail !== null && whole !== null && beforeWhole !== null) {
      const first = tail.firstTurn ?? 0;
      expect(contentOf(tail, first)).toEqual(contentOf(whole, first));
      // What stands before is as it was, and nothing was compacted since.
      expect(turnsFrom(whole, 0, first)).toEqual(turnsFrom(beforeWhole, 0, first));
      expect([whole.compactions, whole.compactionTurns]).toEqual([
        beforeWhole.compactions,
        beforeWhole.compactionTurns,
      ]);
      const earlier = (session: ImportedSession) => [...titlesByTurn(session)].filter(([turn]) => turn < first);
      expect(earlier(whole)).toEqual(earlier(beforeWhole));
    }
    count[tail === null ? "whole" : "short"] += 1;
    last.session = tail ?? whole;
    last.whole = whole;
  }
  return count;
}

/** Ends of lines, `stride` lines apart, and of the file; with `inside`, also in the middle of lines. */
function ends(bytes: Buffer, stride: number, inside = false): number[] {
  const found: number[] = [];
  let line = 0;
  for (let end = bytes.indexOf(10) + 1; end > 0; end = bytes.indexOf(10, end) + 1) {
    line += 1;
    if (line % stride !== 0 && end !== bytes.length) continue;
    if (inside && end > 20) found.push(end - 9);
    found.push(end);
  }
  return found;
}

/** Adds lines that name the newest line, titles without a time, and lines that no format knows. */
const anyLines: fc.Arbitrary<(lines: readonly Json[]) => Json[]> = fc
  .array(
    fc.record({
      kind: fc.constantFrom(
        "leaf",
        "title",
        "summary",
        "repeat",
        "lost",
        "early",
        "bad",
        "undated",
        "back",
        "command",
        "alien",
      ),
      at: fc.nat(80),
      of: fc.nat(80),
    }),
    { maxLength: 4 },
  )
  .map((changes) => (lines: readonly Json[]) => changes.reduce(changeLines, [...lines]));

function changeLines(lines: Json[], { kind, at, of }: { kind: string; at: number; of: number }): Json[] {
  const place = 1 + (at % lines.length);
  const line = lines[place % lines.length]!;
  const other = lines[of % lines.length]!;
  const sessionId = line["sessionId"];
  const insert = (added: Json): Json[] => lines.toSpliced(place, 0, added);
  const change = (changed: Json): Json[] => lines.with(place % lines.length, { ...line, ...changed });
  switch (kind) {
    case "leaf":
      return insert({ type: "last-prompt", leafUuid: other["uuid"] ?? "nowhere", sessionId });
    case "title":
      return insert({ type: "ai-title", aiTitle: `Title ${of % 3}`, sessionId });
    case "summary":
      return insert({ type: "summary", summary: `Summary ${of}`, leafUuid: other["uuid"] ?? "nowhere" });
    case "repeat":
      return insert({ ...other });
    case "lost":
      return change({ parentUuid: `ffffffff-0000-4000-8000-${String(of).padStart(12, "0")}` });
    case "early":
      return place > 1 && place < lines.length ? lines.toSpliced(place - 1, 2, line, lines[place - 1]!) : lines;
    case "bad":
      return insert({ notype: of });
    case "undated":
      return change({ timestamp: undefined });
    case "back":
      return change({ timestamp: other["timestamp"] });
    case "command":
      return line["type"] === "user" && typeof (line["message"] as Json)?.["content"] === "string"
        ? change({ message: { role: "user", content: "<command-name>/x</command-name>" } })
        : lines;
    default:
      return insert({
        type: "user",
        uuid: `alien-${of}`,
        parentUuid: null,
        message: { role: "user", content: "new root" },
        sessionId,
      });
  }
}

describe("readClaudeTail", () => {
  it("is what reading the whole file gives, whatever way a session grew", () => {
    const sessions = fc.tuple(fc.oneof(anySteps, growingSteps), anyLines, fc.integer({ min: 1, max: 4 }), fc.boolean());
    let short = 0;
    fc.assert(
      fc.property(sessions, ([steps, change, stride, inside]) => {
        const bytes = textOf(change(buildSession(steps).lines));
        short += followGrowth(bytes, ends(bytes, stride, inside)).short;
      }),
      { numRuns: runs(150) },
    );
    expect(short).toBeGreaterThan(0);
  });

  it("is what every growth of a plain session is read with, but for its first two turns", () => {
    const steps: SessionStep[] = [...plainTurns(9), "title", "sidechain", "queue", ...plainTurns(4)];
    const bytes = buildSession(steps).text();
    const first = ends(bytes, 1).length;
    const { whole } = followGrowth(bytes, ends(bytes, 1));
    expect(whole).toBeLessThan(first / 4);
  });
});
