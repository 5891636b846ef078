// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatKey } from "../../src/config/keys.ts";
import { loadConfig, parseOverride, toDelta, toTable } from "../../src/config/load.ts";
import { listKnownKeys } from "../helpers/known-keys.ts";
import { errorOf } from "./error-of.ts";

// covers: 064 "Conversation-level overrides by `--cfg`"

const keyIn = (text: string) => formatKey(parseOverride(text).path);
const valueIn = (text: string) => parseOverride(text).value;

describe("--cfg KEY=VALUE", () => {
  it.each([
    ["conversation.compaction.keep_last=5", "conversation.compaction.keep_last"],
    ["keep_last=5", "conversation.compaction.keep_last"],
    ["auto.enabled=true", "conversation.compaction.auto.enabled"],
    ["compaction.keep_last=5", "conversation.compaction.keep_last"],
    ["compaction.auto=true", "conversation.compaction.auto.enabled"],
    ["summarize_model=a/b", "conversation.compaction.model"],
    ['tools."my.tool".compaction.dedup=true', 'conversation.tools."my.tool".compaction.dedup'],
    ["providers.a.base_url=http://localhost:1", "providers.a.base_url"],
  ])("reads %s as %s", (text, key) => expect(keyIn(text)).toBe(key));

  it("finds every setting by its whole key and by what is left without the prefix", () => {
    for (const known of listKnownKeys()) {
      const key = known.replaceAll("<name>", "x");
      expect(keyIn(`${key}=1`)).toBe(key);
      expect(keyIn(`${key.replace("conversation.compaction.", "")}=1`)).toBe(key);
      // The model of summaries was there first: the one that answers is `conversation.model`.
      const short = key === "conversation.model" ? "conversation.compaction.model" : key;
      expect(keyIn(`${key.replace("conversation.", "")}=1`)).toBe(short);
    }
  });

  it.each<[string, unknown]>([
    ["keep_last=5", 5],
    ["fork = true", true],
    ["model=anthropic/claude-haiku", "anthropic/claude-haiku"],
    ['model="a=b"', "a=b"],
    ["model=", ""],
    ["default_profile=2", "2"],
    ["default_profile=2020-01-01", "2020-01-01"],
    ["mcp.servers.a.args=['x', 'y']", ["x", "y"]],
    ["profiles.a={ reasoning = 'strip' }", { reasoning: "strip" }],
    ["model=1\nkeep_last = 9", "1\nkeep_last = 9"],
  ])("reads the value of %j", (text, value) => expect(valueIn(text)).toEqual(value));

  it.each(["keep_last", "=5", "a b=1", ""])("refuses %j", (text) => {
    expect(errorOf(() => parseOverride(text))).toMatchObject({ kind: "user", code: "bad_override" });
  });

  it.each([
    ["keep_lst=5", "conversation.compaction.keep_last"],
    ["auto.enabld=true", "conversation.compaction.auto.enabled"],
    ["conversation.compaction.profiles.x.resoning=strip", "conversation.compaction.profiles.x.reasoning"],
    ["__proto__.x=1", undefined],
  ])("offers the nearest key for %s", (text, nearest) => {
    const error = errorOf(() => parseOverride(text));
    expect(error.code).toBe("unknown_key");
    expect(error.data["nearest"]).toBe(nearest);
  });

  it("shows no value in its errors", () => {
    expect(errorOf(() => parseOverride("not a key=secret")).message).not.toContain("secret");
  });
});

const deltaOf = (overrides: Parameters<typeof toDelta>[0]) => toDelta(overrides, (profile) => profile === "heavy");

describe("the delta that a conversation stores", () => {
  it("holds each setting once, in full, the later one winning", () => {
    const overrides = ["keep_last=5", "conversation.model=a/b", "keep_last=6", "fork=true"].map(parseOverride);
    expect(deltaOf(overrides)).toEqual({
      conversation: { model: "a/b", compaction: { keep_last: 6, fork: true } },
    });
  });

  it("leaves out programs and addresses, and is null when nothing is left", () => {
    const gated = ["providers.a.key_command=pass", "tools.a.compaction.subsumes=x"].map(parseOverride);
    expect(deltaOf(gated)).toBeNull();
    expect(deltaOf([])).toBeNull();
    expect(deltaOf([...gated, parseOverride("fork=true")])).toEqual({ conversation: { compaction: { fork: true } } });
  });

  it("leaves out what spends or sends: it holds for the call that says it", () => {
    const spending = [
      "auto.enabled=true",
      "auto.trigger_ratio=0.01",
      "compaction.model=a/b",
      "summarize_threshold=0",
      "profiles.x.summary.instructions=all",
      "default_profile=heavy",
    ];
    expect(deltaOf(spending.map(parseOverride))).toBeNull();
    expect(deltaOf([parseOverride("default_profile=light")])).not.toBeNull();
  });

  it("gives the same config as the overrides themselves, from the next call on", () => {
    const override = fc.oneof(
      fc.nat(99).map((count) => `keep_last=${count}`),
      fc
        .constantFrom(
          "reasoning=strip",
          "reasoning=keep",
          "tool_calls=omit",
          "tool_calls={ policy='truncate', max_chars=9 }",
        )
        .map((text) => `profiles.default.${text}`),
      fc.constantFrom("protected_messages=4", "fork=false", "fork=true", "tools.constructor.compaction.dedup=true"),
    );
    fc.assert(
      fc.property(fc.array(override, { maxLength: 6 }), (overrides) => {
        const delta = deltaOf(overrides.map(parseOverride));
        const stored =
          delta === null
            ? []
            : [{ file: "config/a.jsonl", at_turn: 0, delta: JSON.parse(JSON.stringify(delta)) as unknown }];
        const now = loadConfig({ conversation: [], overrides });
        const later = loadConfig({ conversation: stored, overrides: [] });
        expect(later.config).toEqual(now.config);
        expect(later.ignored).toEqual([]);
      }),
    );
  });

  it("nests an override as a file would", () => {
    expect(toTable(parseOverride("auto.enabled=true"))).toEqual({
      conversation: { compaction: { auto: { enabled: true } } },
    });
  });
});
