// What is installed in agents says what jpg is today: the skill and its reference, and the manifests.
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { MANIFESTS, REFERENCE, renderReference, withVersion } from "../../scripts/generate-plugins.mjs";
import { CARE } from "../../src/cli/agents-help.ts";
import { loadCommands } from "../../src/cli/help.ts";
import { parseArguments } from "../../src/cli/parse-arguments.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(root + path, "utf8");
const commands = await loadCommands();
const skill = read("plugins/claude-code/skills/jpg/SKILL.md");

describe("the skill", () => {
  it("has the name of its folder and a description, as long as agents take them", () => {
    const [, front = "", body = ""] = /^---\n([\s\S]*?)\n---\n([\s\S]*)$/.exec(skill) ?? [];
    const fields = Object.fromEntries(front.split("\n").map((line) => line.split(/: (.*)/s).slice(0, 2)));
    expect(Object.keys(fields)).toEqual(["name", "description", "license"]);
    expect(fields.name).toBe("jpg");
    // The limits of the format (agentskills.io): 64 and 1,024 characters, no signs of XML, 500 lines.
    expect(fields.description.length).toBeLessThanOrEqual(1024);
    expect(fields.description).not.toMatch(/[<>]/);
    // Plain YAML: nothing in it begins another field.
    expect(fields.description).not.toMatch(/: | #/);
    expect(body.split("\n").length).toBeLessThanOrEqual(500);
  });

  it("names only commands and options that there are", () => {
    const lines = [...skill.matchAll(/`jpg ([^`]*)`/g)].map(([, line]) => line ?? "");
    expect(lines.length).toBeGreaterThan(10);
    for (const line of lines) {
      const [name, ...words] = line.split(" ");
      if (name === "help") continue;
      const command = commands.find((one) => one.name === name);
      expect(command, line).toBeDefined();
      if (command !== undefined && !line.includes("hooks"))
        expect(() => parseArguments(command, words), line).not.toThrow();
    }
  });

  it("tells a model to ask before what deletes, sends or spends, and shows nothing of that as a step", () => {
    const [steps = "", ask = ""] = skill.split("## Ask first");
    const careful = CARE.find(({ heading }) => heading.includes("ask the user"))?.commands ?? [];
    const named = [...ask.matchAll(/`([a-z]+)`/g)].map(([, name]) => name);
    for (const name of ["rm", "purge", "push", "share", "hooks", "trust", "query"]) expect(named).toContain(name);
    for (const [, name] of steps.matchAll(/`jpg ([a-z]+)/g)) expect(careful).not.toContain(name);
    expect(steps).not.toMatch(/--(?:yes|force|exec|purge|model)\b/);
  });

  it("refers to what `jpg help --agents` prints (when it is another text: npm run docs)", () => {
    expect(skill).toContain("[reference.md](reference.md)");
    expect(read(REFERENCE)).toBe(renderReference(commands));
  });
});

describe("the manifests", () => {
  const { version } = JSON.parse(read("package.json")) as { readonly version: string };

  it.each(Object.entries(MANIFESTS as Record<string, string[][]>))("%s has jpg's version", (path, places) => {
    expect(read(path)).toBe(withVersion(read(path), places, version));
  });

  it("get a new version where it is said, and nowhere else", () => {
    const text = '{\n  "version": "0.1.0", "needs": "0.1.0",\n  "packages": [{ "version": "0.1.0" }]\n}\n';
    const changed = withVersion(text, [["version"], ["packages", 0, "version"]], "2.0.0-rc.1");
    expect(changed).toBe(
      '{\n  "version": "2.0.0-rc.1", "needs": "0.1.0",\n  "packages": [{ "version": "2.0.0-rc.1" }]\n}\n',
    );
    expect(() => withVersion(text, [["plugins", 0, "version"]], "2.0.0")).toThrow(
      "The manifest has no plugins.0.version.",
    );
  });
});
