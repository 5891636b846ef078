// A way out for a conversation with secrets in it: a masked copy that can be pushed, and an original that stays here.
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClaudeWriter, type Json, sessionBytes } from "../helpers/claude-session.ts";
import { writeUserConfig } from "../helpers/live-jpg.ts";
import { MADE_SECRETS } from "../helpers/made-secrets.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";
import { storedText } from "../helpers/stored-text.ts";
import { createTerminalSession } from "../helpers/terminal-session.ts";

/** In two halves, so that no scanner takes this file for a leak. */
const TOKEN = "ghp_a1B2c3D4e5F6g7H8i9" + "J0k1L2m3N4o5P6q7R8";
const PASSWORD = "hV7q2" + "Lm9xT";

interface Redacted {
  readonly redacted: string | null;
  readonly status: string;
  readonly earlier: string | null;
  readonly changes?: readonly { readonly status: string; readonly branch: string }[];
  readonly branches: readonly string[];
  readonly secrets: readonly { readonly rule: string; readonly mask: string; readonly count: number }[];
  readonly left_out: { readonly sources: number };
}

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

/** Imports what is said in turn, a request and an answer each; gives the conversation's id. */
async function importTurns(...said: readonly (readonly [string, string])[]): Promise<string> {
  const writer = createClaudeWriter();
  for (const [request, answer] of said) {
    writer.prompt(request);
    writer.say(answer);
  }
  const [row] = await sandbox.json<readonly [{ id: string }]>([
    "import",
    sandbox.session("session.jsonl", sessionBytes(writer.lines)),
  ]);
  return row.id;
}

async function addRemote(): Promise<string> {
  const bare = join(sandbox.root, "bare.git");
  sandbox.git(["init", "--quiet", "--bare", bare], sandbox.root);
  await sandbox.jpg(["remote", "add", "team", bare]);
  return bare;
}

const refs = (): string => sandbox.git(["for-each-ref", "refs/heads"]);

/** Everything that some branches reach. */
const reached = (...branches: readonly string[]): string => storedText(sandbox.store, sandbox.env, ...branches);

/** Where a text stands in another, with some of what is around it; null where it does not. */
function placeOf(part: string, text: string): string | null {
  const at = text.indexOf(part);
  return at < 0 ? null : text.slice(Math.max(0, at - 60), at + part.length + 30);
}

describe("jpg redact", () => {
  it("leaves nothing in messages that quote the conversation, neither lines of a key nor what a blank stands in", async () => {
    const lines = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" + "x7Qm2Vt9", "Zk4Lp8Rw1Yc6Nb3Hs5Jd0Gf7Ta2Ue9Xi" + "q3Mv6Bn1"];
    const key = ["-----BEGIN PRIVATE KEY-----", ...lines, "-----END PRIVATE KEY-----"].join("\n");
    const address = `postgres://ada:pV7#2q9Lm4Xt@db.internal:5432/app`;
    const conversation = await importTurns(
      [`Use ${address} please`, `The key is\n${key}\nand that is all. ${"more ".repeat(200)}`],
      ["Next", "Done."],
      ["Last", "Done."],
    );
    const summary = sandbox.session("summary.md", `Used ${address} and\n\n${key}\n`);
    await sandbox.jpg(["compact", "--to", "1", "--accept", summary, "--force"]);
    expect(sandbox.git(["log", "--format=%B"])).toContain(lines[1]);
    const { branches } = await sandbox.json<Redacted>(["redact", conversation]);
    const said = sandbox.git(["log", "--format=%B", ...branches]);
    for (const part of [...lines, "pV7", "2q9Lm4Xt"]) expect(said).not.toContain(part);
    expect(said).toContain("compact 0..1: summary");
  });

  it("makes a copy that can be pushed of one that cannot", async () => {
    const conversation = await importTurns(
      [`Deploy with ${TOKEN}`, "It stands."],
      ["And the database?", `With DB_PASSWORD="${PASSWORD}"; ${PASSWORD} is new.`],
    );
    await addRemote();
    const { run } = createTerminalSession({ ...sandbox, conversation });
    expect((await run("jpg push")).split("\n").at(-2)).toBe("[exit 2]");
    const before = [refs(), reached(`${conversation}/main`)];
    expect(await run("jpg redact @ --dry-run")).toMatchInlineSnapshot(`
      "$ jpg redact @ --dry-run
        redacted-github-1    ghp_a1B… (40 characters)  5 times  conversation.json
        redacted-assigned-1  hV… (10 characters)       2 times  turn 1
      Would mask 2 secrets in a copy of <id>; 1 source file (1.8 kB) left out.
      "
    `);
    expect(await run("jpg redact @")).toMatchInlineSnapshot(`
      "$ jpg redact @
        redacted-github-1    ghp_a1B… (40 characters)  5 times  conversation.json
        redacted-assigned-1  hV… (10 characters)       2 times  turn 1
      Masked 2 secrets in deploy-with-redacted-github-1-hcyh, a copy of <id>; 1 source file (1.8 kB) left out.
      ! <id> is unchanged, and local now: nothing of it is pushed.
      ! \`jpg push deploy-with-redacted-github-1-hcyh\` sends the copy.
      ! The secret is still in the original, in clones and remotes that have it, in the trash
      ! and in the agent's own files. Revoke it where it was issued. To remove the original
      ! from this store for good: \`jpg purge <id>\`.
      "
    `);
    expect(await run("jpg push deploy-with-redacted-github-1-hcyh")).toMatchInlineSnapshot(`
      "$ jpg push deploy-with-redacted-github-1-hcyh
        new  deploy-with-redacted-github-1-hcyh/main  2 turns
      Sent 1 branch, 2 turns, 1.9 kB to team.
      ! To team (branches): <root>/bare.git
      "
    `);
    expect(await run("jpg fsck")).toMatchInlineSnapshot(`
      "$ jpg fsck
      nothing wrong in 2 branches, 4 turns
      "
    `);
    expect(await run("jpg print deploy-with-redacted --turn 1")).toMatchInlineSnapshot(`
      "$ jpg print deploy-with-redacted --turn 1
      # Deploy with redacted-github-1

      ## Turn 1 · 2026-03-01 09:00:04 UTC

      **User**

      > And the database?

      **Assistant**

      > With DB_PASSWORD="redacted-assigned-1"; redacted-assigned-1 is new.

      "
    `);
    expect(await run("jpg push @")).toMatchInlineSnapshot(`
      "$ jpg push @
      ! To team (branches): <root>/bare.git
      ! error: <id> is local: it is never sent.
      ! hint: \`jpg local <id> --off\` lets it be pushed.
      [exit 2]
      "
    `);
    // The original is what it was.
    expect(refs()).toContain(before[0] ?? "");
    expect(reached(`${conversation}/main`)).toBe(before[1]);
  });

  it("masks each kind of secret, wherever and however it is said", { tags: ["slow"] }, async () => {
    const writer = createClaudeWriter();
    const escaped = (text: string): string => text.replace(/[a-z]/g, (at) => `\\u00${at.charCodeAt(0).toString(16)}`);
    for (const [rule, secret] of MADE_SECRETS) {
      writer.prompt(`${secret} is of ${rule}`);
      writer.think(`hm: ${secret}`, `Written: ${JSON.stringify(JSON.stringify({ [secret]: { value: secret } }))}`);
      writer.say(`{"key":"${escaped(secret)}"}`);
      writer.node({
        ...{ type: "user" },
        message: {
          role: "user",
          content: [secret.slice(0, 9), secret.slice(9)].map((text) => ({ type: "text", text })),
        },
      });
    }
    await sandbox.jpg(["import", sandbox.session("session.jsonl", sessionBytes(writer.lines))]);
    await addRemote();
    expect(await sandbox.jpg(["push"])).toMatchObject({ code: 2 });
    const { redacted, branches, secrets } = await sandbox.json<Redacted>(["redact", "@"]);
    expect(new Set(secrets.map(({ mask }) => mask)).size).toBe(secrets.length);
    expect(await sandbox.jpg(["push", redacted ?? ""])).toMatchObject({ code: 0 });
    expect(await sandbox.jpg(["fsck"])).toMatchObject({ code: 0 });
    const text = reached(...branches);
    for (const [, secret] of MADE_SECRETS) {
      expect(text).not.toContain(secret);
      expect(placeOf(secret.slice(-24), text)).toBeNull();
      expect(text).not.toContain(escaped(secret).slice(-24));
    }
  });

  it("carries forks, compactions and reverts along: every view is the old one, masked", {
    tags: ["slow"],
  }, async () => {
    const writer = createClaudeWriter();
    for (const [at, said] of [`use ${TOKEN}`, "go on", `password: ${PASSWORD}`, "and on", "the end"].entries()) {
      writer.prompt(said);
      writer.tools(3);
      writer.say(at === 1 ? `${"x".repeat(300_000)} ${TOKEN}` : `done ${at}, ${PASSWORD}`);
    }
    await sandbox.jpg(["import", sandbox.session("session.jsonl", sessionBytes(writer.lines))]);
    const [{ id: conversation }] = await sandbox.json<readonly [{ id: string }]>(["ls"]);
    const summary = sandbox.session("summary.txt", `They used ${TOKEN}.`);
    for (const line of [
      ["compact", "--keep", "3", "--accept", summary],
      ["fork", "@", `with-${TOKEN}`],
      ["compact", "--keep", "1"],
      ["undo"],
      ["fork", "@", "short", "--first", "3"],
      ["compact", "--keep", "0", "--force"],
      ["fork", "@", "beside", "--first", "1"],
      ["merge", "short", "--summary", `There they used ${TOKEN}.`],
      ["title", "@", `About ${PASSWORD}`],
      ["label", "@", PASSWORD],
    ])
      expect(await sandbox.jpg(line)).toMatchObject({ code: 0 });
    const { branches, redacted, left_out } = await sandbox.json<Redacted>(["redact", conversation]);
    expect(left_out.sources).toBeGreaterThan(0);
    const old = refs()
      .split("\n")
      .flatMap((line) => (line.includes(`heads/${conversation}/`) ? [line.split("refs/heads/")[1] ?? ""] : []));
    const masked = (text: string): string =>
      text.replaceAll(TOKEN, "redacted-github-1").replaceAll(PASSWORD, "redacted-assigned-1");
    expect(branches).toHaveLength(4);
    for (const name of old) {
      const copy = masked(name).replace(conversation, redacted ?? "");
      expect(branches).toContain(copy);
      for (const words of [
        ["print", "--compacted", "--format", "jsonl"],
        ["print", "--format", "jsonl"],
      ]) {
        const [command = "", ...options] = words;
        const [before, after] = await Promise.all(
          [name, copy].map(async (branch) => (await sandbox.jpg([command, branch, ...options])).stdout),
        );
        // What a merge tells of stands on a fork of the copy.
        const renamed = masked(before ?? "").replaceAll(`${conversation}/`, `${redacted}/`);
        expect(withoutDigests(after ?? "")).toBe(withoutDigests(renamed));
      }
      const graph = (branch: string): string => sandbox.git(["log", "--format=%s", branch]);
      expect(graph(copy)).toBe(masked(graph(name)));
      const rows = async (branch: string): Promise<readonly unknown[]> =>
        (await sandbox.json<readonly Json[]>(["log", branch])).map(({ live, from_turn, to_turn }) => [
          live,
          from_turn,
          to_turn,
        ]);
      expect(await rows(copy)).toEqual(await rows(name));
    }
    // Nothing of the copy names the original, nor what it was merged from.
    expect(reached(...branches)).not.toContain(conversation);
    expect((await sandbox.jpg(["print", `${redacted}/beside`])).stdout).toContain(`the fork ${redacted}/short`);
    // What was told of a fork is known to be told.
    const told = await sandbox.jpg(["merge", `${redacted}/short`, "--into", `${redacted}/beside`]);
    expect(told).toMatchObject({ code: 0, stdout: expect.stringContaining("Nothing to merge.") });
    const { findings } = await sandbox.json<{ findings: readonly Json[] }>(["fsck"]);
    expect(findings).toEqual([]);
    expect(reached(...branches)).not.toMatch(new RegExp(`${TOKEN}|${PASSWORD}`));
    // As deep as a copy goes: one of the copy has nothing left to mask.
    expect(await sandbox.json<Redacted>(["redact", redacted ?? ""])).toMatchObject({ redacted: null, secrets: [] });
  });

  it.each([
    ["a title", ["title", "@", "A plain title"]],
    ["a label", ["label", "@", "harbour"]],
    ["a pin", ["pin", "@", "1"]],
    ["a comment", ["comment", "1", "well said"]],
  ])("makes a copy that can be pushed when %s is the same in both", async (_, command) => {
    await importTurns([`Use ${TOKEN}`, "Done."], ["Next", "Done."]);
    expect(await sandbox.jpg(command)).toMatchObject({ code: 0 });
    const bare = await addRemote();
    const { redacted } = await sandbox.json<Redacted>(["redact", "@"]);
    const pushed = await sandbox.jpg(["push", redacted ?? ""]);
    expect([pushed.code, pushed.stderr]).toEqual([0, expect.not.stringContaining("is local")]);
    expect(sandbox.git(["ls-remote", bare])).toContain(redacted);
    expect(await sandbox.jpg(["push", "@"])).toMatchObject({ code: 2, stderr: expect.stringContaining("is local") });
  });

  it("masks a text in the other forms in which it was written, too", async () => {
    const secret = "rose&bud 17/é";
    const inner = Buffer.from(`user:${secret}\n`).toString("base64");
    const forms = [
      encodeURIComponent(secret),
      "rose%26bud+17%2f%c3%a9",
      "rose&amp;bud 17/é",
      secret.toUpperCase(),
      inner,
    ];
    const conversation = await importTurns([`It is ${secret}`, forms.join(" and ")]);
    const { redacted } = await sandbox.json<Redacted>(["redact", conversation, "--text", secret]);
    const text = reached(`${redacted}/main`);
    for (const form of forms.slice(0, -1)) expect(placeOf(form, text)).toBeNull();
    // Of base64 what its neighbours have no part in.
    expect(placeOf(inner.slice(8, -8), text)).toBeNull();
  });

  it("masks both halves of a secret that two parts of a message had, where a summary has them in two lines", async () => {
    const writer = createClaudeWriter();
    const texts = [`use ${TOKEN.slice(0, 20)}`, `${TOKEN.slice(20)} to deploy, please`];
    writer.node({
      ...{ type: "user" },
      message: { role: "user", content: texts.map((text) => ({ type: "text", text })) },
    });
    writer.say("Done.");
    for (const word of ["one", "two", "three"]) {
      writer.prompt(word);
      writer.say("Done.");
    }
    await sandbox.json(["import", sandbox.session("session.jsonl", sessionBytes(writer.lines))]);
    const summary = sandbox.session("summary.md", `Asked: use ${TOKEN.slice(0, 20)}\n- ${TOKEN.slice(20)} to deploy\n`);
    expect(await sandbox.jpg(["compact", "--to", "1", "--accept", summary, "--force"])).toMatchObject({ code: 0 });
    const { redacted } = await sandbox.json<Redacted>(["redact", "@"]);
    const text = reached(`${redacted}/main`);
    expect([placeOf(TOKEN.slice(0, 20), text), placeOf(TOKEN.slice(20), text)]).toEqual([null, null]);
  });

  it("masks what it is told to, read from standard input, and goes on counting behind older masks", async () => {
    await importTurns([`the ship is called Aurelia, ${TOKEN}`, "aye, redacted-text-4 and Aurelia"]);
    const { code, stdout } = await sandbox.jpg(["redact", "@", "--text", "-"], { input: "Aurelia\n" });
    expect([code, stdout]).toEqual([0, expect.stringContaining("redacted-text-5")]);
    const copy = refs().match(/refs\/heads\/(\S*redacted\S*|the-ship\S*text-5\S*)/)?.[1] ?? "";
    const text = (await sandbox.jpg(["print", copy])).stdout;
    expect(text).toContain("redacted-text-5");
    // What rules find is masked as well, unless rules are named.
    expect(text).not.toContain(TOKEN);
    expect(text).not.toContain("Aurelia");
    expect(await sandbox.jpg(["redact", "@", "--text", "abc"])).toMatchObject({ code: 2 });
  });

  it("makes no copy where a text that is to be masked was never said", async () => {
    await importTurns(["Hello", "Hi."]);
    expect(await sandbox.json<Redacted>(["redact", "@", "--text", "Nobody said that"])).toMatchObject({
      redacted: null,
    });
  });

  it("masks what is written as a number, and makes nothing where a text would stay", async () => {
    const card = 4_111_111_111_111_111;
    const writer = createClaudeWriter();
    writer.prompt(`pay with ${card}`);
    writer.node({
      ...{ type: "assistant" },
      message: {
        role: "assistant",
        content: [{ type: "tool_use", id: "toolu_1", name: "pay", input: { card, cards: [card, -1500], [card]: 1 } }],
      },
    });
    await sandbox.jpg(["import", sandbox.session("session.jsonl", sessionBytes(writer.lines))]);
    const { branches, redacted } = await sandbox.json<Redacted>(["redact", "@", "--text", String(card)]);
    expect(reached(...branches)).not.toContain(String(card));
    expect((await sandbox.jpg(["print", redacted ?? "", "--format", "jsonl"])).stdout).toContain(
      '{"card":"redacted-text-1","cards":["redacted-text-1",-1500],"redacted-text-1":1}',
    );
    const before = refs();
    // The header of a conversation has such a field whatever is masked.
    const refused = await sandbox.jpg(["redact", "@", "--text", "created_at", "--text", "source"]);
    expect([refused.code, refused.stdout]).toEqual([3, ""]);
    expect(refused.stderr).toContain("could not be masked");
    expect(refs()).toBe(before);
  });

  it("makes nothing where a text is a word of jpg's own, and the copy would be damaged", async () => {
    await importTurns(["one", "two"]);
    const before = refs();
    const { code, stdout, stderr } = await sandbox.jpg(["redact", "@", "--text", "type"]);
    expect([code, stdout]).toEqual([3, ""]);
    expect(stderr).toContain("The masked copy would be damaged");
    expect(stderr).toContain("so none was made");
    expect(refs()).toBe(before);
    expect(await sandbox.json(["local"])).toEqual([]);
  });

  it("masks a text that stands in two parts of one message", async () => {
    const writer = createClaudeWriter();
    const content = ["the ship is called Aure", "lia"].map((text) => ({ type: "text", text }));
    writer.node({ type: "user", message: { role: "user", content } });
    writer.say("aye");
    await sandbox.jpg(["import", sandbox.session("session.jsonl", sessionBytes(writer.lines))]);
    const { redacted, branches } = await sandbox.json<Redacted>(["redact", "@", "--text", "called Aurelia"]);
    expect(redacted).not.toBeNull();
    expect(reached(...branches)).not.toMatch(/Aure|lia/);
  });

  it("masks a text that is no ASCII in a picture, too, and keeps the picture's length", async () => {
    const name = "Jürgen Süß";
    const picture = Buffer.concat([
      Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0xfe, 0x00]),
      Buffer.from(`Author\0${name}\0`),
      Buffer.alloc(400_000, 0xfd),
    ]);
    const writer = createClaudeWriter();
    const source = { type: "base64", media_type: "image/png", data: picture.toString("base64") };
    writer.node({ type: "user", message: { role: "user", content: [{ type: "image", source }] } });
    writer.prompt(`Who is ${name}?`);
    writer.say("The author.");
    await sandbox.jpg(["import", sandbox.session("session.jsonl", sessionBytes(writer.lines))]);
    const { branches } = await sandbox.json<Redacted>(["redact", "@", "--text", name]);
    const [branch = ""] = branches;
    const path = sandbox.git(["ls-tree", "-r", "--name-only", branch, "attachments"]).trim();
    expect(sandbox.git(["cat-file", "-s", `${branch}:${path}`]).trim()).toBe(String(picture.length));
    expect(reached(...branches)).not.toContain(name);
  });

  it("masks what one rule finds, and lets pass what the user's own settings let pass", async () => {
    await importTurns([`with ${TOKEN}`, `password: ${PASSWORD}`]);
    const one = await sandbox.json<Redacted>(["redact", "@", "--rule", "assigned"]);
    expect(one.secrets.map(({ rule }) => rule)).toEqual(["assigned"]);
    expect((await sandbox.jpg(["print", one.branches[0] ?? ""])).stdout).toContain(TOKEN);
    const { secrets } = await sandbox.json<{ secrets: readonly { rule: string; fingerprint: string }[] }>([
      "redact",
      "@",
      "--dry-run",
    ]);
    const github = secrets.find(({ rule }) => rule === "github");
    writeUserConfig(sandbox, `[secrets]\nallow = ["${github?.fingerprint}"]\n`);
    expect((await sandbox.json<Redacted>(["redact", "@"])).secrets.map(({ rule }) => rule)).toEqual(["assigned"]);
  });

  it("says so when nothing is new, and goes on with the copy when the original grew", async () => {
    const writer = createClaudeWriter();
    writer.prompt(`Deploy with ${TOKEN}`);
    writer.say("It stands.");
    const session = (): string => sandbox.session("session.jsonl", sessionBytes(writer.lines));
    await sandbox.jpg(["import", session()]);
    const [{ id: conversation }] = await sandbox.json<readonly [{ id: string }]>(["ls"]);
    await addRemote();
    const { run } = createTerminalSession({ ...sandbox, conversation });
    await run("jpg redact <id>");
    const first = await sandbox.json<Redacted>(["redact", conversation]);
    await run(`jpg push ${first.redacted}`);
    const before = refs();
    expect(await run("jpg redact <id>")).toMatchInlineSnapshot(`
      "$ jpg redact <id>
      <id> is already masked as deploy-with-redacted-github-1-6yzr; nothing has changed since.
      ! \`jpg push deploy-with-redacted-github-1-6yzr\` sends what the remote does not have yet.
      "
    `);
    expect(await run("jpg redact <id> --dry-run")).toMatchInlineSnapshot(`
      "$ jpg redact <id> --dry-run
      <id> is already masked as deploy-with-redacted-github-1-6yzr; nothing has changed since.
      "
    `);
    expect(refs()).toBe(before);

    writer.prompt(`And the database? Not ${TOKEN}`);
    writer.say(`With DB_PASSWORD="${PASSWORD}".`);
    await sandbox.jpg(["import", session()]);
    await sandbox.jpg(["fork", conversation, "beside", "--no-activate"]);
    await sandbox.jpg(["compact", conversation, "--keep", "0", "--force"]);
    expect(await run("jpg redact <id> --dry-run")).toMatchInlineSnapshot(`
      "$ jpg redact <id> --dry-run
        redacted-github-1    ghp_a1B… (40 characters)  7 times  conversation.json
        redacted-assigned-1  hV… (10 characters)       2 times  turn 1
      Would bring deploy-with-redacted-github-1-6yzr, the copy of <id>, up to date, with 2 secrets masked.
      "
    `);
    expect(await run("jpg redact <id>")).toMatchInlineSnapshot(`
      "$ jpg redact <id>
        redacted-github-1    ghp_a1B… (40 characters)  7 times  conversation.json
        redacted-assigned-1  hV… (10 characters)       2 times  turn 1
        updated  deploy-with-redacted-github-1-6yzr/main    1 turn more
        new      deploy-with-redacted-github-1-6yzr/beside  2 turns
      Brought deploy-with-redacted-github-1-6yzr, the copy of <id>, up to date, with 2 secrets masked.
      ! \`jpg push deploy-with-redacted-github-1-6yzr\` sends what the remote does not have yet.
      "
    `);
    expect(await run(`jpg push ${first.redacted}`)).toMatchInlineSnapshot(`
      "$ jpg push deploy-with-redacted-github-1-6yzr
        new      deploy-with-redacted-github-1-6yzr/beside  2 turns
        updated  deploy-with-redacted-github-1-6yzr/main    1 turn
      Sent 2 branches, 3 turns, 785 B to team.
      ! To team (branches): <root>/bare.git
      "
    `);
    const text = reached(...first.branches, `${first.redacted}/beside`);
    expect(text).toContain("redacted-assigned-1");
    expect(text).not.toMatch(new RegExp(`${TOKEN}|${PASSWORD}|redacted-github-2`));
    expect(await sandbox.jpg(["fsck"])).toMatchObject({ code: 0 });
    expect((await sandbox.json<Redacted>(["redact", conversation])).status).toBe("unchanged");
  });

  it("goes on with a copy whose newest turn grew where nothing was published", async () => {
    const writer = createClaudeWriter();
    writer.prompt(`Deploy with ${TOKEN}`);
    writer.say("It stands.");
    const session = (): string => sandbox.session("session.jsonl", sessionBytes(writer.lines));
    await sandbox.jpg(["import", session()]);
    const first = await sandbox.json<Redacted>(["redact", "@"]);
    writer.say(`Still with ${TOKEN}.`);
    await sandbox.jpg(["import", session()]);
    const again = await sandbox.json<Redacted>(["redact", "@"]);
    expect(again).toMatchObject({ status: "updated", redacted: first.redacted, branches: first.branches });
    expect((await sandbox.jpg(["print", first.redacted ?? ""])).stdout).toContain("Still with redacted-github-1.");
    expect(refs().split("\n").filter(Boolean)).toHaveLength(2);
  });

  it("makes another copy where something else is masked by now", async () => {
    const conversation = await importTurns([`with ${TOKEN}`, `password: ${PASSWORD}`], ["go on", "done"]);
    writeUserConfig(sandbox, "");
    const { secrets } = await sandbox.json<{ secrets: readonly { rule: string; fingerprint: string }[] }>([
      ...["redact", conversation, "--dry-run"],
    ]);
    const assigned = secrets.find(({ rule }) => rule === "assigned")?.fingerprint;
    writeUserConfig(sandbox, `[secrets]\nallow = ["${assigned}"]\n`);
    const first = await sandbox.json<Redacted>(["redact", conversation]);
    writeUserConfig(sandbox, "");
    const second = await sandbox.json<Redacted>(["redact", conversation]);
    expect(second).toMatchObject({ status: "created", earlier: first.redacted });
    expect(second.redacted).not.toBe(first.redacted);
    expect(reached(...second.branches)).not.toContain(PASSWORD);
    expect(reached(...first.branches)).toContain(PASSWORD);
    // Another request is another copy, too; the newest one of each is gone on with.
    const other = await sandbox.json<Redacted>(["redact", conversation, "--rule", "github"]);
    expect(other.status).toBe("created");
    expect(await sandbox.json<Redacted>(["redact", conversation])).toMatchObject({
      status: "unchanged",
      redacted: second.redacted,
    });
    // Nothing is known of what was removed for good.
    await sandbox.jpg(["rm", conversation]);
    await sandbox.jpg(["rm", "--purge", conversation, "--yes"]);
    expect(readFileSync(join(sandbox.store, ".git", "jpg-redacted"), "utf8")).not.toContain(conversation);
  });

  it("makes nothing at all where it fails halfway", async () => {
    const conversation = await importTurns([`with ${TOKEN}`, "one"], ["two", "three"]);
    const oid = sandbox.git(["rev-parse", `${conversation}/main:turns/0000/000001.jsonl`]).trim();
    const before = refs();
    const objects = join(sandbox.store, ".git", "objects");
    const loose = join(objects, oid.slice(0, 2), oid.slice(2));
    if (existsSync(loose)) rmSync(loose);
    else {
      const pack = join(objects, "pack");
      for (const name of readdirSync(pack)) rmSync(join(pack, name));
      writeFileSync(join(pack, "none"), "");
    }
    const { code, stderr } = await sandbox.jpg(["redact", "@"]);
    expect(code).toBe(3);
    expect(stderr).not.toContain(TOKEN.slice(8, 20));
    expect(refs()).toBe(before);
    expect(await sandbox.json(["local"])).toEqual([]);
  });
});

/** Digests of what is masked are others. */
function withoutDigests(lines: string): string {
  return lines.replace(/"(prev|\$attachment)":"[0-9a-f]{40,}/g, '"$1":"').replace(/"turns":\["[^\]]*\]/g, '"turns":[]');
}
