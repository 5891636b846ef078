// A model that is a file and runs in this process; the library that runs it is a fake.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { View } from "../../src/core/conversation/event.ts";
import { readUsage } from "../../src/core/model/usage.ts";
import type { LlmClient, LlmRequest } from "../../src/llm/client.ts";
import { createGgufClient } from "../../src/llm/gguf.ts";
import { collect, deltasOf, failureOf, stopOf } from "../contract/llm-under-test.ts";
import { createFakeLlama, FakeBinaryError, type FakeLlama, FakeMemoryError } from "../helpers/fake-llama.ts";
import { answer, call, kept, request, result, view } from "../helpers/sample-view.ts";
import { createTempFolder, type TempFolder } from "../helpers/temp-repository.ts";

let folder: TempFolder;
beforeEach(() => {
  folder = createTempFolder();
  for (const name of ["tiny.gguf", "other.gguf"])
    writeFileSync(join(folder.path, name), "GGUF\u0003\u0000\u0000\u0000");
});
afterEach(() => folder.remove());

function openModel(library: FakeLlama, contextTokens?: number): LlmClient {
  const files = { folder: folder.path, library: "/opt/llama", ...(contextTokens !== undefined && { contextTokens }) };
  const setting = "providers.gguf.folder";
  const connection = { provider: "gguf", api: "gguf", keySetting: setting, urlSetting: setting, files } as const;
  return createGgufClient(connection, () => Promise.resolve(library));
}

const saying = (text: string, rest: Partial<LlmRequest> = {}): LlmRequest => ({
  model: "tiny.gguf",
  view: view(kept(0, request("a", text))),
  ...rest,
});

describe("a gguf model's answer", () => {
  it("streams in pieces, then comes whole, then stops; in one piece it is the same", async () => {
    const client = openModel(createFakeLlama());
    const { parts, error } = await collect(client.stream(saying("hello")));
    expect(error).toBeNull();
    expect(deltasOf(parts, "message")).toEqual(["Hello", " there."]);
    expect(parts.slice(-2)).toMatchObject([
      { type: "part", part: { kind: "message", text: "Hello there." } },
      { type: "stop", stop: { reason: "complete", providerReason: "eogToken", model: "tiny.gguf", id: null } },
    ]);
    const whole = await client.complete(saying("hello"));
    expect(whole).toEqual({ parts: [{ kind: "message", text: "Hello there." }], stop: stopOf(parts) });
  });

  it("counts what was sent and what was said, for each request by itself", async () => {
    const client = openModel(createFakeLlama());
    for (const text of ["hello", "hello again"]) {
      const { stop } = await client.complete(saying(text));
      expect(readUsage(stop.usage)).toEqual({ input: text.length, cacheRead: 0, cacheWrite: 0, output: 2 });
    }
  });

  it("tells thoughts from what is said, in the order in which they came", async () => {
    const thoughts = ["Let me", " see."].map((text) => ({ type: "segment", text }) as const);
    const answered = [...thoughts, { type: undefined, text: "" }, "42", "!"];
    const { parts } = await openModel(createFakeLlama({ answer: answered })).complete(saying("think"));
    expect(parts).toEqual([
      { kind: "reasoning", text: "Let me see." },
      { kind: "message", text: "42!" },
    ]);
  });

  it("is whole only when the model ended it", async () => {
    const cut = await openModel(createFakeLlama({ isEndless: true })).complete(saying("go", { maxTokens: 3 }));
    expect(cut.stop).toMatchObject({ reason: "length", providerReason: "maxTokens" });
    expect(cut.parts).toEqual([{ kind: "message", text: "Hello there.Hello" }]);
    const odd = await openModel(createFakeLlama({ stopReason: "functionCalls" })).complete(saying("go"));
    expect(odd.stop).toMatchObject({ reason: "unknown", providerReason: "functionCalls" });
  });

  it("is text alone: tools are not offered, and the client says so", async () => {
    const library = createFakeLlama();
    const client = openModel(library);
    const tool = { name: "weather", description: "Tells it.", parameters: { type: "object" } };
    expect(client.takesTools).toBe(false);
    expect((await client.complete(saying("hello", { tools: [tool] }))).stop.reason).toBe("complete");
    expect(JSON.stringify([library.sent, library.options])).not.toContain("weather");
  });

  it("leaves the terminal alone, and the console as it was", async () => {
    const spies = [vi.spyOn(console, "log"), vi.spyOn(console, "error")];
    const client = openModel(createFakeLlama());
    await Promise.all([client.complete(saying("hello")), client.complete(saying("hello"))]);
    for (const spy of spies) expect(spy).not.toHaveBeenCalled();
    expect([console.log, console.error]).toEqual(spies);
    vi.restoreAllMocks();
  });
});

describe("what a gguf model is sent", () => {
  const sentFor = async (sent: View, rest: Partial<LlmRequest> = {}): Promise<unknown> => {
    const library = createFakeLlama();
    await openModel(library).complete({ model: "tiny.gguf", view: sent, ...rest });
    return library.sent[0];
  };

  it("begins with the system prompt", async () => {
    const hello = view(kept(0, request("a", "hello")));
    expect(await sentFor(hello, { system: "Be kind." })).toEqual([
      { type: "system", text: "Be kind." },
      { type: "user", text: "hello" },
    ]);
    expect(await sentFor(hello, { system: " " })).toEqual([{ type: "user", text: "hello" }]);
  });

  it("has calls with their results inside what the model said", async () => {
    const turn = [
      request("a", "weather?"),
      answer("b", "I look."),
      call("c", "weather", { city: "Ulm" }),
      call("d", "weather", { city: "Bonn" }),
      result("e", "c", "sunny"),
      answer("f", "Sunny in Ulm."),
    ];
    const weather = { type: "functionCall", name: "weather" };
    expect(await sentFor(view(kept(0, ...turn), kept(1, request("g", "thanks"))))).toMatchObject([
      { type: "user", text: "weather?" },
      {
        type: "model",
        response: [
          "I look.",
          { ...weather, params: { city: "Ulm" }, result: "sunny", startsNewChunk: true },
          { ...weather, params: { city: "Bonn" }, startsNewChunk: false },
          "Sunny in Ulm.",
        ],
      },
      { type: "user", text: "thanks" },
    ]);
  });

  it("names what is no text", async () => {
    const asked = {
      ...request("a", ""),
      content: [
        { type: "text", text: "what is this?" },
        { type: "image", media_type: "image/png", data: "iVBORw0KGgo=" },
        { type: "document", media_type: "application/pdf", data: "JVBERi0=", title: "plan.pdf" },
        { type: "opaque", provider: "openai", value: { type: "input_audio", input_audio: { data: "AA==" } } },
      ],
    } as const;
    expect(await sentFor(view(kept(0, asked)))).toEqual([
      { type: "user", text: "what is this?\n[image]\n[document: plan.pdf]\n[input_audio]" },
    ]);
  });
});

describe("a signal", () => {
  const abortable = () => {
    const controller = new AbortController();
    return { signal: controller.signal, abort: () => controller.abort() };
  };

  it("that came before asks nothing", async () => {
    const library = createFakeLlama();
    const { signal, abort } = abortable();
    abort();
    const { parts, error } = await collect(openModel(library).stream(saying("hello", { signal })));
    expect([parts.length, stopOf(parts).reason, error]).toEqual([1, "aborted", null]);
    expect(library.done).toEqual([]);
  });

  it("while the model loads ends the request at once, and the next one loads it", async () => {
    let load = (): void => undefined;
    const loading = new Promise<void>((resolve) => {
      load = resolve;
    });
    const library = createFakeLlama({ loading });
    const { signal, abort } = abortable();
    const client = openModel(library);
    setTimeout(abort, 20);
    const { stop } = await client.complete(saying("hello", { signal }));
    expect(stop.reason).toBe("aborted");
    expect(library.done).not.toContain("load tiny.gguf");
    load();
    expect((await client.complete(saying("hello"))).stop.reason).toBe("complete");
  });

  it("while it speaks keeps what came, without a whole part, and the model stops", async () => {
    const library = createFakeLlama({ isEndless: true });
    const { signal, abort } = abortable();
    const client = openModel(library);
    const seen: string[] = [];
    for await (const part of client.stream(saying("hello", { signal }))) {
      seen.push(part.type === "stop" ? part.stop.reason : part.type);
      if (seen.length === 3) abort();
    }
    expect(seen).toEqual(["delta", "delta", "delta", "aborted"]);
    await expect.poll(() => library.done).toContain("ended");
  });

  it("is not needed: who stops listening ends it, and the next request gets its turn", async () => {
    const library = createFakeLlama({ isEndless: true });
    const client = openModel(library);
    for await (const part of client.stream(saying("hello"))) if (part.type === "delta") break;
    const { stop } = await client.complete(saying("hello", { maxTokens: 2 }));
    expect(stop.reason).toBe("length");
    expect(library.done.filter((step) => step === "ended")).toHaveLength(1);
  });
});

describe("a loaded model", () => {
  it("is loaded once, from what is installed, and answers one request at a time", async () => {
    const library = createFakeLlama();
    const answers = ["one", "two", "three"].map((text) => openModel(library).complete(saying(text)));
    for (const { parts } of await Promise.all(answers)) expect(parts).toHaveLength(1);
    expect(library.done).toEqual(["runtime build=never skipDownload=true", "load tiny.gguf", "context 8192"]);
    await openModel(library).complete(saying("hello", { model: "other.gguf" }));
    expect(library.done.slice(3)).toEqual(["load other.gguf", "context 8192"]);
  });

  it("gets more room only when a conversation needs it, never more than its window", async () => {
    const library = createFakeLlama({ window: 20_000 });
    const client = openModel(library);
    for (const length of [10, 3000, 9000, 15_000, 9000]) await client.complete(saying("x".repeat(length)));
    expect(library.done.filter((step) => /context|dispose/.test(step))).toEqual([
      "context 8192",
      "dispose 8192",
      "context 16384",
      "dispose 16384",
      "context 20000",
    ]);
    expect(Math.max(...library.options.map(({ maxTokens }) => maxTokens))).toBe(4096);
  });

  it("answers shorter where the memory has no room for more", async () => {
    const library = createFakeLlama({ memory: 1000 });
    const client = openModel(library);
    for (const length of [500, 600]) await client.complete(saying("x".repeat(length)));
    expect(library.options.map(({ maxTokens }) => maxTokens)).toEqual([436, 336]);
    expect(library.done.filter((step) => step.startsWith("context"))).toEqual(["context 1000"]);
  });
});

describe("a gguf model that cannot answer", () => {
  it("refuses what does not fit into its window, before it says anything", async () => {
    const library = createFakeLlama({ window: 2000 });
    const long = saying("x".repeat(1990));
    for (const client of [openModel(library), openModel(createFakeLlama(), 2000)]) {
      const error = await failureOf(client.complete(long));
      expect(error).toMatchObject({ code: "context_overflow", data: { provider: "gguf", model: "tiny.gguf" } });
      expect(error.message).toContain("1990 tokens, the window has 2000");
      expect(error.hints.join("\n")).toContain("jpg compact");
    }
    expect(library.sent).toEqual([]);
  });

  it("says that the memory is too small, and which setting helps", async () => {
    for (const library of [
      createFakeLlama({ memory: 10 }),
      createFakeLlama({ fails: { load: new FakeMemoryError() } }),
    ]) {
      const error = await failureOf(openModel(library).complete(saying("hello")));
      expect(error.code).toBe("provider_failed");
      expect(error.message).toContain("does not fit into the memory");
      expect(error.hints.join("\n")).toContain("providers.gguf.context_tokens");
    }
  });

  it("says that the library has nothing for this machine, and how to install that", async () => {
    const library = createFakeLlama({ fails: { runtime: new FakeBinaryError() } });
    const error = await failureOf(openModel(library).complete(saying("hello")));
    expect(error.code).toBe("library_missing");
    expect(error.hints[0]).toContain("npm install --prefix /opt/llama ");
  });

  it("says what else went wrong in the library, in one line, and can be asked again", async () => {
    for (const where of ["load", "template", "generate"] as const) {
      const library = createFakeLlama({ fails: { [where]: new Error(`broken\n  at ${where}`) } });
      const client = openModel(library);
      const { parts, error } = await collect(client.stream(saying("hello")));
      expect(parts).toEqual([]);
      expect(error).toMatchObject({ code: "provider_failed" });
      expect(error?.message).toBe(`gguf (model tiny.gguf) failed: broken at ${where}.`);
      expect((await client.complete(saying("hello"))).stop.reason).toBe("complete");
    }
  });

  it("is told from a file that is not there, no model, or no file", async () => {
    writeFileSync(join(folder.path, "notes.gguf"), "not a model at all");
    writeFileSync(join(folder.path, "empty.gguf"), "");
    mkdirSync(join(folder.path, "folder.gguf"));
    const library = createFakeLlama();
    const messages: Record<string, string> = {
      "tny.gguf": `is not in ${folder.path}`,
      "notes.gguf": "is not a GGUF file",
      "empty.gguf": "is not a GGUF file",
      "folder.gguf": "cannot be read",
    };
    for (const [model, message] of Object.entries(messages)) {
      const error = await failureOf(openModel(library).complete(saying("hello", { model })));
      expect(error.code).toBe("unknown_model");
      expect(error.message).toContain(message);
      expect(error.hints).toContain("Check providers.gguf.folder.");
      if (model === "tny.gguf") expect(error.hints).toContain("Use gguf/tiny.gguf.");
    }
    expect(library.done).toEqual([]);
  });
});
