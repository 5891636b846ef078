// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cheapModel,
  currentModel,
  formatModelName,
  inferProvider,
  parseModelName,
  resolveAlias,
} from "../../../src/core/model/model-name.ts";
import { MODEL_PROVIDERS } from "../../../src/core/model/model-provider.ts";
import { errorOf } from "../../config/error-of.ts";

const full = (text: string, configured: readonly string[] = []) => formatModelName(parseModelName(text, configured));

describe("a model's name", () => {
  it("is a provider and the provider's own name, which may hold slashes", () => {
    expect(parseModelName("anthropic/claude-opus-4-8")).toEqual({ provider: "anthropic", model: "claude-opus-4-8" });
    expect(parseModelName("openrouter/anthropic/claude-x")).toEqual({
      provider: "openrouter",
      model: "anthropic/claude-x",
    });
    expect(full(" ollama/hf.co/some/model:q4 ")).toBe("ollama/hf.co/some/model:q4");
    expect(full("Anthropic/claude-opus-4-8")).toBe("anthropic/claude-opus-4-8");
  });

  it("may be a short name, with or without its provider", () => {
    expect(full("anthropic/claude-haiku")).toBe("anthropic/claude-haiku-5-5");
    expect(full("claude-sonnet")).toBe("anthropic/claude-sonnet-5-5");
    expect(full("claude-opus")).toBe("anthropic/claude-opus-5-5");
    expect(full("openai/gpt-mini")).toBe("openai/gpt-5.4-mini");
    expect(full("google/gemini-flash")).toBe("google/gemini-3.8-flash");
    expect(full("groq/llama-3.3-70b")).toBe("groq/llama-3.3-70b-versatile");
    expect(full("openrouter/claude-haiku")).toBe("openrouter/claude-haiku");
  });

  it("may leave out the provider where its maker is plain", () => {
    expect(full("claude-opus-4-5-20251101")).toBe("anthropic/claude-opus-4-5-20251101");
    expect(full("gpt-6-sol")).toBe("openai/gpt-6-sol");
    expect(full("o3")).toBe("openai/o3");
    expect(full("gemini-3.1-pro-preview")).toBe("google/gemini-3.1-pro-preview");
    for (const open of ["gpt-oss-20b", "llama3.2", "o", "olmo-7b", "anthropic.claude-opus-4-8-v1:0"]) {
      expect(inferProvider(open)).toBeNull();
    }
  });

  it("may begin with a provider of the settings, which beats one that jpg knows by that name", () => {
    expect(full("mybox/gpt-4", ["mybox"])).toBe("mybox/gpt-4");
    expect(full("MyBox/x", ["MyBox"])).toBe("MyBox/x");
    expect(errorOf(() => parseModelName("mybox/gpt-4"))).toMatchObject({ kind: "user", code: "unknown_provider" });
  });

  it("is refused with what to type when it names nothing", () => {
    for (const text of ["", "  ", "anthropic/", "llama3.2", "anthropic", "/x", "a b/c", "x\u0007"]) {
      const { code, hints } = errorOf(() => parseModelName(text));
      expect([text, code]).toEqual([text, text === "/x" ? "unknown_provider" : "bad_model_name"]);
      expect(hints.join()).toContain("/");
    }
    expect(errorOf(() => parseModelName("x ".repeat(500))).message.length).toBeLessThan(200);
    const hints = ["Type provider/model, such as anthropic/claude-haiku, openai/gpt-mini or ollama/qwen3."];
    const of = (text: string, expected: string) => [
      text,
      { message: `${text} is not the name of a model: expected ${expected}.` },
    ];
    expect(
      ["a b", "anthropic/", "llama3.2", "x ".repeat(40), "x ".repeat(41)].map((text) => {
        const { kind, message, hints: typed } = errorOf(() => parseModelName(text));
        expect([kind, typed]).toEqual(["user", hints]);
        return [JSON.stringify(text), { message }];
      }),
    ).toEqual([
      of('"a b"', "a name without blanks"),
      of('"anthropic/"', "a model after the slash"),
      of('"llama3.2"', "a provider before the model"),
      of(JSON.stringify("x ".repeat(40)), "a name without blanks"),
      [
        JSON.stringify("x ".repeat(41)),
        { message: `"${"x ".repeat(40)}…" is not the name of a model: expected a name without blanks.` },
      ],
    ]);
  });

  it("gets the nearest provider for a misspelt one", () => {
    expect(errorOf(() => parseModelName("antropic/claude-haiku"))).toMatchObject({
      code: "unknown_provider",
      hints: ["Did you mean anthropic?", expect.stringContaining("base_url")],
    });
    expect(errorOf(() => parseModelName("mibox/x", ["mybox"])).hints[0]).toBe("Did you mean mybox?");
  });

  it("says what serves a model that is a file", () => {
    const { code, hints } = errorOf(() => parseModelName("gguf/qwen3-8b.gguf"));
    expect([code, hints[0]]).toEqual(["unknown_provider", expect.stringContaining("llamacpp/NAME")]);
  });

  it("lists the providers there are, those of the settings too, where none is near", () => {
    const known = MODEL_PROVIDERS.map(({ name }) => name);
    const own = "A server of your own needs providers.NAME.base_url in your settings; its models are then NAME/model.";
    expect(errorOf(() => parseModelName("qqqqqqqqqqqq/x", ["mybox", "openai"]))).toMatchObject({
      message: `There is no provider "qqqqqqqqqqqq": expected one of ${[...known, "mybox"].join(", ")}.`,
      hints: [own],
      data: { provider: "qqqqqqqqqqqq" },
    });
    expect(errorOf(() => parseModelName("antropic/x"))).toMatchObject({
      hints: ["Did you mean anthropic?", own],
      data: { provider: "antropic", nearest: "anthropic" },
    });
  });

  it("gives away its maker by how it begins, and in no other place", () => {
    const maker: Record<string, string | null> = {
      "Claude-x": "anthropic",
      "chatgpt-4o": "openai",
      "codex-mini": "openai",
      "o4-mini": "openai",
      o42x: null,
      "my-claude-x": null,
      "my-gpt-4": null,
      "my-gemini-3": null,
      "claude-haiku": "anthropic",
      cheap: null,
    };
    for (const [name, provider] of Object.entries(maker)) expect([name, inferProvider(name)]).toEqual([name, provider]);
  });

  it("is read back as it was written", () => {
    const providers = fc.constantFrom(...MODEL_PROVIDERS.map(({ name }) => name));
    const models = fc.stringMatching(/^[A-Za-z0-9._:@/-]{1,30}$/);
    fc.assert(
      fc.property(providers, models, (provider, model) => {
        const once = parseModelName(`${provider}/${model}`);
        expect(parseModelName(formatModelName(once))).toEqual(once);
      }),
    );
  });
});

describe("the current models", () => {
  it("have a cheap one for each hosted provider, and none for a server of the user's own", () => {
    for (const { name, isLocal } of MODEL_PROVIDERS)
      expect([name, cheapModel(name) !== null]).toEqual([name, !isLocal]);
    expect(cheapModel("mybox")).toBeNull();
  });

  it("are no aliases themselves, and are found by the provider's own name", () => {
    const model = resolveAlias("anthropic", "claude-haiku");
    expect(resolveAlias("anthropic", model)).toBe(model);
    expect(currentModel("anthropic", model)?.alias).toBe("claude-haiku");
    expect(currentModel("openai", model)).toBeUndefined();
  });

  it("of OpenRouter are the cheapest usable ones of its list, never a free or a retiring one", () => {
    const price = (input: number) => ({ input, output: input });
    const listed = [
      { name: "toy/tiny-1b", price: price(0.001) },
      { name: "openai/gpt-oss-120b:free", price: price(0) },
      { name: "openai/gpt-oss-120b", price: price(0.01), retires: "2026-12-01" },
      { name: "google/gemini-3.5-flash-lite", price: price(0.3) },
      { name: "anthropic/claude-haiku-5.5", price: price(0.1) },
      { name: "openai/gpt-6-luna" },
    ];
    expect(cheapModel("openrouter", listed)).toBe("anthropic/claude-haiku-5.5");
    expect(cheapModel("openrouter", listed.slice(0, 3))).toBe(cheapModel("openrouter"));
    expect(cheapModel("anthropic", listed)).toBe("claude-haiku-5-5");
  });
});
