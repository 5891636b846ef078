// @module-tag law
// Chat histories of aider: who speaks, where a turn opens, and what a new chat leaves out.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { aiderSessionId, readAiderHistory } from "../../../src/formats/aider/agent.ts";
import { anyText } from "../../helpers/any-text.ts";
import { outline, turnsOf } from "../../helpers/codex-session.ts";
import { runs } from "../../helpers/runs.ts";

const source = (text: string) => createBufferSource(Buffer.from(text));
const read = (text: string) => readAiderHistory(source(text));

const START = "\n# aider chat started at 2025-03-01 09:30:00\n\n";
const LATER = "\n# aider chat started at 2025-03-02 10:00:00\n\n";

describe("a chat history of aider", () => {
  it("becomes turns: what was typed, answers, and what aider says of itself as notes", () => {
    const session = read(
      `${START}> aider kelp.py  \n> Main model: gpt-5 with diff edit format  \n\n#### /add kelp.py  \n\n> Added kelp.py  \n\n` +
        "#### Sort the kelp  \n#### by depth  \n\nHere it is.\n\n```py\nkelp.sort()\n```\n\n> Applied edit to kelp.py  \n\n#### Thanks  \n\nYou are welcome.\n",
    );
    expect(session).toMatchObject({ format: "aider", title: "Sort the kelp by depth", turnCount: 2, skippedLines: [] });
    expect(turnsOf(session).map(({ events }) => outline(events).slice(1))).toEqual([
      [
        "note log",
        "note command",
        "note log",
        "user: Sort the kelp\nby depth",
        "answer: Here it is.\n\n```py\nkelp.sort()\n```",
        "note log",
      ],
      ["user: Thanks", "answer: You are welcome."],
    ]);
    expect(session.readTurn(0).find(({ type }) => type === "chat_response")).toMatchObject({
      timestamp: "2025-03-01T09:30:00.000Z",
      metadata: { provider: "aider", model: "gpt-5" },
    });
  });

  it("shows of earlier chats nothing once a new one was asked something", () => {
    const first = `${START}#### One  \n\nFirst.\n`;
    const started = read(`${first}${LATER}> aider  \n`);
    expect(started.compactions).toEqual([]);
    const session = read(`${first}${LATER}> aider  \n\n#### Two  \n\nSecond.\n\n#### Three  \n`);
    expect(session.compactions).toMatchObject([{ from_turn: 0, to_turn: 0, turns: "omit", reason: "new-chat" }]);
    const { turns } = projectTurns(turnsOf(session), session.compactions);
    const shown = turns
      .flatMap(({ events }) => events)
      .flatMap((event) => (event.type === "chat_request" ? [event.content] : []));
    expect(shown).toEqual(["Two", "Three"]);
  });

  it("asks the model with `/ask`, and not with other commands", () => {
    const session = read(`${START}#### /ask why kelp?  \n\nBecause.\n\n#### /commit  \n\n#### !ls  \n`);
    expect(turnsOf(session).map(({ events }) => outline(events).slice(1))).toEqual([
      ["user: /ask why kelp?", "answer: Because.", "note command", "note command"],
    ]);
  });

  it("is known by its first chat, also where its beginning was cut off, and refused without one", () => {
    expect(aiderSessionId(source(`cut\n${START}`))).toMatch(/^aider-[0-9a-z]{13}$/);
    expect(aiderSessionId(source("# aider chat started some day\n"))).toBe(null);
    expect(() => read("# Notes\n\n#### a heading\n")).toThrow(/not a chat history of aider/);
  });
});

const block = fc.constantFrom(
  "\n#### One  \n#### two  \n",
  "\n#### /run ls  \n",
  "\nAn answer.\n\nOf two parts.\n\n> Tokens: 3k sent  \n",
  "> log  \n",
  START,
  LATER,
);
const blocks = fc.array(block, { maxLength: 20 }).map((texts) => `${START}${texts.join("")}`);

describe("every chat history of aider", () => {
  it("only adds when blocks are appended, names each event once, and is cut into pieces in order", () => {
    fc.assert(
      fc.property(blocks, fc.array(block, { maxLength: 8 }), (text, more) => {
        const [session, later] = [read(text), read(`${text}\n${more.join("")}`)];
        const [turns, grown] = [turnsOf(session), turnsOf(later)];
        expect(grown.slice(0, Math.max(0, turns.length - 1))).toEqual(turns.slice(0, -1));
        expect(later.compactions.slice(0, session.compactions.length)).toEqual(session.compactions);
        const ids = grown.flatMap(({ events }) => events.map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
        const starts = grown.map(({ index }) => later.turnLine(index));
        expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b));
      }),
      { numRuns: runs(150) },
    );
  });

  it("is read whatever stands in it, the same at every reading", () => {
    const any = fc.array(fc.oneof(block, anyText(), fc.constantFrom("####", ">", "\0", "\r\n")), {
      maxLength: 20,
    });
    fc.assert(
      fc.property(any, (texts) => {
        const text = `${START}${texts.join("\n")}`;
        expect(turnsOf(read(text))).toEqual(turnsOf(read(text)));
      }),
      { numRuns: runs(150) },
    );
  });
});
