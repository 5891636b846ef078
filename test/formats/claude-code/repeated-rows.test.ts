// Rows that the agent appended a second time: what it sends then, as watched, and what the history keeps.
import { describe, expect, it } from "vitest";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import type { ImportedSession } from "../../../src/formats/imported-session.ts";
import { allTurns, createClaudeWriter, importLines, type Json } from "../../helpers/claude-session.ts";

const wordsOf = (turns: readonly { readonly events: readonly object[] }[]): string[] =>
  turns
    .flatMap(({ events }) => events as readonly Json[])
    .flatMap(({ type, content, message }) =>
      type === "turn_start" || type === "note" ? [] : String(content ?? message),
    );
const history = (session: ImportedSession): string[] => wordsOf(allTurns(session));
const view = (session: ImportedSession): string[] =>
  wordsOf(projectTurns(allTurns(session), session.compactions).turns);
const asRoot = (line: Json): Json => ({ ...line, parentUuid: null });

/** Two turns about tides. */
function twoTurns() {
  const writer = createClaudeWriter();
  for (const at of [1, 2]) {
    writer.prompt(`Tide ${at}?`);
    writer.say(`Height ${at}.`);
  }
  return writer;
}

describe("rows that Claude Code appended a second time", () => {
  it("say the same as once, if they name their parents", () => {
    const { lines } = twoTurns();
    const session = importLines([...lines, ...lines]);
    expect(view(session)).toEqual(["Tide 1?", "Height 1.", "Tide 2?", "Height 2."]);
    expect(session.compactions).toEqual([]);
  });

  it("count with the words of the last one", () => {
    const { lines } = twoTurns();
    const [, , asked] = lines;
    const changed = { ...asked!, message: { role: "user", content: "Tide two?" } };
    expect(view(importLines([...lines, changed]))).toEqual(["Tide 1?", "Height 1.", "Tide two?", "Height 2."]);
  });

  it("without their parents hide what comes before, which stays in the history", () => {
    const writer = twoTurns();
    writer.lines.push(...writer.lines.slice(2).map(asRoot));
    const session = importLines(writer.lines);
    expect(history(session)).toEqual(["Tide 1?", "Height 1.", "Tide 2?", "Height 2."]);
    expect(view(session)).toEqual(["Height 2."]);
    expect(session.compactions).toMatchObject([{ turns: "omit", reason: "broken-parent", to_turn: 1 }]);
    writer.prompt("Tide 3?");
    writer.say("Height 3.");
    expect(view(importLines(writer.lines))).toEqual(["Height 2.", "Tide 3?", "Height 3."]);
  });

  it("change nothing where a compaction before them hides them", () => {
    const writer = twoTurns();
    const before = writer.lines.slice();
    writer.compact("Tides were looked up.");
    writer.say("Go on.");
    const compacted = importLines(writer.lines);
    writer.lines.push(...before.map(asRoot));
    writer.prompt("Tide 3?");
    writer.say("Height 3.");
    const session = importLines(writer.lines);
    expect(history(session).slice(0, 4)).toEqual(["Tide 1?", "Height 1.", "Tide 2?", "Height 2."]);
    expect(view(session)).toEqual(["Tides were looked up.", "Go on.", "Tide 3?", "Height 3."]);
    expect(session.compactions.map(({ id }) => id)).toEqual(compacted.compactions.map(({ id }) => id));
    expect(session.readTurn(1)).toEqual(compacted.readTurn(1));
  });

  it("hide a compaction, too, if they follow it", () => {
    const writer = twoTurns();
    writer.compact("Tides were looked up.");
    writer.prompt("Tide 3?");
    writer.say("Height 3.");
    writer.lines.push(asRoot(writer.lines.at(-1)!));
    const session = importLines(writer.lines);
    expect(view(session)).toEqual(["Height 3."]);
    expect(history(session)).toHaveLength(6);
  });
});
