// The index of a view: which one is shown, where, and that it goes with its compaction. Stacks at random are in the laws of
// projection, places inside turns in the vectors of the format.

import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { isMessage } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { call, callTurns } from "../../helpers/call-conversation.ts";

const turns = callTurns([call("Read", { file_path: "a.ts" })], [call("Read", { file_path: "b.ts" })], []);

/** Ids of what turn 1 shows a model, in order. */
const callIds = (turns[1]?.events ?? []).filter(({ type }) => type !== "turn_start").map(({ id }) => id);

function compaction(id: string, fields: Partial<Compaction>): Compaction {
  const timestamp = `2026-02-01T00:00:0${id.length}Z`;
  return { type: "compaction", id, timestamp, from_turn: 0, to_turn: 1, reasoning: "strip", ...fields };
}

const old = compaction("k", { to_turn: 0, index: { text: "Files: a.ts", entries: 1 }, needs: ["index"] });
const newer = compaction("kk", { index: { text: "Files: a.ts; b.ts", entries: 2 }, needs: ["index"] });
const plain = compaction("kkk", { turns: "omit" });

/** What the view shows, a word a turn. */
function shape(compactions: readonly Compaction[]): readonly string[] {
  return projectTurns(turns, compactions).turns.map(({ origin }) =>
    origin.kind === "kept" ? String(origin.turn) : `${origin.kind} ${origin.compaction}`,
  );
}

describe("the index of a view", () => {
  it("is the newest one's, after its range; after a revert, the older one's", () => {
    expect(shape([old])).toEqual(["0", "index k", "1", "2"]);
    expect(shape([old, newer])).toEqual(["0", "1", "index kk", "2"]);
    expect(shape([newer])).toEqual(["0", "1", "index kk", "2"]);
  });

  it("stays where a newer compaction has none and hides what precedes it", () => {
    expect(shape([newer, compaction("kkk", {})])).toEqual(["0", "1", "index kk", "2"]);
    expect(shape([newer, compaction("kkk", { turns: "omit", to_turn: 0 })])).toEqual(["1", "index kk", "2"]);
    expect(shape([newer, compaction("kkk", { turns: "omit", to_event: callIds[0] as string })])).toEqual([
      "1",
      "index kk",
      "2",
    ]);
  });

  it("goes with the turns around it where a newer compaction hides these, and comes back with a revert", () => {
    expect(shape([newer, plain])).toEqual(["2"]);
    const told = compaction("kkk", { summary: { summary: "s" }, to_turn: 2 });
    expect(shape([newer, told])).toEqual(["summary kkk"]);
    expect(shape([old, newer, told])).toEqual(["summary kkk"]);
    expect(shape([{ ...newer, summary: { summary: "own" } }, told])).toEqual(["summary kkk"]);
    expect(shape([{ ...newer, timestamp: "2026-02-02T00:00:00Z" }, told])).toEqual(["summary kkk", "index kk"]);
    const rest = { ...plain, from_event: callIds.at(-1) as string, from_turn: 1 };
    expect(shape([newer, rest])).toEqual(["0", "1", "2"]);
  });

  it("stays in its own summary, where a newer one hides only the end of its turns", () => {
    const rest = compaction("kkk", { turns: "omit", from_turn: 1, to_turn: 2 });
    expect(shape([{ ...newer, summary: { summary: "own" } }, rest])).toEqual(["summary kk"]);
    expect(JSON.stringify(projectTurns(turns, [{ ...newer, summary: { summary: "own" } }, rest]))).toContain("b.ts");
  });

  it("is not shown where its range ends after the conversation: it lists what is not there", () => {
    expect(shape([{ ...newer, to_turn: 9 }])).toEqual(["0", "1", "2"]);
    expect(shape([old, { ...newer, to_turn: 9 }])).toEqual(["0", "index k", "1", "2"]);
  });

  it("is in its own summary, and a turn of its own after an older summary of others", () => {
    const summary = { summary: "s" };
    const own = { ...newer, summary };
    expect(shape([own])).toEqual(["summary kk", "2"]);
    const [told] = projectTurns(turns, [own]).turns;
    expect(told?.events.at(-1)).toMatchObject({ message: "s\n\nFiles: a.ts; b.ts" });
    const other = compaction("kkk", { summary, to_turn: 0 });
    expect(shape([newer, other])).toEqual(["summary kkk", "1", "index kk", "2"]);
    expect(JSON.stringify(projectTurns(turns, [{ ...old, summary }, newer]))).not.toContain('Files: a.ts"');
  });

  it("is no message of anybody", () => {
    const index = projectTurns(turns, [old]).turns[1]?.events.at(-1);
    expect(index).toMatchObject({ type: "chat_request", id: "k.index", metadata: { origin: "index" } });
    expect(index !== undefined && isMessage(index)).toBe(false);
  });
});
