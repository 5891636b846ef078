// Forks that were tried, told of on the conversation that they left: each test reads like a terminal session.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { createTerminalSession, type TerminalSession } from "../helpers/terminal-session.ts";

async function terminal(turns = 6): Promise<TerminalSession & { readonly sandbox: ImportedSandbox }> {
  const sandbox = await copyImportedSandbox(turns);
  onTestFinished(() => sandbox.remove());
  return { sandbox, ...createTerminalSession(sandbox) };
}

describe("jpg merge", () => {
  it("tells in one turn what a fork has, and of nothing twice", async () => {
    const { run, sandbox } = await terminal();
    await run("jpg fork <id>/main short --first 3");
    await run("jpg compact <id>/main");
    expect(await run("jpg merge main --dry-run")).toMatchInlineSnapshot(`
      "$ jpg merge main --dry-run
      Would merge <id>/main turns 3..5 (192 tokens)
      into short as turn 3: would extract a summary, without a model
      note: <id>/short has added no turns since the fork: \`jpg use <id>/main\` continues with the turns themselves
      "
    `);
    expect(await run("jpg merge main --summary 'The gauge was read three times.'")).toMatchInlineSnapshot(`
      "$ jpg merge main --summary 'The gauge was read three times.'
      Merged <id>/main turns 3..5 (192 tokens)
      into short as turn 3: your summary
      commit <commit 2>  view 20.2k → 20.2k
      note: <id>/short has added no turns since the fork: \`jpg use <id>/main\` continues with the turns themselves
      "
    `);
    expect(await run("jpg merge main")).toMatchInlineSnapshot(`
      "$ jpg merge main
      Nothing to merge. <id>/short already has every turn of <id>/main, or a summary of it.
      "
    `);
    expect(await run("jpg print --turn 3")).toMatchInlineSnapshot(`
      "$ jpg print --turn 3
      # Measure the tide at the pier

      ## Turn 3 · 2026-05-01 12:00:13 UTC

      **Merged fork**

      > [Merged from the fork <id>/main: a summary of what was said and done there, in turns 3..5 of it]

      **Summary**

      > The gauge was read three times.

      "
    `);
    expect(await run("jpg log")).toMatchInlineSnapshot(`
      "$ jpg log
      ! <id>/short has no compactions yet: \`jpg compact\` makes one.
      "
    `);
    expect(await run("jpg fsck")).toMatchInlineSnapshot(`
      "$ jpg fsck
      nothing wrong in 2 branches, 10 turns
      "
    `);
    expect(await run("jpg check")).toMatchInlineSnapshot(`
      "$ jpg check
      no violations in view of <id>/short (anthropic for claude-sonnet-4-5-20250929: 14 messages)
      "
    `);
    expect(await run("jpg stats")).toMatchInlineSnapshot(`
      "$ jpg stats
      In the window: 20.2k of 200.0k tokens, 10 % (claude-sonnet-4-5-20250929)
      Paid so far:   $0.00073 for 9 requests at list prices
      Conversation:  <id>
      Branch:        <id>/short
      Turns:         4
      Events:        24
      Messages:      11
      Compactions:   0
      Size:          6.1 kB

      TOKENS (estimate)          RAW   VIEW
      system prompt and tools  20.0k  20.0k
      answers                     55     55
      tool calls                  50     50
      reasoning                   38     38
      added by the agent          34     34
      tool results                32     32
      your requests               24     24
      total                    20.2k  20.2k

      system prompt and tools are typical for this agent: its own are not recorded
      "
    `);
    expect(sandbox.git(["status", "--porcelain"])).toBe("");
  });

  it("takes an extract where there is no model, or one's own text, and names forks shortly", async () => {
    const { run, sandbox } = await terminal(4);
    await run("jpg fork <id>/main short --first 3");
    expect(await run("jpg merge short --into main")).toMatchInlineSnapshot(`
      "$ jpg merge short --into main
      Nothing to merge. <id>/main already has every turn of <id>/short, or a summary of it.
      "
    `);
    expect(await run("jpg merge main --dry-run --json")).toMatchInlineSnapshot(`
      "$ jpg merge main --dry-run --json
      {
        "conversation": "<id>",
        "branch": "<id>/short",
        "fork": "<id>/main",
        "dry_run": true,
        "turn": 3,
        "from_turn": 3,
        "to_turn": 3,
        "model": "extractive",
        "notes": [
          "<id>/short has added no turns since the fork: \`jpg use <id>/main\` continues with the turns themselves"
        ],
        "commit": null,
        "tokens": {
          "before": 20191,
          "after": null,
          "fork": 64
        }
      }
      "
    `);
    writeFileSync(join(sandbox.project, "what.md"), "A fourth reading: four metres.\n");
    await run("jpg fork short other --no-activate");
    expect(await run("jpg merge main --summary-file what.md --into short")).toMatchInlineSnapshot(`
      "$ jpg merge main --summary-file what.md --into short
      Merged <id>/main turn 3 (64 tokens)
      into short as turn 3: your summary
      commit <commit 1>  view 20.2k → 20.2k
      note: <id>/short has added no turns since the fork: \`jpg use <id>/main\` continues with the turns themselves
      "
    `);
    expect(await run("jpg merge main")).toMatchInlineSnapshot(`
      "$ jpg merge main
      Nothing to merge. <id>/short already has every turn of <id>/main, or a summary of it.
      "
    `);
    expect(sandbox.git(["log", "-1", "--format=%B", `${sandbox.conversation}/short`])).toMatchInlineSnapshot(`
      "merge main: turn 3 as turn 3

      Turn 3 tells the model what was said and done on the fork main, in turn 3 of it.
      The turns themselves stay there; no compaction, source or setting of the fork comes along.

      Summary, written by a person:
      \`\`\`
          A fourth reading: four metres.
      \`\`\`

      Jpg-Merge: measure-the-tide-at-the-pier-ryyb/main 3..3"
    `);
  });

  it("goes to the agent and comes back without doubling anything", async () => {
    const { run, sandbox } = await terminal(4);
    await run("jpg fork <id>/main short --first 3");
    await run("jpg merge main --summary 'A fourth reading: four metres.'");
    await run("jpg export --to claude-code -o session.jsonl");
    expect(await run("jpg import session.jsonl")).toMatchInlineSnapshot(`
      "$ jpg import session.jsonl
      STATUS     TITLE                         TURNS  EVENTS  COMP  SKIPPED  ID
      unchanged  Measure the tide at the pier      4      24     -        -  ryyb/short
      1 session: 1 unchanged; 4 turns.
      "
    `);
    expect(sandbox.git(["rev-list", "--count", `${sandbox.conversation}/short`])).toBe("6");
  });

  it("says what to do where it cannot be done", async () => {
    const { run, sandbox } = await terminal(3);
    await run("jpg fork <id>/main short --first 2");
    expect(await run("jpg merge short")).toMatchInlineSnapshot(`
      "$ jpg merge short
      ! error: <id>/short cannot be merged into itself.
      ! hint: Name another fork, or the branch to merge it into: \`jpg merge FORK --into BRANCH\`. \`jpg ls --branches\` lists the forks.
      [exit 2]
      "
    `);
    expect(await run("jpg merge")).toMatchInlineSnapshot(`
      "$ jpg merge
      ! error: jpg merge needs FORK: the fork whose turns are summarised, such as try-b.
      ! hint: For example: \`jpg merge try-b --dry-run\`
      ! hint: \`jpg merge --help\` lists its arguments and options.
      [exit 2]
      "
    `);
    expect(await run("jpg merge main --summary ''")).toMatchInlineSnapshot(`
      "$ jpg merge main --summary ''
      ! error: The summary is empty, so the model would learn nothing about the fork.
      ! hint: Leave --summary out to have one written, or give it a text.
      [exit 2]
      "
    `);
    expect(await run("jpg merge main --summary-file nowhere.md")).toMatchInlineSnapshot(`
      "$ jpg merge main --summary-file nowhere.md
      ! error: nowhere.md cannot be read: no such file or directory.
      ! hint: --summary TEXT takes the text itself; \`--summary -\` reads it from standard input.
      [exit 2]
      "
    `);
    expect(await run("jpg merge main --summary x --model test/x")).toMatchInlineSnapshot(`
      "$ jpg merge main --summary x --model test/x
      ! error: --summary and --model contradict each other; use only one of them.
      ! hint: \`jpg merge --help\` explains them.
      [exit 2]
      "
    `);
    await run("jpg merge main --summary 'One more reading.'");
    expect(await run("jpg revert HEAD")).toMatchInlineSnapshot(`
      "$ jpg revert HEAD
      ! error: <commit 1> merges a fork as turn 2, and turns are never removed.
      ! hint: \`jpg compact <id>/short --tangents 2\` leaves it out of the view, and \`jpg undo\` brings it back.
      [exit 2]
      "
    `);
    expect(await run("jpg compact <id>/short -s classify-tangents --turns 2")).toMatchInlineSnapshot(`
      "$ jpg compact <id>/short -s classify-tangents --turns 2
      Compacted <id>/short 2: turns omitted
      commit <commit 2>  compaction xm9492
          0..1  kept                                          127         ████████
        turn 2  compacted  turns omitted                   38 → 0  -100%  ░░
                           system prompt and tools          20.0k
         total  estimate                            20.2k → 20.1k  -0.2%
        system prompt and tools are typical for this agent: its own are not recorded

        cache: 20.1k kept, nothing rewritten; 38 saved a call
      "
    `);
    expect(await run("jpg print --compacted --format jsonl")).not.toContain("One more reading");
    expect(await run("jpg undo")).toMatchInlineSnapshot(`
      "$ jpg undo
      Reverted xm9492 on <id>/short
      commit <commit 4>  view 20.1k → 20.2k
      ! \`jpg redo\` brings it back.
      "
    `);
    expect(await run("jpg print --compacted --format jsonl")).toContain("One more reading");
    expect(sandbox.git(["status", "--porcelain"])).toBe("");
  });
});
