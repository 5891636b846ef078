import { describe, expect, it } from "vitest";
import { renderFamily } from "../../../src/web/pages/beside.ts";

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
