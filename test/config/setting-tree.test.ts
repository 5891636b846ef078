import { describe, expect, it } from "vitest";
import { findNode, namesUnder } from "../../src/config/schema.ts";
import { listKnownKeys } from "../helpers/known-keys.ts";

const COMPACTION = ["conversation", "compaction"];

describe("the tree of settings", () => {
  it("leads every alias to the one key of its setting", () => {
    const aliases = [
      ["compaction", "model"],
      ["compaction", "auto"],
      ["compaction", "protected_messages"],
      [...COMPACTION, "summarize_model"],
    ];
    expect(aliases.map((path) => findNode(path)?.path.slice(2).join("."))).toEqual([
      "model",
      "auto.enabled",
      "protected_messages",
      "model",
    ]);
  });

  it("takes any name where names are free, but none that reaches a prototype", () => {
    expect(findNode(["providers", "constructor", "base_url"])?.node.type).toBe("setting");
    expect(findNode(["providers", "__proto__"])).toBeNull();
    expect(findNode(["__proto__", "x"])).toBeNull();
    expect(findNode(["conversation", "constructor"])).toBeNull();
  });

  it("ends at a setting: a policy written as a table is one value", () => {
    expect(findNode([...COMPACTION, "profiles", "x", "tool_calls"])?.node.type).toBe("setting");
    expect(findNode([...COMPACTION, "profiles", "x", "tool_calls", "policy"])).toBeNull();
  });

  it("lists the names that a table accepts, aliases included", () => {
    expect(namesUnder([])).toEqual(["conversation", "providers", "mcp", "secrets", "compaction"]);
    expect(namesUnder(["compaction"])).toEqual(["model", "auto", "protected_messages"]);
    expect(namesUnder(COMPACTION)).toContain("summarize_model");
    expect(namesUnder(["providers"])).toEqual([]);
  });

  it("knows the facts of every setting: listing walks all of them", () => {
    expect(listKnownKeys()).toContain("conversation.tools.<name>.compaction.subsumes");
    expect(new Set(listKnownKeys()).size).toBe(listKnownKeys().length);
  });
});
