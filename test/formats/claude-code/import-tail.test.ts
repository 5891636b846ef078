// @module-tag law
// Reading a session that grew from a mark on gives what reading it whole gives, or nothing at all.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CLAUDE_CODE } from "../../../src/formats/claude-code/agent.ts";
import type { Json } from "../../helpers/claude-session.ts";
import { endsOfLines, followGrowth } from "../../helpers/growth-law.ts";
import { runs } from "../../helpers/runs.ts";
import { anySteps, buildSession, growingSteps, plainTurns, type SessionStep } from "../../helpers/session-builder.ts";

const textOf = (lines: readonly Json[]): Buffer =>
  Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(""));

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
        short += followGrowth(CLAUDE_CODE, bytes, endsOfLines(bytes, stride, inside)).short;
      }),
      { numRuns: runs(150) },
    );
    expect(short).toBeGreaterThan(0);
  });

  it("is what every growth of a plain session is read with, but for its first two turns", () => {
    const steps: SessionStep[] = [...plainTurns(9), "title", "sidechain", "queue", ...plainTurns(4)];
    const bytes = buildSession(steps).text();
    const first = endsOfLines(bytes, 1).length;
    const { whole } = followGrowth(CLAUDE_CODE, bytes, endsOfLines(bytes, 1));
    expect(whole).toBeLessThan(first / 4);
  });
});
