import { describe, expect, it } from "vitest";
import { readLayer } from "../../src/config/layers.ts";
import { BUILT_IN, type LoadedConfig, loadConfig } from "../../src/config/load.ts";

const loadBuiltIn = (): LoadedConfig => loadConfig({ conversation: [], overrides: [] });

describe("the built-in settings", () => {
  it("satisfy the schema, which gives them the values that the config holds", () => {
    const { assignments, problems } = readLayer({ name: "built-in", table: BUILT_IN });
    expect(problems).toEqual([]);
    expect(assignments.length).toBeGreaterThan(200);
    for (const { path, value } of assignments) {
      const held = path.reduce<unknown>(
        (table, name) => (table as Record<string, unknown>)[name],
        loadBuiltIn().config,
      );
      expect(held).toEqual(value);
    }
  });

  it("are shared, not changed, by a config with more", () => {
    const before = JSON.stringify(loadBuiltIn().config);
    const { config } = loadConfig({
      conversation: [],
      overrides: ["keep_last=7", "tools.Read.compaction.request=inherit"],
    });
    expect(config.conversation.compaction.keep_last).toBe(7);
    expect(config.conversation.tools["Read"]?.compaction).toEqual({ dedup: true });
    expect(Object.isFrozen(config.conversation.compaction)).toBe(true);
    expect(JSON.stringify(loadBuiltIn().config)).toBe(before);
  });

  it("are frozen, and a name that nobody set is absent", () => {
    const { config } = loadBuiltIn();
    expect(Object.isFrozen(config.conversation.compaction.profiles)).toBe(true);
    expect(config.conversation.tools["constructor"]).toBeUndefined();
  });
});
