// @module-tag law
// Laws of reading pi's sessions, on drawn ones. What pi sends is told by a second reading of its rules, written from pi's own
// documentation without looking at the importer.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { textOfContent } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { JpgError } from "../../../src/core/errors.ts";
import type { ImportedSession } from "../../../src/formats/imported-session.ts";
import { readPiSession } from "../../../src/formats/pi/read.ts";
import { mutatedPiSession } from "../../helpers/mutated-session.ts";
import { inForce, type PiWriter, readPi, turnsOf } from "../../helpers/pi-session.ts";
import { addingSteps, anySteps, writePi } from "../../helpers/pi-steps.ts";
import { runs } from "../../helpers/runs.ts";

type Json = Record<string, unknown>;
/** What pi's documentation says that it sends: the text of each message, a call and its result by their id. */
function documented({ lines }: PiWriter): readonly string[] {
  const byId = new Map(lines.slice(1).map((line) => [line["id"], line]));
  const path: Json[] = [];
  for (let at = lines.length > 1 ? lines.at(-1) : undefined; at !== undefined; at = byId.get(at["parentId"]))
    path.unshift(at);
  const newest = path.findLastIndex(({ type }) => type === "compaction");
  const kept = path.findIndex(({ id }) => id === path[newest]?.["firstKeptEntryId"]);
  const before = kept < 0 ? [] : path.slice(kept, Math.max(newest, kept));
  const entries = newest < 0 ? path : [path[newest]!, ...before, ...path.slice(newest + 1)];
  const edits = new Map(entries.filter(({ type }) => type === "context_edit").map((edit) => [edit["targetId"], edit]));
  return entries.flatMap((entry, at) => {
    if (entry["type"] === "compaction") {
      const text = `The conversation history before this point was compacted into the following summary:\n\n<summary>\n`;
      return at === 0 && newest >= 0 ? [`${text}${String(entry["summary"])}\n</summary>`] : [];
    }
    return edited(entry, edits.get(entry["id"]));
  });
}

function edited(entry: Json, edit: Json | undefined): readonly string[] {
  const message = (entry["message"] ?? {}) as Json;
  const replacement = edit?.["replacement"] as Json | null | undefined;
  if (replacement === null || message["stopReason"] === "aborted") return [];
  const content = replacement?.["content"] ?? message["content"] ?? entry["content"];
  if (entry["type"] === "branch_summary")
    return [
      `The following is a summary of a branch that this conversation came back from:\n\n<summary>\n${String(entry["summary"])}</summary>`,
    ];
  if (message["role"] === "bashExecution") return [`Ran \`${String(message["command"])}\`\n\`\`\`\nkelp\n\`\`\``];
  if (entry["type"] !== "message" && entry["type"] !== "custom_message") return [];
  if (typeof content === "string") return [content];
  return (content as readonly Json[]).flatMap((block) => (block["type"] === "text" ? [String(block["text"])] : []));
}

/** The texts of the view, as it is before anything is repaired for a provider. */
function viewed(session: ImportedSession): readonly string[] {
  const { turns } = projectTurns(turnsOf(session), inForce(session));
  return turns
    .flatMap(({ events }) => events)
    .flatMap((event): readonly string[] => {
      if (event.type === "chat_response") return [textOfContent(event.message ?? "")];
      return event.type === "chat_request" || event.type === "tool_call_response" ? [textOfContent(event.content)] : [];
    });
}

describe("laws of reading pi's sessions", () => {
  it("sends what pi's documentation says", () => {
    fc.assert(
      fc.property(fc.array(anySteps, { maxLength: 20 }), (steps) => {
        const pi = writePi(steps);
        expect(viewed(readPi(pi))).toEqual(documented(pi));
      }),
      { numRuns: runs(400) },
    );
  });

  it("a longer file only adds; ids are unique; the pieces join to the file", () => {
    fc.assert(
      fc.property(fc.array(addingSteps, { maxLength: 20 }), fc.nat(20), (steps, cut) => {
        const [shorter, longer] = [writePi(steps.slice(0, cut)), writePi(steps)].map(readPi);
        const turns = turnsOf(shorter!);
        const last = turns.at(-1)!;
        expect(turnsOf(longer!).slice(0, last.index)).toEqual(turns.slice(0, -1));
        expect(longer!.readTurn(last.index).slice(0, last.events.length)).toEqual(last.events);
        expect(longer!.compactions.slice(0, shorter!.compactions.length)).toEqual(shorter!.compactions);
        const ids = turnsOf(longer!).flatMap(({ events }) => events.map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
        const starts = turnsOf(longer!).map(({ index }) => longer!.turnLine(index));
        expect(starts).toEqual([...new Set(starts)].sort((a, b) => a - b));
        expect(starts[0]).toBe(0);
      }),
      { numRuns: runs(100) },
    );
  });

  it("reads a damaged file, or says that it is none; always the same", { tags: ["slow"] }, () => {
    fc.assert(
      fc.property(mutatedPiSession("5e55mut0-pi"), (text) => {
        const read = (): unknown => {
          const session = readPiSession(createBufferSource(Buffer.from(text)));
          const { readTurn, hasLine, turnLine, turnTime, abandoned, live, ...plain } = session;
          return [
            plain,
            [live?.marks, live?.undone],
            turnsOf(session),
            abandoned.map((branch) => Array.from({ length: branch.turnCount }, (_, at) => branch.readTurn(at))),
          ];
        };
        try {
          expect(read()).toEqual(read());
        } catch (error) {
          if (!(error instanceof JpgError) || error.code !== "not_a_session") throw error;
        }
      }),
      { numRuns: runs(150) },
    );
  });
});
