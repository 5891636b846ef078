// The story of README's "Share": two people work on one conversation through their project's remote. The second goes on in an
// agent: in a grown session file, as an agent leaves it, and in the real one where it is at hand (JPG_AGENTS_DIR).
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type Json, sessionBytes } from "../helpers/claude-session.ts";
import { agentMissing, letAgentGoOn } from "../helpers/real-agent.ts";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";
import { testEnvironment } from "../helpers/temp-repository.ts";

const MODEL = "claude-sonnet-4-5-20250929";

/** Takes a prompt in a session file. */
type GoOn = (path: string, prompt: string) => Promise<unknown>;

/** What the agent appends: the prompt and an answer, each following the line before it. */
const growSession: GoOn = async (path, prompt) => {
  const text = readFileSync(path, "utf8");
  const lines = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as Json);
  const last = lines.findLast((line) => typeof line["uuid"] === "string") ?? {};
  const { uuid, sessionId, cwd, version } = last;
  const [asked, answered] = ["11111111-0000-4000-8000-000000000001", "11111111-0000-4000-8000-000000000002"];
  const common = { isSidechain: false, userType: "external", sessionId, cwd, version };
  const added = [
    {
      ...common,
      type: "user",
      message: { role: "user", content: prompt },
      parentUuid: uuid,
      uuid: asked,
      timestamp: "2026-03-02T09:00:00.000Z",
    },
    {
      ...common,
      type: "assistant",
      message: {
        id: "msg_x",
        type: "message",
        role: "assistant",
        model: MODEL,
        content: [{ type: "text", text: "MOCK-REPLY-OK" }],
        usage: { input_tokens: 1, output_tokens: 1 },
      },
      parentUuid: asked,
      uuid: answered,
      timestamp: "2026-03-02T09:00:05.000Z",
    },
  ];
  writeFileSync(path, text + sessionBytes(added).toString());
};

/** A person with a clone of the project and a HOME of their own. */
interface Person {
  jpg(line: string): Promise<string>;
  json<T>(line: string): Promise<T>;
}

function createPerson(sandbox: Sandbox, name: string, cwd: string): Person {
  const home = join(sandbox.root, `home-${name}`);
  mkdirSync(home, { recursive: true });
  const env = { ...testEnvironment(home), GIT_AUTHOR_NAME: name, GIT_COMMITTER_NAME: name };
  const jpg = async (line: string): Promise<string> => {
    const { stdout, stderr, code } = await sandbox.jpg(line.split(" "), { cwd, env });
    if (code !== 0) throw new Error(`${name}: jpg ${line}: exit ${code}\n${stderr}${stdout}`);
    return stdout;
  };
  return { jpg, json: async (line) => JSON.parse(await jpg(`${line} --json`)) };
}

interface Row {
  readonly kind: string;
  readonly compaction: string;
  readonly live: boolean;
}
const liveIn = async (person: Person): Promise<readonly string[]> =>
  (await person.json<readonly Row[]>("log"))
    .filter(({ live }) => live)
    .map(({ compaction }) => compaction)
    .sort();
const viewOf = (person: Person): Promise<string> => person.jpg("print --compacted --format jsonl");

async function tellStory(sandbox: Sandbox, goOn: GoOn): Promise<void> {
  const bare = join(sandbox.root, "origin.git");
  const theirs = join(sandbox.root, "theirs");
  sandbox.git(["init", "--quiet", "--bare", bare], sandbox.root);
  sandbox.git(["commit", "--quiet", "--allow-empty", "-m", "code"], sandbox.project);
  sandbox.git(["remote", "add", "origin", bare], sandbox.project);
  sandbox.git(["push", "--quiet", "origin", "HEAD:main"], sandbox.project);
  sandbox.git(["clone", "--quiet", "--branch", "main", bare, theirs], sandbox.root);
  const [ada, ben] = [createPerson(sandbox, "Ada", sandbox.project), createPerson(sandbox, "Ben", theirs)];

  // Ada brings a session in, shrinks it, and publishes it beside the project's code.
  await ada.jpg(`import ${sandbox.session("session.jsonl", smallSession())}`);
  const { compaction: first } = await ada.json<{ compaction: string }>("compact --to 1");
  await ada.jpg(`remote add origin ${bare} --as hidden`);
  await ada.jpg("push");

  // Ben, in a clone of the project, finds it and sees what the compaction did.
  await ben.jpg("pull");
  expect(await liveIn(ben)).toEqual([first]);
  expect(await ben.jpg("diff")).toContain("thought 0: the gauge");
  expect(await viewOf(ben)).toBe(await viewOf(ada));

  // He goes on in his agent; what it wrote comes back into the same conversation.
  const { path, command } = await ben.json<{ path: string; command: unknown }>("resume --with claude-code");
  expect(JSON.stringify(command)).toContain("claude");
  await goOn(path, "And the tide at noon?");
  const [report] = await ben.json<readonly { status: string; turns: number }[]>(`import ${path}`);
  expect(report).toMatchObject({ status: "updated", turns: 7 });
  const { compaction: second } = await ben.json<{ compaction: string }>("compact --to 3");
  expect(await ben.json("review")).toMatchObject({
    turns: [{ turn: 6, request: "And the tide at noon?" }],
    compactions: [{ compaction: { id: second } }],
    reverted: [],
  });
  await ben.jpg("push");

  // Ada has compacted, too. Both compactions are there afterwards, and his turn.
  const { compaction: third } = await ada.json<{ compaction: string }>("compact --to 2");
  await ada.jpg("pull");
  expect(await liveIn(ada)).toEqual([first, second, third].sort());
  const review = await ada.json<{ turns: readonly unknown[]; compactions: readonly { compaction: { id: string } }[] }>(
    "review",
  );
  expect(review.turns).toEqual([]);
  expect(review.compactions.map(({ compaction }) => compaction.id)).toEqual([third]);
  expect(await ada.jpg("review --markdown")).toContain(`To undo it: \`jpg revert ${third}\`.`);
  await ada.jpg("push");

  // A revert on either side reaches the other, and both see the same.
  await ben.jpg("pull");
  await ben.jpg(`revert ${third}`);
  await ben.jpg("push");
  await ada.jpg(`revert ${first}`);
  await ada.jpg("pull");
  await ada.jpg("push");
  await ben.jpg("pull");
  for (const person of [ada, ben]) expect(await liveIn(person)).toEqual([second]);
  expect(await viewOf(ben)).toBe(await viewOf(ada));
  expect(await viewOf(ada)).toContain("And the tide at noon?");
  // The project itself has noticed nothing.
  expect(sandbox.git(["for-each-ref", "refs/jpg"], theirs)).toBe("");
  expect(sandbox.git(["branch", "--list", "--all", "--format=%(refname)"], bare)).toBe("refs/heads/main");
}

describe("two people on one conversation", () => {
  it("share it through their project's remote, work on at once, and take back what they like", {
    tags: ["slow"],
  }, async () => {
    const sandbox = createSandbox();
    try {
      await tellStory(sandbox, growSession);
    } finally {
      sandbox.remove();
    }
  });

  it.skipIf(agentMissing !== null)(
    `real agent: the second goes on in Claude Code${agentMissing === null ? "" : ` (SKIPPED: ${agentMissing})`}`,
    { timeout: 300_000 },
    async () => {
      const sandbox = createSandbox();
      try {
        await tellStory(sandbox, (path, prompt) => letAgentGoOn(path, { prompt, model: MODEL }));
      } finally {
        sandbox.remove();
      }
    },
  );
});
