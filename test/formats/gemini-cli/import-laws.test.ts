// @module-tag law
// What holds of every session of Gemini CLI: its view is what the agent sends, a longer file only adds, each event has an id of its
// own, no damage makes the reader fail.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { type Event, textOfContent } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { checkGoogle } from "../../../src/core/model/google-rules.ts";
import { readGeminiSession } from "../../../src/formats/gemini-cli/agent.ts";
import { exportGoogle } from "../../../src/formats/google/write.ts";
import type { ImportedSession } from "../../../src/formats/imported-session.ts";
import {
  importGemini,
  type Json,
  loadedMessages,
  sentWords,
  sessionBytes,
  turnsOf,
} from "../../helpers/gemini-session.ts";
import { anySteps, growingSteps, writeSteps } from "../../helpers/gemini-steps.ts";
import { mutatedGeminiSession } from "../../helpers/mutated-session.ts";
import { runs } from "../../helpers/runs.ts";

/** A view part by part; requests that the agent leaves out when it resumes a session are left out. */
function viewWords(session: ImportedSession): readonly string[] {
  return projectTurns(turnsOf(session), session.compactions).turns.flatMap(({ events }) => events.flatMap(wordsOf));
}

function wordsOf(event: Event): readonly string[] {
  switch (event.type) {
    case "chat_request": {
      const parts = Array.isArray(event.content) ? event.content : [{ type: "text", text: event.content }];
      const words = parts.map((part: Json) => `user: ${String(part["text"])}`);
      return words.filter((text) => !text.startsWith("user: /"));
    }
    case "chat_response": {
      if (event.message === undefined) return [];
      const parts = Array.isArray(event.message) ? event.message : [{ type: "text", text: event.message }];
      return parts.map((part: Json) => `model: ${String(part["text"])}`);
    }
    case "tool_call_request":
      return [`call ${event.name} ${JSON.stringify(event.arguments)}`];
    case "tool_call_response":
      return [`result ${textOfContent(event.content)}`];
    default:
      return [];
  }
}

const ids = (session: ImportedSession): readonly string[] =>
  turnsOf(session).flatMap(({ events }) => events.map(({ id }) => id));

describe("every session of Gemini CLI", () => {
  it("is shown as the agent sends it", () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        // Words of the agent that introduce a request are shown with the request.
        const records = writeSteps([...steps, { do: "ask" }]);
        expect(viewWords(importGemini(records))).toEqual(sentWords(loadedMessages(records)));
      }),
      { numRuns: runs(500) },
    );
  });

  it("only adds to the newest turn, and to the compactions, when records are appended", () => {
    fc.assert(
      fc.property(growingSteps, fc.nat(), (steps, cut) => {
        const records = writeSteps(steps);
        const first = records.slice(0, 1 + (cut % records.length));
        const [earlier, later] = [importGemini(first), importGemini(records)];
        const [turns, grown] = [turnsOf(earlier), turnsOf(later)];
        expect(grown.slice(0, Math.max(0, turns.length - 1))).toEqual(turns.slice(0, -1));
        const newest = turns.at(-1)?.events ?? [];
        expect(grown[turns.length - 1]?.events.slice(0, newest.length) ?? []).toEqual(newest);
        expect(later.compactions.slice(0, earlier.compactions.length)).toEqual(earlier.compactions);
        expect(turns.map(({ index }) => later.turnLine(index))).toEqual(
          turns.map(({ index }) => earlier.turnLine(index)),
        );
      }),
      { numRuns: runs(500) },
    );
  });

  it("gives every event an id of its own, and shares with a left branch the turns that it says", () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const session = importGemini(writeSteps(steps));
        const replaced = session.compactions.flatMap(({ replacement = [] }) => replacement.map(({ id }) => id));
        const all = [...ids(session), ...replaced];
        expect(new Set(all).size).toBe(all.length);
        for (const branch of session.abandoned) {
          expect(turnsOf(branch)).toHaveLength(branch.turnCount);
          expect(turnsOf(branch).slice(0, branch.commonTurns)).toEqual(turnsOf(session).slice(0, branch.commonTurns));
        }
      }),
      { numRuns: runs(300) },
    );
  });

  it("is cut into pieces that never fall back", () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const session = importGemini(writeSteps(steps));
        const starts = turnsOf(session).map(({ index }) => session.turnLine(index));
        expect(starts).toEqual([...starts].sort((a, b) => a - b));
        expect(starts[0] ?? 0).toBe(0);
      }),
    );
  });

  it("is sent by rules that the provider accepts, whole and compacted", () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const session = importGemini(writeSteps(steps));
        for (const compactions of [session.compactions, []]) {
          const { contents } = exportGoogle(projectTurns(turnsOf(session), compactions), { complete: true });
          expect(contents.length === 0 ? [] : checkGoogle(contents, {})).toEqual([]);
        }
      }),
      { numRuns: runs(200) },
    );
  });

  it("is read whatever is wrong with it, the same at every reading, or refused by name", () => {
    fc.assert(
      fc.property(mutatedGeminiSession(), (text) => {
        const source = createBufferSource(Buffer.from(text));
        let session: ImportedSession;
        try {
          session = readGeminiSession(source);
        } catch (error) {
          expect(error).toMatchObject({ code: "not_a_session" });
          return;
        }
        const turns = turnsOf(session);
        expect(turnsOf(session)).toEqual(turns);
        expect(new Set(ids(session)).size).toBe(ids(session).length);
        for (const branch of session.abandoned) expect(turnsOf(branch)).toHaveLength(branch.turnCount);
        projectTurns(turns, session.compactions);
      }),
      { numRuns: runs(300) },
    );
  });

  it("gives the same events however its bytes are asked for", () => {
    fc.assert(
      fc.property(anySteps, (steps) => {
        const bytes = sessionBytes(writeSteps(steps));
        const [one, other] = [bytes, Buffer.from(bytes)].map((each) => readGeminiSession(createBufferSource(each)));
        expect(turnsOf(other!).toReversed()).toEqual(turnsOf(one!).toReversed());
        expect(other!.compactions).toEqual(one!.compactions);
      }),
    );
  });
});
