// @module-tag law
// Laws of jpg's view in a running session of pi, on drawn sessions and compactions: what pi sends with the edits is the view. What
// pi sends is told by a second reading of its documentation.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { type Event, textOfContent, type View } from "../../../src/core/conversation/event.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import type { LiveEdits } from "../../../src/formats/live-writer.ts";
import { PI_LIVE } from "../../../src/formats/pi/live.ts";
import { inForce, type PiWriter, readPi, turnsOf } from "../../helpers/pi-session.ts";
import { addingSteps, writePi } from "../../helpers/pi-steps.ts";
import { randomCompaction } from "../../helpers/random-conversation.ts";
import { runs } from "../../helpers/runs.ts";

type Json = Record<string, unknown>;

/** What pi sends, a line for each block, by its documentation: the newest compaction, then entries with their newest edits. */
function sentBy({ lines }: PiWriter): readonly string[] {
  const byId = new Map(lines.slice(1).map((line) => [line["id"], line]));
  const path: Json[] = [];
  for (let at = lines.length > 1 ? lines.at(-1) : undefined; at !== undefined; at = byId.get(at["parentId"]))
    path.unshift(at);
  const newest = path.findLastIndex(({ type }) => type === "compaction");
  const kept = path.findIndex(({ id }) => id === path[newest]?.["firstKeptEntryId"]);
  const before = kept < 0 ? [] : path.slice(kept, Math.max(newest, kept));
  const entries = newest < 0 ? path : [...before, ...path.slice(newest + 1)];
  const edits = new Map(entries.filter(({ type }) => type === "context_edit").map((edit) => [edit["targetId"], edit]));
  const summary = newest < 0 ? [] : [`${FRAME}${String(path[newest]!["summary"])}\n</summary>`];
  return [...summary, ...entries.flatMap((entry) => entryLines(entry, edits.get(entry["id"])))];
}

const FRAME =
  "user: The conversation history before this point was compacted into the following summary:\n\n<summary>\n";

function entryLines(entry: Json, edit: Json | undefined): readonly string[] {
  const message = (entry["message"] ?? {}) as Json;
  if (edit?.["replacement"] === null) return [];
  if (entry["type"] === "branch_summary")
    return [
      `user: The following is a summary of a branch that this conversation came back from:\n\n<summary>\n${String(entry["summary"])}</summary>`,
    ];
  if (message["role"] === "bashExecution") return [`user: Ran \`${String(message["command"])}\`\n\`\`\`\nkelp\n\`\`\``];
  if (entry["type"] !== "message" && entry["type"] !== "custom_message") return [];
  if (message["stopReason"] === "aborted") return [];
  const role = message["role"] === "assistant" ? "assistant" : "user";
  const given = (edit?.["replacement"] as Json | undefined)?.["content"] ?? message["content"] ?? entry["content"];
  const blocks = typeof given === "string" ? [{ type: "text", text: given }] : (given as readonly Json[]);
  return blocks.map((block) =>
    block["type"] === "toolCall"
      ? `${role}: call ${String(block["name"])} ${JSON.stringify(block["arguments"])}`
      : `${role}: ${String(block["text"])}`,
  );
}

function linesOf({ turns }: View): readonly string[] {
  return turns.flatMap(({ events }) => events).flatMap(eventLines);
}

function eventLines(event: Event): readonly string[] {
  switch (event.type) {
    case "chat_request":
    case "tool_call_response":
      return [`user: ${textOfContent(event.content)}`];
    case "chat_response":
      return [`assistant: ${textOfContent(event.message ?? "")}`];
    case "tool_call_request":
      return [`assistant: call ${event.name} ${JSON.stringify(event.arguments)}`];
    default:
      return [];
  }
}

/** Writes what the extension would write. */
function install(pi: PiWriter, { edits, restart }: LiveEdits): void {
  if (restart !== undefined)
    pi.add({ type: "compaction", summary: restart.text, firstKeptEntryId: restart.firstKept, tokensBefore: 0 });
  for (const { handle, replacement } of edits) pi.add({ type: "context_edit", targetId: handle, replacement });
}

function editsOf(pi: PiWriter, view: View): LiveEdits {
  const session = { source: createBufferSource(pi.bytes()), lineId: (name: string) => `written-${name}` };
  const found = PI_LIVE.edits?.(session, view);
  if (found === undefined) throw new Error("pi takes no edits.");
  return found;
}

/** What the view begins with is one text where pi begins with a compaction. */
function expectSame(sent: readonly string[], shown: readonly string[]): void {
  if (!sent[0]?.startsWith(FRAME) || sent[0] === shown[0]) {
    expect(sent).toEqual(shown);
    return;
  }
  const [opening = "", ...rest] = sent;
  const head = shown.slice(0, shown.length - rest.length);
  expect(rest).toEqual(shown.slice(head.length));
  if (head.length === 0) expect(opening).toContain("Nothing is summarised here any more");
  for (const line of head.filter((one) => !one.includes("[Summary of previous conversation]")))
    expect(opening).toContain(
      line
        .replace(/^\w+: /, "")
        .replace(FRAME.slice(6), "")
        .replace("\n</summary>", ""),
    );
}

/** pi cuts no answer from its results, and edits no commands and summaries of branches. */
function isOfPi({ lines }: PiWriter): boolean {
  const fixed = lines.filter((line) => {
    const role = (line["message"] as Json | undefined)?.["role"];
    return line["type"] === "branch_summary" || role === "bashExecution";
  });
  return lines.every((line, at) => {
    if (line["type"] === "context_edit") return fixed.every(({ id }) => id !== line["targetId"]);
    if (line["type"] !== "compaction") return true;
    const kept = lines.findIndex(({ id }) => id === line["firstKeptEntryId"]);
    const first = lines.slice(Math.max(0, kept), at).find(({ type }) => type === "message");
    return (first?.["message"] as Json | undefined)?.["role"] !== "toolResult";
  });
}

const steps = fc.array(addingSteps, { minLength: 1, maxLength: 20 }).filter((list) => isOfPi(writePi(list)));
/** Seeds of compactions: they depend on the session. */
const drawn = fc.tuple(steps, fc.infiniteStream(fc.nat()));

describe("laws of jpg's view in a running session of pi", () => {
  it("what pi sends with the edits is the view, unless it is said that something differs; undoing gives the first context back", () => {
    fc.assert(
      fc.property(
        drawn.chain(([list]) => {
          const session = readPi(writePi(list));
          const turns = turnsOf(session);
          if (turns.length === 0) return fc.constant({ list, made: [] as Compaction[] });
          const made = fc.array(randomCompaction(turns), { maxLength: 3 });
          return made.map((all) => ({ list, made: all as Compaction[] }));
        }),
        ({ list, made }) => {
          const pi = writePi(list);
          const session = readPi(pi);
          const turns = turnsOf(session);
          const first = sentBy(pi);
          const later = made.map((one, at) => ({ ...one, id: `made${at}`, timestamp: `2027-01-02T10:00:0${at}.000Z` }));
          const raw = projectTurns(turns, inForce(session));
          expect(editsOf(pi, raw)).toEqual({ edits: [], differences: [], restart: undefined });
          for (let count = 1; count <= later.length; count++) {
            const view = projectTurns(turns, [...inForce(session), ...later.slice(0, count)]);
            const found = editsOf(pi, view);
            install(pi, found);
            if (found.differences.length === 0) expectSame(sentBy(pi), linesOf(view));
            expect(editsOf(pi, view).edits).toEqual([]);
          }
          const undone = editsOf(pi, raw);
          install(pi, undone);
          if (undone.differences.length === 0) expectSame(sentBy(pi), first);
        },
      ),
      { numRuns: runs(400) },
    );
  });
});
