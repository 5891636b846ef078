import { describe, expect, it } from "vitest";
import { splitPrompts } from "../../src/core/leading-prompts.ts";
import { answer, kept, request, view } from "../helpers/sample-view.ts";

const system = { ...request("s", "Be short."), role: "system" } as const;
const developer = { ...request("d", "Use tabs."), role: "developer" } as const;

describe("splitPrompts", () => {
  it("parts the system and developer requests before all messages from the rest", () => {
    const { prompts, rest } = splitPrompts(view(kept(0, system, developer, request("a", "hello"))));
    expect(prompts).toEqual([system, developer]);
    expect(rest).toEqual(view(kept(0, request("a", "hello"))));
  });

  it("leaves those alone that stand later or come from a harness", () => {
    const harness = { ...system, metadata: { origin: "harness" } } as const;
    for (const first of [harness, request("a", "hello"), answer("b", "hi")]) {
      const whole = view(kept(0, first, system));
      expect(splitPrompts(whole)).toEqual({ prompts: [], rest: whole });
    }
  });
});
