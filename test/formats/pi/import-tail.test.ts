// @module-tag law
// Reading a session of pi that grew from a mark on gives what reading it whole gives, or nothing at all.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { PI } from "../../../src/formats/pi/agent.ts";
import { endsOfLines, followGrowth } from "../../helpers/growth-law.ts";
import { createPiWriter, PI_SESSION, type PiWriter, piCall, variedPiSession } from "../../helpers/pi-session.ts";
import { runs } from "../../helpers/runs.ts";

type Json = Record<string, unknown>;

/** A turn as pi writes it. */
function addTurn(pi: PiWriter, at: number): void {
  pi.user(`ask ${at}`);
  pi.say(piCall(`c${at}`));
  pi.result(`c${at}`, "kelp");
  pi.say(`said ${at}`);
}

const TOOL = { name: "bash", description: "Runs.", parameters: {} };
const ENTRIES: readonly Json[] = [
  { type: "label", targetId: "00000001", label: "here" },
  { type: "session_info", name: "One" },
  { type: "session_info", name: "Two" },
  { type: "message", message: { role: "system", content: "", toolsAdded: [TOOL] } },
  {
    type: "message",
    message: { role: "system", content: "", toolsAdded: [{ ...TOOL, name: "read" }], toolsRemoved: [TOOL] },
  },
  { type: "custom_message", customType: "tide", content: "low", display: true },
  { type: "tide_turned", high: 3 },
];

/** Steps of a session; numbers choose what they are about. */
const steps = fc.array(
  fc.record({
    kind: fc.oneof(
      { weight: 6, arbitrary: fc.constant("turn") },
      { weight: 4, arbitrary: fc.constantFrom("user", "say", "fail", "queued", "entry", "entry", "entry") },
      {
        weight: 2,
        arbitrary: fc.constantFrom(
          "back",
          "root",
          "lost",
          "again",
          "early",
          "undated",
          "compact",
          "edit",
          "bad",
          "header",
        ),
      },
    ),
    at: fc.nat(60),
  }),
  { maxLength: 20 },
);

function addStep(pi: PiWriter, kind: string, at: number): void {
  const { lines } = pi;
  const id = (line: number): string => line.toString(16).padStart(8, "0");
  const some = id(1 + (at % lines.length));
  const last = (): Json => lines.at(-1) as Json;
  switch (kind) {
    case "turn":
      addTurn(pi, at);
      break;
    case "user":
      pi.user(`ask ${at}`);
      break;
    case "say":
      pi.say(`said ${at}`);
      break;
    case "fail":
      pi.fail("aborted", "I was");
      break;
    case "queued":
      pi.say(piCall(`q${at}`));
      pi.result(`q${at}`, "sand");
      pi.user("also", { timestamp: 0 });
      break;
    case "entry":
      pi.add({ ...(ENTRIES[at % ENTRIES.length] as Json) });
      break;
    case "back":
      pi.goTo(some);
      break;
    case "root":
      pi.goTo(null);
      break;
    case "lost":
      pi.goTo("ffffffff");
      break;
    case "again":
      pi.user("again");
      last()["id"] = some;
      break;
    case "early":
      pi.user("early");
      last()["timestamp"] = "2020-01-01T00:00:00.000Z";
      break;
    case "undated":
      pi.user("undated");
      delete last()["timestamp"];
      break;
    case "compact":
      pi.add({ type: "compaction", summary: "All.", firstKeptEntryId: some, tokensBefore: 9 });
      break;
    case "edit":
      pi.add({ type: "context_edit", targetId: some, replacement: null });
      break;
    case "header":
      lines.push({ type: "session", id: "other" });
      break;
    default:
      lines.push({ notype: at });
  }
}

describe("readPiTail", () => {
  it("is what reading the whole file gives, whatever way a session grew", () => {
    let short = 0;
    fc.assert(
      fc.property(
        steps,
        fc.constantFrom(1 as const, 3 as const),
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        (all, version, stride, inside) => {
          const pi = createPiWriter({ version });
          for (const { kind, at } of all) addStep(pi, kind, at);
          const bytes = pi.bytes();
          short += followGrowth(PI, bytes, endsOfLines(bytes, stride, inside)).short;
        },
      ),
      { numRuns: runs(150) },
    );
    expect(short).toBeGreaterThan(0);
  });

  it("is what reading a session of every kind of entry gives", () => {
    const pi = variedPiSession(PI_SESSION);
    for (let at = 0; at < 4; at++) addTurn(pi, at);
    const bytes = pi.bytes();
    expect(followGrowth(PI, bytes, endsOfLines(bytes, 1, true)).short).toBeGreaterThan(5);
  });

  it("is what every growth of a plain session is read with, but for its first turns", () => {
    const pi = createPiWriter();
    for (let at = 0; at < 14; at++) addTurn(pi, at);
    const { whole, short } = followGrowth(PI, pi.bytes(), endsOfLines(pi.bytes(), 1));
    expect(whole).toBeLessThan(short / 3);
  });
});
