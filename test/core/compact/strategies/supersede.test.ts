import { describe, expect, it } from "vitest";
import {
  type AskOptions,
  askStrategies,
  type CallSpec,
  call,
  callTurns,
  failed,
  fates,
  storedOf,
} from "../../../helpers/call-conversation.ts";

const TEXT = "line of code\n".repeat(40);
const read = (file_path: string, range = {}) => call("Read", { file_path, ...range }, TEXT);
const write = (file_path: string) => call("Write", { file_path, content: TEXT }, "written");
const edit = (file_path: string) => call("Edit", { file_path, old_string: TEXT, new_string: "b" }, "edited");

function supersede(calls: readonly CallSpec[], more: AskOptions = {}): Record<string, string> | null {
  const turns = callTurns(calls);
  const plan = askStrategies(turns, ["supersede"], more);
  return "nothing" in plan ? null : fates(turns, [storedOf(plan)]);
}

describe("supersede", () => {
  it("strips a read when the whole file is read or written later", () => {
    expect(supersede([read("a"), read("a")])).toEqual({ "c0.0": "kept stripped" });
    expect(supersede([read("a"), write("a")])).toEqual({ "c0.0": "kept stripped" });
    expect(supersede([read("a", { offset: 3, limit: 5 }), read("a")])).toEqual({ "c0.0": "kept stripped" });
  });

  it("keeps a read when only part of the file, or another file, is seen later", () => {
    expect(supersede([read("a"), read("a", { offset: 3, limit: 5 })])).toBeNull();
    expect(supersede([read("a"), edit("a")])).toBeNull();
    expect(supersede([read("a"), read("b")])).toBeNull();
  });

  it("leaves what was written out of the arguments when the whole file is read later, keeping the path", () => {
    const turns = callTurns([write("a"), edit("a"), read("a")]);
    const plan = askStrategies(turns, ["supersede"]);
    expect(plan).toMatchObject({
      compaction: {
        tool_calls: {
          policy: "selective",
          calls: [
            { event: "c0.0", request: { drop: { max_chars: 200 } } },
            { event: "c0.1", request: { drop: { max_chars: 200 } } },
          ],
        },
      },
    });
    expect(supersede([write("a"), edit("a"), read("a")])).toEqual({ "c0.0": "cut kept", "c0.1": "cut kept" });
  });

  it("keeps a path that is longer than what it leaves out", () => {
    const path = `${"deep/".repeat(60)}file.ts`;
    const plan = askStrategies(callTurns([write(path), read(path)]), ["supersede"]);
    expect(plan).toMatchObject({
      compaction: { tool_calls: { calls: [{ event: "c0.0", request: { drop: { max_chars: path.length } } }] } },
    });
  });

  it("never counts a later version that failed or is not shown whole", () => {
    expect(supersede([read("a"), failed("Read", { file_path: "a" })])).toBeNull();
    expect(supersede([write("a"), failed("Read", { file_path: "a" })])).toBeNull();
    const truncated = {
      type: "compaction",
      id: "old",
      timestamp: "2026-02-01T00:00:00Z",
      from_turn: 0,
      to_turn: 0,
      tool_calls: { policy: "selective", calls: [{ event: "c0.1", response: { truncate: { max_chars: 50 } } }] },
    } as const;
    expect(supersede([read("a"), read("a")], { request: { compactions: [truncated] } })).toBeNull();
  });

  it("never counts a read that its reader cut off", () => {
    const cut = call("Read", { file_path: "a" }, `${TEXT}\n(Showing lines 1-40 of 900)`);
    expect(supersede([read("a"), cut])).toBeNull();
    expect(supersede([write("a"), cut])).toBeNull();
  });

  it("loses nothing along a chain of versions: the newest is always shown", () => {
    expect(supersede([read("a"), write("a"), read("a"), write("a")])).toEqual({
      "c0.0": "kept stripped",
      "c0.1": "cut kept",
      "c0.2": "kept stripped",
    });
  });

  it("honours hints that keep a half", () => {
    const hints = { Read: { response: "keep" }, Write: { request: "keep" } } as const;
    expect(supersede([read("a"), write("a"), read("a")], { known: { hints } })).toBeNull();
  });

  it("leaves failed reads: what they say is short", () => {
    expect(supersede([failed("Read", { file_path: "a" }), read("a")])).toBeNull();
  });
});
