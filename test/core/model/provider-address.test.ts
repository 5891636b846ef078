// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { knownProvider, ollamaAddress, resolveAddress } from "../../../src/core/model/model-provider.ts";
import { errorOf } from "../../config/error-of.ts";
import { anyUrl } from "../../helpers/any-text.ts";

const resolve = (provider: string, text: string) => resolveAddress(knownProvider(provider)!, text, "SETTING");
const ollama = (text: string) => resolve("ollama", ollamaAddress(text));

describe("an address of a provider", () => {
  it("loses the slashes at its end, and anything after the path", () => {
    expect(resolve("anthropic", "http://127.0.0.1:9//")).toBe("http://127.0.0.1:9");
    expect(resolve("openai", " https://proxy.example/v1/ ")).toBe("https://proxy.example/v1");
    expect(resolve("openai", "https://proxy.example/v1?token=x#y")).toBe("https://proxy.example/v1");
    expect(resolve("openai", "HTTPS://Proxy.Example:443/V1")).toBe("https://proxy.example/V1");
  });

  it("is completed with the provider's path where it has none", () => {
    expect(resolve("groq", "https://api.groq.com")).toBe("https://api.groq.com/openai/v1");
    expect(resolve("groq", "https://api.groq.com/openai/v1")).toBe("https://api.groq.com/openai/v1");
    expect(resolve("lmstudio", "http://box:1234/")).toBe("http://box:1234/v1");
    expect(resolve("openai", "http://box:4000")).toBe("http://box:4000");
  });

  it("is refused when it is none, or carries credentials, which are not shown", () => {
    for (const text of ["", "localhost:8000", "ftp://x", "http://", "http:///x", "javascript:1", "http://x:99999"]) {
      expect([text, errorOf(() => resolve("openai", text)).code]).toEqual([text, "bad_address"]);
    }
    const hints = ["Correct SETTING, or remove it to use the provider's own address."];
    expect(errorOf(() => resolve("openai", "localhost:8000"))).toMatchObject({
      kind: "config",
      message:
        "SETTING is no address: expected an address that begins with http:// or https://, received something else.",
      hints,
      data: { setting: "SETTING" },
    });
    for (const text of ["https://ada@proxy.example/v1", "https://:hunter2@proxy.example/v1"])
      expect(errorOf(() => resolve("openai", text))).toMatchObject({
        message:
          "SETTING is no address: expected an address without a user name or password: a key goes into a setting of its own.",
        hints,
      });
    const error = errorOf(() => resolve("openai", "https://ada:hunter2@proxy.example/v1"));
    expect(error).toMatchObject({ kind: "config", code: "bad_address" });
    expect(JSON.stringify([error.message, error.hints, error.data])).not.toMatch(/ada|hunter2/);
  });

  it("stays as it is when it is resolved again", () => {
    fc.assert(
      fc.property(anyUrl(), fc.constantFrom("openai", "groq", "ollama"), (url, name) => {
        const once = resolve(name, url);
        expect(resolve(name, once)).toBe(once);
      }),
    );
  });
});

describe("OLLAMA_HOST", () => {
  it("is understood in each of the forms that Ollama takes", () => {
    const forms = {
      box: "http://box:11434/v1",
      "box:5000": "http://box:5000/v1",
      ":5000": "http://127.0.0.1:5000/v1",
      "http://box:5000/": "http://box:5000/v1",
      "http://box": "http://box/v1",
      "https://box.example": "https://box.example/v1",
      "https://box.example/ollama": "https://box.example/ollama",
      "[::1]:5000": "http://[::1]:5000/v1",
      "::1": "http://[::1]:11434/v1",
      "127.0.0.1": "http://127.0.0.1:11434/v1",
      "": "http://127.0.0.1:11434/v1",
      " box ": "http://box:11434/v1",
      "HTTP://box": "http://box/v1",
      "::": "http://[::1]:11434/v1",
      "[::1]": "http://[::1]:11434/v1",
      "fe80::1": "http://[fe80::1]:11434/v1",
      "box/path": "http://box:11434/path",
      "box:5000/path": "http://box:5000/path",
    };
    for (const [text, address] of Object.entries(forms)) expect([text, ollama(text)]).toEqual([text, address]);
  });

  it("that says to listen everywhere is reached on this machine", () => {
    expect(ollama("0.0.0.0")).toBe("http://127.0.0.1:11434/v1");
    expect(ollama("0.0.0.0:5000")).toBe("http://127.0.0.1:5000/v1");
    expect(ollama("[::]:5000")).toBe("http://[::1]:5000/v1");
  });

  it("that is nonsense is refused", () => {
    expect(errorOf(() => ollama("ftp://x")).code).toBe("bad_address");
    expect(errorOf(() => ollama("box:port")).code).toBe("bad_address");
  });
});
