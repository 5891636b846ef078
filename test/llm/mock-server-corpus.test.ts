// Each client against the mock server that the real agents are tested with.
import { existsSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import { type ApiUnderTest, ASK, collect, deltasOf, openClient, stopOf } from "../contract/llm-under-test.ts";
import { corpusMissing, sharedFolder } from "../helpers/corpus.ts";

interface Mock {
  readonly url: string;
  readonly records: readonly { readonly api: string; readonly reply: { readonly kind: string } }[];
  close(): Promise<unknown>;
}

const file = join(sharedFolder, "agents", "mock-llm.mjs");
const isMissing = corpusMissing !== null || !existsSync(file);

async function startMock(options: object): Promise<Mock> {
  const module = (await import(pathToFileURL(file).href)) as { startMock(options: object): Promise<Mock> };
  return module.startMock(options);
}

const NOW = { name: "now", description: "Tells the time.", parameters: { type: "object" } };

const APIS: readonly Pick<ApiUnderTest, "api" | "provider" | "path">[] = [
  { api: "anthropic", provider: "anthropic", path: "" },
  { api: "openai-chat", provider: "openai", path: "/v1" },
  { api: "openai-responses", provider: "openai", path: "/v1" },
  { api: "google", provider: "google", path: "" },
];

describe.each(APIS)("$api client against the corpus's mock server", (api) => {
  it.skipIf(isMissing)(
    "corpus: outlasts two overloads, gets a call, then a text, then the same in one piece",
    async () => {
      const mock = await startMock({
        reply: "It is noon.",
        toolCalls: [{ name: "now", input: { zone: "UTC" } }],
        failFirst: { n: 2, status: 529 },
      });
      try {
        const client = await openClient(api, mock.url);
        const { parts: first, error } = await collect(client.stream({ ...ASK, tools: [NOW] }));
        expect(error).toBeNull();
        expect(first).toMatchObject([
          { part: { kind: "tool_call", name: "now", arguments: { zone: "UTC" } } },
          { stop: { reason: "tool_calls" } },
        ]);
        const { parts: second } = await collect(client.stream({ ...ASK, tools: [NOW] }));
        expect(deltasOf(second, "message").join("")).toBe("It is noon.");
        expect(stopOf(second).reason).toBe("complete");
        expect((await client.complete(ASK)).parts).toEqual([{ kind: "message", text: "It is noon." }]);
        expect(mock.records.map(({ reply }) => reply.kind)).toEqual(["error", "error", "tool_call", "text", "text"]);
        if (client.countTokens !== undefined) expect(await client.countTokens(ASK)).toBe(100);
      } finally {
        await mock.close();
      }
    },
  );
});
