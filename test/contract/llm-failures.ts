// Failures of the client contract: what is tried again, what ends it, and how each is told.
import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { LlmClient, Retry, StreamPart } from "../../src/llm/client.ts";
import {
  json,
  openStream,
  type RawServer,
  type Responder,
  silent,
  stalled,
  startRawServer,
  stream,
  torn,
} from "../helpers/raw-server.ts";
import {
  type ApiUnderTest,
  ASK,
  collect,
  collectInto,
  deltasOf,
  failureOf,
  KEY,
  openClient,
  type Refusal,
} from "./llm-under-test.ts";

/** Declares these tests for one API. */
export function testFailures(api: ApiUnderTest): void {
  describe(`${api.api} client: failures`, () => {
    let server: RawServer;
    afterEach(() => {
      vi.useRealTimers();
      return server.close();
    });

    const good: Responder = stream(...api.opening("fine"), ...api.ending());
    const refuse = ({ status, body }: Refusal, headers = {}): Responder => json(body, status, headers);

    async function start(...responders: readonly Responder[]): Promise<RawServer> {
      server = await startRawServer(...responders);
      return server;
    }

    it("waits as long as a rate limit asks, then goes on", async () => {
      const { url, requests } = await start(refuse(api.rateLimited, { "retry-after": "7" }), good);
      const waits: number[] = [];
      const { parts, error } = await collect((await openClient(api, url, { waits })).stream(ASK));
      expect(error).toBeNull();
      expect(deltasOf(parts, "message")).toEqual(["fine"]);
      expect(waits).toEqual([7000]);
      expect(requests.map(({ body }) => body)).toEqual([requests[0]!.body, requests[0]!.body]);
    });

    it("measures a date to wait for from the answer's own date", async () => {
      const headers = { date: "Sat, 21 Nov 2026 20:30:00 GMT", "retry-after": "Sat, 21 Nov 2026 20:30:12 GMT" };
      const { url } = await start(refuse(api.rateLimited, headers), good);
      const waits: number[] = [];
      await collect((await openClient(api, url, { waits })).stream(ASK));
      expect(waits).toEqual([12_000]);
    });

    it("does not wait longer than a minute, and says how long the provider asks to", async () => {
      const { url, requests } = await start(refuse(api.rateLimited, { "retry-after": "3600" }));
      const { error } = await collect((await openClient(api, url)).stream(ASK));
      expect(error).toMatchObject({ code: "rate_limited", data: { status: 429, retry_after_ms: 3_600_000 } });
      expect(error!.message).toContain("3600 s");
      expect(requests).toHaveLength(1);
    });

    it("waits longer after each overload, and gives up after four tries", async () => {
      const { url, requests } = await start(refuse(api.overloaded));
      const waits: number[] = [];
      const client = await openClient(api, url, { waits });
      const told: Retry[] = [];
      const request = { ...ASK, onRetry: (retry: Retry) => void told.push(retry) };
      expect(await failureOf(client.complete(request))).toMatchObject({ code: "overloaded" });
      expect(requests).toHaveLength(4);
      expect(waits).toHaveLength(3);
      expect(told).toMatchObject(waits.map((waitMs) => ({ waitMs, error: { code: "overloaded" } })));
      expect(waits[0]).toBeGreaterThanOrEqual(375);
      expect(waits[1]! > waits[0]! && waits[2]! > waits[1]!).toBe(true);
    });

    it("tries a fault of the server again", async () => {
      const { url, requests } = await start(
        json({ error: { message: "boom" } }, 500),
        json({}, 502),
        json({}, 408),
        good,
      );
      const { error } = await collect((await openClient(api, url)).stream(ASK));
      expect(error).toBeNull();
      expect(requests).toHaveLength(4);
    });

    it("tries again when the stream begins with an overload, and not when it follows a text", async () => {
      await start(stream(api.overloadedBlock), good);
      expect((await collect((await openClient(api, server.url)).stream(ASK))).error).toBeNull();
      await server.close();
      const { url, requests } = await start(stream(...api.opening("half"), api.overloadedBlock), good);
      const { parts, error } = await collect((await openClient(api, url)).stream(ASK));
      expect(deltasOf(parts, "message")).toEqual(["half"]);
      expect(error).toMatchObject({ code: "overloaded" });
      expect(requests).toHaveLength(1);
    });

    it("does not try a wrong key again, names its setting, and shows no key even if the server does", async () => {
      const { url, requests } = await start(
        refuse({ ...api.wrongKey, body: JSON.parse(JSON.stringify(api.wrongKey.body).replaceAll("KEY", KEY)) }),
      );
      const { error } = await collect((await openClient(api, url)).stream(ASK));
      expect(error).toMatchObject({ code: "wrong_key", hints: ["Check TEST_KEY."] });
      expect(error!.message).toContain(api.provider);
      expect(error!.message).toContain("model-1");
      expect(requests).toHaveLength(1);
    });

    it("says that no key is set where one is wanted", async () => {
      const { url, requests } = await start(refuse(api.wrongKey));
      const client = await openClient(api, url, { apiKey: "" });
      expect(await failureOf(client.complete(ASK))).toMatchObject({ code: "wrong_key", hints: ["Set TEST_KEY."] });
      expect(requests[0]!.headers).not.toHaveProperty("authorization");
      expect(requests[0]!.headers).not.toHaveProperty("x-goog-api-key");
    });

    it("names a model that the provider does not have", async () => {
      const { url, requests } = await start(refuse(api.unknownModel));
      const { error } = await collect((await openClient(api, url)).stream(ASK));
      expect(error).toMatchObject({ code: "unknown_model", data: { provider: api.provider, model: "model-1" } });
      expect(error!.hints.join(" ")).toContain("--model");
      expect(requests).toHaveLength(1);
    });

    it.each(api.tooLong)("tells that the conversation is too long: %j", async (refusal) => {
      const { url, requests } = await start(refuse(refusal));
      const { error } = await collect((await openClient(api, url)).stream(ASK));
      expect(error).toMatchObject({ code: "context_overflow" });
      expect(error!.hints.join(" ")).toContain("jpg compact");
      expect(requests).toHaveLength(1);
    });

    it("tells another refusal with the provider's own sentence, as one line", async () => {
      const { url } = await start(
        json({ error: { message: "temperature: \u001b[31mtoo\nhot", type: "invalid_request_error" } }, 400),
      );
      const { error } = await collect((await openClient(api, url)).stream(ASK));
      expect(error).toMatchObject({ code: "request_refused" });
      expect(error!.message).toContain("(HTTP 400): temperature: [31mtoo hot");
    });

    it("keeps what came before a torn connection, and says that the answer is not whole", async () => {
      const { url, requests } = await start(torn(...api.opening("half")), good);
      const { parts, error } = await collect((await openClient(api, url)).stream(ASK));
      expect(deltasOf(parts, "message")).toEqual(["half"]);
      expect(parts.every(({ type }) => type !== "stop")).toBe(true);
      expect(error).toMatchObject({ code: "stream_cut" });
      expect(requests).toHaveLength(1);
    });

    it("takes no answer for whole that ends quietly without a reason", async () => {
      const { url } = await start(stream(...api.opening("half")));
      const { parts, error } = await collect((await openClient(api, url)).stream(ASK));
      expect(deltasOf(parts, "message")).toEqual(["half"]);
      expect(error).toMatchObject({ code: "stream_cut" });
    });

    it("tries again when a stream ends or breaks before anything of it came", async () => {
      const { url, requests } = await start(stream(), torn(), good);
      expect((await collect((await openClient(api, url)).stream(ASK))).error).toBeNull();
      expect(requests).toHaveLength(3);
    });

    it("takes no answer for whole that ends inside its last piece", async () => {
      const end = api.ending().join("");
      const { url } = await start(stream(...api.opening("half"), end.slice(0, end.indexOf("{") + 1)));
      const { parts, error } = await collect((await openClient(api, url)).stream(ASK));
      expect(deltasOf(parts, "message")).toEqual(["half"]);
      expect(parts.every(({ type }) => type !== "stop") && error?.code).toBe("stream_cut");
    });

    it("does not take for an answer what is none", async () => {
      const { url } = await start(json(["nonsense"]));
      const client = await openClient(api, url, { attempts: 1 });
      expect(await failureOf(client.complete(ASK))).toMatchObject({ code: "provider_failed" });
    });

    it("gives up a server that says nothing, before the answer and inside it", async () => {
      // The time is over when the test says so, which is when all that comes has come.
      vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
      const openFor = async (responder: Responder): Promise<LlmClient> =>
        openClient(api, (await start(responder)).url, { timeoutMs: 80 });
      const unanswered = collect((await openFor(silent)).stream(ASK));
      while (server.requests.length === 0) await setImmediate();
      expect((await overdue(unanswered)).error).toMatchObject({ code: "provider_timeout" });
      expect(server.requests).toHaveLength(1);
      await server.close();
      const seen: StreamPart[] = [];
      const client = await openFor(stalled(...api.opening("half")));
      const half = failureOf(collectInto(seen, client.stream(ASK)));
      while (deltasOf(seen, "message").length === 0) await setImmediate();
      expect(await overdue(half)).toMatchObject({ code: "provider_timeout" });
      expect(deltasOf(seen, "message")).toEqual(["half"]);
    });

    it("tries an address again that cannot be reached, then names it and its setting", async () => {
      await start(silent);
      const url = UNUSED_URL;
      const waits: number[] = [];
      const failure = await failureOf((await openClient(api, url, { waits })).complete(ASK));
      expect(failure).toMatchObject({ code: "provider_unreachable" });
      expect(failure.message).toContain(`${url}${api.path} (ECONNREFUSED)`);
      expect(failure.hints.join(" ")).toContain("TEST_URL");
      expect(waits).toHaveLength(3);
    });

    it.each(["localhost:1234", "ftp://127.0.0.1/", `http://user:${KEY}@127.0.0.1:1/`, "not an address"])(
      "sends nothing to an address that is none: %s",
      async (baseUrl) => {
        await start(silent);
        const { error } = await collect((await openClient(api, "", { baseUrl })).stream(ASK));
        expect(error).toMatchObject({ code: "provider_unreachable", hints: ["Check TEST_URL."] });
      },
    );

    it("says that the address is wrong when even the list of models is not there", async () => {
      const { url } = await start(json({ detail: "Not Found" }, 404));
      const failure = await failureOf((await openClient(api, url)).listModels!());
      expect(failure).toMatchObject({ code: "provider_failed", hints: ["Check TEST_URL."] });
      expect(failure.message).toContain("(HTTP 404): Not Found");
    });

    it("gives each piece before the next one is sent", async () => {
      let next: () => void = () => undefined;
      const { url } = await start(async (response) => {
        openStream(response, api.opening("first"));
        await new Promise<void>((resume) => {
          next = resume;
        });
        for (const end of api.ending()) response.write(end);
        response.end();
      });
      const seen: string[] = [];
      for await (const part of (await openClient(api, url)).stream(ASK)) {
        seen.push(part.type);
        if (part.type === "delta") next();
      }
      expect([seen[0], seen.at(-1)]).toEqual(["delta", "stop"]);
    });

    it("does not follow a redirect, which would take the key along", async () => {
      const { url, requests } = await start((response) => {
        response.writeHead(307, { location: "http://127.0.0.1:1/elsewhere?key=x" });
        response.end();
      });
      const failure = await failureOf((await openClient(api, url)).complete(ASK));
      expect(failure).toMatchObject({ code: "provider_failed", hints: ["Check TEST_URL."] });
      expect(failure.message).toContain("http://127.0.0.1:1/elsewhere");
      expect(requests).toHaveLength(1);
    });

    it("knows a web page from an API", async () => {
      const { url } = await start((response) => {
        response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
        response.end("<html><body>Welcome</body></html>");
      });
      const { error } = await collect((await openClient(api, url)).stream(ASK));
      expect(error).toMatchObject({ code: "provider_failed", hints: ["Check TEST_URL."] });
    });

    it("works under an address with a path", async () => {
      const { url, requests } = await start(json(api.whole("fine")));
      const client = await openClient({ ...api, path: `/deep/er${api.path}/` }, url);
      expect((await client.complete(ASK)).parts).toMatchObject([{ kind: "message", text: "fine" }]);
      expect(requests[0]!.url.startsWith("/deep/er/v1")).toBe(true);
    });

    it("lists models", async () => {
      const { url, requests } = await start(json(api.models.body));
      const models = await (await openClient(api, url)).listModels!();
      expect(models).toContainEqual(expect.objectContaining({ name: "model-1", contextWindow: 1000 }));
      expect(requests[0]!.url.startsWith(`${api.path}${api.models.path}`)).toBe(true);
    });
  });
}

/** Lets time pass until something has come, with fake timers. */
async function overdue<Value>(coming: Promise<Value>): Promise<Value> {
  let hasCome = false;
  void coming.finally(() => {
    hasCome = true;
  });
  while (!hasCome) {
    await setImmediate();
    await vi.advanceTimersByTimeAsync(80);
  }
  return coming;
}

/** Where nothing listens: no system gives this port to whoever asks for any. */
const UNUSED_URL = "http://127.0.0.1:1";
