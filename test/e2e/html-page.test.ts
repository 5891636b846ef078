// `jpg export --to html`: a conversation as a file to look at, whatever stands in it.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createClaudeWriter, sessionBytes } from "../helpers/claude-session.ts";
import { copyImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { createSandbox, type Sandbox } from "../helpers/run-jpg.ts";

const sandboxes: Sandbox[] = [];
afterEach(() => {
  for (const sandbox of sandboxes.splice(0)) sandbox.remove();
});

async function imported(turns?: number) {
  const sandbox = await copyImportedSandbox(turns);
  sandboxes.push(sandbox);
  return sandbox;
}

/** The rows of a kind, as they stand in the document. */
function rows(page: string, kind: RegExp): readonly string[] {
  return page
    .split('<div class="row ')
    .slice(1)
    .filter((row) => kind.test(row.slice(0, row.indexOf('"'))));
}

/** The page's own script, which is the last thing in it. */
function scriptOf(page: string): string {
  return page.slice(page.lastIndexOf("<script>") + "<script>".length, page.lastIndexOf("</script>"));
}

function withoutScript(page: string): string {
  return page.replace(`<script>${scriptOf(page)}</script>`, "");
}

describe("a conversation as an HTML file", () => {
  it("shows all that was said, the view beside it, and the compactions", async () => {
    const { jpg, project } = await imported();
    await jpg(["compact", "--to", "3", "--strategy", "strip-tools"]);
    const input = "The gauge was read at **4** metres.";
    await jpg(["compact", "--from", "0", "--to", "1", "--accept", "-", "--force"], { input });
    const { code, stdout } = await jpg(["export", "--to", "html", "-o", "page.html"]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    const page = readFileSync(join(project, "page.html"), "utf8");
    for (let turn = 0; turn < 6; turn += 1) {
      expect(page).toContain(`id="turn-${turn}"`);
      expect(page).toContain(`Answer ${turn}: the water stood at ${turn} metres.`);
    }
    const [summary, ...others] = rows(page, /inserted/);
    expect(others).toEqual([]);
    expect(summary).toContain("The gauge was read at <strong>4</strong> metres.");
    expect(page.indexOf(summary ?? "")).toBeLessThan(page.indexOf("Answer 0"));
    expect(rows(page, /hidden/).filter((row) => row.includes("Answer"))).toHaveLength(2);
    const changed = rows(page, /result changed/);
    expect(changed).toHaveLength(2);
    expect(changed[0]).toContain("[compacted]");
    const names = [...page.matchAll(/<li id="(compaction-\w+)" class="live tint-\d">/g)].map(([, name]) => name);
    expect(names).toHaveLength(2);
    for (const name of names) expect(page).toContain(`href="#${name}"`);
  });

  it("asks for nothing from outside, and runs no script but its own", async () => {
    const { jpg } = await imported(2);
    const { stdout: page } = await jpg(["export", "--to", "html"]);
    const style = /<style>(.*?)<\/style>/s.exec(page)?.[1] ?? "";
    const digest = (text: string): string => createHash("sha256").update(text).digest("base64");
    expect(page).toContain(
      `content="default-src &#39;none&#39;; style-src &#39;sha256-${digest(style)}&#39;; script-src &#39;sha256-${digest(scriptOf(page))}&#39;; img-src data:; base-uri &#39;none&#39;; form-action &#39;none&#39;"`,
    );
    expect(withoutScript(page)).not.toMatch(/<script|<link|<iframe|\sstyle=|src="(?!data:)/);
    expect(scriptOf(page)).not.toMatch(/<(?:!--|\/?script)/i);
  });

  it("shows what a hostile session says as text", async () => {
    const sandbox = createSandbox();
    sandboxes.push(sandbox);
    const writer = createClaudeWriter();
    writer.prompt(`</title><script>alert(1)</script> "><img src=x onerror=alert(2)>`);
    writer.think("</details><b>", "[a](javascript:alert(3)) <svg onload=alert(4)> \u202etxt");
    writer.tools(1);
    writer.say("```\n</pre><script>alert(5)</script>\n```");
    await sandbox.jpg(["import", sandbox.session("hostile.jsonl", sessionBytes(writer.lines))]);
    const { stdout } = await sandbox.jpg(["export", "--to", "html"]);
    const page = withoutScript(stdout);
    expect(page).not.toMatch(/<script|<svg onload|<img src=x|href="javascript|\u202e/i);
    expect(page).toContain("&lt;script&gt;alert(1)&lt;/script&gt;");
    expect(page).toContain("[a](javascript:alert(3))");
    expect(page.match(/<title>/g)).toHaveLength(1);
  });

  it("takes no option that shapes what a model is sent", async () => {
    const { jpg } = await imported(2);
    for (const [word, ...more] of [
      ["--full-history"],
      ["--messages"],
      ["--model", "m"],
      ["--root", "/a=/b"],
    ] as const) {
      const { code, stderr, stdout } = await jpg(["export", "--to", "html", word, ...more]);
      expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
      expect(stderr).toContain(`${word} shapes what a model is sent; a page shows all that was said, for people.`);
    }
  });

  it("shows a branch as of a turn", async () => {
    const { jpg } = await imported(4);
    const { stdout: early } = await jpg(["export", "--to", "html", "--at", "1"]);
    expect(early).toContain('id="turn-1"');
    expect(early).not.toContain('id="turn-2"');
  });
});

describe("an HTML file that is handed over", () => {
  /** In two halves, so that no scanner takes this file for a leak. */
  const TOKEN = "ghp_a1B2c3D4e5F6g7H8i9" + "J0k1L2m3N4o5P6q7R8";

  async function withSecret(): Promise<Sandbox> {
    const sandbox = createSandbox();
    sandboxes.push(sandbox);
    const writer = createClaudeWriter();
    for (const [request, answer] of [
      [`Log in with ${TOKEN} please`, "I am in."],
      ["What is the tide?", `4 metres, says the server, and ${TOKEN.slice(0, 30)}… worked.`],
      ["And now?", "5 metres."],
    ] as const) {
      writer.prompt(request);
      writer.say(answer);
    }
    await sandbox.json(["import", sandbox.session("session.jsonl", sessionBytes(writer.lines))]);
    return sandbox;
  }

  it("masks secrets wherever they stand, and says so on the page and at the prompt", async () => {
    const { jpg, project } = await withSecret();
    await jpg(["comment", "0", `Who gave it ${TOKEN}?`]);
    const { code, stderr } = await jpg(["export", "--to", "html", "-o", "page.html"]);
    const page = readFileSync(join(project, "page.html"), "utf8");
    expect({ code, hasToken: page.includes(TOKEN.slice(0, 12)) }).toEqual({ code: 0, hasToken: false });
    expect(page).toContain("Who gave it redacted-github-1?");
    expect(page).toContain('<p class="note">Left out: 1 source file</p>');
    expect(page).toMatch(/<p class="note">Masked: redacted-github-1 for ghp_/);
    expect(stderr).toMatch(/Masked: redacted-github-1 for ghp_/);
    const { stdout: allowed } = await jpg(["export", "--to", "html", "--allow", "github"]);
    expect(allowed).toContain(TOKEN);
    expect((await jpg(["export", "--to", "jsonl", "--allow", "github"])).code).toBe(2);
  });

  it("holds, as share --html, no word that the model does not see, and counts what is left out", async () => {
    const { jpg, json, project, git } = await withSecret();
    await jpg(["compact", "--from", "0", "--to", "0", "--accept", "-", "--force"], { input: "Somebody logged in." });
    await jpg(["comment", "0", "For us alone."]);
    const report = await json<{ readonly path: string }>(["share", "--html", "--full", "-o", "full.html"]);
    expect(report).toMatchObject({
      scope: "all",
      turns: 3,
      left_out: { events: 0, compactions: 0, comments: 0, sources: 1 },
    });
    expect(readFileSync(report.path, "utf8")).toContain("I am in.");
    const { stdout } = await jpg(["share", "--html"]);
    expect(stdout).toMatch(
      /^Wrote a page of what the model sees, 3 turns, .*\/what-is-the-tide-\w{4}\.html\nLeft out: 2 hidden events, 1 compaction, 1 comment, 1 source file\n/,
    );
    const page = readFileSync(/to (\S+\.html)$/m.exec(stdout)?.[1] ?? "", "utf8");
    for (const hidden of [
      "Log in",
      "log-in",
      "I am in.",
      "For us alone.",
      TOKEN.slice(0, 12),
      git(["rev-parse", "HEAD"]).trim(),
    ])
      expect({ hidden, isThere: page.includes(hidden) }).toEqual({ hidden, isThere: false });
    for (const shown of ["Somebody logged in.", "What is the tide?", "5 metres."]) expect(page).toContain(shown);
    expect((await jpg(["share", "--html", "-o", join(project, "full.html")])).code).toBe(2);
  });

  it("is not made of a local conversation", async () => {
    const { jpg } = await withSecret();
    await jpg(["local", "@"]);
    const { code, stderr } = await jpg(["share", "--html", "-o", "-"]);
    expect(code).toBe(2);
    expect(stderr).toContain("local");
  });
});
