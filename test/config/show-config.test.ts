import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { listSettings, renderSettings } from "../../src/config/show-config.ts";
import { errorOf } from "./error-of.ts";

const text = `[conversation.compaction]
keep_last = 5
[conversation.compaction.profiles."my.profile"]
tool_calls = { policy = "truncate", max_chars = 2000 }
[providers.a]
base_url = "https://ada:hunter2@api.example/v1?key=hunter3"
key_command = "echo hunter4"
[mcp.servers.b]
args = ["--token", "hunter5"]
`;
const loaded = loadConfig({
  user: { path: "/home/ada/config.toml", text },
  conversation: [],
  overrides: ["fork=true"],
});

describe("jpg config", () => {
  it("lists every setting in force, ordered by key", () => {
    const keys = listSettings(loaded).map(({ key }) => key);
    expect(keys).toEqual([...keys].sort());
    expect(keys).toEqual([...loaded.values.keys()].filter((key) => !key.startsWith("conversation.tools.")));
    expect(keys).toContain("conversation.compaction.auto.warning_ratio");
  });

  it("shows layer, file and line of each with --show-origin", () => {
    expect(renderSettings(listSettings(loaded, "keep_last"), { showOrigin: true })).toBe(
      "user\t/home/ada/config.toml:2\tconversation.compaction.keep_last=5\n",
    );
    expect(renderSettings(listSettings(loaded, "fork"), { showOrigin: true })).toBe(
      "flag\t\tconversation.compaction.fork=true\n",
    );
  });

  it("lists a table, its prefix left out", () => {
    expect(renderSettings(listSettings(loaded, 'profiles."my.profile"'), { showOrigin: false })).toBe(
      'conversation.compaction.profiles."my.profile".tool_calls={ policy = "truncate", max_chars = 2000 }\n',
    );
  });

  it("lists hints for tools that somebody set, and the built-in ones when they are asked for", () => {
    const some = loadConfig({ conversation: [], overrides: ["tools.Read.compaction.response=keep"] });
    const tools = (key?: string) => listSettings(some, key).filter((row) => row.key.startsWith("conversation.tools."));
    expect(tools()).toMatchObject([{ key: "conversation.tools.Read.compaction.response", value: "keep" }]);
    expect(tools("conversation")).toEqual(tools());
    expect(tools("tools.Read").map(({ key }) => key.split(".").at(-1))).toEqual(["dedup", "request", "response"]);
    expect(tools("tools").length).toBeGreaterThan(Object.keys(some.config.conversation.tools).length);
  });

  it("prints lines that --cfg takes back", () => {
    const overrides = renderSettings(listSettings(loaded, "conversation"), { showOrigin: false }).trimEnd().split("\n");
    expect(loadConfig({ conversation: [], overrides }).config.conversation).toEqual(loaded.config.conversation);
  });

  it("shows no secret", () => {
    const output = renderSettings(listSettings(loaded), { showOrigin: true });
    expect(output).not.toContain("hunter");
    expect(output).toContain('providers.a.base_url="https://api.example/v1"');
    expect(output).toContain('providers.a.key_command="(not shown)"');
  });

  it("gives nothing for a setting that is not set, and the nearest key for one that is none", () => {
    expect(listSettings(loaded, "protected_messages")).toEqual([]);
    expect(errorOf(() => listSettings(loaded, "keep_lats"))).toMatchObject({
      code: "unknown_key",
      data: { nearest: "conversation.compaction.keep_last" },
    });
    expect(errorOf(() => listSettings(loaded, "a b")).code).toBe("unknown_key");
  });
});
