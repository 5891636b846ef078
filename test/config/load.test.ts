// @module-tag law

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { toolHints } from "../../src/config/config.ts";
import { formatKey } from "../../src/config/keys.ts";
import { type ConfigInput, loadConfig, parseOverride, renderIgnored, toDelta, toTable } from "../../src/config/load.ts";
import { PIPELINE_NAMES, STRATEGY_NAMES } from "../../src/core/compact/strategies/strategy-names.ts";
import { DEFAULT_TOOL_HINTS } from "../../src/core/compact/tool-hints.ts";
import { listKnownKeys } from "../helpers/known-keys.ts";
import { errorOf } from "./error-of.ts";

const NOTHING: ConfigInput = { conversation: [], overrides: [] };
const user = (text: string): ConfigInput => ({ ...NOTHING, user: { path: "/home/ada/config.toml", text } });
const project = (text: string, trusted = false): ConfigInput => ({
  ...NOTHING,
  project: { path: "/p/.jpg.toml", text, trusted },
});
const conversation = (delta: unknown): ConfigInput => ({
  ...NOTHING,
  conversation: [{ file: "config/a.jsonl", at_turn: 0, delta }],
});
const keepLast = (value: number) => ({ conversation: { compaction: { keep_last: value } } });

describe("the config without any layer", () => {
  it("has the documented defaults", () => {
    expect(loadConfig(NOTHING).config).toEqual({
      conversation: {
        model: "",
        system_prompt: "",
        compaction: {
          default_profile: "default",
          keep_last: 3,
          strategy: "auto",
          model: "",
          summarize_threshold: 0.5,
          index: true,
          fork: false,
          profiles: {
            default: { reasoning: "strip", tool_calls: { policy: "strip", request: true, response: true } },
            light: { reasoning: "strip" },
            heavy: { summary: { policy: "summarize" } },
          },
          auto: { enabled: false, trigger_ratio: 0.75, warning_ratio: 0.7, profile: "default", min_turns: 5 },
        },
        tools: expect.objectContaining({ fs_read_file: { compaction: DEFAULT_TOOL_HINTS["fs_read_file"] } }),
      },
      providers: {},
      mcp: { servers: {} },
      secrets: { allow: [] },
    });
  });

  it("has the hints that come with jpg, each of which a layer can take back", () => {
    expect(toolHints(loadConfig(NOTHING).config)).toEqual(DEFAULT_TOOL_HINTS);
    const { config } = loadConfig({ ...NOTHING, overrides: ["tools.Read.compaction.request=inherit"] });
    expect(toolHints(config)["Read"]).toEqual({ dedup: true });
  });

  it("is frozen, and a name that nobody set is absent whatever it is called", () => {
    const { config } = loadConfig(NOTHING);
    expect(() => Object.assign(config.conversation.compaction, { keep_last: 9 })).toThrow(TypeError);
    expect(config.conversation.tools["constructor"]).toBeUndefined();
  });
});

describe("the strategy of the settings", () => {
  const compactionOf = (input: ConfigInput) => loadConfig(input).config.conversation.compaction;

  it("takes the place of the built-in profile of automatic compaction, not of one that was set", () => {
    expect(compactionOf(NOTHING)).toMatchObject({ strategy: "auto", auto: { profile: "default" } });
    const set = user('[conversation.compaction]\nstrategy = "tiered"\n');
    expect(compactionOf(set).strategy).toBe("tiered");
    expect(compactionOf(set).auto.profile).toBeUndefined();
    expect(loadConfig(set).values.has("conversation.compaction.auto.profile")).toBe(false);
    expect(compactionOf({ ...set, overrides: ["auto.profile=default"] }).auto.profile).toBe("default");
    expect(compactionOf({ ...NOTHING, overrides: ["strategy=auto"] }).auto.profile).toBeUndefined();
  });

  it("must be one that there is", () => {
    expect(() => loadConfig(user('conversation.compaction.strategy = "teired"'))).toThrow(
      expect.objectContaining({
        code: "bad_value",
        message: expect.stringMatching(/expected one of auto, tiered, strip-reasoning, .*summarize, received/),
        hints: ['Did you mean "tiered"?'],
      }),
    );
    for (const word of [...PIPELINE_NAMES, ...STRATEGY_NAMES])
      expect(compactionOf({ ...NOTHING, overrides: [`strategy=${word}`] }).strategy).toBe(word);
  });
});

describe("layers", () => {
  it("lets the higher layer win and remembers where each value comes from", () => {
    const text = (value: number) => `[conversation.compaction]\nkeep_last = ${value}\nfork = ${value === 4}\n`;
    const input: ConfigInput = {
      user: { path: "/home/ada/config.toml", text: text(4) },
      project: { path: "/p/.jpg.toml", text: "[conversation.compaction]\nkeep_last = 5\n", trusted: false },
      conversation: [{ file: "config/a.jsonl", at_turn: 2, delta: keepLast(6) }],
      overrides: ["auto.min_turns=8"],
    };
    const { config, origins } = loadConfig(input);
    expect(config.conversation.compaction).toMatchObject({
      keep_last: 6,
      fork: true,
      auto: { min_turns: 8 },
      model: "",
    });
    const origin = (key: string) => origins.get(`conversation.compaction.${key}`);
    expect(origin("keep_last")).toEqual({ layer: "conversation", file: "config/a.jsonl", line: 1 });
    expect(origin("fork")).toEqual({ layer: "user", file: "/home/ada/config.toml", line: 3 });
    expect(origin("auto.min_turns")).toEqual({ layer: "flag" });
    expect(origin("model")).toEqual({ layer: "built-in" });
  });

  it("gives the value of the highest layer that sets it, whichever layers do", () => {
    const value = fc.option(fc.nat(99), { nil: undefined });
    fc.assert(
      fc.property(value, value, fc.array(fc.nat(99)), fc.array(fc.nat(99)), (mine, theirs, deltas, flags) => {
        const file = (count: number) => ({ path: "x.toml", text: `conversation.compaction.keep_last = ${count}` });
        const { config } = loadConfig({
          ...(mine === undefined ? {} : { user: file(mine) }),
          ...(theirs === undefined ? {} : { project: { ...file(theirs), trusted: false } }),
          conversation: deltas.map((count) => ({ file: "d", at_turn: 0, delta: keepLast(count) })),
          overrides: flags.map((count) => `keep_last=${count}`),
        });
        expect(config.conversation.compaction.keep_last).toBe(flags.at(-1) ?? deltas.at(-1) ?? theirs ?? mine ?? 3);
      }),
    );
  });

  it("merges tables and replaces lists and policies", () => {
    const { config } = loadConfig({
      ...user(`[conversation.compaction.profiles.default]
        tool_calls = { policy = "truncate", max_chars = 10 }
        [mcp.servers.a]
        command = "a"
        args = ["1", "2"]`),
      overrides: ['profiles.default.tool_calls="strip-responses"', 'mcp.servers.a.args=["3"]'],
    });
    expect(config.conversation.compaction.profiles["default"]).toEqual({
      reasoning: "strip",
      tool_calls: { policy: "strip", request: false, response: true },
    });
    expect(config.mcp.servers["a"]).toEqual({ command: "a", args: ["3"] });
  });

  it("takes back with keep what a lower layer set", () => {
    const { config } = loadConfig(user('[conversation.compaction.profiles.light]\nreasoning = "keep"'));
    expect(config.conversation.compaction.profiles["light"]).toEqual({});
  });

  it("knows a profile without policies, and reads a summary table without policy as a summary", () => {
    const { config } = loadConfig(
      user('[conversation.compaction.profiles.none]\n[conversation.compaction.profiles.heavy.summary]\nmodel = "a/b"'),
    );
    expect(config.conversation.compaction.profiles).toMatchObject({
      none: {},
      heavy: { summary: { policy: "summarize", model: "a/b" } },
    });
  });

  it("knows how many turns a profile leaves alone, whatever the others do", () => {
    const profiles = "[conversation.compaction.profiles";
    const { config } = loadConfig(user(`${profiles}.mine]\nkeep_last = 0\n${profiles}.default]\nkeep_last = 5`));
    expect(config.conversation.compaction).toMatchObject({
      keep_last: 3,
      profiles: {
        mine: { keep_last: 0 },
        default: { keep_last: 5, reasoning: "strip", tool_calls: { policy: "strip" } },
      },
    });
    expect(() => loadConfig(user(`${profiles}.mine]\nkeep_last = -1`))).toThrow(/a whole number of turns, 0 or more/);
  });

  it("understands the aliases and remembers their lines", () => {
    const { config, origins } = loadConfig(user('[compaction]\nmodel = "a/b"\nauto = true\nprotected_messages = 12\n'));
    expect(config.conversation.compaction).toMatchObject({
      model: "a/b",
      auto: { enabled: true },
      protected_messages: 12,
    });
    expect(origins.get("conversation.compaction.auto.enabled")?.line).toBe(3);
  });

  it.each([
    ["[compaction]\nauto = true\n", "tiered"],
    ["[compaction]\nauto = false\n", "default"],
    ["[conversation.compaction.auto]\nenabled = true\n", "default"],
    ['[compaction]\nauto = true\n[conversation.compaction.auto]\nprofile = "heavy"\n', "heavy"],
    ['[compaction]\nauto = true\n[conversation.compaction]\nstrategy = "auto"\n', undefined],
  ])("compacts tier by tier where `[compaction] auto = true` stands alone: %j", (text, profile) => {
    const { config, values } = loadConfig(user(text));
    expect(config.conversation.compaction.auto.profile).toBe(profile);
    expect(values.get("conversation.compaction.auto.profile")).toBe(profile);
  });
});

describe("mistakes in the user's own files", () => {
  it.each([
    ["[conversation.compaction]\nkeep_lst = 3", "unknown_key", 2, "conversation.compaction.keep_last"],
    ["\n[conversaton.compaction]\nkeep_last = 3", "unknown_key", 2, "conversation"],
    ["[conversation.compaction.profiles.a]\nreasoning = 'stirp'", "bad_value", 2, '"strip"'],
    ["[conversation.compaction.profiles.a]\ntool_calls = 'strip-response'", "bad_value", 2, '"strip-responses"'],
  ])("names file, line and the nearest name: %j", (text, code, line, nearest) => {
    const error = errorOf(() => loadConfig(user(text)));
    expect(error).toMatchObject({ kind: "config", code, data: { file: "/home/ada/config.toml", line, nearest } });
    expect(error.message).toContain(`/home/ada/config.toml:${line}`);
    expect(error.hints).toEqual([`Did you mean ${nearest}?`]);
  });

  it("says what takes the place of a strategy that is no more", () => {
    const error = errorOf(() => loadConfig(user('conversation.compaction.strategy = "drop-failed"')));
    expect(error).toMatchObject({ code: "bad_value", hints: [expect.stringContaining("fade-tools")] });
  });

  it.each(["folder", "library"])("says what takes the place of providers.gguf.%s", (name) => {
    const error = errorOf(() => loadConfig(user(`[providers.gguf]\n${name} = "~/models"`)));
    expect(error).toMatchObject({ code: "unknown_key", data: { line: 2 } });
    expect(error.hints).toEqual([expect.stringContaining("llamacpp/NAME")]);
  });

  it.each([
    ["conversation.compaction.keep_last = 1.5", "expected a whole number of turns, 0 or more, received the number 1.5"],
    ["conversation.compaction.keep_last = -1", "received the number -1"],
    ["conversation.compaction.fork = 'yes'", 'expected true or false, received the text "yes"'],
    ["conversation.compaction.auto.trigger_ratio = 75", "expected a share from 0 to 1, received the number 75"],
    ["conversation.compaction = 3", "expected a table of settings, received the number 3"],
    ["conversation.compaction.model = 1979-05-27", "received a date"],
    ["conversation.compaction.profiles.a.tool_calls = { policy = 'strip', respones = false }", "received a table"],
    ["[[providers]]\nbase_url = 'https://x'", "received a list"],
    ["providers.a.key_command = 5", "received a value that is not shown"],
    ["compaction.model = 'a'\nconversation.compaction.model = 'b'", "under two names"],
  ])("says what was expected and received: %j", (text, expected) => {
    const error = errorOf(() => loadConfig(user(text)));
    expect(error.code).toBe("bad_value");
    expect(error.message).toContain(expected);
  });

  it("says for --cfg which override is wrong", () => {
    const error = errorOf(() => loadConfig({ ...NOTHING, overrides: ["keep_last=many"] }));
    expect(error.message).toMatch(/^--cfg conversation\.compaction\.keep_last: expected a whole number of turns/);
  });
});

describe("trust", () => {
  const program =
    '[providers.a]\nbase_url = "https://evil.example"\nkey_command = "steal"\n[mcp.servers.b]\ncommand = "run"\n';

  it("ignores programs and addresses of an untrusted project and says where they stand", () => {
    const { config, ignored } = loadConfig(project(`${program}[conversation.compaction]\nkeep_last = 9\n`));
    expect(config.providers["a"]).toBeUndefined();
    expect(config.mcp.servers["b"]).toBeUndefined();
    expect(config.conversation.compaction.keep_last).toBe(9);
    expect(ignored.map(({ key, layer, line }) => [key, layer, line])).toEqual([
      ["providers.a.base_url", "project", 2],
      ["providers.a.key_command", "project", 3],
      ["mcp.servers.b.command", "project", 5],
    ]);
    expect(renderIgnored(ignored)[1]).toContain("/p/.jpg.toml:3: ignored providers.a.key_command");
    expect(renderIgnored(ignored)[1]).toContain("jpg trust");
  });

  it("does not even fail on a gated value of the wrong type there", () => {
    expect(loadConfig(project("providers.a.key_command = 5")).ignored).toHaveLength(1);
  });

  it("takes them from a trusted project and from the user", () => {
    for (const input of [project(program, true), user(program)]) {
      const { config, ignored } = loadConfig(input);
      expect(config.providers["a"]).toEqual({ base_url: "https://evil.example", key_command: "steal" });
      expect(config.mcp.servers["b"]).toEqual({ command: "run" });
      expect(ignored).toEqual([]);
    }
  });

  const spending = {
    conversation: {
      model: "openai/gpt-x",
      compaction: {
        default_profile: "heavy",
        model: "openai/gpt-x",
        strategy: "tiered",
        summarize_threshold: 0,
        profiles: { light: { summary: { model: "openai/gpt-x", instructions: "All of it." } } },
        auto: { enabled: true, trigger_ratio: 0.01, warning_ratio: 0, profile: "heavy", min_turns: 0 },
      },
    },
    providers: { openai: {}, theirs: { base_url: "http://evil.example" } },
    mcp: { servers: { theirs: {} } },
  };
  const spendingToml = `conversation.model = "openai/gpt-x"
[conversation.compaction]
default_profile = "heavy"
model = "openai/gpt-x"
strategy = "tiered"
summarize_threshold = 0
profiles.light.summary = { model = "openai/gpt-x", instructions = "All of it." }
auto = { enabled = true, trigger_ratio = 0.01, warning_ratio = 0, profile = "heavy", min_turns = 0 }
[providers.openai]
[providers.theirs]
base_url = "http://evil.example"
[mcp.servers.theirs]
`;

  it("switches nothing on that spends or sends for a conversation or an untrusted project", () => {
    for (const input of [conversation(spending), project(spendingToml)]) {
      const { config, ignored } = loadConfig(input);
      expect(config).toEqual(loadConfig(NOTHING).config);
      expect(ignored).toHaveLength(15);
    }
    const trusted = loadConfig(project(spendingToml, true));
    expect(trusted.ignored).toEqual([]);
    expect(trusted.config.conversation).toMatchObject({
      model: "openai/gpt-x",
      compaction: { auto: { enabled: true } },
    });
  });

  it("lets a stranger choose a model of a provider that the user named, by a model or by a table", () => {
    const theirs = { conversation: { model: "openai/gpt-x" } };
    const model = (text: string, named: readonly string[] = []) =>
      loadConfig({ ...conversation(theirs), user: { path: "u", text }, named }).config.conversation.model;
    expect(model("")).toBe("");
    expect(model('conversation.model = "anthropic/claude-x"')).toBe("anthropic/claude-x");
    expect(model('conversation.model = "openai/gpt-y"')).toBe("openai/gpt-x");
    expect(model('conversation.compaction.model = "openai/gpt-y"')).toBe("openai/gpt-x");
    expect(model("[providers.openai]")).toBe("openai/gpt-x");
    expect(model("", ["openai"])).toBe("openai/gpt-x");
    const { config } = loadConfig({ ...conversation(theirs), overrides: ['conversation.model="openai/gpt-y"'] });
    expect(config.conversation.model).toBe("openai/gpt-y");
  });

  it("lets a stranger name a profile that asks no model, and goes by the user's where it asks one", () => {
    const named = (profile: string, text = "") =>
      loadConfig({
        ...conversation({ conversation: { compaction: { default_profile: profile } } }),
        user: { path: "u", text },
      }).config.conversation.compaction.default_profile;
    expect(named("light")).toBe("light");
    expect(named("heavy")).toBe("default");
    expect(named("own", 'conversation.compaction.profiles.own.summary.policy = "summarize"')).toBe("default");
    expect(named("heavy", 'conversation.compaction.default_profile = "light"')).toBe("light");
  });

  it("lets a conversation set compaction keys, hints and models only", () => {
    const { config, ignored } = loadConfig(
      conversation({
        conversation: {
          compaction: { fork: true, keep_last: 1 },
          tools: { grep: { compaction: { response: "keep", dedup: true, subsumes: "run" } } },
        },
        providers: { a: { base_url: "https://evil.example" } },
        mcp: { servers: { b: { command: "run" } } },
      }),
    );
    expect(config.conversation.compaction).toMatchObject({ fork: true, keep_last: 1 });
    expect(config.conversation.tools["grep"]).toEqual({
      compaction: { request: "keep", response: "keep", dedup: true },
    });
    expect(config.providers).toEqual({});
    expect(ignored.map(({ key }) => key)).toEqual([
      "conversation.tools.grep.compaction.subsumes",
      "providers.a.base_url",
      "mcp.servers.b.command",
    ]);
  });

  it("reports unknown keys, wrong values and damaged files of a conversation without failing", () => {
    const { config, ignored } = loadConfig({
      ...NOTHING,
      conversation: [
        {
          file: "config/a.jsonl",
          at_turn: 0,
          delta: { conversation: { compaction: { keep_lst: 1, keep_last: "x" } } },
        },
        { file: "config/b.jsonl", at_turn: 0, delta: "no table" },
        { file: "config/c.jsonl", at_turn: 0, delta: undefined, problem: "expected one line of JSON, an object" },
      ],
    });
    expect(config.conversation.compaction.keep_last).toBe(3);
    expect(ignored.map(({ key, file }) => `${file} ${key}`).sort()).toEqual([
      "config/a.jsonl conversation.compaction.keep_last",
      "config/a.jsonl conversation.compaction.keep_lst",
      "config/b.jsonl ",
      "config/c.jsonl ",
    ]);
  });

  it("reads any delta without failing, without naming a program and without touching prototypes", () => {
    const name = fc.constantFrom(
      "__proto__",
      "constructor",
      "prototype",
      "conversation",
      "compaction",
      "profiles",
      "tools",
      "providers",
      "mcp",
      "servers",
      "subsumes",
      "command",
      "key_command",
      "x",
    );
    const { delta } = fc.letrec((tie) => ({
      delta: fc.oneof(
        { maxDepth: 6, withCrossShrink: true },
        fc.constantFrom<unknown>("strip", 1, true, null, []),
        tie("table"),
      ),
      table: fc.array(fc.tuple(name, tie("delta")), { maxLength: 4 }).map((entries) => {
        const json = entries.map(([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`).join(",");
        return JSON.parse(`{${json}}`) as unknown;
      }),
    }));
    fc.assert(
      fc.property(delta, (value) => {
        const { config } = loadConfig(conversation(value));
        expect(config.providers).toEqual({});
        expect(config.mcp.servers).toEqual({});
        expect(JSON.stringify(config)).not.toContain("subsumes");
        expect(Object.keys(Object.prototype)).toEqual([]);
        expect(({} as Record<string, unknown>)["x"]).toBeUndefined();
      }),
    );
  });
});

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
