// What users install: `npm i -g` of the released package, from its tarball into an empty prefix, without a network (one package, no
// warning, and a jpg that does its main job on each Node), and the executable, where there is no Node.
// @module-tag slow
import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, realpathSync, statSync, symlinkSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createTempFolder, type TempFolder } from "../helpers/temp-repository.ts";
import { type Installed, placeInstalled, type Ran, runIn, tryMainJob } from "../helpers/try-installed.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { version } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
const MOST_BYTES = 12_000_000;

/** The programs of other Nodes that JPG_NODES names, by their major version. */
const nodes: ReadonlyMap<string, string> = new Map(
  (process.env["JPG_NODES"] ?? "")
    .split(delimiter)
    .filter((path) => path !== "")
    .map((path) => [execFileSync(path, ["-p", "parseInt(process.versions.node)"]).toString().trim(), path]),
);

/** What the executable is made of; where it cannot be made, there is none to test. */
const node24 = `${process.platform}-${process.arch}` === "linux-x64" ? nodes.get("24") : undefined;

/** Milliseconds: types and the executable take two minutes of a processor, and other tests run beside it. */
const RELEASE_HANGS = 1_200_000;

let folder: TempFolder;
let tarball: string;
beforeAll(() => {
  folder = createTempFolder();
  const out = join(folder.path, "release");
  const words = ["--out", out, ...(node24 === undefined ? [] : ["--executable", "--node", dirname(dirname(node24))])];
  execFileSync(process.execPath, [join(ROOT, "scripts/release.mjs"), ...words], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  tarball = join(out, `jpg-cli-${version}.tgz`);
}, RELEASE_HANGS);
afterAll(() => folder.remove());

/** Installs the tarball by npm on a Node; gives what npm said and a place for the installed jpg. */
async function installOn(node: string) {
  const prefix = join(folder.path, `prefix-${readdirSync(folder.path).length}`);
  const bin = join(prefix, "own");
  mkdirSync(bin, { recursive: true });
  symlinkSync(node, join(bin, "node"));
  const path = [bin, join(prefix, "bin"), process.env["PATH"] ?? ""].join(delimiter);
  const place = placeInstalled(folder.path, "jpg", path);
  const npm = execFileSync("sh", ["-c", "command -v npm"]).toString().trim();
  const words = ["install", "--global", "--offline", "--prefix", prefix, "--cache", join(prefix, "cache"), tarball];
  const env = { ...place.env, npm_config_update_notifier: "false" };
  const said = await runIn({ ...place, program: node, env }, [realpathSync(npm), ...words]);
  return { said, prefix, place };
}

const sizeOf = (path: string): number => Math.ceil(statSync(path).size / 4096) * 4096;

/** The files that were installed, as paths from the package's folder, and what they take on a disk. */
function installedFiles(prefix: string): {
  readonly packages: readonly string[];
  readonly files: readonly string[];
  readonly bytes: number;
} {
  const modules = join(prefix, "lib/node_modules");
  const at = join(modules, "jpg-cli");
  const entries = readdirSync(at, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const paths = entries.map((entry) => join(entry.parentPath, entry.name));
  const files = paths.map((path) => path.slice(at.length + 1));
  return { packages: readdirSync(modules), files, bytes: paths.reduce((sum, path) => sum + sizeOf(path), 0) };
}

const importLibrary = ({ place, prefix }: Awaited<ReturnType<typeof installOn>>): Promise<Ran> => {
  symlinkSync(join(prefix, "lib/node_modules"), join(dirname(place.cwd), "node_modules"));
  const code = 'import("jpg-cli").then(({ splitTurns }) => console.log(typeof splitTurns))';
  return runIn({ ...place, program: "node" }, ["-e", code]);
};

async function expectMainJob(place: Installed): Promise<void> {
  const { views, isPriced, resumes, page, tools } = await tryMainJob(place);
  const [imported = 0, whole = 0, compacted = 0] = views;
  expect(whole).toBeGreaterThan(imported);
  expect(compacted).toBeLessThan(whole / 2);
  expect(isPriced).toBe(true);
  expect(resumes).toMatch(/^claude --resume [0-9a-f-]{36}$/);
  expect(page.text).toContain("tidepool");
  expect(page.parts).toEqual([true, true]);
  expect(tools).toContain("search");
}

const CASES = [
  { on: "this Node", node: process.execPath },
  ...["22", "24"].map((major) => ({ on: `Node ${major} (JPG_NODES)`, node: nodes.get(major) })),
];

describe.each(CASES)("the package, installed on $on", ({ node }) => {
  it.skipIf(node === undefined)("is one package without a warning, and does jpg's main job", async () => {
    const installed = await installOn(node ?? "");
    expect(installed.said).toMatchObject({
      code: 0,
      stderr: "",
      stdout: expect.stringMatching(/^\s*added 1 package in/) as string,
    });
    const { packages, files, bytes } = installedFiles(installed.prefix);
    expect(packages).toEqual(["jpg-cli"]);
    expect(files.filter((path) => path.endsWith(".d.ts"))).toEqual(["dist/index.d.ts"]);
    expect(files).toContain("THIRD-PARTY-LICENSES.txt");
    expect(bytes).toBeLessThan(MOST_BYTES);

    const { place } = installed;
    expect(await runIn(place, ["--version"])).toEqual({ code: 0, stdout: `${version}\n`, stderr: "" });
    await expectMainJob(place);
    expect(await importLibrary(installed)).toEqual({ code: 0, stdout: "function\n", stderr: "" });
  });
});

describe("the executable (JPG_NODES)", () => {
  it.skipIf(node24 === undefined)(
    "does jpg's main job without Node on the PATH, and starts itself where others start Node with a script",
    async () => {
      const name = `jpg-${version}-linux-x64`;
      const unpacked = join(folder.path, "unpacked");
      const bin = join(unpacked, "bin");
      mkdirSync(bin, { recursive: true });
      execFileSync("tar", ["-xzf", join(folder.path, "release", `${name}.tar.gz`), "-C", unpacked]);
      expect(readdirSync(join(unpacked, name))).toEqual(
        expect.arrayContaining(["LICENSE", "NODE-LICENSE.txt", "THIRD-PARTY-LICENSES.txt"]),
      );
      expect(readdirSync(join(unpacked, name, "man"))).toEqual(expect.arrayContaining(["git-jpg.1", "jpg-compact.1"]));
      for (const tool of ["git", "sh"]) {
        symlinkSync(
          execFileSync("sh", ["-c", `command -v ${tool}`])
            .toString()
            .trim(),
          join(bin, tool),
        );
      }
      const program = join(unpacked, name, "jpg");
      expect(statSync(program).size).toBeLessThan(130_000_000);
      const place = placeInstalled(folder.path, program, bin);
      const isVersion = { code: 0, stdout: `${version}\n`, stderr: "" };
      expect(await runIn(place, ["--version"])).toEqual(isVersion);
      expect(await runIn(place, [program, "--version"])).toEqual(isVersion);
      expect((await runIn(place, ["/dev/null", "--version"])).code).toBe(2);
      const asGit = { ...place, program: "git", env: { ...place.env, PATH: `${dirname(program)}:${bin}` } };
      expect(await runIn(asGit, ["jpg", "--version"])).toEqual(isVersion);
      await expectMainJob(place);

      expect((await runIn(place, ["hooks", "install", "claude-code", "--live"])).code).toBe(0);
      const plugin = readFileSync(
        join(place.env["HOME"] ?? "", ".claude/skills/jpg/.claude-plugin/plugin.json"),
        "utf8",
      );
      const { mcpServers } = JSON.parse(plugin) as { readonly mcpServers: { readonly jpg: unknown } };
      expect(mcpServers.jpg).toMatchObject({ command: program, args: ["mcp"] });
    },
  );
});
