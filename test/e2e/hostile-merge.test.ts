// @module-tag slow
// Turns that claim to tell of a fork, as somebody else may have written them: whatever they say, each command ends as it should, and
// nothing of it steers a terminal.
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { git } from "../helpers/temp-repository.ts";

let sandbox: ImportedSandbox;
beforeEach(async () => {
  sandbox = await copyImportedSandbox(3);
});
afterEach(() => sandbox.remove());

const ESCAPES = "\u001b[2J\u001b]0;x\u0007\u202e\n# not a line of jpg's";
const HERE = "HERE";
const told = (fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> => ({
  branch: "a/b",
  from_turn: 0,
  turns: ["ab".repeat(20)],
  to_event: "nowhere",
  ...fields,
});

/** What the newest turn of a fork says of a merge; `HERE` = the object id of the branch's own turn at that place. */
const CLAIMS: Readonly<Record<string, unknown>> = {
  "no merge": 7,
  "no list": { forks: { 0: told({}) } },
  nothing: { forks: [] },
  "foreign ids": { forks: [told({ turns: Array.from({ length: 500 }, (_, at) => `${at}`.padStart(40, "0")) })] },
  "ids that are none": { forks: [told({ turns: ["", "HEAD:turns", "-x", "../x", ESCAPES] })] },
  "escapes everywhere": {
    forks: [told({ branch: ESCAPES, to_event: ESCAPES, from_event: ESCAPES })],
    summary: { model: ESCAPES, policy: ESCAPES, source: ESCAPES },
  },
  "turns that nobody has": { forks: [told({ from_turn: Number.MAX_SAFE_INTEGER })] },
  "itself, again and again": { forks: Array.from({ length: 50 }, () => told({ turns: [HERE, HERE, HERE, HERE] })) },
  "an event that stands in no line": { forks: [told({ from_turn: 2, to_event: "planted" })] },
  "fields of objects": JSON.parse('{"forks":[{"__proto__":{"branch":"x"},"constructor":1}],"__proto__":{"forks":[]}}'),
};

/** Commits a turn on top of a branch, with plumbing. */
function plant(branch: string, turn: number, text: string): void {
  const path = `turns/0000/${String(turn).padStart(6, "0")}.jsonl`;
  const env = { ...sandbox.env, GIT_INDEX_FILE: join(sandbox.root, "index") };
  const run = (...args: string[]): string => git(sandbox.store, env, args).trim();
  const file = join(sandbox.root, "turn");
  writeFileSync(file, text);
  run("read-tree", branch);
  run("update-index", "--add", "--cacheinfo", `100644,${run("hash-object", "-w", file)},${path}`);
  const commit = run("commit-tree", run("write-tree"), "-p", branch, "-m", `turn ${turn}`);
  run("update-ref", `refs/heads/${branch}`, commit);
  rmSync(file);
}

function claimingTurn(merge: unknown, own: readonly string[]): string {
  const timestamp = "2026-05-01T12:00:00.000Z";
  const metadata = { origin: "merge", merge };
  const events = [
    { type: "turn_start", id: "planted-start", timestamp, prev: own.at(-1), metadata },
    { type: "chat_request", id: "planted-request", timestamp, content: "What was said there?", metadata },
    { type: "chat_response", id: "planted", timestamp, message: "Much.", metadata },
  ];
  const text = events.map((event) => `${JSON.stringify(event)}\n`).join("");
  return text.replaceAll(`"${HERE}"`, JSON.stringify(own[0]));
}

it.each(Object.entries(CLAIMS))("a turn that claims to tell of a fork harms nobody: %s", async (_, merge) => {
  const main = `${sandbox.conversation}/main`;
  const fork = `${sandbox.conversation}/try`;
  await sandbox.jpg(["fork", "@", "try", "--no-activate"]);
  const own = sandbox.git(["ls-tree", "-r", "--object-only", main, "turns"]).trim().split("\n");
  plant(fork, own.length, claimingTurn(merge, own));
  for (const words of [
    ["merge", fork, "--dry-run", "--summary", "x"],
    ["merge", fork, "--summary", "Told once."],
    ["merge", fork, "--summary", "Told twice."],
    ["merge", main, "--into", fork, "--summary", "Told there."],
    ["log", fork],
    ["show", fork],
    ["show", "planted-start"],
    ["print", fork],
    ["print", fork, "--compacted"],
    ["review", fork],
    ["review", fork, "--markdown"],
    ["stats", fork],
    ["fsck"],
    ["redact", fork, "--text", "Much"],
  ]) {
    const { code, stdout, stderr } = await sandbox.jpg(words);
    expect([words, code, stderr].join(" "), stdout).not.toMatch(/ 70 |bug in jpg/);
    expect(stdout + stderr).not.toMatch(/[\u001b\u0007\u202e]/);
  }
});

it("a line that is no JSON, and names the event that was told of last, is said to be one", async () => {
  const main = `${sandbox.conversation}/main`;
  const fork = `${sandbox.conversation}/try`;
  await sandbox.jpg(["fork", "@", "try", "--no-activate"]);
  const own = sandbox.git(["ls-tree", "-r", "--object-only", main, "turns"]).trim().split("\n");
  plant(fork, own.length, `{"type":"turn_start","id":"s","timestamp":"2026-05-01T12:00:00.000Z"}\nnot "planted"\n`);
  plant(main, own.length, claimingTurn({ forks: [told({ from_turn: own.length, to_event: "planted" })] }, own));
  const { code, stderr } = await sandbox.jpg(["merge", fork, "--into", main, "--summary", "x"]);
  expect([code, stderr]).toEqual([3, expect.not.stringContaining("bug in jpg")]);
  expect(stderr).toContain("000003.jsonl");
});
