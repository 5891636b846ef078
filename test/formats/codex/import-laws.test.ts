// @module-tag law
// What holds of every rollout: a longer file only adds, the pieces make the file, each event has an id of its own, no damage
// makes the reader fail.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { checkOpenAiResponses } from "../../../src/core/model/openai-responses-rules.ts";
import { toOpenAiResponsesThread } from "../../../src/core/model/openai-responses-thread.ts";
import { readCodexSession } from "../../../src/formats/codex/agent.ts";
import type { ImportedSession } from "../../../src/formats/imported-session.ts";
import {
  answer,
  type CodexLine,
  call,
  compacted,
  complete,
  counted,
  developer,
  ENVIRONMENT,
  item,
  message,
  meta,
  model,
  output,
  prompt,
  reasoning,
  rolloutBytes,
  said,
  started,
  turnsOf,
  wentBack,
} from "../../helpers/codex-session.ts";
import { mutatedCodexSession } from "../../helpers/mutated-session.ts";
import { runs } from "../../helpers/runs.ts";

const line: fc.Arbitrary<CodexLine> = fc.oneof(
  fc.constantFrom("One", "Two", ENVIRONMENT, "<turn_aborted>x</turn_aborted>").map((text) => prompt(text)),
  fc.constantFrom<CodexLine>(
    answer("a"),
    developer("x"),
    reasoning("enc", "s"),
    model("gpt-5.5"),
    started("t"),
    complete("t"),
    message({ type: "turn_aborted" }),
    item({ type: "web_search_call", action: {} }),
    compacted([said("One"), said(ENVIRONMENT), { type: "compaction", encrypted_content: "X" }]),
    { type: "compacted", payload: { message: "old" } },
  ),
  fc.constantFrom("c1", "c2").map((id) => call(id)),
  fc.constantFrom("c1", "c2").map((id) => output(id)),
  fc.nat(500).map((total) => counted(total)),
);
const growing = fc.array(line, { maxLength: 30 });
const any = fc.array(fc.oneof({ weight: 9, arbitrary: line }, { weight: 1, arbitrary: fc.nat(3).map(wentBack) }), {
  maxLength: 30,
});

const read = (bytes: Buffer): ImportedSession => readCodexSession(createBufferSource(bytes));
const rollout = (lines: readonly CodexLine[]): ImportedSession => read(rolloutBytes([meta(), ...lines]));

describe("every rollout", () => {
  it("only adds to the newest turn, and to the compactions, when lines are appended", () => {
    fc.assert(
      fc.property(growing, growing, (first, more) => {
        const [earlier, later] = [rollout(first), rollout([...first, ...more])];
        const [turns, grown] = [turnsOf(earlier), turnsOf(later)];
        expect(grown.slice(0, Math.max(0, turns.length - 1))).toEqual(turns.slice(0, -1));
        const newest = turns.at(-1)?.events ?? [];
        expect(grown[turns.length - 1]?.events.slice(0, newest.length) ?? []).toEqual(newest);
        expect(later.compactions.slice(0, earlier.compactions.length)).toEqual(earlier.compactions);
        expect(turns.map(({ index }) => later.turnLine(index))).toEqual(
          turns.map(({ index }) => earlier.turnLine(index)),
        );
      }),
      { numRuns: runs(200) },
    );
  });

  it("keeps the branches that were left, and the turns before them, when lines are appended", () => {
    fc.assert(
      fc.property(any, any, (first, more) => {
        const [earlier, later] = [rollout(first), rollout([...first, ...more])];
        const own = ({ abandoned }: ImportedSession) =>
          abandoned.map((branch) => [branch.name, turnsOf(branch).slice(branch.commonTurns)] as const);
        const kept = own(later).slice(0, earlier.abandoned.length);
        expect(kept.map(([name]) => name)).toEqual(own(earlier).map(([name]) => name));
        for (const [at, [, turns]] of own(earlier).entries()) expect(kept[at]?.[1].slice(-turns.length)).toEqual(turns);
      }),
      { numRuns: runs(200) },
    );
  });

  it("gives every event an id of its own, and shares with a left branch the turns that it says", () => {
    fc.assert(
      fc.property(any, (lines) => {
        const session = rollout(lines);
        const turns = turnsOf(session);
        const ids = turns.flatMap(({ events }) => events.map(({ id }) => id));
        const replaced = session.compactions.flatMap(({ replacement = [] }) => replacement.map(({ id }) => id));
        expect(new Set([...ids, ...replaced]).size).toBe(ids.length + replaced.length);
        for (const branch of session.abandoned)
          expect(turnsOf(branch).slice(0, branch.commonTurns)).toEqual(turns.slice(0, branch.commonTurns));
      }),
      { numRuns: runs(200) },
    );
  });

  it("is cut into pieces that never fall back", () => {
    fc.assert(
      fc.property(any, (lines) => {
        const session = rollout(lines);
        const starts = turnsOf(session).map(({ index }) => session.turnLine(index));
        expect(starts).toEqual([...starts].sort((a, b) => a - b));
        expect(starts[0] ?? 0).toBe(0);
      }),
    );
  });

  it("is sent by rules that the provider accepts, whole and compacted", () => {
    fc.assert(
      fc.property(any, (lines) => {
        const session = rollout(lines);
        for (const compactions of [session.compactions, []]) {
          const { items } = toOpenAiResponsesThread(projectTurns(turnsOf(session), compactions), {});
          const broken = checkOpenAiResponses(items.map(({ item: sent }) => sent)).filter(
            ({ severity, message: text }) => severity === "error" && text !== "The list is empty.",
          );
          expect(broken).toEqual([]);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  it("is read whatever is wrong with it, the same at every reading", () => {
    fc.assert(
      fc.property(mutatedCodexSession("5e55-mut"), (text) => {
        const session = read(Buffer.from(text));
        const turns = turnsOf(session);
        expect(turnsOf(session)).toEqual(turns);
        const ids = turns.flatMap(({ events }) => events.map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
        for (const branch of session.abandoned) expect(turnsOf(branch)).toHaveLength(branch.turnCount);
      }),
      { numRuns: runs(300) },
    );
  });
});
