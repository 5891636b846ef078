// The view as a plan: printed, changed, followed in one commit that every command takes as the one change it is.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";

let sandbox: ImportedSandbox;
let main: string;
let start: string;
beforeEach(async () => {
  sandbox = await copyImportedSandbox();
  main = `${sandbox.conversation}/main`;
  start = tip();
});
afterEach(() => sandbox.remove());

interface Edited {
  readonly commit: string | null;
  readonly compaction: string | null;
  readonly compactions: readonly string[];
  readonly group: string | null;
  readonly reason?: string;
  readonly policies: string;
  readonly warnings: readonly string[];
  readonly pinned: readonly unknown[];
}

const tip = (): string => sandbox.git(["rev-parse", main]);
const tree = (commit: string): string => sandbox.git(["rev-parse", `${commit}^{tree}`]);
const view = async (): Promise<string> => (await sandbox.jpg(["print", "--compacted"])).stdout;
const emit = async (...words: string[]): Promise<string> =>
  (await sandbox.jpg(["edit", "--emit-plan", ...words])).stdout;
const edit = (plan: string, ...words: string[]): Promise<Edited> =>
  sandbox.json<Edited>(["edit", "--plan", "-", ...words], { input: plan });
const follow = (plan: string, ...words: string[]): ReturnType<ImportedSandbox["jpg"]> =>
  sandbox.jpg(["edit", "--plan", "-", ...words], { input: plan });

/** Extracts of short turns are longer than these. */
const FORCED = ["--model", "extractive", "--force"];

/** Gives lines of a plan other verbs, by place. */
function say(plan: string, verbs: Readonly<Record<string, string>>): string {
  return plan
    .split("\n")
    .map((line) => {
      const [verb, place = ""] = line.trim().split(/\s+/);
      const wanted = verb === "#" ? undefined : verbs[place];
      return wanted === undefined ? line : line.replace(/^\w+/, wanted);
    })
    .join("\n");
}

describe("jpg edit --emit-plan", () => {
  it("prints a line a turn, with help below it that says nothing to do", async () => {
    const plan = await emit();
    const lines = plan.split("\n");
    expect(lines[0]).toBe(`plan ${main} ${start.slice(0, 12)}`);
    expect(lines.slice(1, 7).map((line) => line.split(/\s+/).slice(0, 2))).toEqual(
      [0, 1, 2, 3, 4, 5].map((turn) => ["keep", String(turn)]),
    );
    expect(lines[1]).toMatch(/^keep 0 +\d+ +<?\d+% +\d+\w+ {2}Measure the tide/);
    expect(lines.every((line) => [...line].length <= 80 || line.startsWith("plan "))).toBe(true);
    expect(lines.slice(7).every((line) => line === "" || line.startsWith("#"))).toBe(true);
    expect(tip()).toBe(start);
  });

  it("has its lines as values, too", async () => {
    const document = await sandbox.json<{ lines: unknown[]; plan: string }>(["edit", "--emit-plan"]);
    expect(document).toMatchObject({ branch: main, commit: start.slice(0, 12), calls: false, plan: await emit() });
    expect(document.lines[0]).toMatchObject({ verb: "keep", place: "0", kind: "turn", tokens: expect.any(Number) });
  });

  it.each(["plan.txt", "/plan"])("writes a file (%s) that --plan follows", async (name) => {
    const path = name.startsWith("/") ? join(sandbox.root, name) : join(sandbox.project, name);
    await sandbox.jpg(["edit", "--emit-plan", name.startsWith("/") ? path : name]);
    writeFileSync(path, say(readFileSync(path, "utf8"), { 2: "omit" }));
    expect(await sandbox.json<Edited>(["edit", "--plan", path, "--dry-run"])).toMatchObject({
      policies: "turns omitted",
    });
  });
});

describe("a plan that is followed", () => {
  it("is one commit, which stock git and jpg take back whole, pins too", async () => {
    const before = await view();
    const report = await edit(say(await emit(), { 0: "s", 1: "s", 2: "o", 4: "pin", 5: "truncate" }));
    expect(report).toMatchObject({ group: expect.any(String), pinned: [{ turn: 4 }] });
    expect(report.compactions).toHaveLength(report.policies.split("), ").length);
    expect(sandbox.git(["rev-list", "--count", `${start}..${main}`])).toBe("1");
    expect((await sandbox.jpg(["pin"])).stdout).toMatch(/^4 /);
    const after = await view();
    expect(after).not.toBe(before);
    const [row, ...more] = await sandbox.json<Record<string, unknown>[]>(["log"]);
    expect(more).toEqual([]);
    expect(row).toMatchObject({ group: report.group, compactions: report.compactions, live: true, kind: "compaction" });
    expect(row).not.toHaveProperty("message");

    await sandbox.jpg(["revert", report.compactions.at(-1) ?? ""]);
    expect(tree(main)).toBe(tree(start));
    expect(await view()).toBe(before);
    const reverted = tip();
    await sandbox.jpg(["revert", reverted]);
    expect(tree(main)).toBe(tree(report.commit ?? ""));
    expect(await view()).toBe(after);
    sandbox.git(["revert", "--no-edit", "HEAD"]);
    expect(tree(main)).toBe(tree(start));
    expect((await sandbox.jpg(["undo"])).code).toBe(2);
    expect((await sandbox.jpg(["fsck"])).code).toBe(0);
  });

  it("is taken back by undo, and shown, blamed and diffed as one", async () => {
    const report = await edit(say(await emit(), { 0: "strip", 2: "omit", 3: "strip" }));
    const [first = "", second = ""] = report.compactions;
    for (const id of [...report.compactions, report.commit ?? ""]) {
      const shown = await sandbox.json<Record<string, unknown>>(["show", id]);
      expect(shown).toMatchObject({
        policies: report.policies,
        compactions: report.compactions.map((one) => ({ id: one })),
      });
    }
    expect((await sandbox.jpg(["show", second, "--full"])).stdout).toMatch(/Group:\n.*0: .*\n.*2: turns omitted\n/);
    const blamed = await sandbox.json<{ rows: { by?: { compaction: string; subject: string } }[] }>(["blame", "2"]);
    expect(blamed.rows[0]?.by).toMatchObject({ compaction: second, subject: expect.stringContaining(report.policies) });
    const diffs = await Promise.all([first, second].map((id) => sandbox.jpg(["diff", id])));
    expect(diffs[0]?.stdout).toBe(diffs[1]?.stdout);
    expect(await sandbox.json(["undo"])).toMatchObject({ reverted: report.compactions });
    expect(tree(main)).toBe(tree(start));
    expect(await sandbox.json(["redo"])).toMatchObject({ reverted: report.compactions, restored: report.compactions });
  });

  it("goes onto another fork whole, and is reviewed as one", async () => {
    await sandbox.jpg(["fork", "@", "other"]);
    const report = await edit(say(await emit(), { 0: "strip", 2: "omit", 4: "pin" }));
    const reviewed = await sandbox.json<{ compactions: { subject: string }[] }>(["review", "other"]);
    expect(reviewed.compactions).toMatchObject([{ subject: expect.stringContaining(report.policies) }]);
    await sandbox.jpg(["use", main]);
    expect(await sandbox.jpg(["git", "cherry-pick", `${sandbox.conversation}/other`])).toMatchObject({ code: 0 });
    expect(tree(main)).toBe(tree(`${sandbox.conversation}/other`));
    expect(await sandbox.json(["log", main])).toMatchObject([{ compactions: report.compactions }]);
  });

  it("stays one on a fork that is cut and in a masked copy", async () => {
    const secret = "ghp_a1B2c3D4e5F6g7H8i9" + "J0k1L2m3N4o5P6q7R8";
    await sandbox.jpg(["title", "@", `Measure with ${secret}`]);
    await edit(say(await emit(), { 0: "strip", 2: "omit", 3: "pin", 4: "strip" }));
    const { branches } = await sandbox.json<{ branches: readonly string[] }>(["redact", main]);
    await sandbox.jpg(["fork", main, "cut", "--first", "4"]);
    expect(await sandbox.json(["log"])).toMatchObject([
      { group: expect.any(String), compactions: [expect.any(String), expect.any(String)], to_turn: 2 },
    ]);
    for (const branch of branches) {
      const [row] = await sandbox.json<{ group?: string; compactions?: readonly string[] }[]>(["log", branch]);
      expect(row).toMatchObject({ group: expect.any(String), compactions: { length: 3 } });
      await sandbox.jpg(["undo", branch]);
      expect(await sandbox.json(["log", branch])).toMatchObject([
        { kind: "revert", compactions: row?.compactions },
        {},
      ]);
      expect((await sandbox.jpg(["pin", branch])).stdout).toBe("");
    }
    expect((await sandbox.jpg(["fsck"])).code).toBe(0);
  });

  it("of one change is a compaction as any other; of pins only, pins", async () => {
    const one = await edit(say(await emit(), { 2: "omit" }));
    expect(one).toMatchObject({ group: null, compactions: [one.compaction] });
    expect(await sandbox.json(["log"])).toEqual([expect.not.objectContaining({ group: expect.anything() })]);
    const pinned = await follow(say(await emit(), { 0: "pin", 3: "pin" }));
    expect(pinned).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^Pinned 0, 3\ncommit \w+\n`jpg pin TURN --remove` takes a pin back/),
    });
    const plan = await emit();
    expect(plan).toMatch(/^pin +0 /m);
    expect((await follow(say(plan, { 0: "keep" }))).stdout).toMatch(/^Unpinned 0\n/);
    expect((await sandbox.jpg(["pin"])).stdout).toMatch(/^3 .*\n$/);
  });

  it("has lines in a row stand as one summary, made of raw events", async () => {
    const report = await edit(say(await emit(), { 0: "u", 1: "summarise", 3: "summarize" }), ...FORCED);
    expect(report.compactions).toHaveLength(2);
    const plan = await emit();
    expect(plan).toMatch(/^keep +0\.\.1 .*\[summary\]/m);
    expect(plan).toMatch(/^keep +3\.\.3 .*\[summary\]/m);
    expect((await follow(say(plan, { "0..1": "strip" }))).stderr).toContain("0..1 is a summary");
    const again = await edit(say(plan, { "0..1": "u", 2: "u", "3..3": "u" }), ...FORCED);
    expect(again.compactions).toHaveLength(1);
    expect(await emit()).toMatch(/^keep +0\.\.3 .*\[summary\]/m);
  });

  it("says in a dry run what it would do, and does nothing", async () => {
    const plan = say(await emit(), { 0: "strip", 1: "u", 4: "pin" });
    const refused = await follow(plan, "--dry-run", "--model", "extractive");
    expect(refused).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/The plan would make the view grow by \d+ tokens, from /),
    });
    const dry = await follow(plan, "--dry-run", ...FORCED);
    expect(dry.stdout).toMatch(/^Would compact /);
    expect(dry.stdout).toContain("will generate a summary for turns 1-1 using model extractive");
    expect(dry.stdout).toMatch(/Would pin 4\n$/);
    expect(tip()).toBe(start);
  });

  it.each(["", "# only a note\n"])("does nothing where it is empty: %j", async (text) => {
    expect(await edit(text)).toMatchObject({ commit: null, compaction: null, reason: "the plan is empty" });
    expect(await edit((await emit()).split("\n")[0] ?? "")).toMatchObject({
      commit: null,
      reason: "the plan is empty",
    });
    expect(await follow(await emit())).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("Nothing to do: the plan changes nothing."),
    });
    expect(tip()).toBe(start);
  });
});

describe("a session of one turn", () => {
  it("has one line; what is done to it is taken back", async () => {
    const small = await copyImportedSandbox(1);
    try {
      const plan = (await small.jpg(["edit", "--emit-plan"])).stdout;
      expect(plan.split("\n").filter((line) => line.startsWith("keep "))).toHaveLength(1);
      const done = await small.jpg(["edit", "--plan", "-"], { input: say(plan, { 0: "strip" }) });
      expect(done).toMatchObject({ code: 0, stdout: expect.stringMatching(/ 0: reasoning \+ tools stripped\n/) });
      expect((await small.jpg(["undo"])).code).toBe(0);
      expect((await small.jpg(["edit", "--emit-plan"])).stdout.split("\n").slice(1)).toEqual(plan.split("\n").slice(1));
    } finally {
      small.remove();
    }
  });
});

describe("calls", () => {
  it("have lines of their own, and one compaction for all that is said of single ones", async () => {
    const plan = await emit("--calls");
    const calls = plan.split("\n").flatMap((line) => /^keep (\d+:\S+)/.exec(line)?.[1] ?? []);
    expect(calls.length).toBeGreaterThan(2);
    const [first = "", second = "", third = ""] = calls;
    const report = await edit(say(plan, { [first]: "omit", [second]: "strip", [third]: "pin" }));
    expect(report).toMatchObject({
      policies: expect.stringContaining("1 call omitted"),
      pinned: [{ event: expect.any(String) }],
    });
    expect(report.compactions).toHaveLength(1);
    const next = await emit("--calls");
    expect(next).not.toContain(` ${first} `);
    expect(next).toMatch(new RegExp(`^pin +${third} `, "m"));
    await sandbox.jpg(["undo"]);
    expect(tree(main)).toBe(tree(start));
  });

  it("say nothing beside a turn that is changed itself", async () => {
    const plan = await emit("--calls");
    const call = /^keep (\d+):(\S+)/m.exec(plan);
    const [, turn = "", id = ""] = call ?? [];
    const refused = await follow(say(plan, { [turn]: "strip", [`${turn}:${id}`]: "omit" }));
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`is part of turn ${turn}`) });
    expect(tip()).toBe(start);
  });
});

describe("a plan that cannot be followed", () => {
  it("names every line, and commits nothing", async () => {
    const lines = (await emit()).split("\n");
    const [head = "", ...rest] = lines;
    const moved = [head, rest[1], rest[0], "stirp 2", rest[3], rest[3], "keep 99"].join("\n");
    const { stderr, code } = await follow(moved);
    expect(code).toBe(2);
    expect(stderr).toContain("The plan cannot be followed: line 3: 0 comes after 1: lines keep their order.\n");
    expect(stderr).toContain('line 4: unknown verb "stirp": did you mean strip?\n');
    expect(tip()).toBe(start);
    for (const part of [
      "line 6: 3 already has a line, line 5",
      "line 7: there is no 99",
      "4 has no line: write `keep 4`",
    ])
      expect(stderr).toContain(part);
  });

  it("tells what changed when the branch moved, and brings the verbs over", async () => {
    const plan = say(await emit(), { 1: "omit", 3: "strip" });
    await sandbox.jpg(["compact", "--from", "3", "--to", "3", "-s", "strip-tools"]);
    const refused = await follow(plan);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("1 commit was added: compact 3..3") });
    writeFileSync(join(sandbox.project, "plan.txt"), plan);
    const fresh = await emit("--plan", "plan.txt");
    expect(fresh).toContain(`plan ${main} ${tip().slice(0, 12)}\n`);
    expect(fresh).toMatch(/^omit +1 /m);
    expect(fresh).toMatch(/^strip +3 /m);
    expect((await follow(fresh)).code).toBe(0);
  });

  it("commits nothing where a summary cannot be written, not even what needs none", async () => {
    const plan = say(await emit(), { 0: "strip", 1: "u" });
    expect(await follow(plan, "--model", "anthropic/claude-haiku-4-5")).toMatchObject({ code: 4 });
    expect(tip()).toBe(start);
  });

  it("is of one branch only", async () => {
    const plan = say(await emit(), { 1: "omit" });
    await sandbox.jpg(["fork", "@", "other"]);
    expect(await follow(plan)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`The plan was made from ${main}`),
    });
  });

  it("wants a terminal where it is to be edited, and a file that is there", async () => {
    expect(await sandbox.jpg(["edit"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("--emit-plan=plan.txt"),
    });
    expect(await sandbox.jpg(["edit", "--plan", "nosuch.txt"])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("nosuch.txt cannot be read"),
    });
  });
});
