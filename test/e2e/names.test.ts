// What commands take for a name: one rule for all. Commands and kinds of names are tables, so that each is tried with each; what a
// command may change is told by the refs of the store before and after.
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import fc from "fast-check";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { Json } from "../helpers/claude-session.ts";
import { beginningOf } from "../helpers/name-beginning.ts";
import { copyMadeSandbox } from "../helpers/prepared-sandbox.ts";
import { expectNoBug, expectRefusal } from "../helpers/refusal.ts";
import { createSandbox, type Sandbox, smallSession, storeState } from "../helpers/run-jpg.ts";
import { runs } from "../helpers/runs.ts";
import { servePagesOf } from "../helpers/served-pages.ts";
import { surveyedSession } from "../helpers/surveyed-session.ts";

const OWN_SESSION = "3c91b7aa-0000-4000-8000-0000000000aa";
const OTHER_SESSION = "5e551073-0000-4000-8000-0000000000bb";

/** A store of two conversations, each with a fork `try-b` and a compaction over turns 0..1; the first one is active. */
async function makeTwo(): Promise<Sandbox> {
  const sandbox = createSandbox();
  const { jpg, json, session } = sandbox;
  const sessions = {
    own: smallSession({ id: OWN_SESSION }),
    other: surveyedSession({ turns: 5, resultChars: 80, session: OTHER_SESSION }),
  };
  const ids: string[] = [];
  for (const [name, bytes] of Object.entries(sessions)) {
    const [report] = await json<{ id: string }[]>(["import", session(`${name}.jsonl`, bytes)]);
    const { id = "" } = report ?? {};
    await jpg(["use", id]);
    await jpg(["compact", "--from", "0", "--to", "1", "--profile", "default"]);
    await jpg(["fork", "@", "try-b", "--no-activate"]);
    ids.push(id);
  }
  await jpg(["title", "@", "Survey of the berths"]);
  await jpg(["use", ids[0] ?? ""]);
  return sandbox;
}

interface Names {
  readonly id: string;
  readonly suffix: string;
  readonly session: string;
  readonly compaction: string;
  /** Of the compaction. */
  readonly commit: string;
}

async function namesOf({ json }: Sandbox, id: string, session: string): Promise<Names> {
  const [row] = await json<{ compaction: string; commit: string }[]>(["log", id]);
  const { compaction = "", commit = "" } = row ?? {};
  return { id, suffix: id.slice(id.lastIndexOf("-") + 1), session, compaction, commit };
}

const opened: Sandbox[] = [];
async function prepare(): Promise<Sandbox & { readonly own: Names; readonly other: Names }> {
  const sandbox = await copyMadeSandbox(makeTwo);
  opened.push(sandbox);
  const rows = await sandbox.json<{ id: string; active: boolean }[]>(["ls"]);
  const idOf = (isActive: boolean): string => rows.find(({ active }) => active === isActive)?.id ?? "";
  return {
    ...sandbox,
    own: await namesOf(sandbox, idOf(true), OWN_SESSION),
    other: await namesOf(sandbox, idOf(false), OTHER_SESSION),
  };
}
const close = (): void => {
  for (const sandbox of opened.splice(0)) sandbox.remove();
};

/** Commands that look at a conversation, an ID in them. */
const READING: Readonly<Record<string, (id: string) => string[]>> = {
  show: (id) => ["show", id],
  print: (id) => ["print", id],
  log: (id) => ["log", id],
  stats: (id) => ["stats", id],
  diff: (id) => ["diff", id],
  title: (id) => ["title", id],
  label: (id) => ["label", id],
  fsck: (id) => ["fsck", id],
  export: (id) => ["export", id, "--to", "jsonl"],
  search: (id) => ["search", "survey", id],
  blame: (id) => ["blame", "0", id],
  use: (id) => ["use", id],
  checkout: (id) => ["checkout", id],
  resume: (id) => ["resume", id, "--with", "claude-code"],
};

/** Commands that change a conversation. */
const CHANGING: Readonly<Record<string, (id: string) => string[]>> = {
  undo: (id) => ["undo", id],
  compact: (id) => ["compact", id, "--from", "2", "--to", "3"],
  title: (id) => ["title", id, "Another title"],
  label: (id) => ["label", id, "quay"],
  pin: (id) => ["pin", id, "4"],
  comment: (id) => ["comment", id, "2", "Why?"],
  archive: (id) => ["archive", id],
  fork: (id) => ["fork", id, "aside", "--no-activate"],
  rm: (id) => ["rm", id],
  purge: (id) => ["purge", id, "--yes"],
};

/** Names that say in full which conversation is meant. */
const IN_FULL: Readonly<Record<string, (names: Names, root: string) => string>> = {
  conversation: ({ id }) => id,
  branch: ({ id }) => `${id}/main`,
  suffix: ({ suffix }) => suffix,
  "fork behind a suffix": ({ suffix }) => `${suffix}/try-b`,
  session: ({ session }) => session,
  "a session's file": (_, root) => join(root, "sessions", "other.jsonl"),
  "the name of a session's file": ({ session }) => `rollout-2026-05-01T10-00-00-${session}.jsonl`,
};

/** Names that only begin one. */
const BEGINNINGS: Readonly<Record<string, (names: Names) => string>> = {
  title: () => "survey of",
  conversation: ({ id }) => id.slice(0, 9),
  "conversation before a fork": ({ id }) => `${id.slice(0, 3)}/main`,
  "branch with a shorter fork": ({ id }) => `${id}/try`,
  session: ({ session }) => beginningOf(session, 8),
};

const CASES = (
  commands: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, unknown>>,
): [command: string, name: string][] =>
  Object.keys(commands).flatMap((command) => Object.keys(names).map((name): [string, string] => [command, name]));

const refsOf = ({ git }: Sandbox, id: string): string =>
  git(["for-each-ref", "--format=%(refname) %(objectname)", `refs/heads/${id}`, `refs/trash/${id}`]);

describe("what only looks", () => {
  afterAll(close);
  it.each(Object.keys(READING))(
    "%s takes another conversation by any name, and by a beginning of it",
    { tags: ["slow"] },
    async (command) => {
      const sandbox = await prepare();
      const { jpg, own, other, root } = sandbox;
      const before = refsOf(sandbox, own.id);
      for (const name of [...Object.values(BEGINNINGS), ...Object.values(IN_FULL)]) {
        const args = READING[command]?.(name(other, root)) ?? [];
        const result = await jpg(args);
        expect([args, result.code, result.stderr.includes("error")]).toEqual([args, 0, false]);
      }
      expect(refsOf(sandbox, own.id)).toBe(before);
    },
  );
});

describe("what changes a conversation", () => {
  afterEach(close);
  it.each(CASES(CHANGING, IN_FULL))(
    "%s takes another by its full name: %s",
    { tags: ["slow"] },
    async (command, kind) => {
      const sandbox = await prepare();
      const { jpg, own, other, root } = sandbox;
      const [ownBefore, otherBefore] = [refsOf(sandbox, own.id), refsOf(sandbox, other.id)];
      const result = await jpg(CHANGING[command]?.(IN_FULL[kind]?.(other, root) ?? "") ?? []);
      expect(result).toMatchObject({ code: 0 });
      expect(refsOf(sandbox, own.id)).toBe(ownBefore);
      expect(refsOf(sandbox, other.id)).not.toBe(otherBefore);
    },
  );

  it.each(CASES(CHANGING, BEGINNINGS))(
    "%s refuses the beginning of another, and says what to type: %s",
    { tags: ["slow"] },
    async (command, kind) => {
      const sandbox = await prepare();
      const { jpg, own, other } = sandbox;
      const before = storeState(sandbox);
      const words = CHANGING[command]?.(BEGINNINGS[kind]?.(other) ?? "") ?? [];
      const error = await expectRefusal(sandbox, words, {
        code: "other_conversation",
        exit: 2,
        says: new RegExp(`could mean ${other.id}.*active conversation is ${own.id}`),
        hint: new RegExp(`\`jpg ${command} .*${other.id}`),
      });
      expect(storeState(sandbox)).toBe(before);
      const [typed = ""] = error.hints.flatMap((hint) => /`jpg ([^`]*)`/.exec(hint)?.[1] ?? []);
      const again = typed.match(/'[^']*'|\S+/g)?.map((word) => word.replaceAll("'", "")) ?? [];
      expect(await jpg(again)).toMatchObject({ code: 0 });
    },
  );

  it.each(Object.keys(CHANGING))("%s takes the beginning of the active conversation", async (command) => {
    const sandbox = await prepare();
    const { jpg, own, other } = sandbox;
    const otherBefore = refsOf(sandbox, other.id);
    const ownBefore = refsOf(sandbox, own.id);
    expect(await jpg(CHANGING[command]?.(own.id.slice(0, 8)) ?? [])).toMatchObject({ code: 0 });
    expect(refsOf(sandbox, other.id)).toBe(otherBefore);
    expect(refsOf(sandbox, own.id)).not.toBe(ownBefore);
  });

  it("refuses a compaction and a commit of another conversation by any id, and says where it is", async () => {
    const sandbox = await prepare();
    const { jpg, own, other } = sandbox;
    const before = storeState(sandbox);
    const words = [other.compaction, beginningOf(other.compaction, 4), other.commit, beginningOf(other.commit, 8)];
    for (const word of words)
      await expectRefusal(sandbox, ["revert", word], {
        code: "other_conversation",
        exit: 2,
        says: new RegExp(`of ${other.id}, but the active conversation is ${own.id}`),
        hint: new RegExp(`\`jpg revert ${other.suffix} ${word}\``),
      });
    await expectRefusal(sandbox, ["revert", own.compaction, other.compaction], {
      code: "other_conversation",
      exit: 2,
      says: new RegExp(other.compaction),
    });
    const aside = ["fork", other.commit, "aside"];
    await expectRefusal(sandbox, aside, { code: "other_conversation", exit: 2, says: new RegExp(other.id) });
    expect(storeState(sandbox)).toBe(before);
    // What the hint says: the conversation's name first. The active one stays active.
    const [active, ownBefore] = [sandbox.git(["symbolic-ref", "HEAD"]), refsOf(sandbox, own.id)];
    expect(await jpg(["revert", other.suffix, beginningOf(other.compaction, 4)])).toMatchObject({ code: 0 });
    expect([sandbox.git(["symbolic-ref", "HEAD"]), refsOf(sandbox, own.id)]).toEqual([active, ownBefore]);
    await expectRefusal(sandbox, ["undo", other.suffix], {
      code: "nothing_to_undo",
      exit: 2,
      says: new RegExp(other.id),
      hint: new RegExp(`\`jpg log ${other.suffix}\``),
    });
    await expectRefusal(sandbox, ["revert", other.suffix, other.compaction], {
      code: "already_reverted",
      exit: 2,
      says: new RegExp(other.compaction),
      hint: new RegExp(`\`jpg revert ${other.suffix} [0-9a-f]+\` brings it back`),
    });
    expect(await jpg(["redo", other.suffix])).toMatchObject({ code: 0 });
    // A conversation alone is enough where only one compaction is in force.
    expect(await jpg(["revert", other.suffix])).toMatchObject({ code: 0 });
    expect(await jpg(["redo", other.suffix])).toMatchObject({ code: 0 });
    await jpg(["compact", other.suffix, "2..3"]);
    await expectRefusal(sandbox, ["revert", other.suffix], {
      code: "several_compactions",
      exit: 2,
      says: /has 2 compactions in force/,
      hint: new RegExp(`\`jpg undo ${other.suffix}\` undoes the newest`),
    });
    expect(await jpg(["undo", other.suffix])).toMatchObject({ code: 0 });
    // A compaction of the active conversation is not taken from the one that is named.
    await expectRefusal(sandbox, ["revert", other.suffix, own.compaction], {
      code: "other_conversation",
      exit: 2,
      says: new RegExp(own.id),
    });
    await jpg(["use", other.id]);
    expect(await jpg(["revert", beginningOf(other.compaction, 4)])).toMatchObject({ code: 0 });
  });

  it("takes a commit of another conversation where the branch is named in full", async () => {
    const sandbox = await prepare();
    const { jpg, json, own, other } = sandbox;
    const before = refsOf(sandbox, own.id);
    expect(await json(["fork", `${other.id}/main~2`, "aside", "--no-activate"])).toMatchObject({
      conversation: other.id,
    });
    expect(await jpg(["revert", `${other.id}/try-b`])).toMatchObject({ code: 0 });
    expect(refsOf(sandbox, own.id)).toBe(before);
  });
});

describe("a number", () => {
  afterAll(close);
  const TAKES_NAMES: Readonly<Record<string, (id: string) => string[]>> = {
    ...Object.fromEntries(Object.entries(READING).filter(([name]) => name !== "print")),
    // Of `jpg comment 3 words` the number is the turn that the comment is on.
    ...Object.fromEntries(Object.entries(CHANGING).filter(([name]) => !["comment", "compact"].includes(name))),
    revert: (id) => ["revert", id],
    "revert of several": (id) => ["revert", "@", id],
    merge: (id) => ["merge", id],
    "merge --into": (id) => ["merge", "try-b", "--into", id],
    review: (id) => ["review", id],
    check: (id) => ["check", id],
    edit: (id) => ["edit", id, "--emit-plan"],
    local: (id) => ["local", id],
    redact: (id) => ["redact", id],
    share: (id) => ["share", id],
    path: (id) => ["path", id],
    unarchive: (id) => ["unarchive", id],
    "diff of two revisions": (id) => ["diff", `${id}..main`],
    "fork alone": (id) => ["fork", id],
  };

  it.each(Object.keys(TAKES_NAMES))("is a turn, never a name: %s", { tags: ["slow"] }, async (command) => {
    const sandbox = await prepare();
    // What is called so, and begins so: a fork, a compaction, commits. None of them counts.
    const { git, own, other } = sandbox;
    for (const { id } of [own, other]) for (const name of ["3", "1234"]) git(["branch", `${id}/${name}`, `${id}/main`]);
    const before = storeState(sandbox);
    for (const number of ["3", "0", "999", "1234", "1234567890"])
      await expectRefusal(sandbox, TAKES_NAMES[command]?.(number) ?? [], {
        code: "turn_number",
        exit: 2,
        says: new RegExp(`^${number} is the number of a turn`),
      });
    expect(storeState(sandbox)).toBe(before);
  });

  it("is answered with what there is to type: what covers the turn, how to see it, what is called so", async () => {
    const sandbox = await prepare();
    const { git, own, json } = sandbox;
    const hintsOf = async (...args: string[]): Promise<readonly string[]> =>
      (await expectRefusal(sandbox, args, { code: "turn_number", exit: 2, says: /./ })).hints;
    expect(await hintsOf("revert", "1")).toEqual([
      `Turn 1 is covered by ${own.compaction} (turns 0..1): name a compaction by its id.`,
      "To see turn 1: `jpg print 1`",
      "`jpg ls` lists conversations, `jpg log` compactions.",
    ]);
    expect(await hintsOf("revert", "5")).toContain("No compaction in force covers turn 5.");
    expect(await hintsOf("show", "6")).toContain(`The turns of ${own.id}/main are 0..5.`);
    expect(await hintsOf("fork", "2")).toContain("To fork with the turns up to that one: `jpg fork --until 2`");
    git(["branch", `${own.id}/2024`, `${own.id}/main~1`]);
    const called = "If you mean something else that begins with 2024, type: ";
    expect(await hintsOf("use", "2024")).toContain(`${called}${own.id}/2024`);
    expect(await json(["use", `${own.id}/2024`])).toMatchObject({ branch: `${own.id}/2024` });
  });

  it("is a turn, or a range of turns, where a command takes some, whatever is called so", async () => {
    const sandbox = await prepare();
    const { git, own, json, jpg } = sandbox;
    git(["branch", `${own.id}/2`, `${own.id}/main`]);
    const planned = async (...words: string[]): Promise<unknown> => json(["compact", ...words, "--dry-run", "--force"]);
    for (const [words, older] of [
      [["2"], ["--from", "2", "--to", "2"]],
      [["2..3"], ["--from", "2", "--to", "3"]],
      [["..3"], ["--to", "3"]],
      [["-2.."], ["--from", "-2"]],
      [
        ["@", "2..3"],
        ["@", "--from", "2", "--to", "3"],
      ],
      [["2.."], ["--from", "2"]],
    ] as const) {
      const withoutIds = (plan: unknown): unknown =>
        JSON.parse(
          JSON.stringify(plan, (key, value) => (["id", "timestamp", "compaction"].includes(key) ? null : value)),
        );
      expect(withoutIds(await planned(...words)), words.join(" ")).toEqual(withoutIds(await planned(...older)));
    }
    expect((await jpg(["print", "2"])).stdout.match(/^## Turn \d+/gm)).toEqual(["## Turn 2"]);
    expect(await json(["fork", "1..3", "aside"])).toMatchObject({ turns: 4 });
    for (const words of [
      ["compact", "2", "--from", "3"],
      ["print", "2", "--turn", "2"],
      ["fork", "1..2", "--until", "3"],
    ])
      await expectRefusal(sandbox, words, {
        code: "contradictory_flags",
        exit: 2,
        says: /contradict each other/,
        hint: /both ends/,
      });
    await expectRefusal(sandbox, ["print", "3..99"], { code: "bad_turns", exit: 2, says: /0\.\.\d/ });
  });

  it("names no fork that is made, nor a comment", async () => {
    const sandbox = await prepare();
    const before = storeState(sandbox);
    for (const name of ["3", "12345678901"])
      await expectRefusal(sandbox, ["fork", "@", name], {
        code: "bad_name",
        exit: 2,
        says: /number of a turn/,
        hint: new RegExp(`jpg fork @ try-${name}`),
      });
    for (const name of ["con", "NUL", "aux.txt"])
      await expectRefusal(sandbox, ["fork", "@", name], { code: "bad_name", exit: 2, says: /device on Windows/ });
    expect(storeState(sandbox)).toBe(before);
    const { comment } = await sandbox.json<{ comment: { id: string } }>(["comment", "2", "Why?"]);
    await expectRefusal(sandbox, ["comment", "--remove", "2"], {
      code: "unknown_comment",
      exit: 2,
      says: /2 is the number of a turn/,
      hint: new RegExp(`Comments on turn 2: ${comment.id}`),
    });
    await expectRefusal(sandbox, ["comment", "--remove", comment.id.slice(0, 3)], {
      code: "unknown_comment",
      exit: 2,
      says: /too short|number of a turn/,
      hint: /`jpg comment` lists them/,
    });
    expect(await sandbox.jpg(["comment", "--remove", beginningOf(comment.id, 4)])).toMatchObject({ code: 0 });
  });
});

describe("a beginning of less than four characters", () => {
  afterAll(close);
  const commands = { ...READING, ...CHANGING };
  it.each(Object.keys(commands).filter((name) => !["fork", "checkout"].includes(name)))(
    "is refused with what begins so: %s",
    async (command) => {
      const sandbox = await prepare();
      const { own, other } = sandbox;
      const before = storeState(sandbox);
      for (const { id } of [own, other])
        await expectRefusal(sandbox, commands[command]?.(id.slice(0, 3)) ?? [], {
          code: "unknown_id",
          exit: 2,
          says: /too short .* 4 characters or more/,
          hint: new RegExp(id),
        });
      expect(storeState(sandbox)).toBe(before);
    },
  );

  it("of a fork's own name is the name of another fork, not that one", async () => {
    const { json, jpg, own } = await prepare();
    await jpg(["fork", "@", "idea-2", "--no-activate"]);
    expect(await json(["fork", "idea", "--no-activate"])).toMatchObject({
      branch: `${own.id}/idea`,
      from: `${own.id}/main`,
    });
    expect(await json(["use", `${own.id.slice(0, 5)}/idea-`])).toMatchObject({ branch: `${own.id}/idea-2` });
  });

  it("is a name for a fork, and a folder for a checkout, which may be short", async () => {
    const { json, own } = await prepare();
    expect(await json(["fork", own.id.slice(0, 3), "--no-activate"])).toMatchObject({
      branch: `${own.id}/${own.id.slice(0, 3)}`,
    });
    expect(await json<Json>(["checkout", own.id.slice(0, 2)])).toMatchObject({ branch: `${own.id}/main` });
  });

  it("is refused of compactions, too", async () => {
    const sandbox = await prepare();
    const { own, other } = sandbox;
    for (const { compaction } of [own, other]) {
      const short = compaction.slice(0, 3);
      const refusal = /^\d+$/.test(short)
        ? { code: "turn_number", exit: 2, says: /number of a turn/ }
        : { code: "unknown_id", exit: 2, says: /too short/, hint: new RegExp(compaction) };
      for (const command of ["revert", "show", "diff"]) await expectRefusal(sandbox, [command, short], refusal);
    }
  });
});

describe("the session of an agent", () => {
  afterAll(close);
  it("that jpg wrote names its conversation before the agent goes on, after that, and by its file", {
    tags: ["slow"],
  }, async () => {
    const sandbox = await prepare();
    const { json, jpg, other, own } = sandbox;
    const branchOf = async (id: string): Promise<unknown> => (await json(["stats", id]))["branch"];
    for (const agent of ["claude-code", "codex", "pi", "gemini-cli"]) {
      const report = await json<{ session: string; path: string }>(["resume", other.id, "--with", agent]);
      for (const name of [report.session, beginningOf(report.session, 8), report.path, basename(report.path)])
        expect([agent, name, await branchOf(name)]).toEqual([agent, name, `${other.id}/main`]);
    }
    const fork = await json<{ session: string }>(["resume", `${other.id}/try-b`, "--with", "claude-code"]);
    expect(await branchOf(fork.session)).toBe(`${other.id}/try-b`);
    // What is compacted after that moves the branch, and the session is still its.
    const { session } = await json<{ session: string }>(["resume", other.id, "--with", "claude-code"]);
    await jpg(["compact", other.id, "--from", "2", "--to", "3"]);
    expect(await branchOf(session)).toBe(`${other.id}/main`);
    const before = refsOf(sandbox, own.id);
    expect(await jpg(["undo", session])).toMatchObject({ code: 0 });
    expect(refsOf(sandbox, own.id)).toBe(before);
    await expectRefusal(sandbox, ["undo", beginningOf(session, 8)], {
      code: "other_conversation",
      exit: 2,
      says: new RegExp(other.id),
    });
  });

  it("that the agent went on with and that was imported again still names its conversation", async () => {
    const { json, other } = await prepare();
    const { session, path } = await json<{ session: string; path: string }>([
      "resume",
      other.id,
      "--with",
      "claude-code",
    ]);
    const lines = readFileSync(path, "utf8").trimEnd().split("\n");
    const [last = {}, before = {}] = lines.toReversed().map((line) => JSON.parse(line) as Json);
    const request = {
      ...(before["type"] === "user" ? before : last),
      type: "user",
      uuid: `${session.slice(0, -3)}abc`,
    };
    const message = { role: "user", content: "And the quay?" };
    writeFileSync(
      path,
      `${[...lines, JSON.stringify({ ...request, parentUuid: last["uuid"], message })].join("\n")}\n`,
    );
    expect(await json(["import", path])).toMatchObject([{ id: other.id, status: "updated" }]);
    for (const name of [session, beginningOf(session, 8), path])
      expect((await json(["stats", name]))["branch"]).toBe(`${other.id}/main`);
  });

  it("is not every file: one that is no session, or of no conversation here, names nothing", async () => {
    const sandbox = await prepare();
    const strange = "77777777-0000-4000-8000-000000000001";
    const files = [
      sandbox.session("notes.txt", "survey\n"),
      sandbox.session("strange.jsonl", surveyedSession({ turns: 1, session: strange })),
    ];
    for (const name of [files[0] ?? "", strange, strange.slice(0, 9)])
      await expectRefusal(sandbox, ["stats", name], { code: "unknown_id", exit: 2, says: /has no conversation/ });
    await expectRefusal(sandbox, ["stats", files[1] ?? ""], {
      code: "unknown_id",
      exit: 2,
      says: /session that is not in this store yet/,
      hint: /jpg import .*strange\.jsonl/,
    });
  });
});

describe("the page of a conversation", () => {
  afterEach(close);
  it("changes the conversation that its address names in full, and nothing of another", async () => {
    const sandbox = await prepare();
    const { own, other } = sandbox;
    const before = storeState(sandbox);
    const pages = await servePagesOf(sandbox);
    const post = async (name: string, action: string, form: Record<string, string>): Promise<number> =>
      (await pages.ask(`/c/${encodeURIComponent(name)}/${action}`, { form })).status;
    try {
      const wrong = [
        "3",
        other.id.slice(0, 9),
        beginningOf(other.session, 8),
        other.commit,
        other.compaction,
        "nowhere",
      ];
      for (const name of wrong)
        expect([name, (await post(name, "title", { title: "x" })) >= 400]).toEqual([name, true]);
      for (const id of ["1", other.compaction, other.compaction.slice(0, 4), other.commit, own.compaction.slice(0, 3)])
        expect([id, (await post(`${own.id}/main`, "revert", { id })) >= 400]).toEqual([id, true]);
      expect(storeState(sandbox)).toBe(before);
      expect(await post(`${other.id}/main`, "revert", { id: other.compaction })).toBeLessThan(400);
      expect(storeState(sandbox)).not.toBe(before);
    } finally {
      await pages.close();
    }
  });
});

describe("jpg rm --restore", () => {
  afterEach(close);
  it.each<[string, (names: Names) => string]>([
    ["its own name", () => "try-b"],
    ["a beginning of that", () => "try-"],
    ["its full name", ({ id }) => `${id}/try-b`],
    ["the conversation's suffix", ({ suffix }) => `${suffix}/try-b`],
    ["a beginning of the conversation's name", ({ id }) => `${id.slice(0, 3)}/try-b`],
    ["beginnings of both", ({ id }) => `${id.slice(0, 5)}/tr`],
    ["the conversation", ({ id }) => id],
    ["the suffix alone", ({ suffix }) => suffix],
  ])("brings back a fork of the active conversation by %s", async (_, name) => {
    const sandbox = await prepare();
    const { json, jpg, own, other } = sandbox;
    await jpg(["rm", `${other.id}/try-b`]);
    await jpg(["rm", "try-b"]);
    expect(await json(["rm", "--restore", name(own)])).toMatchObject({ restored: [{ branch: `${own.id}/try-b` }] });
  });

  it("brings back a whole conversation by its session, and deletes for good by full names only", async () => {
    const sandbox = await prepare();
    const { json, jpg, other, own } = sandbox;
    await jpg(["rm", other.id]);
    const restored = await json<{ restored: unknown[] }>(["rm", "--restore", other.session]);
    expect(restored.restored).toHaveLength(2);
    await jpg(["rm", other.id]);
    const before = storeState(sandbox);
    for (const args of [
      ["rm", "--purge", "--yes"],
      ["purge", "--yes"],
    ])
      for (const word of [other.id.slice(0, 8), beginningOf(other.session, 8), `${other.id.slice(0, 4)}/try-b`])
        await expectRefusal(sandbox, [...args, word], {
          code: "other_conversation",
          exit: 2,
          says: /named in full/,
          hint: new RegExp(other.id),
        });
    for (const word of ["3", "xy", other.id.slice(0, 3)])
      await expectRefusal(sandbox, ["rm", "--restore", word], { code: "not_removed", exit: 2, says: new RegExp(word) });
    expect(storeState(sandbox)).toBe(before);
    expect(await jpg(["rm", "--purge", "--yes", other.suffix])).toMatchObject({ code: 0 });
    expect(refsOf(sandbox, own.id)).toContain("/main");
  });
});

describe("whatever word is given", () => {
  afterAll(close);
  it("what changes something changes the active conversation, one that the word names in full, or nothing", {
    tags: ["slow", "law"],
  }, async () => {
    const sandbox = await prepare();
    const { jpg, own, other, git } = sandbox;
    const inFull = new Set(Object.values(IN_FULL).map((name) => name(other, sandbox.root)));
    const known = [other, own].flatMap(({ id, suffix, session, compaction, commit }) => [
      ...[id, `${id}/main`, `${id}/try-b`, suffix, `${suffix}/main`, session, compaction, commit],
      ...["Survey of the berths", "000000bb-0000-4000-8000-000000000003", "3", "main", "try-b"],
    ]);
    const word = fc
      .tuple(fc.constantFrom(...known), fc.nat({ max: 45 }))
      .map(([name, length]) => (length === 0 ? name : name.slice(0, length)));
    const harmless = ["undo", "title", "label", "archive", "comment", "fork", "revert"];
    const commands: typeof CHANGING = { ...CHANGING, revert: (id) => ["revert", id] };
    await fc.assert(
      fc.asyncProperty(word, fc.constantFrom(...harmless), async (name, command) => {
        const before = refsOf(sandbox, other.id);
        const result = await jpg(commands[command]?.(name) ?? []);
        expectNoBug(result);
        if (refsOf(sandbox, other.id) !== before) {
          const names = [...inFull, `${other.id}/try-b`, `${other.suffix}/main`];
          expect(names, `jpg ${command} ${name}`).toContain(name);
        }
        for (const { id } of [own, other])
          for (const line of git(["for-each-ref", "--format=%(refname)", `refs/heads/${id}`])
            .trim()
            .split("\n"))
            if (/\/aside$/.test(line)) git(["update-ref", "-d", line]);
      }),
      { numRuns: runs(60) },
    );
  });
});
