// @module-tag law
// What an API is sent comes back as it was: a request that jpg wrote, read and written again, is the same request. And nothing in
// a file makes the reader fail otherwise than by saying what is wrong.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatByName } from "../../../src/app/sessions/session-registry.ts";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import type { Turn, View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { exportAnthropic } from "../../../src/formats/anthropic/write.ts";
import { exportGoogle } from "../../../src/formats/google/write.ts";
import type { ImportedSession } from "../../../src/formats/imported-session.ts";
import { exportOpenAiChat } from "../../../src/formats/openai-chat/write.ts";
import { exportOpenAiResponses } from "../../../src/formats/openai-responses/write.ts";
import { randomTurns } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

const APIS: readonly (readonly [name: string, write: (view: View) => object])[] = [
  ["anthropic", exportAnthropic],
  ["openai-chat", exportOpenAiChat],
  ["openai-responses", exportOpenAiResponses],
  ["google", exportGoogle],
];

const WORDS = ["role", "user", "assistant", "content", "type", "text", "tool_use", "function_call", "__proto__"];
const ROLES = ["user", "assistant", "model", "tool", "system", "developer", "function"];
const KEYS = [
  ...["role", "content", "parts", "type", "text", "id", "name", "input", "arguments", "args", "call_id", "output"],
  ...["tool_calls", "function", "functionCall", "functionResponse", "response", "summary", "encrypted_content"],
  ...["image_url", "source", "data", "inlineData", "tool_use_id"],
];

function read(format: string, body: unknown): ImportedSession {
  return formatByName(format).read(createBufferSource(Buffer.from(JSON.stringify(body))));
}

function turnsOf(session: ImportedSession): readonly Turn[] {
  return Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
}

describe.each(APIS)("requests of %s", (name, write) => {
  it("come back as they were written", () => {
    fc.assert(
      fc.property(randomTurns, (turns) => {
        const body = write(projectTurns(turns, []));
        fc.pre((Object.values(body).find(Array.isArray) ?? []).length > 0);
        const session = read(name, body);
        expect(session.skippedLines).toEqual([]);
        expect(write(projectTurns(turnsOf(session), []))).toEqual(body);
      }),
      { numRuns: runs(150) },
    );
  });

  it("have ids of their own for every event, and only gain turns when they grow", () => {
    fc.assert(
      fc.property(randomTurns, (turns) => {
        const whole = write(projectTurns(turns, []));
        const [key, list] = Object.entries(whole).find(([, value]) => Array.isArray(value)) ?? ["", []];
        fc.pre(list.length > 1);
        const shorter = read(name, { ...whole, [key]: list.slice(0, -1) });
        const session = read(name, whole);
        const events = turnsOf(session).flatMap(({ events: all }) => all);
        expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
        const before = turnsOf(shorter).flatMap(({ events: all }) => all);
        if (shorter.sessionId === session.sessionId) expect(events.slice(0, before.length)).toEqual(before);
      }),
      { numRuns: runs(100) },
    );
  });

  it("that hold anything at all are read, or refused in words", () => {
    const odd = fc.oneof(fc.constantFrom(...WORDS), fc.jsonValue({ maxDepth: 2 }));
    const keys = fc.constantFrom(...KEYS);
    const thing = fc.dictionary(keys, fc.oneof(odd, fc.array(fc.dictionary(keys, odd), { maxLength: 3 })));
    const isRoleFree = name === "openai-responses";
    const message = fc
      .tuple(fc.constantFrom(...ROLES), thing)
      .map(([role, what]) => ({ role, parts: [], content: "", ...what, ...(isRoleFree ? {} : { role }) }));
    fc.assert(
      fc.property(fc.array(message, { minLength: 1, maxLength: 6 }), odd, (list, beside) => {
        const key = name === "google" ? "contents" : name === "openai-responses" ? "input" : "messages";
        const body = { system: beside, instructions: beside, systemInstruction: beside, tools: beside, [key]: list };
        try {
          const events = turnsOf(read(name, body)).flatMap(({ events: all }) => all);
          expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
        } catch (error) {
          expect(error).toBeInstanceOf(JpgError);
        }
      }),
      { numRuns: runs(300) },
    );
  });
});
