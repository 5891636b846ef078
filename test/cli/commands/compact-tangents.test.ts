import { describe, expect, it } from "vitest";
import type { FoundTangents } from "../../../src/app/compact/tangents.ts";
import { confirmTangents } from "../../../src/cli/commands/compact-parts.ts";
import type { Output } from "../../../src/cli/frame/output.ts";

const found: FoundTangents = {
  model: "test/model-1",
  tangents: [1, 4, 6].map((turn) => ({ turn, reason: `reason ${turn}\u001b[31m`, request: `request ${turn}` })),
  problems: [],
};

/** Answers in order; null = the end of input. */
async function confirm(answers: readonly (string | null)[], signal?: AbortSignal) {
  const shown: string[] = [];
  const output = { prompt: (text: string) => shown.push(text), info: (text: string) => shown.push(text), seen: true };
  const lines = [...answers];
  const chosen = await confirmTangents(found, {
    output: output as unknown as Output,
    input: { isTTY: true } as never,
    readLine: () => Promise.resolve(lines.shift() ?? null),
    ...(signal === undefined ? {} : { signal }),
  });
  return { turns: chosen.map(({ turn }) => turn), shown: shown.join("") };
}

describe("confirming tangents", () => {
  it("takes those that are confirmed, and asks of each with its reason", async () => {
    const { turns, shown } = await confirm(["y", "n", "yes"]);
    expect(turns).toEqual([1, 6]);
    expect(shown).toContain('turn 4 "request 4": reason 4');
    expect(shown).not.toContain("\u001b");
  });

  it("takes nothing for an empty line, and asks again for a word it does not know", async () => {
    expect((await confirm(["", "maybe", "y", null])).turns).toEqual([4]);
  });

  it("asks no further after q, and keeps what was confirmed", async () => {
    expect((await confirm(["y", "q", "y"])).turns).toEqual([1]);
  });

  it("takes nothing when it is interrupted", async () => {
    expect((await confirm(["y", "y", "y"], AbortSignal.abort())).turns).toEqual([]);
  });
});
