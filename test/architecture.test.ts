// The import directions of docs/ARCHITECTURE.md, as `npm run deps` checks them, which `npm run check` leaves to this file: they
// hold, the check really read every module, and each rule notices when it is broken.
import { spawnSync } from "node:child_process";
import { cpSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Node } from "typescript";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { AGENTS } from "../src/formats/agents.ts";
import { createTempFolder, type TempFolder, writeText } from "./helpers/temp-repository.ts";

const root = fileURLToPath(new URL("../", import.meta.url));

interface Cruise {
  readonly modules: readonly { readonly source: string }[];
  readonly summary: {
    readonly violations: readonly {
      readonly from: string;
      readonly to: string;
      readonly rule: { readonly name: string };
    }[];
  };
}

function cruise(folder: string, folders: readonly string[]): Cruise {
  const program = join(root, "node_modules/dependency-cruiser/bin/dependency-cruise.mjs");
  const words = [program, "--config", ".dependency-cruiser.mjs", "--output-type", "json", ...folders];
  const { stdout, stderr } = spawnSync(process.execPath, words, { cwd: folder, encoding: "utf8", maxBuffer: 1 << 28 });
  if (!stdout.startsWith("{")) throw new Error(`dependency-cruiser gave no report: ${stderr}`);
  return JSON.parse(stdout) as Cruise;
}

/** The rules that were broken, each with the file that breaks it. */
function violations({ summary }: Cruise): string[] {
  return summary.violations.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`).sort();
}

function sourceFiles(): string[] {
  const names = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  return names.filter((name) => name.endsWith(".ts")).map((name) => `src/${name.replaceAll("\\", "/")}`);
}

describe("appending", () => {
  it("never spreads a list into arguments, of which there is a limit", () => {
    const spread = /\.(?:push|unshift|splice)\((?:[^{([]*,\s*)?\.\.\./;
    expect(spread.test("events.push(...more)")).toBe(true);
    expect(spread.test("events.splice(1, 0, ...head)")).toBe(true);
    expect(sourceFiles().filter((path) => spread.test(readFileSync(join(root, path), "utf8")))).toEqual([]);
  });
});

describe("files of src", () => {
  it("have no more than 600 lines", () => {
    const lines = (path: string): number => readFileSync(join(root, path), "utf8").trimEnd().split("\n").length;
    expect(sourceFiles().filter((path) => lines(path) > 600)).toEqual([]);
  });

  it("have no function of more than 60 lines, its head and its end with it", { tags: ["slow"] }, async () => {
    // Loaded here: the other tests have no use for it.
    const { default: ts } = await import("typescript");
    const long: string[] = [];
    const look = (node: Node, file = node.getSourceFile()): void => {
      const lineOf = (at: number): number => file.getLineAndCharacterOfPosition(at).line;
      if (ts.isFunctionLike(node) && lineOf(node.end) - lineOf(node.getStart(file)) >= 60)
        long.push(`${file.fileName}:${lineOf(node.getStart(file)) + 1}`);
      ts.forEachChild(node, (child) => look(child, file));
    };
    for (const path of sourceFiles()) {
      const text = readFileSync(join(root, path), "utf8");
      // A shorter file has no room for one, and need not be parsed.
      if (text.split("\n").length > 60) look(ts.createSourceFile(path, text, ts.ScriptTarget.Latest));
    }
    expect(long).toEqual([]);
  });
});

describe("files of a store", () => {
  // Its own folder, folders alone, and the one file that opens others.
  const free = new Set(["src/store/files.ts", "src/store/git/transfer.ts"]);
  const opens =
    /(?<![\w.])(?:openSync|(?<=await )open|readFileSync|readFile|appendFileSync|appendFile|writeFileSync|writeFile|createReadStream|createWriteStream)\((.*)$/gm;
  const isSafe = (rest: string): boolean =>
    // Made exclusively, by a number of a file that is open, of the system, or without a path.
    /"[wa]x"|^(?:file\b|written, content, options|path, content, options|content\b|`?"?\/proc\/|\))/.test(rest);

  it("are opened by one function when they may be there already", () => {
    const unsafe = sourceFiles()
      .filter((path) => path.startsWith("src/store/") && !free.has(path))
      .flatMap((path) =>
        [...readFileSync(join(root, path), "utf8").matchAll(opens)].flatMap(([call, rest = ""]) =>
          isSafe(rest) ? [] : [`${path}: ${call}`],
        ),
      );
    expect(unsafe).toEqual([]);
  });

  it("are below folders that are made one by one", () => {
    const endless = /(?<!fs\.)\bmkdir(?:Sync)?\([^;]*recursive: true/;
    expect(sourceFiles().filter((path) => endless.test(readFileSync(join(root, path), "utf8")))).toEqual([]);
  });
});

describe("safe text", () => {
  it("is claimed only where it is made", () => {
    const claimed = sourceFiles().filter((path) => /\bas SafeText\b/.test(readFileSync(join(root, path), "utf8")));
    expect(claimed.sort()).toEqual([
      "src/cli/frame/table.ts",
      "src/cli/frame/terminal.ts",
      "src/cli/frame/wrap.ts",
      "src/core/safe-text.ts",
    ]);
  });
});

describe("agents", () => {
  /** Every agent that there is or may be; not the names of models and of providers, which contain some of these. */
  const names = "claude[- _]code|codex|opencode|gemini[- ]cli|copilot|cline|aider";
  const named = new RegExp(`(?<![\\w/-])(?:${names})(?![\\w-])|\\bclaude (?:--|mcp)|\\.claude\\b|CLAUDE_CO[DN]`, "i");

  it("are named by their own folders and the registry only", () => {
    for (const text of ["`claude --resume FILE`", '"claude-code"', "Codex", "~/.claude/x", "CLAUDE_CODE_SESSION_ID"])
      expect([text, named.test(text)]).toEqual([text, true]);
    for (const text of ["claude-sonnet", '"openai-codex": "openai"', "google-gemini-cli", "decline"])
      expect([text, named.test(text)]).toEqual([text, false]);
    // The tour tells of the bundled session and its agent.
    const others = sourceFiles().filter(
      (path) => /^src\/(?:app|cli|config|mcp|store|web)\//.test(path) && path !== "src/cli/commands/tour.ts",
    );
    expect(others.length).toBeGreaterThan(100);
    expect(others.filter((path) => named.test(readFileSync(join(root, path), "utf8")))).toEqual([]);
  });

  it("stand in folders of their names", () => {
    for (const { name } of AGENTS) expect(sourceFiles()).toContain(`src/formats/${name}/agent.ts`);
  });
});

describe("names", () => {
  /** What a file exports and declares itself, by name. */
  const declared = /^export (?:declare )?(?:abstract )?(?:async )?(?:function\*?|class|interface|type|const) (\w+)/gm;
  /** The names that are declared in two places, each with its files. `files` = text by path. */
  function ambiguous(files: ReadonlyMap<string, string>): string[] {
    const found = new Map<string, Set<string>>();
    for (const [path, text] of files)
      for (const [, name = ""] of text.matchAll(declared)) found.set(name, (found.get(name) ?? new Set()).add(path));
    return [...found]
      .filter(([name, paths]) => paths.size > 1 && !isCommand(name, [...paths]) && !areTwins([...paths]))
      .map(([name, paths]) => `${name}: ${[...paths].join(", ")}`);
  }

  /** Every command's file exports `command`. */
  function isCommand(name: string, paths: readonly string[]): boolean {
    return name === "command" && paths.every((path) => path.startsWith("src/cli/commands/"));
  }

  /** What both engines have, each gives the other's name. */
  function areTwins(paths: readonly string[]): boolean {
    const engines = paths.map((path) => /^src\/store\/(embedded|git)\//.exec(path)?.[1]);
    return engines.sort().join(" ") === "embedded git";
  }

  it("stand for one thing: none is exported by two files of src", () => {
    const twice = new Map([
      ["src/core/a.ts", "export function same(): void {}"],
      ["src/app/b.ts", "export interface same {}"],
      ["src/store/git/c.ts", "export function twin(): void {}"],
      ["src/store/embedded/d.ts", "export async function twin(): Promise<void> {}"],
    ]);
    expect(ambiguous(twice)).toEqual(["same: src/core/a.ts, src/app/b.ts"]);
    expect(ambiguous(new Map(sourceFiles().map((path) => [path, readFileSync(join(root, path), "utf8")])))).toEqual([]);
  });
});

/** The files of test/ but this one, which writes down what they may not say; paths below it. */
function testFiles(): string[] {
  return readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" }).filter(
    (name) => name.endsWith(".ts") && name !== "architecture.test.ts",
  );
}

describe("laws", () => {
  it("say how many examples they draw through runs(), so that exploring may raise it", () => {
    const fixed = /^(?!.*fc\.sample\().*\bnumRuns\b(?!: runs\()/m;
    expect(fixed.test("{ numRuns: 300 }")).toBe(true);
    expect(fixed.test("{ numRuns }")).toBe(true);
    expect(fixed.test("{ numRuns: runs(300) }")).toBe(false);
    const tests = testFiles().filter((name) => name !== "helpers/seed.ts");
    expect(tests.filter((name) => fixed.test(readFileSync(join(root, "test", name), "utf8")))).toEqual([]);
  });
});

describe("what tests wait for", () => {
  it("may take as long as a busy machine takes: the limit is that of vitest.config.ts", () => {
    const limited = /\bpoll\([^;]*\btimeout:|\bvi\.wait(?:For|Until)\(/;
    expect(limited.test("await expect.poll(turns, { timeout: 5000 }).toBe(1);")).toBe(true);
    expect(limited.test("await vi.waitFor(() => expect(done).toBe(true));")).toBe(true);
    expect(limited.test("await expect.poll(turns, { interval: 100 }).toBe(1);")).toBe(false);
    expect(testFiles().filter((name) => limited.test(readFileSync(join(root, "test", name), "utf8")))).toEqual([]);
  });
});

describe("copies of stores", () => {
  it("are made by one function, which no background work gets in the way of", () => {
    const copies = /\bcp(?:Sync)?\([^()]*recursive: true|\bcp\b["',[\s]+-[a-zA-Z]*[rRa]/;
    expect(copies.test("cpSync(from, to, {\n  recursive: true,\n});")).toBe(true);
    expect(copies.test('execFileSync("cp", ["-a", from, to])')).toBe(true);
    expect(copies.test("cpSync(file, other, { preserveTimestamps: true });")).toBe(false);
    expect(testFiles().filter((name) => copies.test(readFileSync(join(root, "test", name), "utf8")))).toEqual([
      "helpers/temp-repository.ts",
    ]);
  });
});

/** The rooms of a tree of src, `.` = its own files. */
function roomsOf(tree: string): string[] {
  const paths = sourceFiles().filter((path) => path.startsWith(`src/${tree}/`));
  return [...new Set(paths.map((path) => (path.split("/").length > 3 ? (path.split("/")[2] ?? "") : ".")))].sort();
}

describe("the levels of src", () => {
  it("are those of the rules, and docs/ARCHITECTURE.md tells of each with its level", async () => {
    const { LEVELS } = (await import(pathToFileURL(join(root, ".dependency-cruiser.mjs")).href)) as {
      LEVELS: Readonly<Record<string, readonly (readonly string[])[]>>;
    };
    const page = readFileSync(join(root, "docs/ARCHITECTURE.md"), "utf8");
    for (const [tree, levels] of Object.entries(LEVELS)) {
      expect(levels.flat().sort()).toEqual(roomsOf(tree));
      if (tree === "mcp" || tree === "web") continue;
      const table = page.split(`| level | in \`src/${tree}\``)[1]?.split("\n\n")[0] ?? "";
      const rows = [...table.matchAll(/^\| (\d+) \| `([^`]+)` \| \S/gm)].map(([, level, room]) => `${level} ${room}`);
      expect(rows.sort()).toEqual(levels.flatMap((rooms, level) => rooms.map((room) => `${level} ${room}`)).sort());
    }
  });

  it("have their tests in the folder of the same name", () => {
    const names = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
    const trees = ["core", "store", "app", "cli", "mcp", "web"];
    const rooms = names
      .map((name) => name.replaceAll("\\", "/").split("/"))
      .filter((path) => trees.includes(path[0] ?? "") && path.at(-1)?.endsWith(".test.ts") === true)
      .map(([tree, ...path]) => `${tree}/${path.length > 1 ? path[0] : "."}`);
    const own = trees.flatMap((tree) => roomsOf(tree).map((room) => `${tree}/${room}`));
    expect([...new Set(rooms)].filter((room) => !own.includes(room))).toEqual([]);
  });
});

describe("import directions", { tags: ["slow"] }, () => {
  let found: Cruise;
  beforeAll(() => {
    found = cruise(root, ["src", "test"]);
  });

  it("hold everywhere in src and test", () => {
    expect(violations(found)).toEqual([]);
  });

  it("are checked in every module of src", () => {
    const cruised = found.modules.map(({ source }) => source).filter((source) => source.startsWith("src/"));
    expect(cruised.sort()).toEqual(sourceFiles().sort());
  });
});

/** A file for each rule that breaks it. */
const PLANTED: Readonly<Record<string, string>> = {
  "src/core/planted.ts": 'import { join } from "node:path";\nexport const planted: unknown = join;\n',
  "src/core/planted-one.ts": 'import type { Two } from "./planted-two.ts";\nexport type One = Two;\n',
  "src/core/planted-two.ts": 'import type { One } from "./planted-one.ts";\nexport type Two = One | null;\n',
  "src/formats/planted.ts": 'import "../store/planted.ts";\n',
  "src/store/planted.ts": 'import "../config/planted.ts";\nimport "./git/planted.ts";\n',
  "src/config/planted.ts": 'import { spawn } from "node:child_process";\nexport const planted: unknown = spawn;\n',
  "src/app/planted.ts": 'import "../cli/planted.ts";\nimport "../../test/planted.ts";\n',
  "src/cli/planted.ts": 'import "../store/planted.ts";\nimport "../web/planted.ts";\nimport "./nothing-here.ts";\n',
  "src/web/planted.ts": 'import * as check from "fast-check";\nexport const planted: unknown = check;\n',
  "src/core/conversation/planted.ts": 'import "../compact/strategies/planted.ts";\n',
  "src/core/compact/strategies/planted.ts": 'import "../../conversation/event.ts";\n',
  "src/store/git/planted.ts": 'import "simple-git";\nimport "./porcelain.ts";\n',
  "src/app/conversation/planted.ts": 'import "../talk/planted.ts";\nimport "../../formats/claude-code/agent.ts";\n',
  "src/app/talk/planted.ts": 'import "../conversation/tree.ts";\nimport "../../store/git/porcelain.ts";\n',
  "src/cli/frame/planted.ts": 'import "../commands/planted.ts";\n',
  "src/cli/commands/planted.ts": 'import "../frame/output.ts";\n',
  "src/mcp/tools/planted.ts": 'import "../serve.ts";\n',
  "src/web/pages/planted.ts": 'import "../serve.ts";\n',
  "src/cli/planted-orphan.ts": "export const planted = 1;\n",
  "test/planted.ts": "export const planted = 1;\n",
};

/** Files of src that the planted ones import; the check looks at where they stand, not at what they say. */
const IMPORTED = [
  "src/core/conversation/event.ts",
  "src/formats/claude-code/agent.ts",
  "src/store/git/porcelain.ts",
  "src/app/conversation/tree.ts",
  "src/cli/frame/output.ts",
  "src/mcp/serve.ts",
  "src/web/serve.ts",
];

/** What of the planted files is wrong as a matter of levels: an import upwards, or a file in none. */
const WRONG_LEVELS = [
  "levels-of-app: src/app/conversation/planted.ts → src/app/talk/planted.ts",
  "levels-of-app: src/app/planted.ts → src/cli/planted.ts",
  "levels-of-app: src/app/planted.ts → test/planted.ts",
  "levels-of-cli: src/cli/frame/planted.ts → src/cli/commands/planted.ts",
  "levels-of-core: src/core/conversation/planted.ts → src/core/compact/strategies/planted.ts",
  "levels-of-mcp: src/mcp/tools/planted.ts → src/mcp/serve.ts",
  "levels-of-store: src/store/planted.ts → src/store/git/planted.ts",
  "levels-of-web: src/web/pages/planted.ts → src/web/serve.ts",
];

describe("the check of import directions", { tags: ["slow"] }, () => {
  let folder: TempFolder;
  beforeAll(() => {
    folder = createTempFolder();
    for (const path of [".dependency-cruiser.mjs", "tsconfig.json", "package.json"]) {
      cpSync(join(root, path), join(folder.path, path));
    }
    symlinkSync(join(root, "node_modules"), join(folder.path, "node_modules"));
    for (const path of IMPORTED) writeText(join(folder.path, path), "export const something = 1;\n");
    for (const [path, text] of Object.entries(PLANTED)) writeText(join(folder.path, path), text);
  });
  afterAll(() => folder.remove());

  it("notices a breach of every rule", async () => {
    expect(sourceFiles()).toEqual(expect.arrayContaining(IMPORTED));
    const config = (await import(pathToFileURL(join(root, ".dependency-cruiser.mjs")).href)) as {
      default: { forbidden: readonly { readonly name: string }[] };
    };
    const planted = cruise(folder.path, ["src"]).summary.violations.filter(({ from }) => from.includes("planted"));
    const wrong = planted.filter(({ rule }) => rule.name.startsWith("levels-of-"));
    expect(wrong.map(({ rule, from, to }) => `${rule.name}: ${from} → ${to}`).sort()).toEqual(WRONG_LEVELS);
    expect([...new Set(planted.map(({ rule }) => rule.name))].sort()).toEqual(
      [...new Set(config.default.forbidden.map(({ name }) => name))].sort(),
    );
  });
});
