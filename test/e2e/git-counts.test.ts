// Which gits a command starts: each costs a user some milliseconds, and the tests of jpg most of their time.
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createImportedSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { initRepository } from "../helpers/temp-repository.ts";

let sandbox: Sandbox & { readonly conversation: string };
let other: string;
beforeAll(async () => {
  sandbox = await createImportedSandbox(4);
  other = join(sandbox.root, "other");
  initRepository(join(sandbox.root, "bare.git"), "--bare");
  await sandbox.jpg(["remote", "add", "team", join(sandbox.root, "bare.git"), "--as", "hidden"]);
});
afterAll(() => sandbox.remove());

/** The commands of git that a command line of jpg starts, by name; not those that git starts itself. */
async function gits(words: readonly string[], store = sandbox.store): Promise<string> {
  const trace = join(sandbox.root, "trace");
  rmSync(trace, { force: true });
  const env = { GIT_TRACE2_EVENT: trace };
  const { code, stderr } = await sandbox.jpg([...words, "--store", store], { env });
  expect([code, stderr.includes("error")]).toEqual([0, false]);
  const events = readTrace(trace).map((line) => JSON.parse(line) as { event: string; sid: string; name?: string });
  const own = events.filter(({ event, sid }) => event === "cmd_name" && !sid.includes("/"));
  return own
    .map(({ name = "" }) => name)
    .sort()
    .join(" ");
}

function readTrace(path: string): readonly string[] {
  try {
    return readFileSync(path, "utf8").trim().split("\n");
  } catch {
    return []; // no git was started
  }
}

it("starts few gits for what people do all day", { tags: ["slow"] }, async () => {
  const counted: Record<string, string> = {};
  const count = async (what: string, words: readonly string[], store?: string): Promise<void> => {
    counted[what] = await gits(words, store);
  };
  await count("push, the first", ["push"]);
  await count("push, nothing new", ["push"]);
  await sandbox.jpg(["clone", join(sandbox.root, "bare.git"), other]);
  await count("compact", ["compact", "--to", "0"]);
  await count("push, a record", ["push"]);
  await count("pull, nothing new here", ["pull"]);
  await count("pull, forward", ["pull"], other);
  await count("pull, nothing new", ["pull"], other);
  await sandbox.jpg(["compact", "--from", "1", "--to", "1"]);
  await sandbox.jpg(["push"]);
  await sandbox.jpg(["compact", "--from", "2", "--to", "2", "--store", other]);
  await count("pull, a merge", ["pull"], other);
  // Which side a merge goes on from hangs on its commits' ids; where it is not ours, files change, and git is asked beforehand.
  counted["pull, a merge"] = counted["pull, a merge"]?.replace("read-tree read-tree", "read-tree") ?? "";
  await count("push, a merge", ["push"], other);
  await count("undo", ["undo"]);
  await count("log", ["log"]);
  await count("fork", ["fork", sandbox.conversation, "side"]);
  await count("push, a fork", ["push"]);
  await count("pull, a branch that is new", ["pull"], other);
  await count("remote ls", ["remote", "ls"]);
  await count("use", ["use", "main"]);
  expect(counted).toMatchInlineSnapshot(`
    {
      "compact": "config config read-tree read-tree update-ref",
      "fork": "read-tree switch update-ref",
      "log": "",
      "pull, a branch that is new": "fetch update-ref",
      "pull, a merge": "fetch read-tree update-ref",
      "pull, forward": "fetch read-tree read-tree update-ref",
      "pull, nothing new": "fetch",
      "pull, nothing new here": "fetch",
      "push, a fork": "cat-file cat-file ls-remote push rev-list update-ref",
      "push, a merge": "cat-file ls-remote push rev-list update-ref",
      "push, a record": "cat-file ls-remote push rev-list update-ref",
      "push, nothing new": "ls-remote",
      "push, the first": "cat-file ls-remote push rev-list update-ref",
      "remote ls": "",
      "undo": "config config read-tree read-tree update-ref",
      "use": "read-tree switch",
    }
  `);
});
