// @module-tag law
// Laws of jpg's view in a running session of OpenCode, on drawn sessions and compactions: the session with the changes that the
// plug-in makes says what the view says.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { type Event, textOfContent, type View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import type { LiveEdits } from "../../../src/formats/live-writer.ts";
import { readOpenCodeSession } from "../../../src/formats/opencode/agent.ts";
import { OPENCODE_LIVE } from "../../../src/formats/opencode/live.ts";
import { openCodeSteps, writeOpenCode } from "../../helpers/opencode-steps.ts";
import { turnsOf } from "../../helpers/pi-session.ts";
import { randomCompaction } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

type Json = Record<string, unknown>;

interface Document {
  readonly info: Json;
  readonly messages: { readonly info: Json; parts: Json[] }[];
}

/** The session as the plug-in lets OpenCode send it. */
function changed(bytes: Buffer, { edits }: LiveEdits): Buffer {
  const document = JSON.parse(bytes.toString()) as Document;
  const changes = new Map(edits.map(({ handle, replacement }) => [handle, replacement as Json | null]));
  for (const message of document.messages)
    message.parts = message.parts.flatMap((part) => {
      const change = changes.get(String(part["id"]));
      if (change === null) return [];
      if (change === undefined) return [part];
      if (change["state"] !== undefined)
        return [{ ...part, state: { ...(part["state"] as Json), ...(change["state"] as Json) } }];
      return [
        {
          ...part,
          ...(part["type"] === "text" || part["type"] === "reasoning" ? {} : { type: "text" }),
          text: change["text"],
        },
      ];
    });
  return Buffer.from(JSON.stringify(document));
}

function linesOf({ turns }: View): readonly string[] {
  return turns
    .flatMap(({ events }) => events)
    .flatMap(lineOf)
    .filter((line) => !line.endsWith(": "));
}

function lineOf(event: Event): readonly string[] {
  switch (event.type) {
    case "chat_request":
      return textOfContent(event.content)
        .split("\n")
        .map((line) => `user: ${line}`);
    case "chat_response":
      return textOfContent(event.message ?? event.reasoning ?? "")
        .split("\n")
        .map((line) => `assistant: ${line}`);
    case "tool_call_request":
      return [`call ${event.call_id} ${event.name} ${JSON.stringify(event.arguments)}`];
    case "tool_call_response":
      return [`result ${event.call_id} ${textOfContent(event.content)}`];
    default:
      return [];
  }
}

function viewOf(bytes: Buffer): View {
  const session = readOpenCodeSession(createBufferSource(bytes));
  return projectTurns(turnsOf(session), session.compactions);
}

function editsOf(bytes: Buffer, view: View): LiveEdits {
  const found = OPENCODE_LIVE.edits?.({ source: createBufferSource(bytes), lineId: (name) => `written-${name}` }, view);
  if (found === undefined) throw new Error("OpenCode takes no edits.");
  return found;
}

const steps = fc.array(openCodeSteps, { minLength: 1, maxLength: 15 });

describe("laws of jpg's view in a running session of OpenCode", () => {
  it("the session with the changes says what the view says, unless it is said that something differs; without compactions nothing changes", () => {
    fc.assert(
      fc.property(
        steps.chain((list) => {
          const turns = turnsOf(readOpenCodeSession(createBufferSource(writeOpenCode(list).bytes())));
          const made = turns.length === 0 ? fc.constant([]) : fc.array(randomCompaction(turns), { maxLength: 3 });
          return made.map((all) => ({ list, made: all }));
        }),
        ({ list, made }) => {
          const bytes = writeOpenCode(list).bytes();
          const session = readOpenCodeSession(createBufferSource(bytes));
          const turns = turnsOf(session);
          expect(editsOf(bytes, viewOf(bytes))).toEqual({ edits: [], differences: [] });
          const later = made.map((one, at) => ({ ...one, id: `made${at}`, timestamp: `2027-01-02T10:00:0${at}.000Z` }));
          const view = projectTurns(turns, [...session.compactions, ...later]);
          const found = editsOf(bytes, view);
          if (found.differences.length === 0) expect(linesOf(viewOf(changed(bytes, found)))).toEqual(linesOf(view));
        },
      ),
      { numRuns: runs(300) },
    );
  });
});
