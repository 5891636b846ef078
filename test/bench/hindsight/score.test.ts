import { describe, expect, it } from "vitest";
import { createFactReader } from "../../../bench/hindsight/fact-reader.ts";
import { listNeededFacts } from "../../../bench/hindsight/needed-facts.ts";
import { hasWordsBeyondFacts, readView } from "../../../bench/hindsight/score.ts";
import type { Event } from "../../../src/core/conversation/event.ts";
import { saidEvents } from "../../helpers/said-events.ts";

const reader = createFactReader();
const past = saidEvents([
  { user: "the till rings twice" },
  {
    call: "Read",
    args: { file: "src/till.ts" },
    result: "export const openTill = 1;\nconst ringTwice = openTill;\nreturn dropCoin;",
  },
]);
const future = saidEvents([{ agent: "openTill, ringTwice and src/till.ts" }], "f");
const facts = listNeededFacts({ past, future }, reader);

/** The texts of the facts that a view shows: anywhere, and in context. */
function shown(view: readonly Event[]): {
  readonly anywhere: readonly string[];
  readonly inContext: readonly string[];
} {
  const { anywhere, inContext } = readView(view, { past, facts, reader });
  const names = (positions: ReadonlySet<number>) => [...positions].sort().map((at) => facts[at]!.fact.split(" ")[1]!);
  return { anywhere: names(anywhere), inContext: names(inContext) };
}

function summary(text: string, origin = "summary"): Event {
  return { type: "chat_request", id: "new", timestamp: "", content: text, metadata: { origin } };
}

describe("readView", () => {
  it("finds all in the past itself, and nothing in nothing", () => {
    expect(facts.map(({ fact }) => fact)).toEqual(["identifier openTill", "identifier ringTwice", "path src/till.ts"]);
    expect(shown(past).inContext).toEqual(["openTill", "ringTwice", "src/till.ts"]);
    expect(shown([])).toEqual({ anywhere: [], inContext: [] });
  });

  it("finds in an event that stands as it was what it holds, in context", () => {
    expect(shown([past[1]!])).toEqual({ anywhere: ["src/till.ts"], inContext: ["src/till.ts"] });
  });

  it("reads what stands in an event's place, and no more", () => {
    const stub = { ...past[2]!, content: "[compacted] Read: success" } as Event;
    expect(shown([stub])).toEqual({ anywhere: [], inContext: [] });
  });

  it("takes whole lines of the event itself as context, not parts of them", () => {
    const cut = { ...past[2]!, content: "const ringTwice = openTill;\n[compacted: 44 characters left out]" } as Event;
    expect(shown([cut])).toEqual({ anywhere: ["openTill", "ringTwice"], inContext: ["openTill", "ringTwice"] });
    const part = { ...past[2]!, content: "[compacted] Read: success\nexport const openTill" } as Event;
    expect(shown([part])).toEqual({ anywhere: ["openTill"], inContext: [] });
  });

  it("takes a list as no context, whoever wrote it", () => {
    const list = summary("Files:\n- src/till.ts\n- src/coin.ts (edited twice)\nNames: openTill, ringTwice");
    expect(shown([list])).toEqual({ anywhere: ["openTill", "ringTwice", "src/till.ts"], inContext: [] });
  });

  it("takes a sentence as context", () => {
    const text = summary("The till rings twice because ringTwice is set before the drawer opens.\n- src/till.ts");
    expect(shown([text])).toEqual({ anywhere: ["ringTwice", "src/till.ts"], inContext: ["ringTwice"] });
  });

  it("takes nothing of an index as context, however much it says", () => {
    const text = "The till rings twice because ringTwice is set before the drawer opens.";
    expect(shown([summary(text, "index")])).toEqual({ anywhere: ["ringTwice"], inContext: [] });
  });

  it("finds an error line where it stands whole", () => {
    const error = "Error: the drawer of the till is stuck";
    const before = saidEvents([{ call: "Bash", args: {}, result: `x\n${error}`, failed: true }]);
    const quoted = listNeededFacts({ past: before, future: saidEvents([{ agent: error }], "f") }, reader);
    const read = (text: string) => readView([summary(text)], { past: before, facts: quoted, reader }).inContext.size;
    expect(quoted).toHaveLength(1);
    expect(read(`It failed: ${error}`)).toBe(1);
    expect(read("It failed: Error: the drawer")).toBe(0);
  });
});

describe("tellsMore", () => {
  it.each([
    ["- src/till.ts (edited three times)", false],
    ["openTill, ringTwice, dropCoin, countCoins, closeTill, sweepFloor", false],
    ["", false],
    ["we changed openTill so that the drawer stays shut", true],
  ])("of %j says %s", (line, expected) => {
    expect(hasWordsBeyondFacts(line, reader)).toBe(expected);
  });
});
