// Aborts of the client contract: the signal ends a request at any point, and nothing half is called whole.
import { afterEach, describe, expect, it } from "vitest";
import { json, type RawServer, silent, stalled, startRawServer, stream } from "../helpers/raw-server.ts";
import { type ApiUnderTest, ASK, collect, deltasOf, openClient, stopOf } from "./llm-under-test.ts";

/** Declares these tests for one API. */
export function testAborts(api: ApiUnderTest): void {
  describe(`${api.api} client: aborts`, () => {
    let server: RawServer;
    afterEach(() => server.close());

    it("asks nothing when the signal came before", async () => {
      server = await startRawServer(silent);
      const client = await openClient(api, server.url);
      const { parts, error } = await collect(client.stream({ ...ASK, signal: AbortSignal.abort() }));
      expect([error, parts.length, stopOf(parts).reason]).toEqual([null, 1, "aborted"]);
      const { parts: none, stop } = await client.complete({ ...ASK, signal: AbortSignal.abort() });
      expect([none, stop.reason]).toEqual([[], "aborted"]);
      expect(server.requests).toEqual([]);
    });

    it("ends before the first byte", async () => {
      const controller = new AbortController();
      server = await startRawServer(() => controller.abort());
      const client = await openClient(api, server.url);
      const { parts, error } = await collect(client.stream({ ...ASK, signal: controller.signal }));
      expect([error, stopOf(parts).reason]).toEqual([null, "aborted"]);
      expect(server.requests).toHaveLength(1);
    });

    it("ends in the middle: what came stands, no part is given whole, and the connection is closed", async () => {
      let closed = false;
      server = await startRawServer((response, request) => {
        response.on("close", () => {
          closed = true;
        });
        stalled(...api.opening("half"))(response, request);
      });
      const controller = new AbortController();
      const client = await openClient(api, server.url);
      const seen = [];
      for await (const part of client.stream({ ...ASK, signal: controller.signal })) {
        seen.push(part);
        if (part.type === "delta") controller.abort();
      }
      expect(deltasOf(seen, "message")).toEqual(["half"]);
      expect(seen.some(({ type }) => type === "part")).toBe(false);
      expect(stopOf(seen).reason).toBe("aborted");
      await expect.poll(() => closed).toBe(true);
    });

    it("ends while it waits to try again", async () => {
      const controller = new AbortController();
      server = await startRawServer(json(api.overloaded.body, api.overloaded.status));
      const client = await openClient(api, server.url, { sleep: async () => controller.abort() });
      expect((await client.complete({ ...ASK, signal: controller.signal })).stop.reason).toBe("aborted");
      expect(server.requests).toHaveLength(1);
    });

    it("waits by itself when no other way to wait is given, and ends that wait too", async () => {
      const controller = new AbortController();
      server = await startRawServer((response, request) => {
        json(api.rateLimited.body, api.rateLimited.status, { "retry-after": "50" })(response, request);
        setTimeout(() => controller.abort(), 50);
      });
      const client = await openClient(api, server.url, { sleeps: true });
      expect((await client.complete({ ...ASK, signal: controller.signal })).stop.reason).toBe("aborted");
    });

    it("closes the connection when nobody reads on", async () => {
      let closed = false;
      server = await startRawServer((response, request) => {
        response.on("close", () => {
          closed = true;
        });
        stalled(...api.opening("half"))(response, request);
      });
      for await (const part of (await openClient(api, server.url)).stream(ASK)) if (part.type === "delta") break;
      await expect.poll(() => closed).toBe(true);
    });

    it("leaves a whole answer whole when the signal comes after it", async () => {
      const controller = new AbortController();
      server = await startRawServer(stream(...api.opening("fine"), ...api.ending()));
      const client = await openClient(api, server.url);
      const { parts } = await collect(client.stream({ ...ASK, signal: controller.signal }));
      controller.abort();
      expect(stopOf(parts).reason).toBe("complete");
    });
  });
}
