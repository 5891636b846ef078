// One try of a request: how a refusal is read whose text has no end.
import { afterEach, describe, expect, it } from "vitest";
import { type Exchange, openExchange } from "../../src/llm/exchange.ts";
import { type RawServer, startRawServer } from "../helpers/raw-server.ts";

let server: RawServer;
afterEach(() => server.close());

/** Asks a server that refuses and goes on writing until the other side is gone. */
async function askEndless(piece: string, everyMs: number, timeoutMs: number): Promise<Exchange> {
  server = await startRawServer((response) => {
    response.writeHead(500, { "content-type": "text/plain" });
    const write = (): void => {
      if (response.destroyed) return;
      if (response.write(piece)) setTimeout(write, everyMs);
      else response.once("drain", write);
    };
    write();
  });
  const connection = { provider: "test", api: "openai-chat", keySetting: "", urlSetting: "", timeoutMs } as const;
  const exchange = openExchange(connection, "model-1");
  await exchange.fetch(`${server.url}/v1/chat/completions`, { method: "POST", body: "{}" }).catch(() => undefined);
  exchange.close();
  return exchange;
}

describe("a refusal without an end", () => {
  it("is read as far as it is shown", async () => {
    const exchange = await askEndless("refused ".repeat(5000), 0, 60_000);
    expect(exchange.fault()).toMatchObject({ kind: "status", status: 500 });
    const fault = exchange.fault();
    expect(fault?.kind === "status" && fault.body.length).toBe(100_000);
  });

  it("is given up when it drips for too long", async () => {
    expect((await askEndless("r", 40, 300)).fault()).toEqual({ kind: "silent", afterMs: 300 });
  });
});
