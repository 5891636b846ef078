import { describe, expect, it } from "vitest";
import { parseToml } from "../../src/config/keys.ts";
import { errorOf } from "./error-of.ts";

describe("a TOML file", () => {
  it("gives its table and the lines of its keys, with or without a byte order mark", () => {
    const { table, lineOf } = parseToml("\uFEFFa = 1\r\n[b]\r\nc = true\r\n", "x.toml");
    expect(table).toEqual({ a: 1, b: { c: true } });
    expect(lineOf(["b", "c"])).toBe(3);
  });

  it("says file, line, column, text and reason when it is no TOML", () => {
    const error = errorOf(() => parseToml("a = 1\nmodel = anthropic/haiku\n", "/home/ada/config.toml"));
    expect(error).toMatchObject({ kind: "config", code: "bad_toml", data: { file: "/home/ada/config.toml", line: 2 } });
    expect(error.message).toContain("/home/ada/config.toml:2:");
    expect(error.message).toContain("model = anthropic/haiku");
    expect(error.hints[0]).toContain("quotes");
  });

  it("refuses a key that is set twice", () => {
    expect(errorOf(() => parseToml("a = 1\na = 2\n", "x.toml"))).toMatchObject({ code: "bad_toml", data: { line: 2 } });
  });

  it("does not let a key reach the prototype of objects", () => {
    parseToml("[__proto__]\npolluted = true\n[constructor.prototype]\npolluted = true\n", "x.toml");
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });
});
