// `jpg mcp` in the process of the tests: the client's end of its two streams.

import { createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { JSONRPCMessage } from "@modelcontextprotocol/sdk/types.js";
import type { Runtime } from "../../src/app/conversation/runtime.ts";
import { serveMcp } from "../../src/mcp/serve.ts";
import { type InProcessResult, runInProcess } from "./run-in-process.ts";

/** Creates a connection to a `jpg mcp` that starts with it and ends when it is closed. `words` = what is typed behind `mcp`. */
export function connectMcp(runtime: Runtime, words: readonly string[]): Transport {
  const [input, output] = [new PassThrough(), new PassThrough()];
  let ended: Promise<InProcessResult> | undefined;
  const transport: Transport = {
    start() {
      createInterface({ input: output }).on("line", (line) =>
        transport.onmessage?.(JSON.parse(line) as JSONRPCMessage),
      );
      ended = runInProcess(runtime, ["mcp", ...words], { serveMcp: (place) => serveMcp(place, { input, output }) });
      return Promise.resolve();
    },
    send(message) {
      input.write(`${JSON.stringify(message)}\n`);
      return Promise.resolve();
    },
    async close() {
      input.end();
      await ended;
      output.end();
      transport.onclose?.();
    },
  };
  return transport;
}
