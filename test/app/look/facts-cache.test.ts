import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ConversationFacts, openFactsCache } from "../../../src/app/look/list.ts";
import { createGitWorkspace, type GitWorkspace, removeWorkspace } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

const FACTS: ConversationFacts = {
  title: "Fix the parser",
  turns: 3,
  tokens: { raw: 1200, view: 900 },
  tokens_source: "estimate",
  compactions: 1,
  updated_at: "2031-01-01T00:00:00.000Z",
};
const KEPT: readonly (readonly [string, ConversationFacts])[] = [
  ["a".repeat(40), FACTS],
  ["b".repeat(40), { ...FACTS, tokens_source: "recorded", title: "Größe" }],
  ["c".repeat(40), { ...FACTS, overhead_source: "unknown", labels: ["draft"], archived: true }],
  ["d".repeat(40), { ...FACTS, overhead_source: "typical", spliced: true }],
];
const TIPS = KEPT.map(([commit], index) => ({ name: `made-${index}/main`, commit }));

describe("the cache of a list", () => {
  it("gives back what was kept, whatever the order in which it is asked for", async () => {
    const first = openFactsCache(workspace.store);
    for (const [commit, facts] of KEPT) first.add(commit, facts);
    await first.save(TIPS);
    for (const asked of [KEPT, KEPT.toReversed(), [...KEPT.slice(2), ...KEPT], KEPT.slice(1)]) {
      const again = openFactsCache(workspace.store);
      for (const [commit, facts] of asked) expect(again.find(commit)).toEqual(facts);
      expect(again.find("e".repeat(40))).toBeNull();
      expect(again.find("aaaa")).toBeNull();
    }
  });

  it("drops what is no branch's tip any more", async () => {
    const first = openFactsCache(workspace.store);
    for (const [commit, facts] of KEPT) first.add(commit, facts);
    await first.save(TIPS.slice(1));
    const again = openFactsCache(workspace.store);
    expect(KEPT.map(([commit]) => again.find(commit)?.title)).toEqual([undefined, "Größe", FACTS.title, FACTS.title]);
  });
});
