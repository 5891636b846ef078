// @module-tag law
// Laws of reading OpenCode's sessions, on drawn ones. What OpenCode sends is told by a second reading of its rules, written from
// what the program itself does (1.18.33) without looking at the importer.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { JpgError } from "../../../src/core/errors.ts";
import type { ImportedSession } from "../../../src/formats/imported-session.ts";
import { readOpenCodeSession } from "../../../src/formats/opencode/agent.ts";
import { mutatedOpenCodeSession } from "../../helpers/mutated-session.ts";
import { readOpenCode, sentLines, turnsOfSession } from "../../helpers/opencode-session.ts";
import { anyOpenCodeSteps, openCodeSteps, writeOpenCode } from "../../helpers/opencode-steps.ts";
import { runs } from "../../helpers/runs.ts";

type Json = Record<string, unknown>;
interface WrittenMessage {
  readonly info: Json;
  readonly parts: readonly Json[];
}

/** The messages that OpenCode picks: from the newest back to a summary, and the tail that this one keeps, behind it. */
function picked(all: readonly WrittenMessage[]): readonly WrittenMessage[] {
  const asks = ({ info, parts }: WrittenMessage): Json | undefined =>
    info["role"] === "user" ? parts.find(({ type }) => type === "compaction") : undefined;
  const summarised = new Set<unknown>();
  const taken: WrittenMessage[] = [];
  let until: unknown;
  for (const message of all.toReversed()) {
    taken.unshift(message);
    const { id, role, summary, finish, error, parentID } = message.info;
    if (until !== undefined) {
      if (id === until) break;
      continue;
    }
    const question = summarised.has(id) ? asks(message) : undefined;
    if (question !== undefined) {
      until = question["tail_start_id"];
      if (until === undefined || until === id) break;
    } else if (role === "assistant" && summary === true && finish !== undefined && error === undefined) {
      summarised.add(parentID);
    }
  }
  const question = taken.findLastIndex((message) => asks(message)?.["tail_start_id"] !== undefined);
  const asked = taken[question];
  if (asked === undefined) return taken;
  const isAnswer = ({ info }: WrittenMessage): boolean =>
    info["parentID"] === asked.info["id"] && info["summary"] === true;
  const answer = taken.findIndex((message, at) => at > question && isAnswer(message));
  const tail = taken.findIndex(({ info }) => info["id"] === asks(asked)?.["tail_start_id"]);
  if (tail < 0 || tail >= question || answer < 0) return taken;
  return [...taken.slice(question, answer + 1), ...taken.slice(tail, question), ...taken.slice(answer + 1)];
}

/** What OpenCode sends, a line each; a call that has no result has none here either. */
function documented(all: readonly WrittenMessage[]): readonly string[] {
  return picked(all).flatMap(({ info, parts }) => {
    if (info["role"] === "user")
      return parts.map(({ type, text }) => `user: ${type === "compaction" ? "What did we do so far?" : String(text)}`);
    if ((info["error"] as Json | undefined)?.["name"] === "APIError") return [];
    const tools = parts.filter(({ type }) => type === "tool");
    const said = parts.map(({ type, text, callID }) =>
      type === "tool" ? `call ${String(callID)}` : `assistant: ${String(text)}`,
    );
    return [...said, ...tools.flatMap(resultOf)];
  });
}

function resultOf({ callID, state }: Json): readonly string[] {
  const { status, output, error, time, attachments } = state as Json;
  if (status === "error") return [`result ${String(callID)}: ${String(error)}`];
  if (status !== "completed") return [];
  if ((time as Json)["compacted"] !== undefined) return [`result ${String(callID)}: [Old tool result content cleared]`];
  return [`result ${String(callID)}: ${String(output)}${attachments === undefined ? "" : " image"}`];
}

const everyEvent = (session: ImportedSession): readonly string[] =>
  turnsOfSession(session).flatMap(({ events }) => events.map((event) => JSON.stringify(event)));

describe("laws of reading OpenCode's sessions", () => {
  it("sends what OpenCode sends", () => {
    fc.assert(
      fc.property(fc.array(anyOpenCodeSteps, { maxLength: 20 }), (steps) => {
        const written = writeOpenCode(steps);
        expect(sentLines(readOpenCode(written))).toEqual(documented(written.messages));
      }),
      { numRuns: runs(400) },
    );
  });

  it("more messages only add; ids are unique", () => {
    fc.assert(
      fc.property(fc.array(openCodeSteps, { maxLength: 20 }), fc.nat(20), (steps, cut) => {
        const [shorter, longer] = [writeOpenCode(steps.slice(0, cut)), writeOpenCode(steps)].map(readOpenCode);
        const [before, after] = [turnsOfSession(shorter!), turnsOfSession(longer!)];
        const last = before.at(-1)!;
        expect(after.slice(0, last.index)).toEqual(before.slice(0, -1));
        expect(after[last.index]!.events.slice(0, last.events.length)).toEqual(last.events);
        const ids = after.flatMap(({ events }) => events.map(({ id }) => id));
        expect(new Set(ids).size).toBe(ids.length);
      }),
      { numRuns: runs(150) },
    );
  });

  it("what OpenCode makes smaller later leaves all events as they are", () => {
    fc.assert(
      fc.property(fc.array(anyOpenCodeSteps, { maxLength: 20 }), fc.nat(20), (steps, cut) => {
        const [shorter, longer] = [writeOpenCode(steps.slice(0, cut)), writeOpenCode(steps)].map(readOpenCode);
        const held = new Set(everyEvent(longer!));
        expect(everyEvent(shorter!).filter((event) => !held.has(event))).toEqual([]);
        const times = longer!.compactions.map(({ timestamp }) => timestamp);
        expect([...new Set(times)].sort()).toEqual(times);
      }),
      { numRuns: runs(150) },
    );
  });

  it("reads a damaged document, or says that it is none; always the same", () => {
    fc.assert(
      fc.property(mutatedOpenCodeSession("ses_5e55mut0opencode"), (text) => {
        const read = (): unknown => {
          const session = readOpenCodeSession(createBufferSource(Buffer.from(text)));
          const { readTurn, hasLine, turnLine, turnTime, abandoned, ...plain } = session;
          return [
            plain,
            turnsOfSession(session),
            abandoned.map((branch) => Array.from({ length: branch.turnCount }, (_, at) => branch.readTurn(at))),
          ];
        };
        try {
          expect(read()).toEqual(read());
        } catch (error) {
          if (!(error instanceof JpgError) || error.code !== "not_a_session") throw error;
        }
      }),
      { numRuns: runs(200) },
    );
  });
});
