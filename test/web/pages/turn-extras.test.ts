import { describe, expect, it } from "vitest";
import {
  renderEventExtras,
  renderFamily,
  renderTurnExtras,
  type TurnExtras,
} from "../../../src/web/pages/turn-extras.ts";

const said = { id: "c1", timestamp: "2026-03-04T05:06:07Z", turn: 2, text: "Was it <b>high</b>?", author: "Ada Test" };
const beside: TurnExtras = {
  branch: "tides-k3f9/main",
  comments: [said, { ...said, id: "c2", event: "e7", text: "This one" }],
  agents: [
    { id: "gauge-bbbb", title: "Read the <b>gauge</b>", turn: 2, call: "toolu_1" },
    { id: "buoy-cccc", title: "Find the buoy" },
  ],
  canAct: false,
};

describe("what stands beside a turn", () => {
  it("is what people say about it, and the sub-agents that it began", () => {
    const drawn = String(renderTurnExtras(2, beside));
    expect(drawn).toContain('Began sub-agent <a href="/c/gauge-bbbb">Read the &lt;b&gt;gauge&lt;/b&gt;</a>');
    expect(drawn).toContain("Ada Test · 2026-03-04");
    expect(drawn).toContain("Was it &lt;b&gt;high&lt;/b&gt;?");
    expect(drawn).not.toContain("This one");
    expect(String(renderTurnExtras(1, beside))).toBe("");
    expect(String(renderEventExtras(2, "e7", beside))).toContain("This one");
    expect(String(renderEventExtras(2, "e8", beside))).toBe("");
  });

  it("has a form where something can be said", () => {
    expect(String(renderTurnExtras(2, beside))).not.toContain("<form");
    const drawn = String(renderTurnExtras(2, { ...beside, canAct: true }));
    expect(drawn).toContain('<form method="post" action="/c/tides-k3f9%2Fmain/comment">');
    expect(drawn).toContain('<input type="hidden" name="about" value="2">');
  });
});

describe("the family of a conversation", () => {
  it("links sub-agents with the turn that began them, the parent, and forks to compare with", () => {
    const drawn = String(
      renderFamily("tides-k3f9/main", {
        forks: ["tides-k3f9/low"],
        parent: { kind: "agent", session: "s1", id: "harbour-aaaa", turn: 3 },
        agents: [
          { id: "gauge-bbbb", title: "Read the <b>gauge</b>", turn: 2, call: "toolu_1" },
          { id: "buoy-cccc", title: "Find the buoy" },
        ],
      }),
    );
    expect(drawn).toContain(
      '<li>sub-agent of <a href="/c/harbour-aaaa">harbour-aaaa</a>, <a href="/c/harbour-aaaa?at=3#turn-3">turn 3</a></li>',
    );
    expect(drawn).toContain(
      '<li>sub-agent <a href="/c/gauge-bbbb">Read the &lt;b&gt;gauge&lt;/b&gt;</a>, begun in <a href="/c/tides-k3f9%2Fmain?at=2#turn-2">turn 2</a></li>',
    );
    expect(drawn).toContain('<li>sub-agent <a href="/c/buoy-cccc">Find the buoy</a></li>');
    expect(drawn).toContain('<a href="/c/tides-k3f9%2Fmain/compare/tides-k3f9%2Flow">side by side</a>');
  });

  it("says of a parent that is not here which session it is, and nothing where there is none", () => {
    const parent = { kind: "fork", session: "s1" } as const;
    expect(String(renderFamily("a/main", { forks: [], parent }))).toContain("comes from session s1, which is not here");
    expect(String(renderFamily("a/main", { forks: [] }))).toBe("");
  });
});
