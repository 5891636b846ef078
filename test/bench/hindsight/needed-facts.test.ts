import { describe, expect, it } from "vitest";
import { createFactReader } from "../../../bench/hindsight/fact-reader.ts";
import { isNeedle, listNeededFacts } from "../../../bench/hindsight/needed-facts.ts";
import { type Said, saidEvents } from "../../helpers/said-events.ts";

/** What was needed, as `fact: positions in the past`. */
function needed(past: readonly Said[], future: readonly Said[], cwd?: string): Record<string, readonly number[]> {
  const cut = { past: saidEvents(past, "p"), future: saidEvents(future, "f") };
  return Object.fromEntries(listNeededFacts(cut, createFactReader(cwd)).map(({ fact, sources }) => [fact, sources]));
}

const read: Said = {
  call: "Read",
  args: { file: "till.ts" },
  result: "export function openTill() {} // see docs/till.md",
};

describe("listNeededFacts", () => {
  it("lists what stood before the cut and the agent writes behind it", () => {
    expect(needed([{ user: "look" }, read], [{ agent: "openTill is fine" }])).toEqual({ "identifier openTill": [2] });
  });

  it("lists it in arguments and thoughts, too", () => {
    const future: Said[] = [
      { thought: "docs/till.md may say" },
      { call: "Grep", args: { pattern: "openTill" }, result: "" },
    ];
    expect(Object.keys(needed([read], future))).toEqual(["path docs/till.md", "identifier openTill"]);
  });

  it("does not list what nobody said before the cut", () => {
    expect(needed([read], [{ agent: "closeTill is new" }])).toEqual({});
  });

  it.each<[string, Said]>([
    ["a user", { user: "openTill is broken" }],
    ["a tool", { call: "Bash", args: { command: "grep" }, result: "till.ts: openTill" }],
    ["the harness", { harness: "openTill was changed" }],
  ])("does not list what %s said again before the agent did", (_, again) => {
    expect(needed([read], [again, { agent: "openTill it is" }])).toEqual({});
  });

  it("lists what is said again only after the agent wrote it", () => {
    const future: Said[] = [{ agent: "openTill?" }, { user: "yes, openTill" }];
    expect(needed([read], future)).toEqual({ "identifier openTill": [1] });
  });

  it("takes a path as said again by a longer one, and as shown by it", () => {
    const past: Said[] = [{ user: "in app/src/till.ts" }];
    expect(needed(past, [{ agent: "src/till.ts has it" }])).toEqual({ "path src/till.ts": [0] });
    expect(needed(past, [{ user: "app/src/till.ts" }, { agent: "src/till.ts has it" }])).toEqual({});
  });

  it("counts an event once that says it twice", () => {
    expect(needed([{ user: "openTill, openTill" }], [{ agent: "openTill" }])).toEqual({ "identifier openTill": [0] });
  });

  it("lists an error line that the agent quotes, not one that it only had", () => {
    const error = "Error: the tide table has no row for Tuesday";
    const past: Said[] = [
      { call: "Bash", args: {}, result: `running\n${error}\nError: no such harbour at all`, failed: true },
    ];
    expect(needed(past, [{ agent: `It says "${error}".` }])).toEqual({ [`error ${error}`]: [1] });
    expect(needed(past, [{ call: "Bash", args: {}, result: error }, { agent: `Again: ${error}` }])).toEqual({});
  });

  it("tells a needle, which stands in one event, from what stands in several", () => {
    const cut = {
      past: saidEvents([{ user: "openTill" }, { agent: "openTill and closeTill" }], "p"),
      future: saidEvents([{ agent: "openTill closeTill" }], "f"),
    };
    const facts = listNeededFacts(cut, createFactReader());
    expect(facts.map((fact) => [fact.fact, isNeedle(fact)])).toEqual([
      ["identifier openTill", false],
      ["identifier closeTill", true],
    ]);
  });

  it("finds nothing where there is no past, or no future", () => {
    expect(needed([], [{ agent: "openTill" }])).toEqual({});
    expect(needed([read], [])).toEqual({});
  });
});
