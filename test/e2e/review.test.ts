// `jpg review`: what a fork would change for the model, on a terminal and for a pull request.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createClaudeWriter, sessionBytes } from "../helpers/claude-session.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { createSandbox } from "../helpers/run-jpg.ts";
import { createTerminalSession } from "../helpers/terminal-session.ts";

/** In two halves, so that no scanner takes this file for a leak. */
const TOKEN = "ghp_a1B2c3D4e5F6g7H8i9" + "J0k1L2m3N4o5P6q7R8";

let sandbox: ImportedSandbox;
beforeEach(async () => {
  sandbox = await copyImportedSandbox();
});
afterEach(() => sandbox.remove());

describe("jpg review", () => {
  it("shows what a fork changes, and what it takes back", async () => {
    const { run } = createTerminalSession(sandbox);
    await run("jpg compact --to 1");
    await run("jpg fork @ try-b");
    expect(await run("jpg review")).toMatchInlineSnapshot(`
      "$ jpg review
      ! Nothing differs: <id>/try-b has nothing that <id>/main has not.
      [exit 1]
      "
    `);
    await run("jpg undo");
    await run("jpg compact --to 0 -c conversation.compaction.keep_last=2");
    await run("jpg title @ 'Tides, again'");
    await run("jpg label @ ready");
    expect(await run("jpg review try-b")).toMatchInlineSnapshot(`
      "$ jpg review try-b
      <id>/try-b
      against main where they parted, <commit 1>
      Tokens:      20.4k → 20.4k +0.1%
      Compactions: 1 added, 1 reverted
      Title:       Measure the tide at the pier → Tides, again

      Compactions reverted:
          6yzrhc compact 0..1: reasoning + tools stripped (20.4k → 20.4k tokens)

      Settings:
          conversation.compaction.keep_last = 2

      Marks:
          labels = ["ready"]

      compaction vnhh1f compact 0..0: reasoning + tools stripped (20.4k → 20.4k tokens)
        What the model saw (-) and would see (+), 2 changes:
          turn 0, assistant (reasoning): 13 → 0 tokens
          - thought 0: the gauge at the pier is read first
          turn 0, tool result Bash echo toolu_000000000006: 11 → 9 tokens
          - output of toolu_000000000006
          + [compacted] Bash: success
        Loss receipt:
          FACTS        TOTAL  VISIBLE  HIDDEN
          commands         1        1       -
          identifiers      1        1       -
          requests         1        1       -
          VISIBLE: still shown. HIDDEN: not shown, kept by jpg.
        \`jpg show vnhh1f\` has the rest; \`jpg revert vnhh1f\` undoes it.
      "
    `);
    expect(await run("jpg review --markdown")).toMatchInlineSnapshot(`
      "$ jpg review --markdown
      # What \`<id>/try-b\` changes for the model

      Compared with \`<id>/main\` where they parted (\`<commit 1>\`). What was said in the conversation is only in code blocks.

      * tokens that the model reads: 20.4k → 20.4k (estimate)
      * compactions added: 1

      ## Compactions reverted

      \`\`\`
        6yzrhc: compact 0..1: reasoning + tools stripped (20.4k → 20.4k tokens)
      \`\`\`

      ## Title

      \`\`\`
        - Measure the tide at the pier
        + Tides, again
      \`\`\`

      ## Settings

      \`\`\`
        conversation.compaction.keep_last = 2
      \`\`\`

      ## Marks

      \`\`\`
        labels = ["ready"]
      \`\`\`

      ## \`compact 0..0: reasoning + tools stripped (20.4k → 20.4k tokens)\`

      To undo it: \`jpg revert vnhh1f\`.

      Details:
      \`\`\`
          Range: turns 0..0
          Policies: reasoning + tools stripped
          Hints: Bash arguments keep
      \`\`\`

      What the model saw (-) and sees now (+), all 2 changes:
      \`\`\`diff
      @@ turn 0, assistant (reasoning): 13 → 0 tokens
      - thought 0: the gauge at the pier is read first

      @@ turn 0, tool result Bash echo toolu_000000000006: 11 → 9 tokens
      - output of toolu_000000000006
      + [compacted] Bash: success
      \`\`\`

      Loss receipt:
      \`\`\`
          all visible: 1 commands, 1 identifiers, 1 requests
      \`\`\`
      "
    `);
  });

  it("says what main did meanwhile", async () => {
    const main = `${sandbox.conversation}/main`;
    await sandbox.jpg(["fork", "@", "short", "--first", "3"]);
    await sandbox.jpg(["compact", main, "--to", "1"]);
    const short = await sandbox.json<Record<string, unknown>>(["review"]);
    expect(short).toMatchObject({ turns: [], turns_left_out: 0, meanwhile: { turns: 3, compactions: 1 } });
    expect(short["base"]).toMatch(/^[0-9a-f]{40}$/);
  });

  it("says what a merge by git would take off main where a fork was told of it", async () => {
    const { run } = createTerminalSession(sandbox);
    await run("jpg fork @ short --first 3");
    await run("jpg merge main --summary 'The gauge was read.'");
    expect((await run("jpg review")).split("\n\n")[0]).toMatchInlineSnapshot(`
      "$ jpg review
      <id>/short
      against main, of which it has a summary up to <commit 2>
      It knows only a summary of what main did since they parted.
      A merge by git or on a host would remove that from main.
      \`jpg merge short --into main\` keeps it.
      Tokens:      20.2k
      Turns:       1 added, 3 left out
      Compactions: 0 added, 0 reverted"
    `);
    expect((await run("jpg review --markdown")).split("\n## ")[0]).toMatchInlineSnapshot(`
      "$ jpg review --markdown
      # What \`<id>/short\` changes for the model

      Compared with \`<id>/main\`, of which it has a summary up to \`<commit 2>\`. What was said in the conversation is only in code blocks.

      **Merging this here or by git would remove from \`<id>/main\` what it did since the two parted**: \`<id>/short\` has only a summary of that. \`jpg merge <id>/short --into <id>/main\` keeps it.

      * tokens that the model reads: 20.2k → 20.2k (estimate)
      * compactions added: 0
      * turns left out: 3
      "
    `);
  });

  it("reviews the commit of a detached HEAD as that of its fork", async () => {
    await sandbox.jpg(["fork", "@", "tight"]);
    await sandbox.jpg(["compact", "--to", "1"]);
    const [fork, tip] = [`${sandbox.conversation}/tight`, sandbox.git(["rev-parse", "HEAD"]).trim()];
    await sandbox.jpg(["compact", "--to", "2", "--profile", "light"]);
    sandbox.git(["switch", "--quiet", "--detach", tip]);
    const detached = await sandbox.json<Record<string, unknown>>(["review"]);
    expect(detached).toMatchObject({ fork, against: `${sandbox.conversation}/main`, compactions: [{}] });
    expect(detached).toEqual(await sandbox.json(["review", `${fork}~1`]));
  });

  it("refuses what is no fork, and contradictions", async () => {
    const { run } = createTerminalSession(sandbox);
    expect(await run("jpg review")).toMatchInlineSnapshot(`
      "$ jpg review
      ! error: <id>/main is not a fork, and no remote is known to have it, so there is nothing to compare it with.
      ! hint: \`jpg diff --stat\` shows what compactions changed for the model.
      ! hint: \`jpg review FORK\` reviews a fork of the conversation, which \`jpg ls --branches\` lists.
      ! hint: \`jpg fetch\` downloads what a remote has of it.
      [exit 2]
      "
    `);
    expect(await run("jpg review --json --markdown")).toContain("[exit 2]");
    expect(await run("jpg review --allow github")).toContain("[exit 2]");
    expect(await run("jpg review nosuch")).toContain("[exit 2]");
  });

  it("goes against what was fetched where main itself is reviewed", async () => {
    const bare = `${sandbox.root}/bare.git`;
    sandbox.git(["init", "--quiet", "--bare", bare], sandbox.root);
    await sandbox.jpg(["remote", "add", "team", bare]);
    expect(await sandbox.jpg(["push"])).toMatchObject({ code: 0 });
    expect(await sandbox.jpg(["review"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("Nothing differs"),
    });
    const { compaction } = await sandbox.json<{ compaction: { id: string } | string }>(["compact"]);
    const review = await sandbox.json<{ against: string; compactions: readonly { compaction: { id: string } }[] }>([
      "review",
    ]);
    expect(review.against).toBe(`team/${sandbox.conversation}/main`);
    expect(review.compactions.map((one) => one.compaction.id)).toEqual([compaction]);
  });
});

describe("jpg review --markdown", () => {
  it("prints no secret unasked, not even one that the review cuts in two", async () => {
    const own = createSandbox();
    try {
      const writer = createClaudeWriter();
      for (let turn = 0; turn < 5; turn++) {
        writer.prompt(`Ask ${turn}`);
        writer.tools(1);
        writer.say(`${"many words ".repeat(300)}${TOKEN} ${"and more ".repeat(300)}`);
      }
      await own.jpg(["import", own.session("a.jsonl", sessionBytes(writer.lines))]);
      await own.jpg(["fork", "@", "try"]);
      await own.jpg(["compact", "--to", "3", "--accept", own.session("s.txt", "It was long.")]);
      const refused = await own.jpg(["review", "--markdown"]);
      expect([refused.code, refused.stdout]).toEqual([2, ""]);
      expect(refused.stderr).toContain("would leave this machine");
      expect(refused.stderr).toContain("nothing was printed");
      expect(refused.stderr).toContain("`jpg review --markdown --allow github`");
      expect(refused.stderr).not.toContain(TOKEN.slice(8, 20));
      const allowed = await own.jpg(["review", "--markdown", "--allow", "github"]);
      expect(allowed).toMatchObject({ code: 0, stdout: expect.stringContaining("What the model saw") });
    } finally {
      own.remove();
    }
  });

  it("prints no beginning of a secret that stands in full where the review does not look", async () => {
    const own = createSandbox();
    try {
      const writer = createClaudeWriter();
      for (const [request, answer] of [
        ["Log in", `I used ${TOKEN}.`],
        ["Look at the tide", "Done."],
        ["Thanks", "Gladly."],
      ] as const) {
        writer.prompt(request);
        writer.say(answer);
      }
      await own.jpg(["import", own.session("a.jsonl", sessionBytes(writer.lines))]);
      await own.jpg(["fork", "@", "try"]);
      const summary = own.session("s.txt", `They used ${TOKEN.slice(0, 20)}... to look at the tide.`);
      await own.jpg(["compact", "--from", "1", "--to", "1", "--accept", summary, "--force"]);
      const refused = await own.jpg(["review", "--markdown"]);
      expect([refused.code, refused.stdout]).toEqual([2, ""]);
      expect(refused.stderr).toMatch(/compaction \w{6}, line 1: github /);
      expect(refused.stderr).not.toContain(TOKEN.slice(8, 20));
      expect((await own.jpg(["review", "--markdown", "--allow", "github"])).stdout).toContain(TOKEN.slice(0, 20));
    } finally {
      own.remove();
    }
  });
});
