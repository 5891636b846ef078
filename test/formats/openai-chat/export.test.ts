import { describe, expect, it } from "vitest";
import { exportOpenAiChat } from "../../../src/formats/openai-chat/write.ts";
import { answer, kept, request, view } from "../../helpers/sample-view.ts";

describe("exportOpenAiChat", () => {
  it("gives the messages of a request body, system prompts where they stand", () => {
    const prompt = { ...request("p", "Be brief."), role: "system" } as const;
    expect(
      exportOpenAiChat(view(kept(0, prompt, request("a", "How deep?")), kept(1, answer("b", "Two metres.")))),
    ).toEqual({
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "How deep?" },
        { role: "assistant", content: "Two metres." },
      ],
    });
  });
});
