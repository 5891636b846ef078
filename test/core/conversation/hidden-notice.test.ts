// @module-tag law
// The notice of what a view hides: only when it is asked for, once, short, after the newest compaction that hides something.

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { isMessage, type View } from "../../../src/core/conversation/event.ts";
import { withoutNotice } from "../../../src/core/conversation/hidden-notice.ts";
import { projectTurns } from "../../../src/core/conversation/projection.ts";
import { estimateEvent } from "../../../src/core/conversation/token-estimate.ts";
import { formatReminder } from "../../../src/core/model/thread.ts";
import { call, callTurns } from "../../helpers/call-conversation.ts";
import { foreignConversation } from "../../helpers/foreign-events.ts";
import { runs } from "../../helpers/runs.ts";

const turns = callTurns([call("Read", { file_path: "a.ts" })], [call("Read", { file_path: "b.ts" })], []);

function compaction(id: string, fields: Partial<Compaction>): Compaction {
  return { type: "compaction", id, timestamp: `2026-02-01T00:00:0${id.length}Z`, from_turn: 0, to_turn: 1, ...fields };
}

const stripped = compaction("k", { to_turn: 0, reasoning: "strip" });
const summed = compaction("kk", { summary: { summary: "s" } });

const noticed = (compactions: readonly Compaction[]): View => projectTurns(turns, compactions, { notice: true });
const shape = ({ turns: shown }: View): readonly string[] =>
  shown.map(({ origin, events }) =>
    origin.kind === "kept" ? String(origin.turn) : `${origin.kind} ${events.at(-1)?.id ?? ""}`,
  );
const noticesIn = ({ turns: shown }: View) =>
  shown.flatMap(({ events }) => events.filter(({ metadata }) => metadata?.origin === "notice"));

describe("the notice of what is hidden", () => {
  it("follows the newest compaction that hides something, and goes with it", () => {
    expect(shape(noticed([stripped]))).toEqual(["0", "index k.notice", "1", "2"]);
    expect(shape(noticed([stripped, summed]))).toEqual(["summary kk.response", "index kk.notice", "2"]);
    expect(shape(noticed([]))).toEqual(["0", "1", "2"]);
  });

  it("follows the index if there is one", () => {
    const indexed = { ...stripped, index: { text: "Files: a.ts", entries: 1 }, needs: ["index"] };
    expect(shape(noticed([indexed]))).toEqual(["0", "index k.index", "index k.notice", "1", "2"]);
  });

  it("is not there where nothing of what was said is hidden, and never unless it is asked for", () => {
    const pruned = compaction("kkk", { tools: { policy: "prune", names: ["x"] } });
    expect(noticesIn(noticed([pruned]))).toEqual([]);
    expect(noticesIn(projectTurns(turns, [stripped, summed]))).toEqual([]);
  });

  it("says which turns, what of them, and how it is found", () => {
    const [notice] = noticesIn(noticed([stripped, summed]));
    expect(notice).toMatchObject({
      type: "chat_request",
      role: "system",
      content:
        "Parts of turns 0-1 are kept but not shown here: whole turns, reasoning. jpg's tool `search` finds what you miss by words near it, `show` gives the original.",
    });
    expect(notice !== undefined && isMessage(notice)).toBe(false);
  });

  it("takes 60 tokens at most, as a reminder too", () => {
    const all = compaction("k", {
      to_turn: 9999,
      from_turn: 1000,
      turns: "omit",
      reasoning: "strip",
      attachments: "strip",
      tool_calls: { policy: "omit" },
    });
    const long = Array.from({ length: 10_000 }, (_, index) => ({ index, events: [] }));
    const [notice] = noticesIn(projectTurns(long, [all], { notice: true }));
    const content = formatReminder(notice?.type === "chat_request" ? String(notice.content) : "");
    expect(content).toContain("turns 1000-9999");
    expect(estimateEvent({ type: "chat_request", id: "", timestamp: "", content })).toBeLessThanOrEqual(60);
  });

  it("is there once or not at all, and without it the view shows the same events", () => {
    fc.assert(
      fc.property(foreignConversation, ({ turns: said, compactions }) => {
        const [plain, told] = [projectTurns(said, compactions), projectTurns(said, compactions, { notice: true })];
        expect(noticesIn(told).length).toBeLessThanOrEqual(1);
        const events = ({ turns: shown }: View) =>
          shown.flatMap((turn) => turn.events).filter(({ type }) => type !== "turn_start");
        expect(events(withoutNotice(told))).toEqual(events(plain));
      }),
      { numRuns: runs(300) },
    );
  });
});
