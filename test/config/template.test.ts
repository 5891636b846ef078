import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { listKnownKeys } from "../helpers/known-keys.ts";

const read = (path: string) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");

/** The template with every example in force. */
const uncommented = read("templates/config.toml").replace(/^#(?=\S)/gm, "");
const load = (text: string) => loadConfig({ user: { path: "config.toml", text }, conversation: [], overrides: [] });

describe("the config template", () => {
  it("changes nothing as it stands", () => {
    expect(load(read("templates/config.toml")).config).toEqual(load("").config);
  });

  it("holds only settings that are understood, and the built-in values where there are some", () => {
    const { values } = load(uncommented);
    for (const [key, value] of load("").values) expect([key, values.get(key)]).toEqual([key, value]);
    expect(load(uncommented).origins.get("conversation.compaction.fork")?.layer).toBe("user");
  });
});

describe("docs/config.md", () => {
  it("lists every setting and no other", () => {
    const listed = [...read("docs/config.md").matchAll(/^\| `([^`]+)` \|/gm)].map(([, key]) => key);
    expect(listed).toEqual(listKnownKeys());
  });
});
