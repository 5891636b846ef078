// `jpg check --format-plugin`: the example keeps every law, and each way to break one is told by its law.
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { isWindows } from "../../helpers/platform.ts";
import { createSandbox, type Sandbox } from "../../helpers/run-jpg.ts";

const PLUGIN = fileURLToPath(new URL("../../../examples/plain-agent/jpg-format-plain", import.meta.url));
const TALK = [0, 1, 2]
  .flatMap((at) => [
    { role: "user", text: `question ${at}` },
    { role: "assistant", text: `answer ${at}` },
  ])
  .map((line) => `${JSON.stringify(line)}\n`)
  .join("");

interface Report {
  readonly ok: boolean;
  readonly laws: readonly { readonly law: string; readonly ok: boolean | null; readonly detail: string }[];
}

let sandbox: Sandbox;
let file: string;
beforeEach(() => {
  sandbox = createSandbox();
  file = sandbox.session("monday.log", TALK);
});
afterEach(() => sandbox.remove());

/** Installs the example with a part of its text replaced, and trusts it. */
async function install(part = "", instead = ""): Promise<void> {
  const text = readFileSync(PLUGIN, "utf8");
  expect(text).toContain(part);
  const folder = join(sandbox.home, ".config", "jpg", "formats");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "jpg-format-plain");
  writeFileSync(path, text.replaceAll(part, part === "" ? "" : instead));
  chmodSync(path, 0o755);
  await sandbox.jpg(["trust", "--format", "plain", "--yes"]);
}

const check = (...args: string[]) => sandbox.jpg(["check", "--format-plugin", "plain", ...args]);
const lawsOf = ({ laws }: Report, ok: boolean | null) => laws.flatMap((law) => (law.ok === ok ? [law.law] : []));

describe.skipIf(isWindows)("jpg check --format-plugin (POSIX)", () => {
  it("says each law of the example, on a session and on one that it writes, and leaves no store", {
    tags: ["slow"],
  }, async () => {
    await install();
    const shown = await check(file);
    expect(shown.code).toBe(0);
    expect(shown.stdout.match(/^ok {2}/gm)).toHaveLength(7);
    expect(shown.stdout).toContain("no law is broken by plain");
    const made = JSON.parse((await check("--json")).stdout) as Report;
    expect(lawsOf(made, true)).toEqual(["reads", "same", "grows", "writes", "returns", "imports", "refuses"]);
    expect((await sandbox.jpg(["ls"])).stderr).toContain("no conversation store");
  });

  it("runs nothing that is not trusted, and needs a file that exists", async () => {
    await install();
    await sandbox.jpg(["trust", "--format", "plain", "--remove"]);
    expect((await check(file)).stderr).toContain("not allowed");
    await sandbox.jpg(["trust", "--format", "plain", "--yes"]);
    expect((await check("nowhere.log")).stderr).toContain("does not exist");
  });

  it.each<[what: string, part: string, instead: string, broken: readonly string[]]>([
    ["ids by chance", "line.id ??", 'line.id ?? "r" + Math.random() ??', ["same", "grows"]],
    ["ids from the end", "line.id ??", 'line.id ?? "r" + (lines.length - at) ??', ["grows"]],
    [
      "the path in an id",
      "const own = lines[0]?.jpg;",
      "const own = lines[0]?.jpg ?? { id: process.argv[3].length };",
      ["reads"],
    ],
    [
      "other bytes at each call",
      "{ jpg: { id, title, origin } }",
      "{ jpg: { id, title, origin, at: process.pid } }",
      ["writes"],
    ],
    ["no origin", "origin: own?.origin", "", ["returns", "imports"]],
    ["no ids", "[{ id: event.id, role,", "[{ role,", ["returns"]],
    ["half of the words", "text: textOf(content)", "text: textOf(content).slice(0, 4)", ["returns"]],
    [
      "what is no session",
      'if (first < 0) fail("no line is a message of the plain agent");',
      'if (first < 0) return [{ type: "session", protocol: 1, id: "x" }, { type: "chat_request", id: "q", content: "?" }];',
      ["refuses"],
    ],
    [
      "no end",
      "const lines = text.split(LINE).map(parse);",
      "const lines = text.split(LINE).map(parse); process.stdout.write('x\\n');",
      ["reads"],
    ],
  ])("names the law that is broken by %s", { tags: ["slow"] }, async (_, part, instead, broken) => {
    await install(part, instead);
    const result = await check(file, "--json");
    expect(result.code).toBe(1);
    expect(lawsOf(JSON.parse(result.stdout) as Report, false)).toEqual(expect.arrayContaining([...broken]));
  });

  it("says what it could not check of a plug-in that does not write", { tags: ["slow"] }, async () => {
    await install('print(write(readFileSync(0, "utf8")))', 'fail("it does not write")');
    const report = JSON.parse((await check(file, "--json")).stdout) as Report;
    expect([report.ok, lawsOf(report, null)]).toEqual([true, ["writes", "returns"]]);
    expect(JSON.stringify(report)).toContain("it does not write");
  });
});
