// Which calls a later call makes obsolete: the programs are real scripts in a temporary folder.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findSubsumed, type SubsumptionOptions } from "../../../src/app/compact/subsumption.ts";
import { applyTrust, planTrust } from "../../../src/app/conversation/trust.ts";
import { openWorkspace } from "../../../src/app/conversation/workspace.ts";
import { toolHints } from "../../../src/config/config.ts";
import { createTempFolder, git, type TempFolder, testEnvironment, writeText } from "../../helpers/temp-repository.ts";
import { type CallNote, createCalls } from "../../helpers/tool-calls.ts";
import { createTestRuntime } from "../../helpers/workspace.ts";

let folder: TempFolder;

/** What a script does with the question `asked`; `answer(text)` prints an answer. Each call of it leaves a line in `log`. */
const SCRIPTS = {
  yes: `answer("true")`,
  no: `answer("false")`,
  inside: `const { earlier, later } = asked.tool.arguments; answer(String(later.from <= earlier.from && later.to >= earlier.to))`,
  echo: `answer(String(asked.tool.name === "look" && asked.tool.action === "subsumes" && process.env.GIT_DIR === undefined && process.env.GIT_NO_REPLACE_OBJECTS === undefined && process.env.GIT_TERMINAL_PROMPT === "0" && process.env.SEEN === "yes" && process.argv[2] === "two words" && process.cwd() === ${JSON.stringify("CWD")}))`,
  rubbish: `process.stdout.write("certainly")`,
  nothing: `process.stdout.write("null")`,
  refusal: `process.stdout.write('{"type":"error","content":"true"}')`,
  exit: `answer("true"); process.exitCode = 3`,
  huge: `process.stdout.write("x".repeat(1 << 20)); setInterval(() => {}, 1000)`,
} as const;

beforeAll(() => {
  folder = createTempFolder();
  for (const [name, body] of Object.entries(SCRIPTS)) {
    const script = `const fs = require("fs");
const asked = JSON.parse(fs.readFileSync(0, "utf8"));
fs.appendFileSync(${JSON.stringify(join(folder.path, `${name}.log`))}, process.pid + "\\n");
const answer = (content) => process.stdout.write(JSON.stringify({ type: "success", content }));
${body.replace("CWD", folder.path)}
`;
    writeText(join(folder.path, `${name}.cjs`), script);
  }
  // A shell, which has written its line long before its time is over, on a busy machine too.
  writeText(join(folder.path, "hang.sh"), `echo $$ >> '${join(folder.path, "hang.log")}'; sleep 30; :`);
  writeText(
    join(folder.path, "deaf.cjs"),
    `process.stdin.destroy(); process.stdout.write('{"type":"success","content":"true"}');`,
  );
});
afterAll(() => folder.remove());

function timesAsked(name: keyof typeof SCRIPTS): number {
  const log = join(folder.path, `${name}.log`);
  return existsSync(log) ? readFileSync(log, "utf8").trim().split("\n").length : 0;
}

function ask(notes: readonly CallNote[], subsumes: string | undefined, options: Partial<SubsumptionOptions> = {}) {
  const hints: SubsumptionOptions["hints"] = subsumes === undefined ? {} : { look: { subsumes } };
  // A busy machine takes its time to start a program.
  const patient = { timeoutMs: 60_000, totalMs: 600_000 };
  return findSubsumed(createCalls(notes), { hints, cwd: folder.path, env: process.env, ...patient, ...options });
}

const run = (name: string) => `${JSON.stringify(process.execPath)} ${name}.cjs`;
const look = (args: Record<string, unknown>, more: Partial<CallNote> = {}): CallNote => ({
  name: "look",
  args,
  ...more,
});
const differing = (count: number) => Array.from({ length: count }, (_, n) => look({ at: "here", n }));

describe("findSubsumed with a program", () => {
  it("believes what it says", async () => {
    expect(await ask(differing(2), run("yes"))).toEqual({ pairs: new Map([["c0", "c1"]]), problems: [] });
    expect(await ask(differing(2), run("no"))).toEqual({ pairs: new Map(), problems: [] });
  });

  it("names the call that stays at the end of a chain", { tags: ["slow"] }, async () => {
    const notes = [
      [3, 4],
      [2, 5],
      [8, 9],
      [1, 6],
    ].map(([from, to]) => look({ at: "here", from, to }));
    expect((await ask(notes, run("inside"))).pairs).toEqual(
      new Map([
        ["c0", "c3"],
        ["c1", "c3"],
      ]),
    );
  });

  it("gets name, action and arguments, without a shell, in its folder, without git's local variables", async () => {
    const env = { ...process.env, SEEN: "yes", GIT_DIR: "/elsewhere", GIT_TERMINAL_PROMPT: "0" };
    const { pairs, problems } = await ask(differing(2), `${run("echo")} 'two words'`, { env });
    expect([pairs.size, problems]).toEqual([1, []]);
    const injected = await ask(differing(2), `${run("no")}; touch injected`);
    expect(injected.pairs.size).toBe(0);
    expect(existsSync(join(folder.path, "injected"))).toBe(false);
  });

  it("answers equal arguments itself, and asks each question once", async () => {
    const before = timesAsked("no");
    const equal = [look({ a: 1, b: "x" }), look({ b: "x", a: 1 })];
    expect((await ask(equal, run("no"))).pairs).toEqual(new Map([["c0", "c1"]]));
    expect(timesAsked("no")).toBe(before);
    await ask([look({ at: "x", n: 1 }), look({ at: "x", n: 1 }), look({ at: "x", n: 2 })], run("no"));
    expect(timesAsked("no")).toBe(before + 1);
  });

  it("asks nothing of calls that share no text, were not answered, or of a tool whose dedup is off", async () => {
    const before = timesAsked("yes");
    const result = (value: null | string) => ({ result: value });
    expect((await ask([look({ n: 1 }), look({ n: 2 })], run("yes"))).pairs.size).toBe(0);
    expect((await ask([look({ at: "x" }), look({ at: "x", n: 1 }, result(null))], run("yes"))).pairs.size).toBe(0);
    expect((await ask([look({ at: "x" }), look({ at: "x", n: 1 }, { failed: true })], run("yes"))).pairs.size).toBe(0);
    const standIn = result("File unchanged since last read.");
    expect((await ask([look({ at: "x" }), look({ at: "x" }, standIn)], run("yes"))).pairs.size).toBe(0);
    const hints = { look: { subsumes: run("yes"), dedup: false } };
    expect((await ask(differing(2), undefined, { hints })).pairs.size).toBe(0);
    expect(timesAsked("yes")).toBe(before);
  });

  it("takes an answer from a program that does not read the question", async () => {
    const long = [look({ at: "here", text: "x".repeat(1 << 20) }), look({ at: "here" })];
    expect((await ask(long, run("deaf"))).pairs.size).toBe(1);
  });
});

describe("a program that fails", () => {
  it.each([
    ["rubbish", "answered something else than"],
    ["nothing", "answered something else than"],
    ["refusal", "answered something else than"],
    ["exit", "failed with exit code 3"],
    ["huge", "answered more than 64 KiB"],
  ] as const)("%s is reported once, and equality counts", async (name, problem) => {
    const notes = [look({ at: "here", n: 0 }), look({ at: "here", n: 1 }), look({ at: "here", n: 1 })];
    const { pairs, problems } = await ask(notes, run(name));
    expect(pairs).toEqual(new Map([["c1", "c2"]]));
    expect(problems).toEqual([expect.stringContaining(problem)]);
    expect(problems[0]).toContain("tools.look.compaction.subsumes");
  });

  it("is not asked a fourth time", async () => {
    const before = timesAsked("rubbish");
    await ask(differing(9), run("rubbish"));
    expect(timesAsked("rubbish")).toBe(before + 3);
  });

  it("is ended with all that it started when it hangs", { tags: ["slow"] }, async () => {
    const { pairs, problems } = await ask(differing(2), "/bin/sh hang.sh", { timeoutMs: 2500 });
    expect([pairs.size, problems]).toEqual([0, [expect.stringContaining("did not answer within 2.5 s")]]);
    const pid = Number(readFileSync(join(folder.path, "hang.log"), "utf8").trim());
    await expect.poll(() => groupLives(pid)).toBe(false);
  });

  it("is not waited for longer than all answers may take together", async () => {
    const { problems } = await ask(differing(9), "/bin/sh hang.sh", { totalMs: 300 });
    expect(problems).toHaveLength(1);
  });

  it.each([
    ["no-such-program-here", "could not be started"],
    ["./also/none", "could not be started"],
    ["'open quote", "is not a command line"],
    ["   ", "is not a command line"],
    ["a\u0000b", "could not be started"],
  ])("%j says so", async (subsumes, problem) => {
    const { pairs, problems } = await ask(differing(4), subsumes);
    expect([pairs.size, problems]).toEqual([0, [expect.stringContaining(problem)]]);
  });
});

describe("findSubsumed without a program", () => {
  const reads = [
    { name: "fs_read_file", args: { path: "a", start_line: 2, end_line: 3 }, result: "x\ny" },
    { name: "fs_read_file", args: { path: "a" }, result: "x" },
  ];

  it("finds reads inside later reads", async () => {
    expect(await ask(reads, undefined)).toEqual({ pairs: new Map([["c0", "c1"]]), problems: [] });
  });

  it("ignores tools whose dedup is off, and prefers a program if there is one", async () => {
    expect((await ask(reads, undefined, { hints: { "*": { dedup: false } } })).pairs.size).toBe(0);
    const hints = { fs_read_file: { subsumes: run("no") } };
    expect(
      (await ask([reads[0]!, { ...reads[1]!, args: { path: "a", end_line: 9 } }], undefined, { hints })).pairs.size,
    ).toBe(0);
  });
});

describe("a program that a project names", () => {
  it("runs only once the project is trusted, and not any more when its file changes", async () => {
    const project = createTempFolder();
    const env = testEnvironment(join(project.path, "home"));
    git(project.path, env, ["init", "--quiet"]);
    const mark = join(project.path, "ran");
    const script = `require("fs").writeFileSync(${JSON.stringify(mark)}, ""); process.stdout.write('{"type":"success","content":"true"}')`;
    writeText(join(project.path, "check.cjs"), script);
    const config = `[conversation.tools.look.compaction]\nsubsumes = '${run("check")}'\n`;
    writeText(join(project.path, ".jpg.toml"), config);
    const runtime = createTestRuntime(project.path, env);
    const warnings: string[] = [];
    const find = async () => {
      const workspace = await openWorkspace(runtime, { create: true, warn: (message) => warnings.push(message) });
      const hints = toolHints((await workspace.config()).config);
      await workspace.close();
      return (await ask(differing(2), undefined, { hints, cwd: project.path, env })).pairs.size;
    };

    expect([await find(), existsSync(mark)]).toEqual([0, false]);
    expect(warnings).toEqual([expect.stringContaining("conversation.tools.look.compaction.subsumes")]);
    await applyTrust(runtime, await planTrust(runtime, { store: undefined }));
    expect([await find(), existsSync(mark)]).toEqual([1, true]);
    writeText(join(project.path, ".jpg.toml"), `${config}# changed\n`);
    expect(await find()).toBe(0);
    project.remove();
  });
});

/** Whether a process of the group is still there. */
function groupLives(pid: number): boolean {
  try {
    process.kill(-pid, 0);
    return true;
  } catch {
    return false;
  }
}
