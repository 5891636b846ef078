// @module-tag law
// What jpg puts into files of settings comes and goes, and nothing else does.

import fc from "fast-check";
import { parse as parseToml } from "smol-toml";
import { describe, expect, it } from "vitest";
import { addPart, findPart, HOOK_MARK, removePart } from "../../../src/app/import/settings-part.ts";
import { commandHooks, namedServer, type SettingsPart } from "../../../src/formats/agent-format.ts";

const LINE = `[ ! -f '/state/${HOOK_MARK}' ] || /bin/sh '/state/${HOOK_MARK}' agent`;
const HOOKS: SettingsPart = { path: "/s.json", ...commandHooks(["SessionEnd", "PreCompact"], LINE, { timeout: 10 }) };
const SERVER: SettingsPart = { path: "/s.json", ...namedServer("mcpServers", ["jpg", "mcp"]) };
const TABLE: SettingsPart = {
  path: "/c.toml",
  type: "toml",
  table: "mcp_servers.jpg",
  values: { command: "jpg", args: ["mcp", "--store", '/a "b"'] },
};

function added(
  text: string | null,
  part: SettingsPart,
): { readonly text: string; readonly inserted: readonly string[] } {
  const result = addPart(text, part);
  if ("problem" in result) throw new Error(result.problem);
  return result;
}

function without(text: string, part: SettingsPart, inserted: readonly string[]): string {
  const result = removePart(text, part, inserted);
  if (typeof result !== "string") throw new Error(result.problem);
  return result;
}

/** The settings of a user who has hooks of the same kind. */
const USERS = `{
    // mine
    "model": "opus", /* kept */
    "hooks": {
        "SessionEnd": [
            { "hooks": [{ "type": "command", "command": "say bye" }] } // last
        ],
        "Stop": []
    },
    "env": { "KEY": "a{b}[c],\\"//d" },
}
`;

describe("entries of a JSON file", () => {
  it("come in as their surroundings are laid out", () => {
    expect(added(USERS, HOOKS).text).toMatchInlineSnapshot(`
      "{
          // mine
          "model": "opus", /* kept */
          "hooks": {
              "SessionEnd": [
                  { "hooks": [{ "type": "command", "command": "say bye" }] },
                  {
                      "hooks": [
                          {
                              "type": "command",
                              "command": "[ ! -f '/state/jpg/hooks/keep.sh' ] || /bin/sh '/state/jpg/hooks/keep.sh' agent",
                              "timeout": 10
                          }
                      ]
                  } // last
              ],
              "Stop": [],
              "PreCompact": [
                  {
                      "hooks": [
                          {
                              "type": "command",
                              "command": "[ ! -f '/state/jpg/hooks/keep.sh' ] || /bin/sh '/state/jpg/hooks/keep.sh' agent",
                              "timeout": 10
                          }
                      ]
                  }
              ]
          },
          "env": { "KEY": "a{b}[c],\\"//d" },
      }
      "
    `);
  });

  it.each([
    ["nothing", ""],
    ["blank lines", "\n\n"],
    ["an empty object", "{}"],
    ["an empty object over two lines", "{\n}\n"],
    ["empty hooks", '{ "hooks": {} }'],
    ["an empty list", '{\n\t"hooks": {\n\t\t"SessionEnd": [],\n\t\t"PreCompact": [ ]\n\t}\n}\n'],
    ["one line", '{"a":1,"hooks":{"SessionEnd":[{"hooks":[]}]}}'],
    ["lines that end in CR LF", '{\r\n  "a": [\r\n    1\r\n  ]\r\n}\r\n'],
    ["a byte order mark", '\uFEFF{ "a": 1 }'],
    ["commas behind the last", '{ "hooks": { "SessionEnd": [ {}, ], }, }'],
    ["comments everywhere", '/* a */ { // b\n "hooks" /* c */ : /* d */ { /* e */ } // f\n } // g'],
    ["a user's settings", USERS],
  ])("leave %s as it was when they go", (_, before) => {
    for (const part of [HOOKS, SERVER]) {
      const { text, inserted } = added(before, part);
      expect(findPart(text, part)).toBe("same");
      expect(added(text, part)).toEqual({ text, inserted: [] });
      expect(removePart(text, part, inserted)).toBe(before);
    }
  });

  it("are removed without the record, too, except empty objects that held only them", () => {
    const users = USERS.replace('" },\n}', '" }\n}');
    const both = added(added(users, HOOKS).text, SERVER).text;
    const left = without(without(both, HOOKS, []), SERVER, []);
    expect(left).toBe(users);
    expect(removePart(added('{"a": 1, "hooks": {}}', HOOKS).text, HOOKS, [])).toBe('{"a": 1}');
  });

  it("use the last of a duplicate key, as agents do", () => {
    const twice = '{ "hooks": 1, /* or */ "hooks": {} }';
    const { text, inserted } = added(twice, HOOKS);
    expect(Object.keys((JSON.parse(text.replace("/* or */", "")) as { hooks: object }).hooks)).toHaveLength(2);
    expect(removePart(text, HOOKS, inserted)).toBe(twice);
  });

  it("go from settings that their owner changed since, which stay as they are now", () => {
    const { text, inserted } = added(USERS, HOOKS);
    const changed = text
      .replace('"model": "opus"', '"model": "haiku"')
      .replace(
        '"timeout": 10\n                          }\n                      ]\n                  }\n              ],',
        "KEPT",
      )
      .replace("} // last", '},\n            { "hooks": [] } // last');
    const left = without(changed, HOOKS, inserted);
    expect(left).not.toContain(HOOK_MARK);
    expect(left).toBe(
      USERS.replace('"opus"', '"haiku"').replace("} // last", '},\n            { "hooks": [] } // last'),
    );
  });

  it("go from settings that their agent wrote anew", () => {
    const { text, inserted } = added('{\n    "a": 1,\n    "hooks": {"Stop": [2]}\n}', HOOKS);
    const rewritten = JSON.stringify({ ...(JSON.parse(text) as object), b: 2 }, null, 2);
    expect(JSON.parse(without(rewritten, HOOKS, inserted))).toEqual({ a: 1, hooks: { Stop: [2] }, b: 2 });
  });

  it("are distinguished from those of others, and from those of an older jpg", () => {
    expect(findPart('{"hooks": {"SessionEnd": [{"hooks": [{"command": "say bye"}]}]}}', HOOKS)).toBe("absent");
    expect(findPart('{"mcpServers": {"jpg": {"command": "other"}}}', SERVER)).toBe("foreign");
    const old = added(null, {
      path: "/s.json",
      ...commandHooks(["SessionEnd"], `sh /old/${HOOK_MARK} x`, { timeout: 1 }),
    });
    expect(findPart(old.text, HOOKS)).toBe("other");
    const now = added(old.text, HOOKS).text;
    expect(now).not.toContain("/old/");
    expect(findPart(now, HOOKS)).toBe("same");
    // What its owner added to a server stays its owner's, and goes with it.
    const extended = '{"mcpServers": {"jpg": {"command": "jpg", "args": ["mcp"], "env": {"A": "1"}}, "x": {}}}';
    expect(findPart(extended, SERVER)).toBe("other");
    expect(removePart(extended, SERVER, [])).toBe('{"mcpServers": { "x": {}}}');
  });

  it.each([
    ['{"hooks": [1]}', 'has "hooks" that is not an object', 1],
    ['{\n"hooks": {\n"SessionEnd": "x"}}', 'has "hooks.SessionEnd" that is not a list', 3],
    ["[1]", "has something that is not an object", 1],
    ['{"a": 1', "is not JSON", 1],
    ['{"a" 1}', "is not JSON", 1],
    ['{"a": 1 "b": 2}', "is not JSON", 1],
    ['{"a": 1} x', "is not JSON", 1],
    ["{\"a\": 'x'}", "is not JSON", 1],
    ['{\r\n// said\r\n"a": 01\r\n}', "is not JSON", 3],
    ['{\n"a": "b\nc"}', "is not JSON", 2],
    ['{\n"a": "\\x"}', "is not JSON", 2],
    ['{\n"a": 1,,}', "is not JSON", 2],
    ["{} /* a", "is not JSON", 1],
  ])("are not put into %s", (text, problem, line) => {
    expect(addPart(text, HOOKS)).toEqual({ problem, line });
  });

  it("are not put into what nests without end", () => {
    expect(addPart("[".repeat(100_000), HOOKS)).toEqual({ problem: "is not JSON", line: 1 });
  });

  it("come and go, whatever settings are like", () => {
    const json = fc.dictionary(fc.constantFrom("a", "hooks", "mcpServers", 'ü"\\'), fc.jsonValue({ maxDepth: 3 }));
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 1, 2, 4, "\t"), fc.constantFrom("", "\n"), (value, space, end) => {
        const before = JSON.stringify(value, null, space) + end;
        for (const part of [HOOKS, SERVER]) {
          const result = addPart(before, part);
          if ("problem" in result) continue;
          const { mcpServers: _, hooks: __, ...others } = JSON.parse(result.text) as Record<string, unknown>;
          const { mcpServers: ___, hooks: ____, ...othersBefore } = value;
          expect(others).toEqual(JSON.parse(JSON.stringify(othersBefore)));
          expect(findPart(result.text, part)).toBe("same");
          expect(removePart(result.text, part, result.inserted)).toBe(before);
          expect(findPart(without(result.text, part, []), part)).toBe("absent");
        }
      }),
    );
  });
});

describe("a table of a TOML file", () => {
  const users = '# mine\nmodel = "x" # kept\n\n[mcp_servers.other]\ncommand = "o"\n';

  it.each([
    ["nothing", ""],
    ["a user's settings", users],
    ["settings without a line's end", 'model = "x"'],
    ["lines that end in CR LF", 'model = "x"\r\n'],
  ])("leaves %s as it was when it goes", (_, before) => {
    const { text, inserted } = added(before, TABLE);
    expect(parseToml(text)).toMatchObject({
      mcp_servers: { jpg: { command: "jpg", args: ["mcp", "--store", '/a "b"'] } },
    });
    expect(added(text, TABLE)).toEqual({ text, inserted: [] });
    expect(removePart(text, TABLE, inserted)).toBe(before);
    expect(without(text, TABLE, []).trimEnd()).toBe(before.trimEnd());
  });

  it("is removed from between later tables, whose comments stay", () => {
    const { text, inserted } = added(users, TABLE);
    const more = "\n# about x\n[x]\na = [\n  1, # one\n]\n";
    const changed = `${text.replace('mcp"', 'mcp", "-q"')}\n[mcp_servers.jpg.env]\nA = "1"\n${more}`;
    expect(removePart(changed, TABLE, inserted)).toBe(users + more);
    expect(removePart(text + more, TABLE, inserted)).toBe(users + more);
  });

  it("is not added where TOML forbids it, nor over another of its name", () => {
    expect(addPart("mcp_servers = {}\n", TABLE)).toEqual({
      problem: "cannot have a table [mcp_servers.jpg] at its end",
    });
    expect(addPart("b = 1\na = \n", TABLE)).toEqual({ problem: "is not TOML", line: 2 });
    expect(findPart('[mcp_servers.jpg]\ncommand = "other"\n', TABLE)).toBe("foreign");
  });

  it.each([
    `test -f ~/.local/state/${HOOK_MARK} && notify-send done`,
    `cat ~/.local/state/${HOOK_MARK}; say bye`,
    `/bin/sh /state/${HOOK_MARK} agent; rm -rf build`,
    `[ ! -f '/state/${HOOK_MARK}' ] || /bin/sh '/state/${HOOK_MARK}' agent && say bye`,
    `echo ${HOOK_MARK}`,
  ])("leaves alone a command of the user's that names the script: %s", (command) => {
    const own = `{"hooks":{"SessionEnd":[{"hooks":[{"type":"command","command":${JSON.stringify(command)}}]}]}}`;
    expect(findPart(own, HOOKS)).toBe("absent");
    const { text, inserted } = added(own, HOOKS);
    expect(JSON.parse(without(text, HOOKS, inserted))).toEqual(JSON.parse(own));
    expect(JSON.parse(without(text, HOOKS, []))).toEqual(JSON.parse(own));
  });

  it("takes jpg's command out of a group in which the user has others", () => {
    const group = (...commands: readonly string[]) =>
      JSON.stringify({
        hooks: { SessionEnd: [{ matcher: "x", hooks: commands.map((command) => ({ type: "command", command })) }] },
      });
    for (const commands of [
      [LINE, "say bye"],
      ["say bye", LINE],
      [LINE, "say bye", `sh /old/${HOOK_MARK} agent copy`],
    ])
      expect(JSON.parse(without(group(...commands), HOOKS, []))).toEqual(JSON.parse(group("say bye")));
    expect(JSON.parse(without(group(LINE), HOOKS, []))).toEqual({});
  });
});
