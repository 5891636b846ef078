import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../../src/core/conversation/compaction.ts";
import { definedTools, toolsDefinedIn } from "../../../../src/core/conversation/defined-tools.ts";
import type { Event, Turn } from "../../../../src/core/conversation/event.ts";
import { askStrategies, call, callTurns, planStrategiesFor, storedOf } from "../../../helpers/call-conversation.ts";
import { parseConversation } from "../../../helpers/notation.ts";

describe("strip-reasoning and strip-attachments", () => {
  it("change nothing if there is none, and count none that another strategy takes", () => {
    const turns = callTurns([call("Read", { file_path: "a" })]);
    for (const name of ["strip-reasoning", "strip-attachments"])
      expect(askStrategies(turns, [name])).toHaveProperty("nothing");
    const { compaction } = planStrategiesFor(turns, ["strip-reasoning", "strip-attachments", "strip-tool-results"]);
    expect(compaction).not.toHaveProperty("reasoning");
    expect(compaction).not.toHaveProperty("attachments");
  });

  it("strip what is there", () => {
    const turns = parseConversation("U R A | U R A");
    expect(planStrategiesFor(turns, ["strip-reasoning"])).toMatchObject({
      compaction: { reasoning: "strip", strategy: ["strip-reasoning"] },
      steps: [{ strategy: "strip-reasoning", events_removed: 2 }],
    });
    const [first, ...rest] = turns;
    const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
    const pictured = [
      {
        index: 0,
        events: (first?.events ?? []).map((e) => (e.type === "chat_request" ? { ...e, content: [image] } : e)),
      },
      ...rest,
    ] as readonly Turn[];
    expect(planStrategiesFor(pictured, ["strip-attachments"]).compaction).toMatchObject({ attachments: "strip" });

    // An image that one step takes out is not counted again for the next.
    const savedBy = (...names: string[]) =>
      planStrategiesFor(pictured, names).steps.map(({ estimated_tokens_saved: saved }) => saved);
    const [images = 0] = savedBy("strip-images");
    const [attachments = 0] = savedBy("strip-attachments");
    expect(images).toBeGreaterThan(1500);
    expect(savedBy("strip-images", "strip-attachments")).toEqual([images, attachments - images]);
    expect(savedBy("strip-attachments", "strip-images")).toEqual([attachments, 0]);
  });

  it("strip images of requests and results, and count what other steps leave of them", () => {
    const image = { type: "image", media_type: "image/png", data: "AAAA" } as const;
    const turns = callTurns([call("shoot", {}), call("list", {})]).map(({ index, events }) => ({
      index,
      events: events.map((event): Event => (event.id === "r0.0" ? ({ ...event, content: [image] } as Event) : event)),
    }));
    const plan = planStrategiesFor(turns, ["strip-images"]);
    const { compaction, steps } = plan;
    expect(compaction).toMatchObject({ images: "strip", needs: ["images"] });
    expect(steps).toMatchObject([{ strategy: "strip-images", events_removed: 0 }]);
    const made = [storedOf(plan)];
    expect(askStrategies(turns, ["strip-images"], { request: { compactions: made } })).toHaveProperty("nothing");

    const savedBy = (...names: string[]) =>
      planStrategiesFor(turns, names).steps.map(({ estimated_tokens_saved: saved }) => saved);
    const [images = 0] = savedBy("strip-images");
    const [results = 0] = savedBy("strip-tool-results");
    expect(images).toBeGreaterThan(1500);
    expect(savedBy("strip-images", "strip-tool-results")).toEqual([images, results - images]);
    expect(savedBy("strip-tool-results", "strip-images")).toEqual([results, 0]);
    const after = planStrategiesFor(turns, ["strip-tool-results"], { request: { compactions: made } });
    expect(after.steps).toMatchObject([{ estimated_tokens_saved: results - images }]);
  });
});

describe("prune-tools", () => {
  const turns = callTurns([call("Read", { file_path: "a" })], [call("Bash", { command: "ls" })]);
  const known = { definedTools: ["Write", "Bash", "Read", "Agent"] };

  it("names the tools that are defined and never called", () => {
    const { compaction } = planStrategiesFor(turns, ["prune-tools"], { known });
    expect(compaction.tools).toEqual({ policy: "prune", names: ["Agent", "Write"] });
  });

  it("counts calls that a summary hides", () => {
    const hidden: Compaction = {
      type: "compaction",
      id: "old",
      timestamp: "2026-02-01T00:00:00Z",
      from_turn: 0,
      to_turn: 0,
      summary: { summary: "read a" },
    };
    const { compaction } = planStrategiesFor(turns, ["prune-tools"], { known, request: { compactions: [hidden] } });
    expect(compaction.tools?.names).not.toContain("Read");
  });

  it("keeps jpg's own tool, and counts what the others come to where jpg sends them", () => {
    const toolTokens = new Map(["Write", "Agent", "Read"].map((name) => [name, 100]));
    const own = { definedTools: [...known.definedTools, "compact"], toolTokens };
    const { compaction, steps } = planStrategiesFor(turns, ["prune-tools"], { known: own });
    expect(compaction.tools).toEqual({ policy: "prune", names: ["Agent", "Write"], tokens: 200 });
    expect(steps).toEqual([{ strategy: "prune-tools", events_removed: 0, estimated_tokens_saved: 200 }]);
    const unknown = planStrategiesFor(turns, ["prune-tools"], { known: { ...own, toolTokens: new Map() } });
    expect(unknown.compaction.tools).toMatchObject({ tokens: 0 });
  });

  it("has nothing to do once they are pruned, or where nothing is defined", () => {
    const old = storedOf(planStrategiesFor(turns, ["prune-tools"], { known }), "old", 10);
    expect(askStrategies(turns, ["prune-tools"], { known, request: { compactions: [old] } })).toHaveProperty("nothing");
    expect(askStrategies(turns, ["prune-tools"])).toHaveProperty("nothing");
  });

  it("finds definitions in settings, and takes hints for none", () => {
    const delta = {
      conversation: {
        tools: { "*": { run: "x" }, make: { command: "make" }, Read: { compaction: { request: "keep" } } },
      },
    };
    const event = {
      type: "config_delta",
      id: "d",
      timestamp: "",
      delta: { tools: ["ls", { name: "cat" }, 3] },
    } as const;
    expect(toolsDefinedIn([event])).toEqual(["ls", "cat"]);
    expect(definedTools([delta, null, "odd", event.delta])).toEqual(["make", "ls", "cat"]);
  });
});

describe("classify-tangents and summarize", () => {
  it("leaves out the range", () => {
    const turns = callTurns([], [], []);
    const range = { from: { type: "turn", turn: 1 }, to: { type: "turn", turn: 1 } } as const;
    expect(planStrategiesFor(turns, ["classify-tangents"], { request: { range } })).toMatchObject({
      compaction: { turns: "omit", from_turn: 1, to_turn: 1, strategy: ["classify-tangents"] },
      steps: [{ strategy: "classify-tangents", events_removed: 2 }],
    });
  });

  it("asks for a summary", () => {
    const plan = planStrategiesFor(callTurns([], []), ["summarize"]);
    expect(plan.summarize).toEqual({ policy: "summarize" });
    expect(plan.compaction).toMatchObject({ strategy: ["summarize"] });
  });
});
