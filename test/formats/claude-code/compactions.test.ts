import { describe, expect, it } from "vitest";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import {
  allTurns,
  type ClaudeWriter,
  createClaudeWriter,
  importLines,
  type Json,
} from "../../helpers/claude-session.ts";

function shown(lines: readonly Json[], without: readonly number[] = []): readonly string[] {
  const session = importLines(lines);
  const live = session.compactions.filter((_, at) => !without.includes(at));
  return projectTurns(allTurns(session), live)
    .turns.flatMap((turn) => turn.events)
    .flatMap((event) =>
      event.type === "chat_request"
        ? [String(event.content)]
        : event.type === "chat_response"
          ? [String(event.message)]
          : [],
    );
}

describe("imported compactions", () => {
  it("stand for everything before their boundary, to the last event of a turn that goes on", () => {
    const writer = createClaudeWriter();
    writer.prompt("one");
    writer.say("1");
    writer.prompt("two");
    const last = writer.say("2");
    writer.compact("so far: 1 and 2");
    writer.say("going on");
    const session = importLines(writer.lines);
    const [compaction] = session.compactions;
    expect(compaction).toMatchObject({
      from_turn: 0,
      to_turn: 1,
      to_event: last,
      summary: { summary: "so far: 1 and 2", source: "imported", inject: "request" },
      source: "import",
      metadata: { trigger: "auto", preTokens: 1000, boundary: expect.any(String), summary: expect.any(String) },
    });
    expect(session.compactionTurns.get(compaction!.id)).toBe(1);
    expect(session.turnCount).toBe(2);
    expect(shown(writer.lines)).toEqual(["so far: 1 and 2", "going on"]);
    expect(shown(writer.lines, [0])).toEqual(["one", "1", "two", "2", "going on"]);
  });

  it("keep the command lines of a manual compaction after the summary", () => {
    const writer = createClaudeWriter();
    writer.prompt("one");
    writer.say("1");
    writer.compact("short", { trigger: "manual" });
    writer.prompt("<local-command-caveat>…</local-command-caveat>", { isMeta: true });
    writer.prompt("<command-name>/compact</command-name>");
    writer.prompt("two");
    expect(shown(writer.lines)).toEqual([
      "short",
      "<local-command-caveat>…</local-command-caveat>",
      "<command-name>/compact</command-name>",
      "two",
    ]);
    expect(importLines(writer.lines).turnCount).toBe(2);
  });

  it("come one after the other, and the later one hides the earlier one's turns again", () => {
    const writer = createClaudeWriter();
    writer.prompt("one");
    writer.compact("first summary");
    writer.prompt("two");
    writer.compact("second summary");
    writer.prompt("three");
    expect(shown(writer.lines)).toEqual(["second summary", "three"]);
    expect(shown(writer.lines, [1])).toEqual(["first summary", "two", "three"]);
    expect(shown(writer.lines, [0, 1])).toEqual(["one", "two", "three"]);
    const { compactions } = importLines(writer.lines);
    expect(compactions[0]!.timestamp < compactions[1]!.timestamp).toBe(true);
  });

  it.each([true, false])(
    "show messages that the agent preserved, after the summary (next line follows the tail: %s)",
    (followTail) => {
      const writer = createClaudeWriter();
      writer.prompt("one");
      writer.say("1");
      const kept = writer.prompt("two");
      const tail = writer.say("2");
      writer.compact("about one", { keepLast: 2, followTail });
      writer.prompt("three");
      expect(importLines(writer.lines).compactions[0]?.keep).toEqual([kept, tail]);
      expect(shown(writer.lines)).toEqual(["about one", "two", "2", "three"]);
      expect(shown(writer.lines, [0])).toEqual(["one", "1", "two", "2", "three"]);
    },
  );

  /** As the agent writes one that keeps lines; `before` has the kept ones stand before the summary. */
  const compactKeeping = (
    writer: ClaudeWriter,
    kept: { readonly head: string; readonly tail: string; readonly uuids?: readonly string[] },
    before = false,
  ): void => {
    const uuid = "00000000-0000-4000-8000-0000000000bb";
    const summary = "00000000-0000-4000-8000-0000000000cc";
    const anchorUuid = before ? uuid : summary;
    const compactMetadata = {
      trigger: "manual",
      preservedSegment: { headUuid: kept.head, tailUuid: kept.tail, anchorUuid },
      ...(kept.uuids !== undefined && { preservedMessages: { uuids: kept.uuids, anchorUuid } }),
    };
    const boundary = { type: "system", subtype: "compact_boundary", compactMetadata, logicalParentUuid: writer.head };
    const at = writer.node({ ...boundary, uuid }, { parent: null });
    const message = { role: "user", content: "the summary" };
    writer.node({ type: "user", isCompactSummary: true, message, uuid: summary }, { parent: at });
  };

  const threeTurns = () => {
    const writer = createClaudeWriter();
    const lines = ["one", "two", "three"].map((word) => [writer.prompt(word), writer.say(`re ${word}`)] as const);
    return { writer, lines };
  };

  it("keep what stands from one line to another where the agent names these alone", () => {
    const { writer, lines } = threeTurns();
    compactKeeping(writer, { head: lines[2]![0], tail: lines[2]![1] });
    writer.prompt("four");
    expect(importLines(writer.lines).compactions[0]?.keep).toEqual(lines[2]);
    expect(shown(writer.lines)).toEqual(["the summary", "three", "re three", "four"]);
    expect(shown(writer.lines, [0])).toEqual(["one", "re one", "two", "re two", "three", "re three", "four"]);
  });

  it.each([
    ["no line of the file", "00000000-0000-4000-8000-00000000ffff"],
    ["no line above the other", 4],
  ])("keep nothing where the first of the two is %s", (_, head) => {
    const { writer, lines } = threeTurns();
    const first = typeof head === "string" ? head : lines[2]![1];
    compactKeeping(writer, { head: first, tail: lines[1]![1] });
    expect(importLines(writer.lines).compactions[0]?.keep).toBeUndefined();
    expect(shown(writer.lines)).toEqual(["the summary"]);
  });

  it.each([["named one by one"], ["named as a segment"]])(
    "begin behind what the agent keeps before the summary: %s",
    (how) => {
      const { writer, lines } = threeTurns();
      const [head, tail] = lines[0]!;
      compactKeeping(writer, { head, tail, ...(how === "named one by one" && { uuids: [head, tail] }) }, true);
      writer.prompt("four");
      expect(importLines(writer.lines).compactions[0]).toMatchObject({ from_turn: 1, to_turn: 2 });
      expect(shown(writer.lines)).toEqual(["one", "re one", "the summary", "four"]);
      expect(shown(writer.lines, [0])).toEqual(["one", "re one", "two", "re two", "three", "re three", "four"]);
    },
  );

  it("begin inside a turn where what is kept before the summary ends there", () => {
    const { writer, lines } = threeTurns();
    compactKeeping(writer, { head: lines[0]![0], tail: lines[1]![0] }, true);
    expect(importLines(writer.lines).compactions[0]).toMatchObject({ from_turn: 1, from_event: lines[1]![1] });
    expect(shown(writer.lines)).toEqual(["one", "re one", "two", "the summary"]);
  });

  it("may be a summary without boundary, and its text may be blocks", () => {
    const writer = createClaudeWriter();
    writer.prompt("one");
    writer.node(
      {
        type: "user",
        isCompactSummary: true,
        message: {
          role: "user",
          content: [
            { type: "text", text: "a" },
            { type: "text", text: "b" },
          ],
        },
      },
      { parent: null },
    );
    writer.say("on");
    expect(shown(writer.lines)).toEqual(["a\nb", "on"]);
    expect(shown(writer.lines, [0])).toEqual(["one", "on"]);
  });

  it("are a request where nothing stands before them", () => {
    const writer = createClaudeWriter();
    writer.compact("what came before this file");
    writer.say("on");
    writer.prompt("next");
    const session = importLines(writer.lines);
    expect(session.compactions).toEqual([]);
    expect(session.readTurn(0)[1]).toMatchObject({
      content: "what came before this file",
      metadata: { origin: "summary" },
    });
    expect(session.turnCount).toBe(2);
  });

  it("omit what a boundary without summary cuts off", () => {
    const writer = createClaudeWriter();
    writer.prompt("one");
    writer.node({ type: "system", subtype: "compact_boundary", logicalParentUuid: writer.head }, { parent: null });
    writer.prompt("two");
    expect(importLines(writer.lines).compactions).toMatchObject([
      { turns: "omit", reason: "boundary-without-summary" },
    ]);
    expect(shown(writer.lines)).toEqual(["two"]);
  });

  it("find the hidden turns when the boundary's link leads nowhere", () => {
    const writer = createClaudeWriter();
    writer.prompt("one");
    writer.compact("short");
    writer.lines.find((line) => line["subtype"] === "compact_boundary")!["logicalParentUuid"] = "gone";
    expect(shown(writer.lines)).toEqual(["short"]);
    expect(shown(writer.lines, [0])).toEqual(["one"]);
  });

  it("get rising times even when the file's clock stood still", () => {
    const writer = createClaudeWriter();
    writer.prompt("one");
    writer.compact("first");
    writer.prompt("two");
    writer.compact("second");
    for (const line of writer.lines) line["timestamp"] = "2026-03-01T10:00:00.000Z";
    expect(importLines(writer.lines).compactions.map((compaction) => compaction.timestamp)).toEqual([
      "2026-03-01T10:00:00.000Z",
      "2026-03-01T10:00:00.001Z",
    ]);
    expect(shown(writer.lines)).toEqual(["second"]);
  });
});
