import { describe, expect, it } from "vitest";
import { loadBuiltIn } from "../../src/config/load-built-in.ts";
import { loadConfig } from "../../src/config/load-config.ts";

describe("the built-in settings without the schema", () => {
  it("are what loading no layer gives, in the same order", () => {
    const checked = loadConfig({ conversation: [], overrides: [] });
    const built = loadBuiltIn();
    expect(built).toEqual(checked);
    expect([...built.values.keys()]).toEqual([...checked.values.keys()]);
    expect(JSON.stringify(built.config)).toBe(JSON.stringify(checked.config));
  });

  it("are frozen, and a name that nobody set is absent", () => {
    const { config } = loadBuiltIn();
    expect(Object.isFrozen(config.conversation.compaction.profiles)).toBe(true);
    expect(config.conversation.tools["constructor"]).toBeUndefined();
  });
});
