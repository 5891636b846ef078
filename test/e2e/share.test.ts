// A conversation handed over as one file: what is in it, who can read it, and what happens to a file that is not what it should be.
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClaudeWriter, sessionBytes } from "../helpers/claude-session.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";
import { storedText } from "../helpers/stored-text.ts";
import { createTerminalSession } from "../helpers/terminal-session.ts";

/** In two halves, so that no scanner takes this file for a leak. */
const TOKEN = "ghp_a1B2c3D4e5F6g7H8i9" + "J0k1L2m3N4o5P6q7R8";

let ada: ImportedSandbox;
let ben: Sandbox;
let eve: Sandbox;
beforeEach(async () => {
  ada = await copyImportedSandbox(6);
  ben = createSandbox();
  eve = createSandbox();
});
afterEach(() => {
  ada.remove();
  ben.remove();
  eve.remove();
});

const of = (sandbox: Sandbox, name: string): string => join(sandbox.project, name);
const file = (name: string): string => of(ada, name);
const view = async (sandbox: Sandbox, ...words: string[]): Promise<string> =>
  (await sandbox.jpg(["print", "@", "--compacted", ...words])).stdout;
const viewOf = async (sandbox: Sandbox, branch: string): Promise<string> =>
  (await sandbox.jpg(["print", branch, "--compacted"])).stdout;
const importRows = (sandbox: Sandbox, path: string) =>
  sandbox.json<readonly { readonly status: string; readonly branch: string; readonly turns: number }[]>([
    "import",
    path,
  ]);

describe("jpg share", () => {
  it("leaves out what the provider counted: its requests held more than is shared", { tags: ["slow"] }, async () => {
    const sample = fileURLToPath(new URL("../../examples/sample-session.jsonl", import.meta.url));
    await eve.jpg(["import", sample]);
    expect(await eve.json(["stats"])).toMatchObject({ overhead_source: "recorded" });
    await eve.jpg(["compact", "--profile", "heavy"]);
    await eve.jpg(["share", "@", "-o", of(eve, "sample.bundle")]);
    await ben.jpg(["import", of(eve, "sample.bundle")]);
    const shared = await ben.json<{ readonly overhead_source: string; readonly tokens_source: string }>(["stats"]);
    expect(shared.overhead_source).not.toBe("recorded");
    expect(shared.tokens_source).toBe("estimate");
  });

  it("writes the view as a file that jpg and git read", async () => {
    const summary = ada.session("summary.txt", "They looked at the harbour.");
    await ada.jpg(["compact", "--keep", "2", "--accept", summary]);
    const { run } = createTerminalSession(ada);
    expect(await run("jpg share @ -o talk.bundle")).toMatchInlineSnapshot(`
      "$ jpg share @ -o talk.bundle
      Wrote request-4-about-the-harbour-wall-qqe6/main, 3 turns, 2.5 kB, to <root>/project/talk.bundle
      Left out: 4 hidden turns, 1 source file
      "
    `);
    expect(await run("jpg share @ -o talk.bundle")).toMatchInlineSnapshot(`
      "$ jpg share @ -o talk.bundle
      ! error: <root>/project/talk.bundle is there already; nothing was written.
      ! hint: Name another file with -o, or replace it: \`jpg share -o <root>/project/talk.bundle --force\`.
      [exit 2]
      "
    `);
    expect(await run("jpg share @ -o talk.bundle --force --quiet")).toContain("Wrote");
    const there = createTerminalSession({ ...ben, conversation: ada.conversation });
    expect(await there.run(`jpg import ${file("talk.bundle")}`)).toContain("created");
    expect(await importRows(ben, file("talk.bundle"))).toMatchObject([{ status: "unchanged", turns: 0 }]);
    expect(await ben.jpg(["fsck"])).toMatchObject({ code: 0 });
    expect(await view(ben)).toContain("They looked at the harbour.");
    expect(said(await view(ben))).toEqual(said(await view(ada)));
    expect(ben.git(["for-each-ref", "refs/remotes"])).toBe("");
    ada.git(["clone", "--quiet", file("talk.bundle"), join(ada.root, "clone")], ada.root);
    expect(await ada.jpg(["ls"], { cwd: join(ada.root, "clone") })).toMatchObject({ code: 0 });
    expect(await ben.jpg(["resume", "@", "--with", "claude-code"])).toMatchObject({ code: 0 });
  });

  it("says nothing of a hidden request in its title, its name and its messages", async () => {
    const writer = createClaudeWriter();
    for (const said of ["Project Bluebird is to be sold in May", "Sort the list", "Thanks"]) {
      writer.prompt(said);
      writer.say("done");
    }
    await eve.jpg(["import", eve.session("hidden.jsonl", sessionBytes(writer.lines))]);
    const summary = eve.session("summary.txt", "There was a talk.");
    await eve.jpg(["compact", "--to", "0", "--accept", summary, "--force"]);
    const { branches } = await eve.json<{ branches: readonly string[] }>(["share", "@", "-o", "a.bundle"]);
    expect(branches).toEqual([expect.stringMatching(/^sort-the-list-\w{4}\/main$/)]);
    await ben.jpg(["import", of(eve, "a.bundle")]);
    const text = storedText(ben.store, ben.env, "--all");
    expect(text).toContain("There was a talk.");
    expect(text).not.toMatch(/bluebird|sold/i);
  });

  it("is not called after what the agent itself put into the conversation", { tags: ["slow"] }, async () => {
    await eve.jpg(["import", fileURLToPath(new URL("../../examples/sample-session.jsonl", import.meta.url))]);
    await eve.jpg(["compact", "--keep", "8"]);
    const { branches } = await eve.json<{ branches: readonly string[] }>(["share", "@", "-o", "a.bundle"]);
    expect(branches).toEqual([expect.stringMatching(/^one-bad-row-should-not-stop-a-million-\w{4}\/main$/)]);
  });

  it("goes on with an earlier file of the same view", async () => {
    const writer = createClaudeWriter();
    for (const at of [0, 1]) {
      writer.prompt(`request ${at}`);
      writer.say(`answer ${at}`);
    }
    await eve.jpg(["import", eve.session("grown.jsonl", sessionBytes(writer.lines))]);
    await eve.jpg(["share", "@", "-o", "one.bundle"]);
    writer.prompt("request 2");
    writer.say("answer 2");
    await eve.jpg(["import", eve.session("grown.jsonl", sessionBytes(writer.lines))]);
    await eve.jpg(["share", "@", "-o", "two.bundle"]);
    expect(await importRows(ben, of(eve, "one.bundle"))).toMatchObject([{ status: "created", turns: 2 }]);
    expect(await importRows(ben, of(eve, "two.bundle"))).toMatchObject([{ status: "updated", turns: 1 }]);
    expect(await importRows(ben, of(eve, "one.bundle"))).toMatchObject([{ status: "unchanged" }]);
  });

  it("masks secrets, and lets pass what is said; everything as it is goes out as a push would", {
    tags: ["slow"],
  }, async () => {
    const writer = createClaudeWriter();
    writer.prompt(`${TOKEN} is the one`);
    writer.say(`I have ${TOKEN}`);
    await eve.jpg(["import", eve.session("secret.jsonl", sessionBytes(writer.lines))]);
    const [id = ""] = eve.git(["for-each-ref", "--format=%(refname:lstrip=2)"]).match(/is-the-one-[^/\s]*/) ?? [];
    const { secrets } = await eve.json<{ secrets: readonly { mask: string }[] }>(["share", id, "-o", "a.bundle"]);
    expect(secrets.map(({ mask }) => mask)).toEqual(["redacted-github-1"]);
    await ben.jpg(["import", of(eve, "a.bundle")]);
    expect(await view(ben)).toContain("I have redacted-github-1");
    expect(storedText(ben.store, ben.env, "--all")).not.toContain(TOKEN);
    expect(ben.git(["rev-list", "--objects", "--all"])).not.toContain("ghp");
    expect(await eve.jpg(["share", id, "--full"])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/nothing was written:.*github.*`jpg share --full --allow github` writes/s),
    });
    expect(await eve.jpg(["share", id, "--full", "--allow", "github", "-o", "b.bundle"])).toMatchObject({ code: 0 });
    expect(await importRows(ben, of(eve, "b.bundle"))).toMatchObject([{ status: "created", branch: `${id}/main` }]);
    expect((await ben.jpg(["export", id, "--original"])).stdout).toBe(
      Buffer.from(sessionBytes(writer.lines)).toString(),
    );
    await eve.jpg(["local", id]);
    for (const words of [[], ["--full"]])
      expect(await eve.jpg(["share", id, "-o", "c.bundle", ...words])).toMatchObject({ code: 2 });
    expect(() => statSync(of(eve, "c.bundle"))).toThrow();
  });

  it("masks the beginning of a secret that stands in full where the model does not see it", async () => {
    const writer = createClaudeWriter();
    for (const said of [`Log in with ${TOKEN}, please`, "What is the tide?"]) {
      writer.prompt(said);
      writer.say(`I used ${TOKEN.slice(0, 20)}... and went on.`);
    }
    await eve.jpg(["import", eve.session("cut.jsonl", sessionBytes(writer.lines))]);
    await eve.jpg(["compact", "--to", "0", "--accept", "-", "--force"], { input: "Somebody logged in." });
    const { secrets } = await eve.json<{ secrets: readonly { mask: string }[] }>(["share", "-o", "a.bundle"]);
    expect(secrets.map(({ mask }) => mask)).toEqual(["redacted-github-1"]);
    await ben.jpg(["import", of(eve, "a.bundle")]);
    expect(await view(ben)).toContain("I used redacted-github-1... and went on.");
    expect(storedText(ben.store, ben.env, "--all")).not.toContain(TOKEN.slice(0, 12));
    await eve.jpg(["compact", "--to", "1", "--accept", "-", "--force"], { input: "All is said." });
    expect(await eve.json(["share", "-o", "b.bundle"])).toMatchObject({ secrets: [] });
  });

  it("masks a short password of a command where it is one, and not the word that it is", async () => {
    const writer = createClaudeWriter();
    writer.prompt("curl -u kim:harbour https://tides.org says that the harbour is closed");
    writer.say("So it is: kim:harbour is let in.");
    await eve.jpg(["import", eve.session("login.jsonl", sessionBytes(writer.lines))]);
    await eve.jpg(["share", "-o", "a.bundle"]);
    await ben.jpg(["import", of(eve, "a.bundle")]);
    const shared = await view(ben);
    expect(shared).toContain("curl -u kim:redacted-curl-login-1 https://tides.org says that the harbour is closed");
    expect(shared).toContain("kim:redacted-curl-login-1 is let in");
  });

  it("goes on in somebody else's folder, in what is written only", async () => {
    const writer = createClaudeWriter();
    writer.prompt("Look at /home/ada/tide/src/a.ts, not at /home/ada/tides or x/home/ada/tide.");
    writer.say("I looked: `/home/ada/tide`.");
    await eve.jpg(["import", eve.session("paths.jsonl", sessionBytes(writer.lines))]);
    await eve.jpg(["share", "-o", "paths.bundle"]);
    await ben.jpg(["import", of(eve, "paths.bundle")]);
    const { stdout } = await ben.jpg(["export", "--to", "jsonl", "--root", "/home/ada/tide/=."]);
    expect(stdout).toContain(`Look at ${ben.project}/src/a.ts, not at /home/ada/tides or x/home/ada/tide.`);
    expect(stdout).toContain(`I looked: \`${ben.project}\`.`);
    const { path } = await ben.json<{ path: string }>([
      "resume",
      "--with",
      "claude-code",
      "--root",
      "/home/ada/tide=/tmp/x",
    ]);
    expect(readFileSync(path, "utf8")).toContain("I looked: `/tmp/x`.");
    expect(await view(ben)).toContain("/home/ada/tide/src/a.ts");
    for (const wrong of ["tide=.", "/=.", "/home/ada"])
      expect(await ben.jpg(["export", "--to", "jsonl", "--root", wrong])).toMatchObject({ code: 2 });
  });

  it("goes through a pipe, and names its file after the conversation", async () => {
    const { stdout, code } = await ada.jpg(["share", "-o", "-"]);
    expect([code, stdout.slice(0, 16)]).toEqual([0, "# v2 git bundle\n"]);
    expect(await ada.jpg(["share", "--full"])).toMatchObject({ code: 0 });
    expect(statSync(file(`${ada.conversation}.bundle`)).size).toBeGreaterThan(500);
  });
});

describe("jpg import of a bundle", () => {
  const refused = async (name: string, bytes: Uint8Array | string): Promise<string> => {
    const before = await ben.json<readonly unknown[]>(["ls"]);
    const path = join(ben.root, name);
    writeFileSync(path, bytes);
    const { code, stderr } = await ben.jpg(["import", path]);
    expect(code).toBeGreaterThan(1);
    expect(await ben.json(["ls"])).toEqual(before);
    return stderr.split("\n")[0] ?? "";
  };

  it("leaves another conversation of the same name alone, and the command that it prints imports it", async () => {
    await ada.jpg(["share", "@", "-o", file("talk.bundle")]);
    const [{ branch = "" } = {}] = await importRows(eve, file("talk.bundle"));
    const writer = createClaudeWriter();
    writer.prompt("Something else");
    writer.say("Yes.");
    await ben.jpg(["import", ben.session("other.jsonl", sessionBytes(writer.lines))]);
    ben.git(["branch", branch, "HEAD"]);
    const [row] = await ben.json<readonly { readonly status: string; readonly reason: string }[]>([
      "import",
      file("talk.bundle"),
    ]);
    expect(row).toMatchObject({ status: "left_out", reason: expect.stringContaining("not the same conversation") });
    const command = /`jpg (git branch NAME\S* \S+)`/.exec(row?.reason ?? "")?.[1] ?? "";
    expect((await ben.jpg(["import", file("talk.bundle")])).stdout).toContain(command);
    expect(await ben.jpg(command.replace("NAME", "ada").split(" "))).toMatchObject({ code: 0 });
    expect(await viewOf(ben, "ada/main")).toBe(await viewOf(eve, branch));
  });

  it("is read from standard input", async () => {
    await ada.jpg(["share", "-o", "talk.bundle"]);
    const input = readFileSync(file("talk.bundle"));
    const [row] = await ben.json<readonly { readonly source: string; readonly branch: string }[]>(["import", "-"], {
      input,
    });
    expect(row).toMatchObject({ source: "-", status: "created", turns: 6 });
    expect(said(await view(ben))).toEqual(said(await view(ada)));
    // A session still is.
    const session = smallSession({ turns: 2, id: "5e551073-0000-4000-8000-0000000000cc" });
    expect(await ben.json(["import", "-"], { input: session })).toMatchObject([{ status: "created", turns: 2 }]);
    expect(await ben.jpg(["import", "-"], { input: input.subarray(0, -90) })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("standard input cannot be read: it is cut off or damaged"),
    });
  });

  it("makes no store where it is cut off or damaged, whatever the head says", async () => {
    await ada.jpg(["share", "-o", "whole.bundle"]);
    const whole = readFileSync(file("whole.bundle"));
    const broken = Buffer.from(whole);
    broken.fill(7, whole.length - 300, whole.length - 200);
    for (const bytes of [whole.subarray(0, whole.length - 400), whole.subarray(0, whole.indexOf("\n\n") + 2), broken]) {
      writeFileSync(of(ben, "bad.bundle"), bytes);
      expect(await ben.jpg(["import", of(ben, "bad.bundle")])).toMatchObject({
        code: 2,
        stderr: expect.stringContaining("cut off or damaged"),
      });
      expect(existsSync(ben.store)).toBe(false);
    }
  });

  it("refuses one that is cut off, needs more than it has, or holds no conversation", async () => {
    await ben.jpg(["init"]);
    await ada.jpg(["share", "-o", "whole.bundle"]);
    const whole = readFileSync(file("whole.bundle"));
    expect(await refused("cut.bundle", whole.subarray(0, whole.length - 400))).toContain("cut off or damaged");
    const broken = Buffer.from(whole);
    broken.fill(7, whole.length - 300, whole.length - 200);
    expect(await refused("broken.bundle", broken)).toContain("cut off or damaged");
    expect(await refused("head.bundle", whole.subarray(0, 30))).toContain("without a conversation");
    ada.git([
      "bundle",
      "create",
      "--quiet",
      join(ada.root, "part"),
      `${ada.conversation}/main~1..${ada.conversation}/main`,
    ]);
    expect(await refused("part.bundle", readFileSync(join(ada.root, "part")))).toContain("neither in it nor here");
    const tree = ada.git(["hash-object", "-t", "tree", "-w", "/dev/null"]).trim();
    const commit = ada.git(["commit-tree", "-m", "Nothing", tree]).trim();
    ada.git(["update-ref", "refs/heads/any/thing", commit]);
    ada.git(["bundle", "create", "--quiet", join(ada.root, "other"), "any/thing"]);
    expect(await refused("other.bundle", readFileSync(join(ada.root, "other")))).toBe("");
    ada.git(["update-ref", "refs/tags/v1", commit]);
    ada.git(["bundle", "create", "--quiet", join(ada.root, "tag"), "refs/tags/v1"]);
    expect(await refused("tag.bundle", readFileSync(join(ada.root, "tag")))).toContain("without a conversation");
  });
});

/** What is said in a view, without where it stands. */
function said(text: string): readonly string[] {
  return text.split("\n").filter((line) => line.startsWith(">"));
}
