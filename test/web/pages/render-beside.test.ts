import { describe, expect, it } from "vitest";
import { type Beside, renderBesideEvent, renderBesideTurn } from "../../../src/web/pages/beside.ts";

const said = { id: "c1", timestamp: "2026-03-04T05:06:07Z", turn: 2, text: "Was it <b>high</b>?", author: "Ada Test" };
const beside: Beside = {
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
    const drawn = String(renderBesideTurn(2, beside));
    expect(drawn).toContain('Began sub-agent <a href="/c/gauge-bbbb">Read the &lt;b&gt;gauge&lt;/b&gt;</a>');
    expect(drawn).toContain("Ada Test · 2026-03-04");
    expect(drawn).toContain("Was it &lt;b&gt;high&lt;/b&gt;?");
    expect(drawn).not.toContain("This one");
    expect(String(renderBesideTurn(1, beside))).toBe("");
    expect(String(renderBesideEvent(2, "e7", beside))).toContain("This one");
    expect(String(renderBesideEvent(2, "e8", beside))).toBe("");
  });

  it("has a form where something can be said", () => {
    expect(String(renderBesideTurn(2, beside))).not.toContain("<form");
    const drawn = String(renderBesideTurn(2, { ...beside, canAct: true }));
    expect(drawn).toContain('<form method="post" action="/c/tides-k3f9%2Fmain/comment">');
    expect(drawn).toContain('<input type="hidden" name="about" value="2">');
  });
});
