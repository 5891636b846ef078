import { describe, expect, it } from "vitest";
import { exportOpenAiResponses } from "../../../src/formats/openai-responses/write.ts";
import { kept, request, view } from "../../helpers/sample-view.ts";

const question = { type: "message", role: "user", content: [{ type: "input_text", text: "How deep?" }] };

describe("exportOpenAiResponses", () => {
  it("makes leading system prompts the instructions", () => {
    const prompts = [
      { ...request("p", "Be brief."), role: "system" },
      { ...request("q", "Use metres."), role: "developer" },
    ] as const;
    expect(exportOpenAiResponses(view(kept(0, ...prompts, request("a", "How deep?"))))).toEqual({
      instructions: "Be brief.\n\nUse metres.",
      input: [question],
    });
  });

  it("gives no instructions when the conversation holds none", () => {
    expect(exportOpenAiResponses(view(kept(0, request("a", "How deep?"))))).toEqual({ input: [question] });
  });
});
