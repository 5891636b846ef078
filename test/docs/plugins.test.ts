// What is installed in agents says what jpg is today: the skill and its reference, and the manifests.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
// @ts-expect-error: a script without types
import { MANIFESTS, renderSkill, withVersion } from "../../scripts/generate-plugins.mjs";
import { CARE } from "../../src/cli/agents-help.ts";
import { loadCommands } from "../../src/cli/help.ts";
import { parseArguments } from "../../src/cli/parse-arguments.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string): string => readFileSync(root + path, "utf8");
const commands = await loadCommands();
const { version } = JSON.parse(read("package.json")) as { readonly version: string };
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

  it("refers to what `jpg help --agents` prints, for every agent (when it is another text: npm run docs)", () => {
    expect(skill).toContain("[reference.md](reference.md)");
    const generated = Object.entries(renderSkill(commands, skill) as Record<string, string>);
    expect(generated).toHaveLength(3);
    for (const [path, text] of generated) {
      expect(read(path)).toBe(text);
      expect(text.includes("jpg hooks uninstall claude-code"), path).toBe(path.startsWith("plugins/claude-code"));
    }
  });
});

describe("the manifests", () => {
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

describe("the marketplaces", () => {
  interface Market {
    readonly name: string;
    readonly plugins: readonly { readonly name: string; readonly source: string | { readonly path: string } }[];
  }

  it.each([
    [".claude-plugin/marketplace.json", ".claude-plugin/plugin.json"],
    [".agents/plugins/marketplace.json", ".codex-plugin/plugin.json"],
  ])("%s names a folder of this repository that holds the plug-in", (path, manifest) => {
    const { name, plugins } = JSON.parse(read(path)) as Market;
    expect(name).toBe("jpg");
    const [plugin] = plugins;
    const folder = typeof plugin?.source === "string" ? plugin.source : (plugin?.source.path ?? "");
    expect(JSON.parse(read(`${folder}/${manifest}`))).toMatchObject({ name: plugin?.name, version });
  });

  it("are in the package, with all that they and the agents' packages name", { tags: ["slow"] }, () => {
    const told = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], { cwd: root, stdio: "pipe" });
    const [packed] = JSON.parse(told.toString()) as [{ readonly files: readonly { readonly path: string }[] }];
    const paths = packed.files.map(({ path }) => path);
    for (const path of [
      ".claude-plugin/marketplace.json",
      ".agents/plugins/marketplace.json",
      "plugins/claude-code/skills/jpg/reference.md",
      "plugins/claude-code/hooks/register.js",
      "plugins/tools/.mcp.json",
      "plugins/tools/GEMINI.md",
      "plugins/tools/skills/jpg/SKILL.md",
      "plugins/pi/jpg.ts",
      "plugins/opencode/jpg.js",
      ...Object.keys(MANIFESTS as object),
    ])
      expect(paths).toContain(path);
    expect(existsSync(`${root}plugins/pi/${piPackage().pi.skills[0]}/jpg/SKILL.md`)).toBe(true);
  });

  function piPackage(): { readonly pi: { readonly skills: readonly string[] } } {
    return JSON.parse(read("plugins/pi/package.json")) as { readonly pi: { readonly skills: readonly string[] } };
  }
});
