// Nothing that looks like a secret leaves unasked: not with jpg push, and not with stock git.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createClaudeWriter, type Json, sessionBytes } from "../helpers/claude-session.ts";
import { writeUserConfig } from "../helpers/live-jpg.ts";
import { copyMadeSandbox } from "../helpers/prepared-sandbox.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { git, initRepository } from "../helpers/temp-repository.ts";

/** In two halves, so that no scanner takes this file for a leak. */
const TOKEN = "ghp_a1B2c3D4e5F6g7H8i9" + "J0k1L2m3N4o5P6q7R8";
const PASSWORD = "hV7q2" + "Lm9xT";

const bareOf = ({ root }: Sandbox): string => join(root, "bare.git");

/** A conversation with secrets, and a remote. */
async function makeSandbox(): Promise<Sandbox> {
  const made = createSandbox();
  initRepository(bareOf(made), "--bare");
  const writer = createClaudeWriter();
  writer.prompt("Deploy the harbour");
  writer.say("It stands.");
  writer.prompt("With which token?");
  writer.say(`With ${TOKEN}, and DB_PASSWORD="${PASSWORD}".`);
  const session = made.session("session.jsonl", sessionBytes(writer.lines));
  expect(await made.jpg(["import", session])).toMatchObject({ code: 0 });
  expect(await made.jpg(["remote", "add", "team", bareOf(made)])).toMatchObject({ code: 0 });
  return made;
}

let sandbox: Sandbox;
let bare: string;
beforeEach(async () => {
  sandbox = await copyMadeSandbox(makeSandbox);
  bare = bareOf(sandbox);
});
afterEach(() => sandbox.remove());

const refs = (): string => sandbox.git(["for-each-ref"], bare);

interface Refusal {
  readonly error: {
    readonly code: string;
    readonly data: {
      readonly secrets: readonly {
        readonly branch?: string;
        readonly rule: string;
        readonly turn?: number;
        readonly fingerprint: string;
      }[];
    };
  };
}

async function refused(words: readonly string[]): Promise<Refusal["error"]> {
  const { code, stdout } = await sandbox.jpg([...words, "--json"]);
  expect(code).toBe(2);
  return (JSON.parse(stdout) as Refusal).error;
}

it("refuses a push, lists where the secrets are without showing them, and sends nothing, again and again", async () => {
  for (const words of [["push"], ["push", "--dry-run"], ["push", "--all"]]) {
    const { code, stdout, stderr } = await sandbox.jpg(words);
    expect([code, stdout]).toEqual([2, ""]);
    expect(stderr).toContain("error: 2 secrets would leave this machine, in 4 places; nothing was sent:\n");
    expect(stderr).toMatch(/turn 1, line \d+: github ghp_\S*… \(40 characters\) \[[0-9a-f]{16}\]\n/);
    expect(stderr).not.toContain(TOKEN.slice(8, 20));
    expect(stderr).not.toContain(PASSWORD);
  }
  const { code, data } = await refused(["push"]);
  expect(code).toBe("secrets_found");
  // In the turn, and in the agent's own line of it.
  expect(data.secrets.map(({ rule }) => rule).sort()).toEqual(["assigned", "assigned", "github", "github"]);
  expect(refs()).toBe("");
});

it("names the conversation that each secret is in, and what masks these, where several are sent", async () => {
  const writer = createClaudeWriter();
  for (const said of ["Chart the sound", `The key is ${TOKEN}.`]) {
    writer.prompt(said);
    writer.say("Done.");
  }
  const clean = createClaudeWriter();
  clean.prompt("A walk to the beacon");
  clean.say("It is lit.");
  const ids: string[] = [];
  for (const { lines } of [clean, writer]) {
    const own = sessionBytes(lines)
      .toString()
      .replaceAll("0000-4000-8000", `000${ids.length + 1}-4000-8000`);
    const path = sandbox.session(`other-${ids.length}.jsonl`, Buffer.from(own));
    const [report] = await sandbox.json<readonly { id: string }[]>(["import", path]);
    ids.push(report?.id ?? "");
  }
  const [walk = "", chart = ""] = ids;
  const harbour = (await sandbox.json<readonly { id: string }[]>(["ls"])).find(({ id }) => !ids.includes(id))?.id ?? "";
  expect(await sandbox.jpg(["fork", harbour, "calm", "--first", "1"])).toMatchObject({ code: 0 });
  const { stderr } = await sandbox.jpg(["push", "--all"]);
  expect(stderr).toMatch(new RegExp(`^ +${harbour}/main:\n +(?:sources|turn).*\n`, "m"));
  expect(stderr).toMatch(new RegExp(`^ +${chart}/main:\n`, "m"));
  expect(stderr).toContain(`\`jpg redact ${chart}\`, \`jpg redact ${harbour}\` make copies`);
  expect(stderr).not.toContain(walk);
  expect(stderr).not.toContain("/calm");
  const { data } = await refused(["push", "--all"]);
  const branches = data.secrets.map(({ branch, rule }) => `${branch} ${rule}`);
  expect([...new Set(branches)].sort()).toEqual(
    [`${chart}/main github`, `${harbour}/main assigned`, `${harbour}/main github`].sort(),
  );
});

it("sends what a rule finds when that is said, this once", async () => {
  expect((await refused(["push", "--allow", "github"])).data.secrets.every(({ rule }) => rule === "assigned")).toBe(
    true,
  );
  expect(await sandbox.jpg(["push", "--allow", "github", "--allow", "assigned"])).toMatchObject({ code: 0 });
  expect(refs()).toContain("/main");
});

it("takes fingerprints from the user's own settings, and from no project's, trusted or not", async () => {
  const { data } = await refused(["push"]);
  const allow = `[secrets]\nallow = ${JSON.stringify([...new Set(data.secrets.map(({ fingerprint }) => fingerprint))])}\n`;
  writeFileSync(join(sandbox.project, ".jpg.toml"), allow);
  expect(await sandbox.jpg(["trust", "--yes"])).toMatchObject({ code: 0 });
  const { code, stderr } = await sandbox.jpg(["push"]);
  expect([code, stderr]).toEqual([2, expect.stringContaining("only your own settings may set it")]);
  writeUserConfig(sandbox, allow);
  expect(await sandbox.jpg(["push"])).toMatchObject({ code: 0 });
  expect(refs()).toContain("/main");
});

it("stops stock git push, too", { tags: ["slow"] }, async () => {
  expect(() => sandbox.git(["push", "--quiet", "team", "--all"])).toThrow(/would leave this machine/);
  expect(() => sandbox.git(["push", "--quiet", bare, "HEAD:refs/heads/other"])).toThrow(/would leave this machine/);
  expect(refs()).toBe("");
});

it("stops stock git push of a revision with spaces in its name, and with another store named", {
  tags: ["slow"],
}, async () => {
  for (const revision of [":/turn 1", "HEAD^{/turn 1}", "HEAD@{1 minute ago}"])
    expect(() => sandbox.git(["push", "--quiet", bare, `${revision}:refs/heads/other`])).toThrow(
      /would leave this machine/,
    );
  expect(() =>
    git(sandbox.store, { ...sandbox.env, JPG_STORE: "/nowhere" }, ["push", "--quiet", "team", "--all"]),
  ).toThrow(/would leave this machine/);
  expect(refs()).toBe("");
});

it("sends what was scanned where git shows another object in its place", async () => {
  const tree = sandbox.git(["hash-object", "-t", "tree", "-w", "/dev/null"]).trim();
  const empty = sandbox.git(["commit-tree", "-m", "Nothing", tree]).trim();
  sandbox.git(["replace", sandbox.git(["rev-parse", "HEAD"]).trim(), empty]);
  expect((await refused(["push"])).code).toBe("secrets_found");
  expect(() => sandbox.git(["push", "--quiet", "team", "--all"])).toThrow(/would leave this machine/);
  expect(refs()).toBe("");
});

it("finds a secret in what a tag says, an author, and names of files and branches", { tags: ["slow"] }, () => {
  const tree = sandbox.git(["hash-object", "-t", "tree", "-w", "/dev/null"]).trim();
  const commit = sandbox.git(["commit-tree", "-m", "Nothing", tree]).trim();
  sandbox.git(["push", "--quiet", "team", `${commit}:refs/heads/clean`]);
  sandbox.git(["tag", "-a", "-m", `With ${TOKEN}`, "v1", commit]);
  const signed = git(sandbox.store, { ...sandbox.env, GIT_AUTHOR_NAME: TOKEN }, [
    "commit-tree",
    "-m",
    "Nothing",
    tree,
  ]).trim();
  writeFileSync(join(sandbox.store, TOKEN), "");
  sandbox.git(["add", "--sparse", TOKEN]);
  const named = sandbox.git(["commit-tree", "-m", "Nothing", sandbox.git(["write-tree"]).trim()]).trim();
  for (const [refspec, place] of [
    ["v1", /tag [0-9a-f]{9}, line \d+: github/],
    [`${signed}:refs/heads/signed`, /commit [0-9a-f]{9}, line \d+: github/],
    [`${named}:refs/heads/named`, /names of branches and files, line \d+: github/],
    [`${commit}:refs/heads/${TOKEN}`, /names of branches and files, line \d+: github/],
  ] as const)
    expect(() => sandbox.git(["push", "--quiet", "team", refspec])).toThrow(place);
  expect(refs().trim().split("\n")).toHaveLength(1);
});

it("finds a secret that only an older commit has, or a commit's message", async () => {
  sandbox.git(["rm", "--quiet", "-r", "--sparse", "turns", "sources"]);
  sandbox.git(["commit", "--quiet", "--no-verify", "-m", `Without what gave ${TOKEN} away`]);
  const { data } = await refused(["push"]);
  const places = (data.secrets as unknown as readonly Json[]).map(({ path }) => String(path));
  expect(places.some((path) => path.startsWith("turns/"))).toBe(true);
  expect(places.some((path) => path.startsWith("commit "))).toBe(true);
});

it("asks again where the same goes to another place", async () => {
  await sandbox.jpg(["push", "--allow", "github", "--allow", "assigned"]);
  const elsewhere = join(sandbox.root, "elsewhere.git");
  initRepository(elsewhere, "--bare");
  await sandbox.jpg(["remote", "add", "other", elsewhere]);
  // What was let through once is not clean.
  expect(await sandbox.jpg(["push", "--to", "other"])).toMatchObject({ code: 2 });
});
