// @module-tag law
// Reading a rollout that grew from a mark on gives what reading it whole gives, or nothing at all.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CODEX } from "../../../src/formats/codex/agent.ts";
import {
  answer,
  CODEX_SESSION,
  type CodexLine,
  call,
  codexLines,
  compacted,
  complete,
  counted,
  developer,
  ENVIRONMENT,
  item,
  type Json,
  message,
  meta,
  model,
  output,
  prompt,
  rolloutBytes,
  said,
  started,
  wentBack,
} from "../../helpers/codex-session.ts";
import { endsOfLines, followGrowth } from "../../helpers/growth-law.ts";
import { runs } from "../../helpers/runs.ts";

/** A turn as Codex writes it today. */
const turn = (name: string): readonly CodexLine[] => [
  started(name),
  prompt(ENVIRONMENT),
  model(`gpt-${name}`),
  prompt(`Ask ${name}`),
  call(`c-${name}`),
  output(`c-${name}`),
  counted(100 + Number(name)),
  answer(`Said ${name}`),
  complete(name),
];

const anyLine: fc.Arbitrary<CodexLine | string> = fc.oneof(
  { weight: 6, arbitrary: fc.nat(99).map((n) => prompt(`Ask ${n}`)) },
  { weight: 6, arbitrary: fc.nat(99).map((n) => answer(`Say ${n}`)) },
  { weight: 3, arbitrary: fc.nat(3).map((n) => counted(n * 100)) },
  {
    weight: 6,
    arbitrary: fc.constantFrom(started("t"), complete("t"), call("c"), output("c"), prompt(ENVIRONMENT), model("m")),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom<CodexLine | string>(
      wentBack(0),
      wentBack(1),
      compacted([said("All")]),
      developer("<permissions instructions>x</permissions instructions>"),
      { ...prompt("marked"), jpg: "00000000-0000-4000-8000-000000000001" },
      { ...prompt("early"), timestamp: "2020-01-01T00:00:00.000Z" },
      { ...prompt("undated"), timestamp: undefined },
      { type: "tide_turned", payload: { high: 3 } },
      item({ type: "tide_item", high: 3 }),
      meta({ id: "019b1111-2222-7333-8444-666666666666" }),
      meta({ history_base: { thread_id: CODEX_SESSION, end_byte_offset: 9 } }),
      "not JSON",
      "",
    ),
  },
  { weight: 1, arbitrary: fc.nat(2).map((n) => message({ type: "thread_name_updated", thread_name: `Name ${n}` })) },
);

describe("readCodexTail", () => {
  it("is what reading the whole file gives, whatever way a session grew", () => {
    const lines = fc.array(
      fc.oneof(
        { weight: 3, arbitrary: anyLine.map((line) => [line]) },
        fc.nat(99).map((n) => turn(String(n))),
      ),
      {
        maxLength: 25,
      },
    );
    let short = 0;
    fc.assert(
      fc.property(
        lines,
        fc.boolean(),
        fc.integer({ min: 1, max: 4 }),
        fc.boolean(),
        (body, isNamed, stride, inside) => {
          const bytes = rolloutBytes([...(isNamed ? [meta()] : []), ...body.flat()]);
          short += followGrowth(CODEX, bytes, endsOfLines(bytes, stride, inside)).short;
        },
      ),
      { numRuns: runs(150) },
    );
    expect(short).toBeGreaterThan(0);
  });

  it("is what reading a session of every kind of line gives", () => {
    const bytes = rolloutBytes([
      ...codexLines(CODEX_SESSION),
      ...["1", "2", "3", "4"].flatMap(turn),
    ] as readonly Json[]);
    expect(followGrowth(CODEX, bytes, endsOfLines(bytes, 1, true)).short).toBeGreaterThan(10);
  });

  it("is what every growth of a plain session is read with, but for its first turns", () => {
    const bytes = rolloutBytes([meta(), ...Array.from({ length: 12 }, (_, at) => turn(String(at))).flat()]);
    const { whole, short } = followGrowth(CODEX, bytes, endsOfLines(bytes, 1));
    expect(whole).toBeLessThan(short / 3);
  });
});
