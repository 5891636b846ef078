import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { formatRecordLine } from "../../../src/core/conversation/compaction-line.ts";
import { openNativeStore } from "../../../src/store/git/store.ts";
import type { BranchWrite } from "../../../src/store/store.ts";
import { commit, file } from "../../helpers/store-writes.ts";
import { createTempStore, git, type TempStore, type TestEnvironment } from "../../helpers/temp-repository.ts";

// Both sides of a merge take one compaction back and compact again with a nearly equal record: what git's rename detection
// would pair. Sizes from 300 bytes to 30 KB.
const CASES = 200;
const WORDS =
  "the parser keeps a list of open files and closes them when the turn ends because tests failed on slow disks".split(
    " ",
  );

let temp: TempStore;
let env: TestEnvironment;
let seed = 20260102;
const random = (limit: number): number => {
  seed = (Math.imul(seed, 1103515245) + 12345) >>> 0;
  return Math.floor((seed / 2 ** 32) * limit);
};
const text = (bytes: number): string => {
  let result = "";
  while (result.length < bytes) result += `${WORDS[random(WORDS.length)]} `;
  return result;
};
const id = (): string => Array.from({ length: 6 }, () => random(36).toString(36)).join("");

function record(name: string, minute: number, summary: string): string {
  const event = {
    type: "compaction" as const,
    id: name,
    timestamp: `2026-01-02T03:${String(minute).padStart(2, "0")}:00.000Z`,
    from_turn: 0,
    to_turn: 4 + random(3),
    to_event: `e-${random(1000)}`,
    summary: { summary, source: "generated" as const },
    reasoning: "strip" as const,
    profile: "default",
    source: "manual" as const,
  };
  return `${formatRecordLine(
    event,
    Array.from({ length: 32 }, () => random(64)),
  )}\n`;
}

/** Base, ours and theirs of one case; odd cases are rename/delete, even ones rename/rename. */
function makeCase(n: number): BranchWrite[] {
  const size = Math.round(300 * 100 ** (n / (CASES - 1))) - 250;
  const summary = text(Math.max(50, size));
  const [old, ours, theirs] = [id(), id(), id()];
  const again = (name: string) => file(`compactions/20260102T0310-${name}.jsonl`, record(name, 10, summary));
  const gone = { path: `compactions/20260102T0300-${old}.jsonl`, remove: true as const };
  const base = [
    commit("turn 0", [
      file("conversation.json", `{"format":1,"id":"case-${n}"}`),
      file("turns/0000/000000.jsonl", `${n}`),
    ]),
    commit("compact", [file(gone.path, record(old, 0, summary))], 1),
  ];
  const side = (name: string, changes: Parameters<typeof commit>[1]): BranchWrite => ({
    branch: `case-${n}/${name}`,
    expected: null,
    parent: null,
    commits: [
      ...base,
      commit(`${name} reverts`, [gone], 2),
      ...(changes.length === 0 ? [] : [commit(`${name} compacts`, changes, 3)]),
    ],
  });
  return [side("ours", [again(ours)]), side("theirs", n % 2 === 0 ? [again(theirs)] : [])];
}

/** Merges each case on its own branch as a user would, all of them from one shell: it starts eight hundred gits. */
function countClean(root: string, prefix: string): number {
  const script = `
    set -e
    for n in $(seq 0 ${CASES - 1}); do
      git checkout -q -f -B "case-$n/ours" "$1case-$n/ours"
      if git merge -q --no-edit "$1case-$n/theirs" >&2; then echo clean; else git merge --abort; fi
    done`;
  const merged = execFileSync("sh", ["-c", script, "sh", prefix], { cwd: root, env, encoding: "utf8", stdio: "pipe" });
  return merged.split("\n").filter((line) => line === "clean").length;
}

beforeAll(async () => {
  temp = await createTempStore();
  env = temp.env;
  const store = await openNativeStore(temp);
  await store.write(Array.from({ length: CASES }, (_, n) => makeCase(n)).flat());
  await store.close();
});
afterAll(() => temp.remove());

describe("stock merges of compactions made again on both sides", () => {
  it("are clean in at least 95 of 100 cases in a plain clone", { tags: ["slow"] }, () => {
    const clone = join(temp.folder, "clone");
    git(temp.folder, env, ["clone", "-q", "--no-checkout", temp.root, clone]);
    expect(countClean(clone, "origin/")).toBeGreaterThanOrEqual(CASES * 0.95);
  });

  it("are all clean in a jpg store", { tags: ["slow"] }, () => {
    expect(git(temp.root, env, ["config", "branch.case-7/ours.mergeOptions"])).toBe("-Xfind-renames=100%");
    expect(countClean(temp.root, "")).toBe(CASES);
  });
});
