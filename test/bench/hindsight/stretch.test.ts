import { describe, expect, it } from "vitest";
import { cutStretch, horizonOf, LONG_TOKENS } from "../../../bench/hindsight/cut.ts";
import { listOwnCuts } from "../../../bench/hindsight/own-compactions.ts";
import { listStretches, type Session, visibleEvents } from "../../../bench/hindsight/stretch.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import type { Turn } from "../../../src/core/conversation/event.ts";
import { estimateEvents } from "../../../src/core/conversation/token-estimate.ts";
import { makeCompaction, STRIP_TOOLS, summaryOf } from "../../helpers/make-compaction.ts";
import { parseConversation } from "../../helpers/notation.ts";
import { type Said, saidTurns } from "../../helpers/said-events.ts";

function session(turns: readonly Turn[], compactions: readonly Compaction[] = []): Session {
  return { name: "invented", agent: "claude-code", turns, compactions };
}

/** The ids of what a model saw, stretch by stretch. */
function stretches(turns: readonly Turn[], compactions: readonly Compaction[]): readonly string[] {
  return listStretches(session(turns, compactions)).map(({ turns: shown }) =>
    visibleEvents(shown)
      .map(({ id }) => id)
      .join(" "),
  );
}

/** A long session: turns of calls whose results are long. */
function longTurns(turns: number, calls = 10): readonly Turn[] {
  return saidTurns(
    ...Array.from({ length: turns }, (_, turn) => [
      { user: `task ${turn}` },
      ...Array.from({ length: calls }, (__, at): Said => {
        return { call: "Read", args: { file: `src/part-${turn}-${at}.ts` }, result: "a line of code\n".repeat(150) };
      }),
      { agent: `done with ${turn}` },
    ]),
  );
}

describe("listStretches", () => {
  const turns = parseConversation("U A | U T t A | U A");

  it("is the whole session where the agent never compacted", () => {
    expect(stretches(turns, [])).toEqual(["e0.1 e0.2 e1.1 e1.2 e1.3 e1.4 e2.1 e2.2"]);
  });

  it("ends at a compaction and begins again with what it left", () => {
    const own = makeCompaction("own", [0, 1], summaryOf("so far", { inject: "request" }));
    expect(stretches(turns, [own])).toEqual(["e0.1 e0.2 e1.1 e1.2 e1.3 e1.4", "own.request e2.1 e2.2"]);
  });

  it("parts a turn where a compaction was made inside it", () => {
    const own = makeCompaction("own", [0, 1], { ...summaryOf("so far"), to_event: "e1.3" });
    expect(stretches(turns, [own])).toEqual(["e0.1 e0.2 e1.1 e1.2 e1.3", "own.request e1.4 e2.1 e2.2"]);
  });

  it("takes several in the order of their times", () => {
    const first = makeCompaction("a", [0, 0], summaryOf("one", { inject: "request" }), 1);
    const second = makeCompaction("b", [0, 1], summaryOf("two", { inject: "request" }), 2);
    expect(stretches(turns, [second, first])).toEqual([
      "e0.1 e0.2",
      "a.request e1.1 e1.2 e1.3 e1.4",
      "b.request e2.1 e2.2",
    ]);
  });

  it("is not parted by one that only clears results", () => {
    expect(stretches(turns, [makeCompaction("clear", [0, 1], STRIP_TOOLS)])).toHaveLength(1);
  });
});

describe("cutStretch", () => {
  it("cuts a long stretch at half and at seven tenths of its events, parting no call from its result", () => {
    const [stretch] = listStretches(session(longTurns(8)));
    const cuts = cutStretch(stretch!);
    const all = visibleEvents(stretch!.turns);
    expect(cuts.map(({ past }) => past.length / all.length)).toEqual([0.5, expect.closeTo(0.7, 1)]);
    for (const { past, future, turns } of cuts) {
      expect(past.at(-1)?.type).not.toBe("tool_call_request");
      expect([...past, ...future]).toEqual(all.slice(0, past.length + future.length));
      expect(visibleEvents(turns)).toEqual(past);
    }
  });

  it("leaves a short one whole", () => {
    const turns = longTurns(1);
    expect(estimateEvents(visibleEvents(turns))).toBeLessThan(LONG_TOKENS);
    expect(listStretches(session(turns)).flatMap(cutStretch)).toEqual([]);
  });
});

describe("horizonOf", () => {
  const events = visibleEvents(parseConversation("U T t T t A | U T t A"));

  it("ends before the first call too many, behind the result of the last", () => {
    expect(horizonOf(events, 2).map(({ id }) => id)).toEqual(["e0.1", "e0.2", "e0.3", "e0.4", "e0.5", "e0.6", "e1.1"]);
    expect(horizonOf(events, 0).map(({ id }) => id)).toEqual(["e0.1"]);
  });

  it("is all where there are fewer", () => {
    expect(horizonOf(events)).toEqual(events);
  });
});

describe("listOwnCuts", () => {
  const turns = longTurns(10);

  it("sets what the agent left against what was before, and what it did then", () => {
    const own = makeCompaction("own", [0, 8], summaryOf("all is well", { inject: "request" }));
    const [cut, ...more] = listOwnCuts(session(turns, [own]));
    expect(more).toEqual([]);
    expect(cut!.left.map(({ id }) => id)).toEqual(["own.request"]);
    expect(cut!.past).toEqual(visibleEvents(turns.slice(0, 9)));
    expect(cut!.future).toEqual(visibleEvents(turns.slice(9)));
  });

  it("passes over what only its provider can read, and what leaves nothing", () => {
    const secret = {
      type: "chat_response",
      id: "x",
      timestamp: "",
      message: [{ type: "opaque", value: "…" }],
    } as const;
    expect(listOwnCuts(session(turns, [makeCompaction("own", [0, 8], { replacement: [secret] })]))).toEqual([]);
    expect(listOwnCuts(session(turns, [makeCompaction("own", [0, 8], { turns: "omit" })]))).toEqual([]);
  });
});
