// What the contract of model clients needs to know of an API, and what its tests share.
import { inspect } from "node:util";
import { expect } from "vitest";
import type { View } from "../../src/core/conversation/event.ts";
import { JpgError } from "../../src/core/errors.ts";
import type { ProviderApi } from "../../src/core/model/model-provider.ts";
import type { LlmClient, LlmConnection, LlmRequest, StreamPart } from "../../src/llm/client.ts";
import { createClient } from "../../src/llm/create-client.ts";
import { kept, request as userRequest, view } from "../helpers/sample-view.ts";

/** A refusal as a provider words it. */
export interface Refusal {
  readonly status: number;
  readonly body: unknown;
}

/** One API with the bytes that it speaks. */
export interface ApiUnderTest {
  readonly api: ProviderApi;
  readonly provider: string;
  /** What stands between the server's address and the paths of the API. */
  readonly path: string;
  /** Blocks that stream a text and do not end the answer. */
  opening(text: string): readonly string[];
  /** Blocks that end it. */
  ending(): readonly string[];
  /** An answer in one piece. */
  whole(text: string): unknown;
  readonly wrongKey: Refusal;
  readonly unknownModel: Refusal;
  /** Every wording that is known. */
  readonly tooLong: readonly Refusal[];
  readonly rateLimited: Refusal;
  readonly overloaded: Refusal;
  /** A block that brings an overload inside a stream. */
  readonly overloadedBlock: string;
  /** Path and answer of the list of models, and the model it names. */
  readonly models: { readonly path: string; readonly body: unknown };
}

/** A key that no message may show. */
export const KEY = "sk-test-0123456789abcdefghij";

export const HELLO: View = view(kept(0, userRequest("a", "hello")));

export const ASK: LlmRequest = { model: "model-1", view: HELLO };

interface ClientOptions extends Partial<LlmConnection> {
  /** Collects how long it would have waited between tries. */
  readonly waits?: number[];
  /** Waits in earnest. */
  readonly sleeps?: boolean;
}

/** Opens a client on a server. */
export function openClient(
  { api, provider, path }: Pick<ApiUnderTest, "api" | "provider" | "path">,
  url: string,
  options: ClientOptions = {},
): Promise<LlmClient> {
  const { waits, sleeps = false, ...rest } = options;
  return createClient({
    api,
    provider,
    baseUrl: `${url}${path}`,
    apiKey: KEY,
    keySetting: "TEST_KEY",
    urlSetting: "TEST_URL",
    ...(sleeps ? {} : { sleep: async (milliseconds) => void waits?.push(milliseconds) }),
    ...rest,
  });
}

/** Reads a stream to its end, with what it threw. */
export async function collect(
  parts: AsyncIterable<StreamPart>,
): Promise<{ readonly parts: readonly StreamPart[]; readonly error: JpgError | null }> {
  const seen: StreamPart[] = [];
  try {
    await collectInto(seen, parts);
    return { parts: seen, error: null };
  } catch (error) {
    return { parts: seen, error: checked(error) };
  }
}

/** Reads a stream to its end, for who looks at its parts meanwhile. */
export async function collectInto(seen: StreamPart[], parts: AsyncIterable<StreamPart>): Promise<void> {
  for await (const part of parts) seen.push(part);
}

/** Gives the error that a promise rejects with. */
export async function failureOf(promise: Promise<unknown>): Promise<JpgError> {
  try {
    await promise;
  } catch (error) {
    return checked(error);
  }
  throw new Error("expected a failure");
}

/** What holds for each error: its kind, whom it names, and that it shows no key, however deep one looks. */
function checked(error: unknown): JpgError {
  if (!(error instanceof JpgError)) throw error;
  expect(error.kind).toBe("provider");
  expect(error.message).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/);
  const everything = `${inspect(error, { depth: 9, showHidden: true })} ${error.stack} ${error.hints.join(" ")}`;
  expect(everything).not.toContain(KEY.slice(0, 12));
  expect(everything).not.toContain(KEY.slice(-8));
  return error;
}

/** The texts of a stream, by kind. */
export function deltasOf(parts: readonly StreamPart[], kind: "message" | "reasoning"): readonly string[] {
  return parts.flatMap((part) => (part.type === "delta" && part.kind === kind ? [part.text] : []));
}

export function stopOf(parts: readonly StreamPart[]): Extract<StreamPart, { readonly type: "stop" }>["stop"] {
  const last = parts.at(-1);
  if (last?.type !== "stop") throw new Error(`expected a stop last, received ${JSON.stringify(last)}`);
  return last.stop;
}
