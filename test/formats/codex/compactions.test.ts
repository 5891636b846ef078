// Codex's own compactions: what is sent in place of the history, and what comes back when one is taken away. The old form
// was tried with Codex 0.169: the user's words, earlier summaries among them, with the summary behind them.
import { describe, expect, it } from "vitest";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import type { ImportedSession } from "../../../src/formats/imported-session.ts";
import {
  answer,
  call,
  compacted,
  developer,
  ENVIRONMENT,
  importRollout,
  meta,
  outline,
  output,
  prompt,
  reasoning,
  said,
  timeOf,
  turnsOf,
} from "../../helpers/codex-session.ts";

const shown = (session: ImportedSession, compactions = session.compactions) =>
  projectTurns(turnsOf(session), compactions)
    .turns.flatMap(({ events }) => outline(events))
    .filter((line) => !/^(turn_start|note)/.test(line));

describe("a compaction of Codex", () => {
  const opaque = { type: "compaction", encrypted_content: "SECRET", id: "cmp_1" };
  const lines = [
    meta(),
    prompt("One"),
    reasoning("enc"),
    call("c1"),
    output("c1"),
    answer("a"),
    compacted([said("One"), said(ENVIRONMENT), opaque]),
    answer("b"),
    developer("<permissions instructions>x</permissions instructions>"),
    prompt("Two"),
  ];
  const session = importRollout(lines);

  it("shows its list in place of all before it, encrypted as it came", () => {
    expect(shown(session)).toEqual([
      "user: One",
      `harness: ${ENVIRONMENT}`,
      "answer: opaque",
      "answer: b",
      "harness: <permissions instructions>x</permissions instructions>",
      "user: Two",
    ]);
    expect(session.compactions).toMatchObject([
      { from_turn: 0, to_turn: 0, to_event: session.readTurn(0).at(-2)?.id, timestamp: timeOf(6), source: "import" },
    ]);
    expect(session.compactions[0]?.replacement?.at(-1)).toMatchObject({
      message: [{ type: "opaque", provider: "openai", value: opaque }],
    });
    expect([...session.compactionTurns.values()]).toEqual([0]);
  });

  it("gives everything back when it is taken away", () => {
    expect(shown(session, [])).toEqual([
      "user: One",
      "reasoning: ",
      "call c1",
      "output c1",
      "answer: a",
      "answer: b",
      "harness: <permissions instructions>x</permissions instructions>",
      "user: Two",
    ]);
  });

  it("covers what introduced no request before it", () => {
    const introduced = importRollout([
      meta(),
      prompt("One"),
      prompt(ENVIRONMENT),
      compacted([said("One")]),
      prompt("Two"),
    ]);
    expect(shown(introduced)).toEqual(["user: One", "user: Two"]);
  });

  it("of old times is the user's words with the summary behind them", () => {
    const summary = (text: string) => ({ type: "compacted", payload: { message: text } });
    const old = importRollout([
      meta(),
      prompt(ENVIRONMENT),
      prompt("One"),
      answer("a1"),
      prompt("Two", "second part"),
      answer("a2"),
      summary("SUMMARY1"),
      prompt("Three"),
      answer("a3"),
      summary("SUMMARY2"),
      prompt("Four"),
    ]);
    expect(shown(old)).toEqual([
      "user: One",
      "user: Two|second part",
      "user: SUMMARY1",
      "user: Three",
      "user: SUMMARY2",
      "user: Four",
    ]);
    expect(shown(old, old.compactions.slice(0, 1))).toEqual([
      "user: One",
      "user: Two|second part",
      "user: SUMMARY1",
      "user: Three",
      "answer: a3",
      "user: Four",
    ]);
  });

  it("comes later than the one before it, whatever its line says, and has ids of its own", () => {
    const at = (time: string) => ({ ...compacted([said("x")]), timestamp: time });
    const { compactions } = importRollout([meta(), prompt("One"), at(timeOf(9)), answer("a"), at(timeOf(1))]);
    expect(compactions.map(({ timestamp }) => timestamp)).toEqual([timeOf(9), timeOf(9).replace(".000Z", ".001Z")]);
    const ids = compactions.flatMap(({ id, replacement = [] }) => [id, ...replacement.map((event) => event.id)]);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it("before anything was said stands in place of nothing that is sent", () => {
    const session = importRollout([meta(), compacted([said("x")]), prompt("One")]);
    expect(shown(session)).toEqual(["user: x", "user: One"]);
    expect(shown(session, [])).toEqual(["user: One"]);
  });
});
