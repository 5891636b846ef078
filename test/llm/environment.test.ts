// The libraries of the providers read the environment, print warnings and send headers about the machine. Nothing of that here.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type ApiUnderTest, ASK, collect, KEY, openClient } from "../contract/llm-under-test.ts";
import { json, type RawServer, startRawServer } from "../helpers/raw-server.ts";

type Api = Pick<ApiUnderTest, "api" | "provider" | "path">;

const APIS: readonly Api[] = [
  { api: "anthropic", provider: "anthropic", path: "" },
  { api: "openai-chat", provider: "openai", path: "/v1" },
  { api: "openai-responses", provider: "openai", path: "/v1" },
  { api: "google", provider: "google", path: "" },
];

/** What the libraries look for, each set to something that would show. */
const HOSTILE: Readonly<Record<string, string>> = {
  ANTHROPIC_API_KEY: "env-key-1",
  ANTHROPIC_AUTH_TOKEN: "env-key-2",
  ANTHROPIC_BASE_URL: "http://127.0.0.1:9/env",
  ANTHROPIC_CUSTOM_HEADERS: "x-env: 1\nanthropic-version: 2000-01-01\nauthorization: Bearer env-key-3",
  ANTHROPIC_LOG: "debug",
  ANTHROPIC_PROFILE: "env",
  OPENAI_API_KEY: "env-key-4",
  OPENAI_ADMIN_KEY: "env-key-5",
  OPENAI_BASE_URL: "http://127.0.0.1:9/env",
  OPENAI_ORG_ID: "env-org",
  OPENAI_PROJECT_ID: "env-project",
  OPENAI_CUSTOM_HEADERS: "x-env: 1\nauthorization: Bearer env-key-6",
  OPENAI_LOG: "debug",
  GOOGLE_API_KEY: "env-key-7",
  GEMINI_API_KEY: "env-key-8",
  GOOGLE_GENAI_USE_VERTEXAI: "true",
  GOOGLE_GENAI_USE_ENTERPRISE: "false",
  GOOGLE_GEMINI_BASE_URL: "http://127.0.0.1:9/env",
  GOOGLE_CLOUD_PROJECT: "env-project",
  OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:9/env",
};

/** All that a request may say about itself; the second row is HTTP's own. */
const HEADERS = new Set([
  ...["accept", "content-type", "user-agent", "authorization", "x-goog-api-key", "anthropic-version"],
  ...["host", "connection", "content-length", "accept-encoding"],
]);

describe.each(APIS)("$api client, whatever the environment holds,", (api) => {
  let server: RawServer;
  const written = ["log", "info", "warn", "error", "debug"] as const;

  beforeEach(() => {
    for (const [name, value] of Object.entries(HOSTILE)) vi.stubEnv(name, value);
    for (const method of written) vi.spyOn(console, method).mockImplementation(() => undefined);
  });
  afterEach(async () => {
    expect(written.flatMap((method) => vi.mocked(console[method]).mock.calls)).toEqual([]);
    vi.restoreAllMocks();
    vi.unstubAllEnvs();
    await server.close();
  });

  async function headersOf(apiKey: string): Promise<Readonly<Record<string, unknown>>> {
    server = await startRawServer(json({ error: { message: "no" } }, 400));
    const client = await openClient(api, server.url, { apiKey });
    // A model that a library warns about.
    await collect(client.stream({ ...ASK, model: "claude-sonnet-4-5" }));
    await client.complete({ ...ASK, model: "claude-sonnet-4-5" }).catch(() => undefined);
    await client.listModels!().catch(() => undefined);
    expect(server.requests).toHaveLength(3);
    expect(JSON.stringify(server.requests)).not.toContain("env-");
    return server.requests[0]!.headers;
  }

  it("is signed with the key it was given and says nothing else about itself", async () => {
    const headers = await headersOf(KEY);
    expect(Object.keys(headers).filter((name) => !HEADERS.has(name))).toEqual([]);
    expect(headers["user-agent"]).toBe("jpg");
    expect(headers["authorization"] ?? headers["x-goog-api-key"]).toMatch(new RegExp(`^(?:Bearer )?${KEY}$`));
  });

  it("is not signed at all without a key", async () => {
    const headers = await headersOf("");
    expect([headers["authorization"], headers["x-goog-api-key"], headers["x-api-key"]]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
