// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { isReasoning, type View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { checkAnthropic } from "../../../src/core/model/anthropic-rules.ts";
import { exportAnthropic } from "../../../src/formats/anthropic/write.ts";
import { readClaudeSession } from "../../../src/formats/claude-code/agent.ts";
import {
  allTurns,
  type ClaudeWriter,
  createClaudeWriter,
  importLines,
  type Json,
  sessionBytes,
} from "../../helpers/claude-session.ts";
import { runs } from "../../helpers/runs.ts";
import { takeSimple } from "../../helpers/session-builder.ts";

type Step =
  | { readonly do: "prompt" | "say" | "think" | "queue" | "progress" | "snapshot" | "error" | "interrupt" }
  | { readonly do: "tools"; readonly size: number; readonly seed: number }
  | { readonly do: "compact"; readonly keepLast: number; readonly followTail: boolean }
  | { readonly do: "rewind"; readonly back: number };

const simple = fc
  .constantFrom("prompt", "say", "think", "queue", "progress", "snapshot", "error", "interrupt")
  .map((name) => ({ do: name }) as Step);
const tools = fc.record({ do: fc.constant("tools" as const), size: fc.integer({ min: 1, max: 4 }), seed: fc.nat(23) });
const compact = fc.record({
  do: fc.constant("compact" as const),
  keepLast: fc.constantFrom(0, 0, 1, 3),
  followTail: fc.boolean(),
});
const rewind = fc.record({ do: fc.constant("rewind" as const), back: fc.integer({ min: 1, max: 4 }) });
const growing = fc.array(
  fc.oneof({ weight: 6, arbitrary: simple }, { weight: 3, arbitrary: tools }, { weight: 1, arbitrary: compact }),
  { maxLength: 25 },
);
const any = fc.array(
  fc.oneof(
    { weight: 6, arbitrary: simple },
    { weight: 3, arbitrary: tools },
    { weight: 1, arbitrary: compact },
    { weight: 1, arbitrary: rewind },
  ),
  { maxLength: 25 },
);

function permute(size: number, seed: number): readonly number[] {
  const rest = Array.from({ length: size }, (_, position) => position);
  return Array.from({ length: size }, () => rest.splice(seed % rest.length, 1)[0]!);
}

function take(writer: ClaudeWriter, step: Step, at: number): void {
  switch (step.do) {
    case "prompt":
    case "say":
    case "think":
    case "queue":
    case "progress":
    case "snapshot":
      takeSimple(writer, step.do, at);
      break;
    case "error":
      writer.node({
        type: "assistant",
        isApiErrorMessage: true,
        message: { role: "assistant", model: "<synthetic>", content: [{ type: "text", text: "API Error" }] },
      });
      break;
    case "interrupt":
      writer.prompt("[Request interrupted by user]");
      break;
    case "tools":
      writer.tools(step.size, permute(step.size, step.seed));
      break;
    case "compact":
      if (writer.sent.length > 0) writer.compact(`summary ${at}`, keepWhole(writer, step));
      break;
    case "rewind":
      rewindTo(writer, step.back);
  }
}

/** The agent keeps whole messages (no result without its call), and never everything. */
function keepWhole(
  writer: ClaudeWriter,
  step: { keepLast: number; followTail: boolean },
): { keepLast: number; followTail: boolean } {
  const marks = writer.sent.slice(-step.keepLast).map((item) => item.mark);
  const isWhole =
    step.keepLast > 0 &&
    writer.sent.length > step.keepLast &&
    marks.length === step.keepLast &&
    marks.every((mark) => /^[UA]:/.test(mark) && !mark.startsWith("U:summary"));
  return isWhole ? step : { keepLast: 0, followTail: false };
}

function rewindTo(writer: ClaudeWriter, back: number): void {
  const target = writer.sent.at(-1 - back);
  const isCompacted = writer.lines.some((line) => line["subtype"] === "compact_boundary");
  if (isCompacted || target === undefined || !target.mark.startsWith("A:answer")) return;
  writer.rewind(target.uuid);
  writer.prompt(`instead ${writer.lines.length}`);
}

function write(steps: readonly Step[]): ClaudeWriter {
  const writer = createClaudeWriter();
  writer.prompt("first request");
  for (const [at, step] of steps.entries()) take(writer, step, at);
  return writer;
}

/** What is sent for a view, in the marks of the writer; reminders and reasoning of lost messages are the harness's. */
function sentMarks(view: View): readonly string[] {
  const queued = new Set(
    view.turns
      .flatMap((turn) => turn.events)
      .flatMap((event) =>
        event.metadata?.origin === "queued" && event.type === "chat_request" ? [String(event.content)] : [],
      ),
  );
  return exportAnthropic(view).messages.flatMap(({ role, content }) =>
    content.map((block) => {
      if (block["type"] === "thinking") return `K:${block["thinking"]}`;
      if (block["type"] === "tool_use") return `T:${block["id"]}`;
      if (block["type"] === "tool_result") return `R:${block["tool_use_id"]}`;
      const text = String(block["text"]);
      return `${role === "assistant" ? "A" : queued.has(text) ? "Q" : "U"}:${text}`;
    }),
  );
}

function viewOf(writer: ClaudeWriter): View {
  const session = importLines(writer.lines);
  return projectTurns(allTurns(session), session.compactions);
}

describe("readClaudeSession, laws", () => {
  it("shows with its compactions exactly what the agent would send", () => {
    fc.assert(
      fc.property(any, (steps) => {
        const writer = write(steps);
        expect(sentMarks(viewOf(writer))).toEqual(writer.sent.map((item) => item.mark));
      }),
      { numRuns: runs(400) },
    );
  });

  it("shows every message of the session once its compactions are taken back", () => {
    fc.assert(
      fc.property(growing, (steps) => {
        const writer = write(steps);
        const marks = sentMarks(projectTurns(allTurns(importLines(writer.lines)), []));
        const all = write(steps.filter((step) => step.do !== "compact")).sent;
        expect(marks.map((mark) => mark[0])).toEqual(all.map((item) => item.mark[0]));
      }),
      { numRuns: runs(200) },
    );
  });

  it("only adds to the newest turn, and to the compactions, when lines are appended", () => {
    fc.assert(
      fc.property(growing, (steps) => {
        const { lines } = write(steps);
        let earlier = importLines(lines.slice(0, 1));
        for (let count = 2; count <= lines.length; count++) {
          const later = importLines(lines.slice(0, count));
          expectGrowth(earlier, later);
          earlier = later;
        }
      }),
      { numRuns: runs(60) },
    );
  });

  it("only adds, too, where the agent wrote an answer before the line that it follows", { tags: ["slow"] }, () => {
    fc.assert(
      fc.property(growing, fc.nat(), fc.boolean(), fc.nat(120), (steps, seed, isNamed, seconds) => {
        const { lines } = write(steps);
        const answers = lines.flatMap((line, at) => (isAnswerTo(line, lines[at - 1]) ? [at] : []));
        const at = answers[seed % answers.length];
        fc.pre(at !== undefined && at > 1);
        const early = lines.map((line, line_) => (line_ < at - 1 ? line : later(line, seconds)));
        const request = early[at - 1]!;
        const name = { type: "last-prompt", leafUuid: request["parentUuid"], sessionId: request["sessionId"] };
        const pair = [early[at]!, request];
        const swapped = [...early.slice(0, at - 1), ...(isNamed ? [name] : []), ...pair, ...early.slice(at + 1)];
        let earlier = importLines(swapped.slice(0, 1));
        for (let count = 2; count <= swapped.length; count++) {
          const now = importLines(swapped.slice(0, count));
          expectGrowth(earlier, now, { mayMove: true });
          earlier = now;
        }
        const marks = (all: readonly Json[]) =>
          sentMarks(projectTurns(allTurns(importLines(all)), importLines(all).compactions));
        // Where the agent was told how far the conversation came, it does not go on to the answer before more is said.
        const isFollowed = lines.slice(at + 1).some(({ type }) => type === "user" || type === "assistant");
        if (!isNamed || isFollowed) expect(marks(swapped)).toEqual(marks(lines));
      }),
      { numRuns: runs(100) },
    );
  });

  it("gives every event an id of its own and the same events at every reading", () => {
    fc.assert(
      fc.property(any, (steps) => {
        const { lines } = write(steps);
        const events = allTurns(importLines(lines)).flatMap((turn) => turn.events);
        expect(new Set(events.map((event) => event.id)).size).toBe(events.length);
        const again = importLines(lines);
        const backwards = Array.from({ length: again.turnCount }, (_, turn) =>
          again.readTurn(again.turnCount - 1 - turn),
        );
        expect(backwards.toReversed().flat()).toEqual(events);
      }),
      { numRuns: runs(100) },
    );
  });

  it("cuts the file into pieces that join to the file", () => {
    fc.assert(
      fc.property(any, (steps) => {
        const bytes = sessionBytes(write(steps).lines);
        const source = createBufferSource(bytes);
        const session = readClaudeSession(source);
        const starts = Array.from({ length: session.turnCount + 1 }, (_, turn) =>
          source.lineStart(session.turnLine(turn)),
        );
        expect(starts[0]).toBe(0);
        expect(starts).toEqual(starts.toSorted((a, b) => a - b));
        const pieces = starts.slice(0, -1).map((start, turn) => bytes.subarray(start, starts[turn + 1]));
        expect(Buffer.concat(pieces).equals(bytes)).toBe(true);
      }),
      { numRuns: runs(100) },
    );
  });

  it("is sent by rules that the provider accepts, whole and compacted", () => {
    fc.assert(
      fc.property(any, fc.boolean(), (steps, systemMessages) => {
        const session = importLines(write(steps).lines);
        for (const compactions of [session.compactions, []]) {
          const { messages } = exportAnthropic(projectTurns(allTurns(session), compactions), { systemMessages });
          expect(checkAnthropic(messages, {})).toEqual([]);
        }
      }),
      { numRuns: runs(150) },
    );
  });

  it("never sends reasoning of another model", () => {
    const writer = write([{ do: "think" }, { do: "tools", size: 2, seed: 1 }]);
    const view = viewOf(writer);
    expect(view.turns.flatMap((turn) => turn.events).filter(isReasoning)).toHaveLength(1);
    const { messages } = exportAnthropic(view, { model: "claude-opus-4-8" });
    expect(messages.flatMap((message) => message.content).filter((block) => block["type"] === "thinking")).toEqual([]);
  });
});

/** Whether a line is the first of an answer to the line before it; a summary comes with its boundary, in one go. */
function isAnswerTo(line: Json, before: Json | undefined): boolean {
  if (before?.["type"] !== "user" || before["isCompactSummary"] === true) return false;
  return line["type"] === "assistant" && line["parentUuid"] === before["uuid"] && line["isApiErrorMessage"] !== true;
}

/** The same line, so many seconds later. */
function later(line: Json, seconds: number): Json {
  const { timestamp } = line;
  if (typeof timestamp !== "string") return line;
  return { ...line, timestamp: new Date(Date.parse(timestamp) + seconds * 1000).toISOString() };
}

/** What was read before stands where it stood; `mayMove`: but for an answer before its request, which moves on with that. */
function expectGrowth(
  earlier: ReturnType<typeof importLines>,
  later: ReturnType<typeof importLines>,
  { mayMove = false }: { readonly mayMove?: boolean } = {},
): void {
  expect(later.turnCount).toBeGreaterThanOrEqual(earlier.turnCount);
  expect(later.title).toBe(earlier.title);
  for (let turn = 0; turn < earlier.turnCount; turn++) {
    expect(later.turnLine(turn)).toBe(earlier.turnLine(turn));
    const before = earlier.readTurn(turn);
    const after = later.readTurn(turn);
    if (turn < earlier.turnCount - 1) expect(after).toEqual(before);
    else if (mayMove) expect([...after, ...later.readTurn(turn + 1)]).toEqual(expect.arrayContaining([...before]));
    else expect(after.slice(0, before.length)).toEqual(before);
  }
  expect(later.compactions.slice(0, earlier.compactions.length)).toEqual(earlier.compactions);
}
