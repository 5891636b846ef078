import { describe, expect, it } from "vitest";
import { parseConfigDelta, recordedTools, selectDeltas, settingsOf, toolsDelta } from "../../src/config/config.ts";

const FILE = `${"ab".repeat(32)}.json`;
const stored = (delta: unknown, second = 0) =>
  parseConfigDelta(
    JSON.stringify({ type: "config_delta", id: `d${second}`, timestamp: `2026-03-01T00:00:0${second}Z`, delta }),
    "config/x",
  );

describe("recordedTools", () => {
  it("gives the newest list as it was written", () => {
    const deltas = [stored({ tools: [{ name: "old" }] }), stored(toolsDelta([{ name: "ls", definition: FILE }]), 1)];
    expect(recordedTools(selectDeltas([...deltas, stored({ conversation: {} }, 2)]))).toEqual([
      { name: "ls", definition: FILE },
    ]);
    expect(recordedTools([stored({ conversation: {} })])).toBeNull();
  });

  it("believes no name that is none, and no attachment of another form", () => {
    const tools = ["a", "", 7, null, { name: "" }, { name: "b", definition: { $attachment: "../../etc/passwd" } }];
    expect(recordedTools([stored({ tools })])).toEqual([{ name: "a" }, { name: "b" }]);
    expect(recordedTools([stored({ tools: { ls: {} } }), stored(null), stored("tools")])).toBeNull();
  });
});

describe("settingsOf", () => {
  it("leaves the tools out: they are no setting", () => {
    const settings = { conversation: { model: "a/b" } };
    expect(settingsOf({ ...settings, tools: [] })).toEqual(settings);
    for (const delta of [settings, { tools: "x" }, null, 7]) expect(settingsOf(delta)).toBe(delta);
  });
});
