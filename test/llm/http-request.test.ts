// Node's client underneath the libraries of the providers.
import { getEventListeners } from "node:events";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type HttpRequest, sendHttp } from "../../src/llm/http-request.ts";
import {
  json,
  openStream,
  type RawServer,
  type Responder,
  silent,
  startRawServer,
  torn,
} from "../helpers/raw-server.ts";

describe("an HTTP request", () => {
  let server: RawServer;
  let controller: AbortController;

  beforeEach(() => {
    controller = new AbortController();
  });
  afterEach(() => server.close());

  async function send(responder: Responder, more: Partial<HttpRequest> = {}): ReturnType<typeof sendHttp> {
    server = await startRawServer(responder);
    const request = { method: "POST", headers: {}, body: "{}", signal: controller.signal, ...more };
    return sendHttp(new URL(`${server.url}/a?b=c`), request);
  }

  async function readAll(body: AsyncIterable<Uint8Array>): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  it("carries method, path, headers and a body of any characters", async () => {
    const { status } = await send(json({}), { headers: { "x-one": "1" }, body: JSON.stringify({ text: "Grüße 😀" }) });
    expect(status).toBe(200);
    expect(server.requests).toMatchObject([{ method: "POST", url: "/a?b=c", body: { text: "Grüße 😀" } }]);
    expect(server.requests[0]!.headers).toMatchObject({
      "x-one": "1",
      "accept-encoding": "identity",
      "content-length": "23",
    });
  });

  it("has no body where none is given", async () => {
    await send(json({}), { method: "GET", body: null });
    expect(server.requests).toMatchObject([{ method: "GET", body: null }]);
  });

  it("resolves with status, headers and bytes, whatever the status says", async () => {
    const { status, headers, body } = await send(json({ no: 1 }, 529, { "Retry-After": "7", "x-many": "a" }));
    expect([status, headers.get("retry-after"), headers.get("x-many")]).toEqual([529, "7", "a"]);
    expect(await readAll(body)).toBe('{"no":1}');
  });

  it.each([
    ["gzip", gzipSync],
    ["X-GZIP", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
  ])("unpacks %s, which it did not ask for", async (packing, pack) => {
    const { body } = await send((response) => {
      response.writeHead(200, { "content-encoding": packing });
      response.end(pack("Grüße 😀"));
    });
    expect(await readAll(body)).toBe("Grüße 😀");
  });

  it("breaks the body where what is packed breaks", async () => {
    const { body } = await send((response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(gzipSync("x".repeat(1000)).subarray(0, -9));
    });
    await expect(readAll(body)).rejects.toThrow();
  });

  it("rejects when the server speaks another protocol unasked", async () => {
    const send101: Responder = (response) => {
      response.socket?.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: tides\r\nConnection: Upgrade\r\n\r\n");
    };
    await expect(send(send101)).rejects.toThrow("closed without an answer");
  });

  it("leaves nothing on a signal that many requests share", async () => {
    for (let request = 0; request < 3; request++) {
      const { body } = await send(json({}));
      await readAll(body);
      await server.close();
    }
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
  });

  it("follows no redirect", async () => {
    const { status, headers } = await send(json({}, 307, { location: "/elsewhere" }));
    expect([status, headers.get("location"), server.requests.length]).toEqual([307, "/elsewhere", 1]);
  });

  it("rejects with the code of the connection that nobody takes", async () => {
    server = await startRawServer(silent);
    await server.close();
    const request = { method: "GET", headers: {}, body: null, signal: controller.signal };
    await expect(sendHttp(new URL(server.url), request)).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  it("rejects at once when it was ended before, and sends nothing", async () => {
    controller.abort(new Error("ended before"));
    await expect(send(json({}))).rejects.toThrow("ended before");
    expect(server.requests).toEqual([]);
  });

  it("rejects when it is ended before the head comes", async () => {
    await expect(send(() => controller.abort())).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("breaks the body when it is ended inside it", async () => {
    const { body } = await send((response) => openStream(response, ["one"]));
    expect(Buffer.from((await body.next()).value!).toString()).toBe("one");
    controller.abort();
    await expect(body.next()).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("breaks the body where the connection breaks", async () => {
    const { body } = await send(torn("one"));
    await expect(readAll(body)).rejects.toMatchObject({ code: "ECONNRESET" });
  });

  it("may be ended when everything came, read or not", async () => {
    const { body } = await send(json({ read: true }));
    await readAll(body);
    controller.abort();
    await server.close();
    controller = new AbortController();
    await send(json({ read: false }));
    controller.abort();
    // An error that nobody listens to would end the process.
    await new Promise((passed) => setTimeout(passed, 20));
    expect(server.requests).toHaveLength(1);
  });
});
