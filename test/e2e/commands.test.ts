// The commands, run as a user would: documents, optional values, ids, exit codes, what each flag does.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Json } from "../helpers/claude-session.ts";
import { writeUserConfig } from "../helpers/live-jpg.ts";
import { beginningOf } from "../helpers/name-beginning.ts";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { expectNoBug, expectRefusal } from "../helpers/refusal.ts";
import { createSandbox, runJpg, type Sandbox, smallSession, storeState } from "../helpers/run-jpg.ts";
import { createTerminalSession, type TerminalSession } from "../helpers/terminal-session.ts";

/** A conversation for one group of tests; those of a group build on each other only where they say so. */
function shared(turns = 6): { get(): ImportedSandbox } {
  let sandbox: ImportedSandbox;
  beforeAll(async () => {
    sandbox = await copyImportedSandbox(turns);
  });
  afterAll(() => sandbox.remove());
  return { get: () => sandbox };
}

/** A terminal in a project of its own; what it types is shown with what jpg prints. */
async function terminal(turns = 6): Promise<TerminalSession & { readonly sandbox: ImportedSandbox }> {
  const sandbox = await copyImportedSandbox(turns);
  onTestFinished(() => sandbox.remove());
  return { sandbox, ...createTerminalSession(sandbox) };
}

const commits = (sandbox: Sandbox, branch: string): number => Number(sandbox.git(["rev-list", "--count", branch]));
const refs = (sandbox: Sandbox): string[] => sandbox.git(["for-each-ref", "--format=%(refname:lstrip=2)"]).split("\n");
const objects = (sandbox: Sandbox): number =>
  sandbox.git(["cat-file", "--batch-check", "--batch-all-objects"]).split("\n").length;

describe("the documents of --json", () => {
  const group = shared();

  it("are those of the contract", async () => {
    const { sandbox, run } = await terminal();
    expect(await run("jpg import ../sessions/small.jsonl --json")).toMatchInlineSnapshot(`
      "$ jpg import ../sessions/small.jsonl --json
      [
        {
          "id": "<id>",
          "branch": "<id>/main",
          "turns": 6,
          "events": 42,
          "compactions": 0,
          "skipped_lines": 0,
          "status": "unchanged",
          "source": "<root>/sessions/small.jsonl",
          "title": "Measure the tide at the pier",
          "turns_added": 0,
          "bytes": 19053
        }
      ]
      "
    `);
    const compacted = await run("jpg compact --json");
    const id = /"compaction": "([0-9a-z]{6})"/.exec(compacted)?.[1] ?? "";
    expect(compacted).toMatchInlineSnapshot(`
      "$ jpg compact --json
      {
        "conversation": "<id>",
        "branch": "<id>/main",
        "commit": "<commit 1, whole id>",
        "from_turn": 0,
        "to_turn": 2,
        "policies": "reasoning + tools stripped",
        "tokens": {
          "before": 20383,
          "after": 20342
        },
        "tokens_source": "estimate",
        "overhead": 20000,
        "overhead_source": "typical",
        "pruned": null,
        "cache": {
          "prefix_kept": 20007,
          "rewritten": 335,
          "saved_per_call": 41,
          "break_even_calls": 94
        },
        "receipt": {
          "facts": {
            "commands": {
              "total": 3,
              "visible": 3,
              "summary": 0,
              "pointer": 0,
              "hidden": 0,
              "mentioned_later": 0
            },
            "identifiers": {
              "total": 3,
              "visible": 3,
              "summary": 0,
              "pointer": 0,
              "hidden": 0,
              "mentioned_later": 0
            },
            "requests": {
              "total": 3,
              "visible": 3,
              "summary": 0,
              "pointer": 0,
              "hidden": 0,
              "mentioned_later": 0
            }
          },
          "mentioned_later": []
        },
        "ungrounded": [],
        "report": {
          "events_removed": 3,
          "estimated_tokens_saved": 41,
          "steps": [
            {
              "strategy": "reasoning",
              "events_removed": 3,
              "estimated_tokens_saved": 38
            },
            {
              "strategy": "tool_calls",
              "events_removed": 0,
              "estimated_tokens_saved": 3
            }
          ]
        },
        "segments": [
          {
            "from": 0,
            "to": 2,
            "kind": "compacted",
            "policies": "reasoning + tools stripped",
            "tokens": {
              "before": 191,
              "after": 150
            }
          },
          {
            "from": 3,
            "to": 5,
            "kind": "kept",
            "tokens": {
              "before": 192,
              "after": 192
            }
          }
        ],
        "planned_summary": null,
        "warnings": [
          "saves only 41 of the conversation's 383 tokens (10.7%), yet the cached prefix has to be rewritten: it pays after 94 calls"
        ],
        "compaction": "6yzrhc",
        "dry_run": false,
        "event": {
          "type": "compaction",
          "from_turn": 0,
          "to_turn": 2,
          "reasoning": "strip",
          "tool_calls": {
            "policy": "strip",
            "request": true,
            "response": true
          },
          "tool_overrides": {
            "Bash": {
              "request": "keep"
            }
          },
          "profile": "default",
          "source": "manual",
          "stats": {
            "original_message_count": 9,
            "events_removed": 3,
            "keep_recent": 9,
            "kept_turns": 3,
            "compression_ratio": 0.002,
            "tokens": {
              "before": 20383,
              "after": 20342
            }
          },
          "id": "6yzrhc",
          "timestamp": "2026-05-01T12:00:03.000Z",
          "covers": "f6e105a89ce93f0866fa784b14b3193721a1409bacd767c16cb04c7ab07e011d",
          "receipt": {
            "facts": {
              "commands": {
                "total": 3,
                "visible": 3,
                "summary": 0,
                "pointer": 0,
                "hidden": 0,
                "mentioned_later": 0
              },
              "identifiers": {
                "total": 3,
                "visible": 3,
                "summary": 0,
                "pointer": 0,
                "hidden": 0,
                "mentioned_later": 0
              },
              "requests": {
                "total": 3,
                "visible": 3,
                "summary": 0,
                "pointer": 0,
                "hidden": 0,
                "mentioned_later": 0
              }
            },
            "mentioned_later": []
          }
        }
      }
      "
    `);
    expect(await run("jpg log --json")).toMatchInlineSnapshot(`
      "$ jpg log --json
      [
        {
          "from_turn": 0,
          "to_turn": 2,
          "source": "manual",
          "tokens": {
            "before": 20383,
            "after": 20342
          },
          "tokens_source": "estimate",
          "policies": "reasoning + tools stripped",
          "profile": "default",
          "commit": "<commit 1, whole id>",
          "timestamp": "2026-05-01T12:00:05.000Z",
          "author": "Ada Test",
          "subject": "compact 0..2: reasoning + tools stripped (20.4k → 20.3k tokens)",
          "kind": "compaction",
          "compaction": "6yzrhc",
          "live": true
        }
      ]
      "
    `);
    expect(await run(`jpg show ${id} --json`)).toMatchInlineSnapshot(`
      "$ jpg show 6yzrhc --json
      {
        "type": "compaction",
        "id": "6yzrhc",
        "timestamp": "2026-05-01T12:00:03.000Z",
        "from_turn": 0,
        "to_turn": 2,
        "reasoning": "strip",
        "tool_calls": {
          "policy": "strip",
          "request": true,
          "response": true
        },
        "tool_overrides": {
          "Bash": {
            "request": "keep"
          }
        },
        "profile": "default",
        "source": "manual",
        "stats": {
          "original_message_count": 9,
          "events_removed": 3,
          "keep_recent": 9,
          "kept_turns": 3,
          "compression_ratio": 0.002,
          "tokens": {
            "before": 20383,
            "after": 20342
          }
        },
        "covers": "f6e105a89ce93f0866fa784b14b3193721a1409bacd767c16cb04c7ab07e011d",
        "receipt": {
          "facts": {
            "commands": {
              "total": 3,
              "visible": 3,
              "summary": 0,
              "pointer": 0,
              "hidden": 0,
              "mentioned_later": 0
            },
            "identifiers": {
              "total": 3,
              "visible": 3,
              "summary": 0,
              "pointer": 0,
              "hidden": 0,
              "mentioned_later": 0
            },
            "requests": {
              "total": 3,
              "visible": 3,
              "summary": 0,
              "pointer": 0,
              "hidden": 0,
              "mentioned_later": 0
            }
          },
          "mentioned_later": []
        },
        "conversation": "<id>",
        "branch": "<id>/main",
        "commit": "<commit 1, whole id>",
        "policies": "reasoning + tools stripped",
        "live": true,
        "hidden": {
          "tokens": {
            "before": 191,
            "after": 150
          },
          "bytes": {
            "before": 566,
            "after": 419
          },
          "events_removed": 3,
          "events_changed": 3,
          "tools": [
            {
              "name": "Bash",
              "calls": 3,
              "errors": 0,
              "bytes": 9,
              "tokens": 3
            }
          ],
          "files": [],
          "commands": [
            "echo toolu_000000000006",
            "echo toolu_000000000016",
            "echo toolu_000000000026"
          ],
          "requests": []
        },
        "lost": []
      }
      "
    `);
    expect(await run(`jpg revert ${id} --json`)).toMatchInlineSnapshot(`
      "$ jpg revert 6yzrhc --json
      {
        "commit": "<commit 2, whole id>",
        "reverted": [
          "6yzrhc"
        ],
        "restored": [],
        "conversation": "<id>",
        "branch": "<id>/main",
        "tokens": {
          "before": 20342,
          "after": 20383
        },
        "warnings": []
      }
      "
    `);
    expect(await run("jpg log --json")).toMatchInlineSnapshot(`
      "$ jpg log --json
      [
        {
          "from_turn": 0,
          "to_turn": 2,
          "source": "manual",
          "tokens": {
            "before": 20383,
            "after": 20342
          },
          "tokens_source": "estimate",
          "policies": "reasoning + tools stripped",
          "profile": "default",
          "commit": "<commit 2, whole id>",
          "timestamp": "2026-05-01T12:00:08.000Z",
          "author": "Ada Test",
          "subject": "Revert \\"compact 0..2: reasoning + tools stripped (20.4k → 20.3k tokens)\\"",
          "kind": "revert",
          "compaction": "6yzrhc",
          "live": false
        },
        {
          "from_turn": 0,
          "to_turn": 2,
          "source": "manual",
          "tokens": {
            "before": 20383,
            "after": 20342
          },
          "tokens_source": "estimate",
          "policies": "reasoning + tools stripped",
          "profile": "default",
          "commit": "<commit 1, whole id>",
          "timestamp": "2026-05-01T12:00:05.000Z",
          "author": "Ada Test",
          "subject": "compact 0..2: reasoning + tools stripped (20.4k → 20.3k tokens)",
          "kind": "compaction",
          "compaction": "6yzrhc",
          "live": false
        }
      ]
      "
    `);
    expect(await run("jpg fork @ side --no-activate --json")).toMatchInlineSnapshot(`
      "$ jpg fork @ side --no-activate --json
      {
        "conversation": "<id>",
        "branch": "<id>/side",
        "turns": 6,
        "from": "<id>/main",
        "activated": false
      }
      "
    `);
    expect(await run("jpg checkout @ ../documents --json")).toMatchInlineSnapshot(`
      "$ jpg checkout @ ../documents --json
      {
        "path": "<root>/documents",
        "branch": "<id>/main",
        "full": false,
        "turns": 6
      }
      "
    `);
    expect(await run("jpg ls --json")).toMatchInlineSnapshot(`
      "$ jpg ls --json
      [
        {
          "id": "<id>",
          "title": "Measure the tide at the pier",
          "branch": "<id>/main",
          "turns": 6,
          "tokens": {
            "raw": 20383,
            "view": 20383
          },
          "tokens_source": "estimate",
          "compactions": 0,
          "forks": 1,
          "updated_at": "2026-03-01T09:01:00.000Z",
          "active": true,
          "overhead_source": "typical",
          "agent": "claude-code",
          "cost_usd": 0.<commit 3>,
          "window": {
            "model": "anthropic/claude-sonnet-4-5-20250929",
            "tokens": 200000,
            "share": 0.102
          }
        }
      ]
      "
    `);
    expect(await run("jpg stats --json")).toMatchInlineSnapshot(`
      "$ jpg stats --json
      {
        "turns": 6,
        "events": 42,
        "bytes": 10553,
        "tokens": {
          "raw": 20383,
          "view": 20383,
          "by_kind": {
            "requests": {
              "raw": 49,
              "view": 49
            },
            "messages": {
              "raw": 95,
              "view": 95
            },
            "reasoning": {
              "raw": 76,
              "view": 76
            },
            "tool_calls": {
              "raw": 100,
              "view": 100
            },
            "tool_results": {
              "raw": 63,
              "view": 63
            },
            "harness": {
              "raw": 0,
              "view": 0
            },
            "overhead": {
              "raw": 20000,
              "view": 20000
            }
          }
        },
        "tokens_source": "estimate",
        "overhead_source": "typical",
        "last_request": {
          "tokens": 12,
          "not_in_view": 0
        },
        "window": {
          "model": "anthropic/claude-sonnet-4-5-20250929",
          "tokens": 200000
        },
        "paid": {
          "requests": 18,
          "usd": 0.<commit 3>
        },
        "id": "<id>",
        "branch": "<id>/main",
        "commit": "<commit 2, whole id>",
        "messages": 18,
        "compactions": 0
      }
      "
    `);
    expect(await run("jpg compact --from 90 --json")).toMatchInlineSnapshot(`
      "$ jpg compact --from 90 --json
      {
        "conversation": "<id>",
        "branch": "<id>/main",
        "commit": null,
        "reason": "the range begins after the last turn (5)",
        "from_turn": null,
        "to_turn": null,
        "policies": "",
        "tokens": {
          "before": 20383,
          "after": 20383
        },
        "tokens_source": "estimate",
        "overhead": 20000,
        "overhead_source": "typical",
        "pruned": null,
        "cache": null,
        "receipt": null,
        "ungrounded": [],
        "report": null,
        "segments": [
          {
            "from": 0,
            "to": 5,
            "kind": "kept",
            "tokens": {
              "before": 20383,
              "after": 20383
            }
          }
        ],
        "planned_summary": null,
        "warnings": [],
        "compaction": null,
        "dry_run": false
      }
      "
    `);
    expect(await run("jpg path --json")).toMatchInlineSnapshot(`
      "$ jpg path --json
      {
        "path": "<root>/project/.git/jpg"
      }
      "
    `);
    expect(await run("jpg use @ --json")).toMatchInlineSnapshot(`
      "$ jpg use @ --json
      {
        "conversation": "<id>",
        "branch": "<id>/main",
        "previous": "<id>/main"
      }
      "
    `);
    expect(await run("jpg title --json")).toMatchInlineSnapshot(`
      "$ jpg title --json
      {
        "commit": null,
        "title": "Measure the tide at the pier",
        "branch": "<id>/main"
      }
      "
    `);
    expect(await run("jpg config keep_last --json")).toMatchInlineSnapshot(`
      "$ jpg config keep_last --json
      [
        {
          "key": "conversation.compaction.keep_last",
          "value": 3,
          "origin": {
            "layer": "built-in"
          }
        }
      ]
      "
    `);
    expect(await sandbox.json<Json[]>(["print", "--turn", "1"])).not.toHaveLength(0);
  });

  it("import --quiet prints nothing, and its document still", async () => {
    const sandbox = group.get();
    const file = join(sandbox.root, "sessions", "small.jsonl");
    expect(await sandbox.jpg(["import", file, "-q"])).toEqual({ stdout: "", stderr: "", code: 0 });
    expect(await sandbox.json<Json[]>(["import", file, "-q"])).toMatchObject([{ status: "unchanged" }]);
  });

  it("stand alone on standard output, and people's words too; all else goes to standard error", async () => {
    const sandbox = group.get();
    await sandbox.jpg(["compact", "--to", "4"]);
    const commands = [
      ["ls"],
      ["show"],
      ["log"],
      ["stats"],
      ["print"],
      ["diff"],
      ["config"],
      ["compact", "--dry-run"],
      ["compact", "--dry-run", "--json"],
      ["--json", "ls"],
    ];
    const results = await Promise.all(commands.map(async (args) => ({ args, result: await sandbox.jpg(args) })));
    for (const { args, result } of results) {
      expect({ args, stderr: result.stderr, code: result.code }).toEqual({ args, stderr: "", code: 0 });
      expect(result.stdout).not.toContain("\u001b");
      expectNoBug(result);
    }
  });
});

describe("words before and after the command", () => {
  const group = shared(4);

  it("jpg conversation and jpg c are the same command; global options may stand first", async () => {
    const sandbox = group.get();
    const plain = (await sandbox.jpg(["ls", "--json"])).stdout;
    for (const args of [
      ["conversation", "ls", "--json"],
      ["c", "ls", "--json"],
      ["--json", "c", "ls"],
      ["--store", sandbox.store, "--json", "ls"],
      [`--store=${sandbox.store}`, "ls", "--json"],
    ]) {
      expect((await sandbox.jpg(args)).stdout, args.join(" ")).toBe(plain);
    }
    expect(
      (
        await runJpg(["--store", sandbox.store, "git", "rev-parse", "--show-toplevel"], {
          cwd: sandbox.root,
          env: sandbox.env,
        })
      ).stdout.trim(),
    ).toBe(sandbox.store);
  });

  it("help lists all commands, explains each, and needs no store", async () => {
    const sandbox = group.get();
    const help = (await sandbox.jpg(["help", "--all"], { cwd: sandbox.root })).stdout;
    const names = [...help.matchAll(/^ {2}(\w+) {2,}/gm)].map((match) => match[1] ?? "");
    expect(names).toEqual(
      expect.arrayContaining([
        "init",
        "import",
        "export",
        "resume",
        "ls",
        "show",
        "use",
        "title",
        "print",
        "compact",
        "log",
        "diff",
        "revert",
        "undo",
        "fork",
        "checkout",
        "stats",
        "git",
        "path",
        "config",
      ]),
    );
    const explain = async (name: string): Promise<void> => {
      const result = await sandbox.jpg([name, "--help"], { cwd: sandbox.root });
      expect(result).toMatchObject({
        code: 0,
        stderr: "",
        stdout: expect.stringMatching(new RegExp(`^Usage: jpg ${name}`)) as string,
      });
      expect((await sandbox.jpg(["help", name], { cwd: sandbox.root })).stdout).toBe(result.stdout);
    };
    await Promise.all(["compact", "import", "git"].map(explain));
  });

  it("--from takes the next word only when it is a bound, --compact only with =", async () => {
    const sandbox = group.get();
    const id = sandbox.conversation;
    expect(await sandbox.json(["compact", "--dry-run", "--from", "2", "--to", "3"])).toMatchObject({
      from_turn: 2,
      to_turn: 3,
    });
    expect(await sandbox.json(["compact", "--dry-run", "--from", id, "--to", "2"])).toMatchObject({
      from_turn: 0,
      to_turn: 2,
    });
    expect(await sandbox.json(["compact", "--dry-run", "--from", "-2", "--to", "-1"])).toMatchObject({
      from_turn: 1,
      to_turn: 2,
    });
    expect(await sandbox.json(["compact", "--dry-run", "--from=-2", "--to=-1"])).toMatchObject({
      from_turn: 1,
      to_turn: 2,
    });
    const fork = await sandbox.json(["fork", "--compact", "named", "--no-activate"]);
    expect(fork).toMatchObject({ branch: `${id}/named` });
    expect(await sandbox.json<Json[]>(["log", `${id}/named`])).toHaveLength(1);
    await sandbox.jpg(["fork", "@", "lighter", "--compact=light", "--no-activate"]);
    expect((await sandbox.json<Json[]>(["log", `${id}/lighter`]))[0]).toMatchObject({ profile: "light" });
  });

  it("a reader that goes away ends the output quietly, and a pipe and NO_COLOR keep it plain", async () => {
    const sandbox = group.get();
    const print = `'${process.execPath}' '${join(process.cwd(), "bin", "jpg.js")}' print 2>'${sandbox.root}/err'`;
    expect(sandbox.git(["-c", `alias.head=!f() { ${print} | head -1; }; f`, "head"])).toMatch(/^# Measure the tide/);
    expect(readFileSync(join(sandbox.root, "err"), "utf8")).toBe("");
    expect((await sandbox.jpg(["ls"], { env: { NO_COLOR: "1" } })).stdout).not.toContain("\u001b");
  });
});

describe("ids", () => {
  let sandbox: ImportedSandbox;
  let other: string;
  beforeAll(async () => {
    sandbox = await copyImportedSandbox(3);
    const file = sandbox.session("other.jsonl", smallSession({ turns: 2, id: "5e551073-0000-4000-8000-0000000000bb" }));
    other = (await sandbox.json<readonly { id: string }[]>(["import", file]))[0]?.id ?? "";
    await sandbox.jpg(["use", sandbox.conversation]);
  });
  afterAll(() => sandbox.remove());
  const branchOf = async (args: readonly string[], env = {}): Promise<unknown> =>
    (await sandbox.json(["title", ...args], { env }))["branch"];

  it("@ is HEAD of the store, - the one before", async () => {
    expect(await branchOf(["@"])).toBe(`${sandbox.conversation}/main`);
    expect(await branchOf(["-"])).toBe(`${other}/main`);
    await sandbox.jpg(["use", "-"]);
    expect(sandbox.git(["symbolic-ref", "--short", "HEAD"])).toBe(`${other}/main`);
    await sandbox.jpg(["use", "-"]);
    expect(await branchOf([])).toBe(`${sandbox.conversation}/main`);
  });

  it("are branches, conversations, unique prefixes, titles, compactions, commits and events", async () => {
    const { compaction, commit } = await sandbox.json<{ compaction: string; commit: string }>([
      "compact",
      "--keep",
      "1",
    ]);
    expect(await branchOf([`${other}/main`])).toBe(`${other}/main`);
    expect(await branchOf([other])).toBe(`${other}/main`);
    expect(await branchOf([other.slice(0, -1)])).toBe(`${other}/main`);
    await sandbox.jpg(["title", other, "Spring tide tables"]);
    expect((await sandbox.json(["title", other]))["title"]).toBe("Spring tide tables");
    expect((await sandbox.json(["show", compaction]))["id"]).toBe(compaction);
    expect((await sandbox.json(["show", beginningOf(compaction, 4)]))["id"]).toBe(compaction);
    expect((await sandbox.json(["show", beginningOf(commit, 8)]))["id"]).toBe(compaction);
    const events = await sandbox.json<readonly { id?: string; type: string }[]>([
      "print",
      "--turn",
      "0",
      "--format",
      "jsonl",
    ]);
    const event = events.find(({ type }) => type === "chat_request")?.id ?? "";
    expect(await sandbox.json(["show", event])).toMatchObject({ kind: "event", turn: 0 });
  });

  it("a fork's name alone is refused with its full name where another conversation is active", async () => {
    await sandbox.jpg(["fork", "@", "try-b", "--no-activate"]);
    await sandbox.jpg(["use", other]);
    await expectRefusal(sandbox, ["use", "try-b"], {
      code: "unknown_id",
      exit: 2,
      says: /try-b/,
      hint: new RegExp(`Did you mean ${sandbox.conversation}/try-b`),
    });
    await sandbox.jpg(["use", "-"]);
  });

  it("a fork of the active conversation goes by its own name, in every command", async () => {
    const { sandbox, run } = await terminal(2);
    const { conversation } = sandbox;
    await run("jpg fork @ try-b");
    expect(await run("jpg use main")).toContain(`Now on <id>/main`);
    expect(await run("jpg use try-b")).toContain(`Now on <id>/try-b`);
    const { branch } = await sandbox.json<{ branch: string }>(["title", "main"]);
    expect(branch).toBe(`${conversation}/main`);
    expect(await run("jpg fork try-b")).toContain("<id>/try-b already exists.");
    expect(refs(sandbox).filter((name) => name.includes("/"))).toHaveLength(2);
    expect(await run("jpg checkout main ../main")).toContain("<id>/main");
    expect(await run("jpg fork main try-c")).toContain("<id>/try-c");
    await run("jpg rm try-b");
    const left = sandbox.git(["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads"]).trim().split("\n");
    expect(left).toEqual([`${conversation}/main`, `${conversation}/try-c`]);
    sandbox.git(["init", "--quiet", "--bare", join(sandbox.root, "there.git")], sandbox.root);
    await sandbox.jpg(["remote", "add", "there", join(sandbox.root, "there.git"), "--as", "branches"]);
    await sandbox.jpg(["push", "try-c"]);
    const there = sandbox.git(["for-each-ref", "--format=%(refname)"], join(sandbox.root, "there.git"));
    expect(there).toContain("/try-c");
    expect(there).not.toContain("/main\n");
  });

  it("JPG_CONVERSATION stands for @, in any form, and a wrong one is named", async () => {
    for (const word of [other, `${other}/main`, other.slice(0, -1)])
      expect(await branchOf([], { JPG_CONVERSATION: word })).toBe(`${other}/main`);
    const before = sandbox.git(["rev-parse", `${sandbox.conversation}/main`]);
    await sandbox.jpg(["compact", "--keep", "1"], { env: { JPG_CONVERSATION: other } });
    expect(sandbox.git(["rev-parse", `${sandbox.conversation}/main`])).toBe(before);
    expect(await sandbox.json<Json[]>(["log", other])).toHaveLength(1);
    expect(await branchOf([], { JPG_CONVERSATION: other.slice(other.lastIndexOf("-") + 1) })).toBe(`${other}/main`);
    for (const word of ["nowhere", "mea", "3", "1234"])
      await expectRefusal(
        sandbox,
        ["show"],
        { code: "unknown_id", exit: 2, says: new RegExp(`JPG_CONVERSATION is ${word}`), hint: /unset/ },
        { env: { JPG_CONVERSATION: word } },
      );
    await expectRefusal(
      sandbox,
      ["show"],
      { code: "ambiguous_id", exit: 2, says: /JPG_CONVERSATION is measure/ },
      { env: { JPG_CONVERSATION: "measure" } },
    );
  });
});

describe.concurrent("where the store is", () => {
  it("--store beats JPG_STORE beats the store one stands in beats the project's beats the user's", async () => {
    const sandbox = createSandbox();
    const stores = {
      flag: join(sandbox.root, "flag"),
      env: join(sandbox.root, "env"),
      user: join(sandbox.home, ".local", "share", "jpg", "store"),
    };
    const made = await Promise.all([
      sandbox.jpg(["init", stores.flag]),
      sandbox.jpg(["init", stores.env]),
      sandbox.jpg(["init"]),
      sandbox.jpg(["init"], { cwd: sandbox.root }),
    ]);
    expect(made.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    const path = async (args: readonly string[], cwd: string, env = {}): Promise<string> =>
      (await sandbox.jpg([...args, "path"], { cwd, env })).stdout.trim();
    expect(await path(["--store", stores.flag], sandbox.store, { JPG_STORE: stores.env })).toBe(stores.flag);
    expect(await path([], sandbox.store, { JPG_STORE: stores.env })).toBe(stores.env);
    expect(await path([], stores.env)).toBe(stores.env);
    expect(await path([], join(stores.env, ".git"))).toBe(stores.env);
    expect(await path([], sandbox.project)).toBe(sandbox.store);
    expect(await path([], sandbox.root)).toBe(stores.user);
    await expectRefusal(sandbox, ["ls", "--store", join(sandbox.root, "none")], {
      code: "no_store",
      exit: 3,
      says: /no conversation store/,
      hint: /jpg init/,
    });
    await expectRefusal(sandbox, ["ls", "--store", sandbox.project], {
      code: "not_a_store",
      exit: 2,
      says: /not a jpg store/,
    });
    sandbox.remove();
  });

  it("is one for all linked worktrees, and works in submodules, bare and SHA-256 projects and inside a project's hook", async () => {
    const sandbox = await copyImportedSandbox(2);
    const git = (args: readonly string[], cwd = sandbox.project): string =>
      sandbox.git(["-c", "protocol.file.allow=always", ...args], cwd);
    const bin = `'${process.execPath}' '${join(process.cwd(), "bin", "jpg.js")}'`;
    writeFileSync(
      join(sandbox.project, ".git", "hooks", "pre-commit"),
      `#!/bin/sh\n${bin} compact --keep 1 --json > '${sandbox.root}/hooked' 2>&1\n`,
      { mode: 0o755 },
    );
    mkdirSync(join(sandbox.project, ".git", "hooks"), { recursive: true });
    writeFileSync(join(sandbox.project, "file"), "x");
    git(["add", "file"]);
    git(["commit", "-qm", "first"]);
    expect(JSON.parse(readFileSync(join(sandbox.root, "hooked"), "utf8"))).toMatchObject({
      to_turn: 0,
      commit: expect.any(String) as string,
    });
    expect(git(["log", "--format=%s"])).toBe("first");
    expect(git(["status", "--porcelain"])).toBe("");

    const linked = join(sandbox.root, "linked");
    git(["worktree", "add", "-q", linked]);
    expect((await sandbox.jpg(["path"], { cwd: linked })).stdout.trim()).toBe(sandbox.store);

    const file = join(sandbox.root, "sessions", "small.jsonl");
    const bare = join(sandbox.root, "bare.git");
    git(["clone", "-q", "--bare", sandbox.project, bare]);
    const newer = join(sandbox.root, "sha256");
    git(["init", "-q", "--object-format=sha256", newer], sandbox.root);
    git(["submodule", "--quiet", "add", bare, "module"]);
    const places = [
      [bare, join(bare, "jpg")],
      [newer, join(newer, ".git", "jpg")],
      [join(sandbox.project, "module"), join(sandbox.project, ".git", "modules", "module", "jpg")],
    ] as const;
    const check = async ([cwd, store]: (typeof places)[number]): Promise<void> => {
      expect((await sandbox.jpg(["import", file], { cwd })).stdout).toMatch(/1 created/);
      expect((await sandbox.jpg(["path"], { cwd })).stdout.trim()).toBe(store);
      expect((await sandbox.jpg(["compact", "--keep", "1"], { cwd })).code).toBe(0);
      expect(sandbox.git(["rev-parse", "--show-object-format"], store)).toBe("sha1");
    };
    await Promise.all(places.map(check));
    sandbox.remove();
  });
});

describe("what compact would do", () => {
  it("is shown by --dry-run, which writes nothing", async () => {
    const { sandbox, run } = await terminal();
    const before = [storeState(sandbox), objects(sandbox)];
    expect(await run("jpg compact --dry-run")).toMatchInlineSnapshot(`
      "$ jpg compact --dry-run
      Would compact <id>/main 0..2: reasoning + tools stripped
         0..2  compacted  reasoning + tools stripped      191 → 150   -21%  ██████░░
         3..5  kept                                             192         ████████
                          system prompt and tools             20.0k
        total  estimate                               20.4k → 20.3k  -0.2%
        system prompt and tools are typical for this agent: its own are not recorded

        saved by: reasoning 38, tool calls 3
        cache: 20.0k kept, 335 rewritten once; 41 saved a call, pays after 94 calls
          9 facts, none of them hidden
      note: saves only 41 of the conversation's 383 tokens (10.7%), yet the cached prefix has to be rewritten: it pays after 94 calls
      "
    `);
    expect(await sandbox.json(["compact", "--dry-run"])).toMatchObject({
      dry_run: true,
      commit: null,
      from_turn: 0,
      to_turn: 2,
    });
    expect(await run("jpg compact --dry-run -c keep_last=1 --fork")).toMatchInlineSnapshot(`
      "$ jpg compact --dry-run -c keep_last=1 --fork
      Would compact <id>/compact-yhw6 (a new fork) 0..4: reasoning + tools stripped
          0..4  compacted  reasoning + tools stripped      319 → 251   -21%  ██████░░
        turn 5  kept                                              64         ██
                           system prompt and tools             20.0k
         total  estimate                               20.4k → 20.3k  -0.3%
        system prompt and tools are typical for this agent: its own are not recorded

        saved by: reasoning 63, tool calls 5
        cache: 20.0k kept, 308 rewritten once; 68 saved a call, pays after 53 calls
          15 facts, none of them hidden
      note: saves only 68 of the conversation's 383 tokens (17.8%), yet the cached prefix has to be rewritten: it pays after 53 calls
      "
    `);
    expect([storeState(sandbox), objects(sandbox)]).toEqual(before);
  });
});

describe.concurrent("compact", () => {
  it("takes ranges by turn, from the end, by time and by the last compaction", async () => {
    const sandbox = await copyImportedSandbox();
    const range = async (...args: string[]): Promise<unknown> => {
      const { from_turn, to_turn } = await sandbox.json(["compact", "--dry-run", ...args]);
      return [from_turn, to_turn];
    };
    const expectRanges = (cases: readonly (readonly [readonly string[], number, number])[]): Promise<unknown> =>
      Promise.all(
        cases.map(async ([args, from, to]) => expect(await range(...args), args.join(" ")).toEqual([from, to])),
      );
    await expectRanges([
      [[], 0, 2],
      [["--keep", "1"], 0, 4],
      [["--keep-last", "2"], 0, 3],
      [["--from", "1", "--to", "-1"], 1, 4],
      [["--to", "99"], 0, 5],
      [["--to", "1h"], 0, 5],
      [["--from", "100000d", "--to", "1w 2d"], 0, 5],
      [["-c", "keep_last=5"], 0, 0],
    ]);
    await sandbox.jpg(["compact", "--to", "1"]);
    await expectRanges([
      [["--from", "--to", "4"], 2, 4],
      [["--from", "last", "--to", "4"], 2, 4],
    ]);
    sandbox.remove();
  });

  it("--fork compacts a new branch and makes it active, --no-activate stays, the configured default is undone by --in-place", async () => {
    const sandbox = await copyImportedSandbox();
    const main = `${sandbox.conversation}/main`;
    const tip = sandbox.git(["rev-parse", main]);
    const stayed = await sandbox.json(["compact", "--fork", "--no-activate"]);
    expect((await sandbox.json(["title"]))["branch"]).toBe(main);
    const moved = await sandbox.json(["compact", "--fork"]);
    expect((await sandbox.json(["title"]))["branch"]).toBe(moved["branch"]);
    expect([stayed["branch"], moved["branch"], main]).toHaveLength(new Set(refs(sandbox)).size);
    expect(sandbox.git(["rev-parse", main])).toBe(tip);
    await sandbox.jpg(["use", main]);
    writeFileSync(join(sandbox.project, ".jpg.toml"), "[conversation.compaction]\nfork = true\n");
    expect((await sandbox.json(["compact", "--dry-run"]))["branch"]).not.toBe(main);
    expect((await sandbox.json(["compact", "--in-place"]))["branch"]).toBe(main);
    sandbox.remove();
  });

  it("--emit writes a bundle of raw events, --accept stores the summary, and refuses one of other turns or none", {
    tags: ["slow"],
  }, async () => {
    const sandbox = await copyImportedSandbox();
    await sandbox.jpg(["compact", "--to", "1"]);
    const path = join(sandbox.root, "bundle.json");
    expect((await sandbox.jpg(["compact", "--emit", path])).code).toBe(0);
    const bundle = JSON.parse(readFileSync(path, "utf8")) as {
      plan: Json;
      instructions: string;
      events: Json[];
      answer: Json;
    };
    expect(bundle.plan).toMatchObject({
      from_turn: 0,
      to_turn: 2,
      id: expect.any(String) as string,
      digest: expect.any(String) as string,
    });
    expect(JSON.stringify(bundle.events)).toContain("thought 0");
    expect((await sandbox.jpg(["compact", "--emit", "-"])).stdout).toBe(readFileSync(path, "utf8"));

    const before = storeState(sandbox);
    const answer = (summary: string, plan: Json = bundle.plan): string =>
      JSON.stringify({ plan, summary, files: ["pier.md"], open_tasks: [] });
    await expectRefusal(
      sandbox,
      ["compact", "--accept", "-"],
      { code: "bad_summary", exit: 2, says: /no text/ },
      { input: answer("  ") },
    );
    await expectRefusal(
      sandbox,
      ["compact", "--accept", "-"],
      { code: "bad_summary", exit: 2, says: /empty/ },
      { input: "\n" },
    );
    await expectRefusal(
      sandbox,
      ["compact", "--accept", "-"],
      { code: "bad_summary", exit: 2, says: /names no plan/, hint: /--from 0 --to/ },
      { input: "They measured." },
    );
    await expectRefusal(
      sandbox,
      ["compact", "--accept", "-"],
      { code: "range_changed", exit: 2, says: /not written for turns/, hint: /--emit/ },
      { input: answer("They measured.", { ...bundle.plan, to_turn: 3 }) },
    );
    expect(storeState(sandbox)).toBe(before);

    expect(
      (await sandbox.json(["compact", "--accept", "-"], { input: answer("They measured the tide.") }))["policies"],
    ).toBe("summary");
    expect((await sandbox.jpg(["print", "--compacted"])).stdout).toContain("They measured the tide.");
    await sandbox.jpg(["undo"]);
    const whole = JSON.stringify({ ...bundle, answer: { ...bundle.answer, summary: "All in one file." } });
    expect((await sandbox.json(["compact", "--accept", "-"], { input: whole }))["to_turn"]).toBe(2);
    const text = sandbox.session("summary.txt", "Plain words about the pier.\n");
    expect(await sandbox.json(["compact", "--accept", text, "--from", "0", "--to", "4"])).toMatchObject({
      to_turn: 4,
      policies: "summary",
    });
    expect((await sandbox.jpg(["print", "--compacted"])).stdout).toContain("Plain words about the pier.");
    sandbox.remove();
  });

  it("a profile with a model that has no key says which to set, and its dry run calls no model", async () => {
    const sandbox = await copyImportedSandbox();
    writeUserConfig(
      sandbox,
      '[conversation.compaction.profiles.heavy.summary]\npolicy = "summarize"\nmodel = "anthropic/claude-haiku"\n',
    );
    const before = storeState(sandbox);
    await expectRefusal(sandbox, ["compact", "--profile", "heavy"], {
      code: "no_key",
      exit: 4,
      says: /anthropic/,
      hint: /ANTHROPIC_API_KEY/,
    });
    await expectRefusal(sandbox, ["compact", "--profile", "heavvy"], {
      code: "unknown_profile",
      exit: 2,
      says: /heavvy/,
      hint: /Did you mean heavy/,
    });
    expect(storeState(sandbox)).toBe(before);
    expect((await sandbox.jpg(["compact", "--profile", "heavy", "--dry-run"])).stdout).toContain(
      "will generate a summary for turns 0-2 using model anthropic/claude-haiku",
    );
    await expectRefusal(sandbox, ["fork", "--compact=heavy", "--no-activate"], {
      code: "no_key",
      exit: 4,
      says: /The fork .* was made, but not compacted/,
      hint: /compact .* --profile heavy. tries again/,
    });
    sandbox.remove();
  });

  it("--cfg is stored on the conversation by compact, and by nothing else", async () => {
    const sandbox = await copyImportedSandbox();
    expect((await sandbox.jpg(["ls", "-c", "keep_last=1"])).code).toBe(0);
    expect((await sandbox.json<Json[]>(["config", "keep_last"]))[0]).toMatchObject({ value: 3 });
    expect(await sandbox.json(["compact", "--cfg", "keep_last=1"])).toMatchObject({ to_turn: 4 });
    expect((await sandbox.jpg(["config", "keep_last", "--show-origin"])).stdout).toMatch(
      /^conversation\s.*keep_last=1/,
    );
    sandbox.remove();
  });
});

describe("fork", () => {
  const live = (sandbox: Sandbox, branch: string): string[] =>
    sandbox.git(["ls-tree", "--name-only", `${branch}:compactions`]).split("\n");

  it("plain writes one ref and no object", async () => {
    const { sandbox, run } = await terminal();
    const before = { refs: refs(sandbox).length, objects: objects(sandbox) };
    expect(await run("jpg fork @ plain")).toMatchInlineSnapshot(`
      "$ jpg fork @ plain
      Forked <id>/main to <id>/plain (6 turns), now active
      "
    `);
    expect({ refs: refs(sandbox).length, objects: objects(sandbox) }).toEqual({
      refs: before.refs + 1,
      objects: before.objects,
    });
    const [plain, main] = ["plain", "main"].map((name) => `${sandbox.conversation}/${name}`) as [string, string];
    expect(sandbox.git(["symbolic-ref", "--short", "HEAD"])).toBe(plain);
    expect(sandbox.git(["rev-parse", plain])).toBe(sandbox.git(["rev-parse", main]));
  });

  it("--first and --until stand at that turn's commit, with the compactions that lie wholly within, others clamped", async () => {
    const { sandbox, run } = await terminal();
    const [main, early, until] = ["main", "early", "until"].map((name) => `${sandbox.conversation}/${name}`) as [
      string,
      string,
      string,
    ];
    expect(await run("jpg fork @ early --first 3 --no-activate")).toMatchInlineSnapshot(`
      "$ jpg fork @ early --first 3 --no-activate
      Forked <id>/main to <id>/early (3 turns)
      "
    `);
    expect(sandbox.git(["log", "-1", "--format=%s", early])).toMatch(/^turn 2:/);
    expect(await run("jpg compact --to 1")).toMatchInlineSnapshot(`
      "$ jpg compact --to 1
      Compacted <id>/main 0..1: reasoning + tools stripped
      commit <commit 1>  compaction 6yzrhc
         0..1  compacted  reasoning + tools stripped      127 → 100   -21%  ███░
         2..5  kept                                             256         ████████
                          system prompt and tools             20.0k
        total  estimate                               20.4k → 20.4k  -0.1%
        system prompt and tools are typical for this agent: its own are not recorded

        saved by: reasoning 25, tool calls 2
        cache: 20.0k kept, 349 rewritten once; 27 saved a call, pays after 149 calls
          6 facts, none of them hidden
      note: saves only 27 of the conversation's 383 tokens (7.0%), yet the cached prefix has to be rewritten: it pays after 149 calls
      "
    `);
    expect(await run("jpg compact --profile light --to 4")).toMatchInlineSnapshot(`
      "$ jpg compact --profile light --to 4
      Compacted <id>/main 0..4: reasoning stripped
      commit <commit 2>  compaction 94928a
          0..4  compacted  reasoning stripped           292 → 254   -13%  ███████░
        turn 5  kept                                           64         ██
                           system prompt and tools          20.0k
         total  estimate                            20.4k → 20.3k  -0.2%
        system prompt and tools are typical for this agent: its own are not recorded

        cache: 20.1k kept, 210 rewritten once; 38 saved a call, pays after 64 calls
          15 facts, none of them hidden
      note: saves only 38 of the conversation's 356 tokens (10.7%), yet the cached prefix has to be rewritten: it pays after 64 calls
      "
    `);
    expect(await run("jpg log")).toMatchInlineSnapshot(`
      "$ jpg log
      <commit 2> (94928a, in force) compact 0..4: reasoning stripped (20.4k → 20.3k tokens)
      <commit 1> (6yzrhc, in force) compact 0..1: reasoning + tools stripped (20.4k → 20.4k tokens)
      "
    `);
    expect(await run("jpg fork @ until --until 2 --no-activate")).toMatchInlineSnapshot(`
      "$ jpg fork @ until --until 2 --no-activate
      Forked <id>/main to <id>/until (3 turns)
      "
    `);
    expect(await run("jpg log <id>/until")).toMatchInlineSnapshot(`
      "$ jpg log <id>/until
      <commit 3> (94928a-2, in force) compact 0..2: reasoning stripped
      <commit 3> (6yzrhc, in force) compact 0..1: reasoning + tools stripped (20.4k → 20.4k tokens)
      "
    `);
    expect(commits(sandbox, until)).toBe(commits(sandbox, early) + 1);
    expect([live(sandbox, until), live(sandbox, main)].map(({ length }) => length)).toEqual([2, 2]);
    expect(live(sandbox, until)).toEqual(live(sandbox, main).map((path) => path.replace(/-94928a\./, "-94928a-2.")));
  });

  it("--last and --from stand at the tip plus one compaction that leaves the turns before out", async () => {
    const { sandbox, run } = await terminal();
    const tip = sandbox.git(["rev-parse", `${sandbox.conversation}/main`]);
    const expectForked = async (name: string): Promise<void> => {
      const branch = `${sandbox.conversation}/${name}`;
      expect(sandbox.git(["rev-parse", `${branch}~1`])).toBe(tip);
      const [row] = await sandbox.json<readonly { compaction: string }[]>(["log", branch]);
      expect(await sandbox.json(["show", row?.compaction ?? ""], { env: { JPG_CONVERSATION: branch } })).toMatchObject({
        turns: "omit",
        from_turn: 0,
        to_turn: 3,
      });
      const shown = (await sandbox.jpg(["print", branch, "--compacted"])).stdout;
      expect(shown).toContain("Answer 4");
      expect(shown).not.toContain("Answer 3");
    };
    expect(await run("jpg fork @ last --last 2 --no-activate")).toMatchInlineSnapshot(`
      "$ jpg fork @ last --last 2 --no-activate
      Forked <id>/main to <id>/last (6 turns)
      "
    `);
    expect(await run("jpg fork @ from --from 4 --no-activate")).toMatchInlineSnapshot(`
      "$ jpg fork @ from --from 4 --no-activate
      Forked <id>/main to <id>/from (6 turns)
      "
    `);
    expect(await run("jpg fork @ back --from -1 --no-activate")).toMatchInlineSnapshot(`
      "$ jpg fork @ back --from -1 --no-activate
      Forked <id>/main to <id>/back (6 turns)
      "
    `);
    expect(await run("jpg ls")).toMatchInlineSnapshot(`
      "$ jpg ls
      AGE  AGENT   TITLE                         TURNS  TOKENS  FULL  FORK    COST   ID
      2mo  claude  Measure the tide at the pier      6    ~20k   10%     3  <$0.01  *ryyb
      "
    `);
    for (const name of ["last", "from", "back"]) await expectForked(name);
    expect(await run("jpg print <id>/last --compacted")).toMatchInlineSnapshot(`
      "$ jpg print <id>/last --compacted
      # Measure the tide at the pier

      ## Turn 4 · 2026-03-01 09:00:41 UTC

      **User**

      > Request 4 about the harbour wall

      **Reasoning**

      > thought 4: the gauge at the pier is read first

      **Assistant**

      > Looking at gauge 4.

      **Tool call** \`Bash\`

      \`\`\`
      command: echo toolu_000000000046
      \`\`\`

      **Result** \`Bash\`

      \`\`\`
      output of toolu_000000000046
      \`\`\`

      **Assistant**

      > Answer 4: the water stood at 4 metres.

      ## Turn 5 · 2026-03-01 09:00:51 UTC

      **User**

      > Request 5 about the harbour wall

      **Reasoning**

      > thought 5: the gauge at the pier is read first

      **Assistant**

      > Looking at gauge 5.

      **Tool call** \`Bash\`

      \`\`\`
      command: echo toolu_000000000056
      \`\`\`

      **Result** \`Bash\`

      \`\`\`
      output of toolu_000000000056
      \`\`\`

      **Assistant**

      > Answer 5: the water stood at 5 metres.

      "
    `);
  });

  it("--compact tells what it did, and commits no compaction that would do nothing", async () => {
    const { sandbox } = await terminal();
    const compacted = async (name: string, ...more: string[]): Promise<[unknown, number]> => {
      const fork = await sandbox.json(["fork", "@", name, "--compact", "--no-activate", ...more]);
      return [fork["compaction"], (await sandbox.json<Json[]>(["log", `${sandbox.conversation}/${name}`])).length];
    };
    expect(await compacted("tail", "--last", "2")).toEqual([
      expect.objectContaining({ compaction: null, commit: null, reason: expect.any(String) as string }),
      1,
    ]);
    expect(await compacted("most", "--last", "5")).toEqual([
      expect.objectContaining({ compaction: expect.any(String) as string, policies: "reasoning + tools stripped" }),
      2,
    ]);
    const said = await sandbox.jpg(["fork", "@", "more", "--last", "2", "--compact", "--no-activate"]);
    expect(said.stdout).toContain("Nothing to compact.");
  });

  it("a name that is taken is refused, and so are more turns than there are", async () => {
    const { sandbox, run } = await terminal();
    expect(await run("jpg fork @ plain")).toMatchInlineSnapshot(`
      "$ jpg fork @ plain
      Forked <id>/main to <id>/plain (6 turns), now active
      "
    `);
    expect(await run("jpg fork @ plain")).toMatchInlineSnapshot(`
      "$ jpg fork @ plain
      ! error: <id>/plain already exists.
      ! hint: Give the fork another name: \`jpg fork [ID] NAME\`.
      ! hint: \`jpg use <id>/plain\` makes it active.
      [exit 2]
      "
    `);
    await expectRefusal(sandbox, ["fork", "@", "plain"], {
      code: "branch_exists",
      exit: 2,
      says: /already exists/,
      hint: /another name/,
    });
    expect(await run("jpg fork --first 99 --no-activate")).toMatchInlineSnapshot(`
      "$ jpg fork --first 99 --no-activate
      ! error: --first 99 asks for more turns than the fork could have: the conversation has 6 turns, 0..5.
      ! hint: \`jpg print\` shows the turns and their times.
      [exit 2]
      "
    `);
    expect(await run("jpg fork --last 2 --no-activate --json")).toMatchInlineSnapshot(`
      "$ jpg fork --last 2 --no-activate --json
      {
        "conversation": "<id>",
        "branch": "<id>/fork-hcyh",
        "turns": 6,
        "from": "<id>/plain",
        "activated": false
      }
      "
    `);
  });
});

describe("print, export, resume", () => {
  const group = shared();

  it("print, or its older --turn, takes one turn, a range, and positions from the end", async () => {
    const sandbox = group.get();
    const turns = async (...args: string[]): Promise<string[]> =>
      [...(await sandbox.jpg(["print", ...args])).stdout.matchAll(/^## Turn (\d+)/gm)].map((match) => match[1] ?? "");
    const shown = await Promise.all([turns("--turn", "2"), turns("--turn", "1..3"), turns("--turn", "..1")]);
    expect(shown).toEqual([["2"], ["1", "2", "3"], ["0", "1"]]);
    expect(await Promise.all([turns("--turn", "-1.."), turns()])).toEqual([
      ["4", "5"],
      ["0", "1", "2", "3", "4", "5"],
    ]);
    expect(await Promise.all(["2", "1..3", "..1", "-1..", "-1", "-3..-2"].map((range) => turns(range)))).toEqual([
      ["2"],
      ["1", "2", "3"],
      ["0", "1"],
      ["4", "5"],
      ["4"],
      ["2", "3"],
    ]);
    expect(await turns("@", "1..3", "--compacted")).toEqual(["1", "2", "3"]);
    const lines = (await sandbox.jpg(["print", "--format", "jsonl", "--turn", "0"])).stdout.trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toContain("chat_request");
  });

  it("export writes the view, the history, an earlier state or the imported bytes, to a file or standard output", async () => {
    const sandbox = group.get();
    const commit = sandbox.git(["rev-parse", "HEAD"]);
    await sandbox.jpg(["compact"]);
    const markdown = async (...args: string[]): Promise<string> =>
      (await sandbox.jpg(["export", "--to", "markdown", ...args])).stdout;
    expect(await markdown()).not.toContain("thought 0");
    expect(await markdown("--full-history")).toContain("thought 0");
    expect(await markdown("--at", commit)).toContain("thought 0");
    expect(await markdown("--at", "2")).not.toContain("Answer 3");
    const original = readFileSync(join(sandbox.root, "sessions", "small.jsonl"), "utf8");
    expect((await sandbox.jpg(["export", "--original"])).stdout).toBe(original);
    const out = join(sandbox.root, "out.jsonl");
    const result = await sandbox.jpg(["export", "--original", "-o", out]);
    expect({ stdout: result.stdout, same: readFileSync(out, "utf8") === original }).toEqual({ stdout: "", same: true });
    expect(await sandbox.json(["export", "--to", "jsonl", "-o", out]), "never over a session").toMatchObject({
      error: { code: "would_lose_session" },
    });
    expect(readFileSync(out, "utf8")).toBe(original);
    const events = join(sandbox.root, "events.jsonl");
    for (const _ of ["new", "replaced"])
      expect(await sandbox.json(["export", "--to", "jsonl", "-o", events])).toEqual({
        path: events,
        bytes: readFileSync(events).length,
      });
    expect(readdirSync(sandbox.root).filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });

  it("export writes bodies of requests that providers take, for the model that is named or answered last", async () => {
    const sandbox = group.get();
    const own = await sandbox.json<Record<string, unknown>>(["export", "--to", "anthropic"]);
    expect(own).toMatchObject({ model: "claude-sonnet-4-5-20250929", max_tokens: 8192 });
    const bare = await sandbox.json<{ messages: unknown[] }>(["export", "--to", "anthropic", "--messages"]);
    expect(Object.keys(bare)).toEqual(["messages"]);
    expect(own["messages"]).toEqual([
      ...bare.messages,
      { role: "user", content: [{ type: "text", text: "[No new message.]" }] },
    ]);
    const refused = await sandbox.jpg(["export", "--to", "openai-chat"]);
    expect([refused.code, refused.stdout]).toEqual([2, ""]);
    expect(refused.stderr).toMatch(/No model of openai-chat has answered in .*--model ollama\/qwen3/s);
    for (const [api, named, model] of [
      ["anthropic", "claude-opus-4-8", "claude-opus-4-8"],
      ["openai-chat", "ollama/qwen3:8b", "qwen3:8b"],
      ["openai-chat", "meta-llama/llama-3", "meta-llama/llama-3"],
      ["openai-responses", "openai/gpt-5.2", "gpt-5.2"],
      ["google", "gemini-2.5-pro", undefined],
    ] as const) {
      const file = join(sandbox.root, "body.json");
      expect((await sandbox.jpg(["export", "--to", api, "--model", named, "-o", file])).code).toBe(0);
      expect((JSON.parse(readFileSync(file, "utf8")) as { model?: string }).model).toBe(model);
      const checked = await sandbox.json(["check", file, ...(model === undefined ? ["--model", named] : [])]);
      expect(checked).toMatchObject({ ok: true, violations: [], checked: [{ provider: api }] });
    }
    const clash = await sandbox.jpg(["export", "--to", "markdown", "--messages"]);
    expect([clash.code, clash.stderr]).toEqual([2, expect.stringContaining("--messages works only for requests")]);
  });

  it("resume writes the session where the agent looks, once, and says how to go on from anywhere in the project", async () => {
    const sandbox = group.get();
    const first = await sandbox.json<{ path: string; command: string[]; session: string; reused: boolean }>([
      "resume",
      "--with",
      "claude-code",
    ]);
    expect(first).toMatchObject({ reused: false, command: ["claude", "--resume", first.session] });
    expect(first.path.startsWith(join(sandbox.home, ".claude", "projects"))).toBe(true);
    expect((await sandbox.json(["resume", "--with", "claude-code"]))["reused"]).toBe(true);
    mkdirSync(join(sandbox.project, "deep"));
    expect(
      (await sandbox.jpg(["resume", "--with", "claude-code"], { cwd: join(sandbox.project, "deep") })).stdout,
    ).toBe(`cd '${sandbox.project}' && claude --resume ${first.session}\n`);
    writeFileSync(first.path, `${readFileSync(first.path, "utf8")}{"type":"note"}\n`);
    const next = await sandbox.json<{ path: string }>(["resume", "--with", "claude-code"]);
    expect(next.path).not.toBe(first.path);
    expect(readFileSync(first.path, "utf8")).toMatch(/\{"type":"note"\}\n$/);
  });
});

describe("log, diff, undo, revert", () => {
  it("tell what happened, newest first, and take it back and forth", async () => {
    const { sandbox, run } = await terminal();
    const print = async (line: string): Promise<string> => (await run(line)).replace(/^.*\n/, "");
    expect(await run("jpg log")).toMatchInlineSnapshot(`
      "$ jpg log
      ! <id>/main has no compactions yet: \`jpg compact\` makes one.
      "
    `);
    expect(await run("jpg compact")).toMatchInlineSnapshot(`
      "$ jpg compact
      Compacted <id>/main 0..2: reasoning + tools stripped
      commit <commit 1>  compaction 6yzrhc
         0..2  compacted  reasoning + tools stripped      191 → 150   -21%  ██████░░
         3..5  kept                                             192         ████████
                          system prompt and tools             20.0k
        total  estimate                               20.4k → 20.3k  -0.2%
        system prompt and tools are typical for this agent: its own are not recorded

        saved by: reasoning 38, tool calls 3
        cache: 20.0k kept, 335 rewritten once; 41 saved a call, pays after 94 calls
          9 facts, none of them hidden
      note: saves only 41 of the conversation's 383 tokens (10.7%), yet the cached prefix has to be rewritten: it pays after 94 calls
      "
    `);
    const [made] = await sandbox.json<readonly { compaction: string }[]>(["log"]);
    const id = made?.compaction ?? "";
    const diff = await print("jpg diff");
    expect(await run("jpg diff")).toMatchInlineSnapshot(`
      "$ jpg diff
      --- before compaction 6yzrhc (<commit 2>)
      +++ compaction 6yzrhc (<commit 1>)
      @@ -1,13 +1,11 @@ turn 0 · assistant (reasoning)
       == turn 0 ==
       user
         Measure the tide at the pier
      -assistant (reasoning)
      -  thought 0: the gauge at the pier is read first
       assistant
         Looking at gauge 0.
       tool call Bash
         command: echo toolu_000000000006
       tool result Bash
      -  output of toolu_000000000006
      +  [compacted] Bash: success
       assistant
         Answer 0: the water stood at 0 metres.
      @@ -14,13 +12,11 @@ turn 1 · assistant (reasoning)
       == turn 1 ==
       user
         Request 1 about the harbour wall
      -assistant (reasoning)
      -  thought 1: the gauge at the pier is read first
       assistant
         Looking at gauge 1.
       tool call Bash
         command: echo toolu_000000000016
       tool result Bash
      -  output of toolu_000000000016
      +  [compacted] Bash: success
       assistant
         Answer 1: the water stood at 1 metres.
      @@ -27,13 +23,11 @@ turn 2 · assistant (reasoning)
       == turn 2 ==
       user
         Request 2 about the harbour wall
      -assistant (reasoning)
      -  thought 2: the gauge at the pier is read first
       assistant
         Looking at gauge 2.
       tool call Bash
         command: echo toolu_000000000026
       tool result Bash
      -  output of toolu_000000000026
      +  [compacted] Bash: success
       assistant
         Answer 2: the water stood at 2 metres.
      "
    `);
    expect(await print(`jpg diff ${id}`)).toBe(diff);
    expect((await print("jpg diff @ main~1..main")).split("\n").slice(2)).toEqual(diff.split("\n").slice(2));
    expect(await run("jpg diff --stat")).toMatchInlineSnapshot(`
      "$ jpg diff --stat
      TURN                     EVENTS         TOKENS            CHARACTERS
      turn 0                   -1 ~1         63 → 49   -22%      191 → 142
      turn 1                   -1 ~1         64 → 50   -22%      195 → 146
      turn 2                   -1 ~1         64 → 50   -22%      195 → 146
      system prompt and tools                  20.0k
      total                    -3 ~3   20.4k → 20.3k  -0.2%  1,166 → 1,019

          9 facts, none of them hidden
      "
    `);
    expect(await sandbox.json(["diff"])).toMatchObject({
      hunks: expect.any(Array) as unknown[],
      stat: expect.any(Object) as object,
    });
    const view = await print("jpg print --compacted");
    expect(view).not.toContain("thought 0");
    expect(await run("jpg undo")).toMatchInlineSnapshot(`
      "$ jpg undo
      Reverted 6yzrhc on <id>/main
      commit <commit 3>  view 20.3k → 20.4k
      ! \`jpg redo\` brings it back.
      "
    `);
    expect(await print("jpg print --compacted")).toContain("thought 0");
    await expectRefusal(sandbox, ["revert", id], {
      code: "already_reverted",
      exit: 2,
      says: /not in force/,
      hint: /jpg revert [0-9a-f]+/,
    });
    expect(await run(`jpg revert ${id}`)).toMatchInlineSnapshot(`
      "$ jpg revert 6yzrhc
      ! error: 6yzrhc is not in force on <id>/main: <commit 3> reverted it.
      ! hint: \`jpg revert <commit 3>\` brings it back.
      [exit 2]
      "
    `);
    const [revert] = await sandbox.json<readonly { commit: string }[]>(["log"]);
    expect(await print(`jpg diff ${revert?.commit ?? ""}`)).toContain(`+++ revert of compaction ${id} (`);
    expect(await run(`jpg revert ${revert?.commit ?? ""}`)).toMatchInlineSnapshot(`
      "$ jpg revert <commit 3, whole id>
      Brought back 6yzrhc on <id>/main
      commit <commit 4>  view 20.4k → 20.3k
      "
    `);
    expect(await print("jpg print --compacted")).toBe(view);
    expect(await run("jpg log")).toMatchInlineSnapshot(`
      "$ jpg log
      <commit 4> (reapply of 6yzrhc, in force) Reapply "compact 0..2: reasoning + tools stripped (20.4k → 20.3k tokens)"
      <commit 3> (revert of 6yzrhc) Revert "compact 0..2: reasoning + tools stripped (20.4k → 20.3k tokens)"
      <commit 1> (6yzrhc, reverted) compact 0..2: reasoning + tools stripped (20.4k → 20.3k tokens)
      "
    `);
    expect((await sandbox.json<readonly { kind: string }[]>(["log"])).map(({ kind }) => kind)).toEqual([
      "reapply",
      "revert",
      "compaction",
    ]);
    expect(await run("jpg diff @ main..main")).toMatchInlineSnapshot(`
      "$ jpg diff @ main..main
      ! No difference: the model sees the same.
      "
    `);
  });
});

describe("checkout", () => {
  it("is sparse unless --full, follows its branch, and refuses a folder in use", async () => {
    const { sandbox, run } = await terminal();
    const sparse = join(sandbox.root, "sparse");
    const full = join(sandbox.root, "full");
    expect(await run("jpg compact --to 1")).toMatchInlineSnapshot(`
      "$ jpg compact --to 1
      Compacted <id>/main 0..1: reasoning + tools stripped
      commit <commit 1>  compaction 6yzrhc
         0..1  compacted  reasoning + tools stripped      127 → 100   -21%  ███░
         2..5  kept                                             256         ████████
                          system prompt and tools             20.0k
        total  estimate                               20.4k → 20.4k  -0.1%
        system prompt and tools are typical for this agent: its own are not recorded

        saved by: reasoning 25, tool calls 2
        cache: 20.0k kept, 349 rewritten once; 27 saved a call, pays after 149 calls
          6 facts, none of them hidden
      note: saves only 27 of the conversation's 383 tokens (7.0%), yet the cached prefix has to be rewritten: it pays after 149 calls
      "
    `);
    expect(await run("jpg checkout @ ../sparse")).toMatchInlineSnapshot(`
      "$ jpg checkout @ ../sparse
      <id>/main is checked out at <root>/sparse; VIEW.md shows what the model sees
      "
    `);
    expect(await run("jpg checkout @ ../full --full")).toMatchInlineSnapshot(`
      "$ jpg checkout @ ../full --full
      <id>/main is checked out at <root>/full; VIEW.md shows what the model sees
      "
    `);
    expect(existsSync(join(sparse, "turns"))).toBe(false);
    expect(existsSync(join(full, "turns", "0000", "000005.jsonl"))).toBe(true);
    expect(await run("jpg path", { cwd: sparse })).toMatchInlineSnapshot(`
      "$ jpg path
      <root>/project/.git/jpg
      "
    `);
    expect(await run("jpg compact", { cwd: sparse })).toMatchInlineSnapshot(`
      "$ jpg compact
      Compacted <id>/main 0..2: reasoning + tools stripped
      commit <commit 2>  compaction 94928a
         0..2  compacted  reasoning + tools stripped      164 → 150    -9%  ██████░
         3..5  kept                                             192         ████████
                          system prompt and tools             20.0k
        total  estimate                               20.4k → 20.3k  -0.1%
        system prompt and tools are typical for this agent: its own are not recorded

        saved by: reasoning 13, tool calls 1
        cache: 20.1k kept, 234 rewritten once; 14 saved a call, pays after 193 calls
          9 facts, none of them hidden
      note: saves only 14 of the conversation's 356 tokens (3.9%), yet the cached prefix has to be rewritten: it pays after 193 calls
      "
    `);
    for (const place of [sparse, full, sandbox.store]) {
      expect(sandbox.git(["status", "--porcelain"], place)).toBe("");
      expect(readFileSync(join(place, "VIEW.md"), "utf8")).not.toContain("thought 2");
      expect(readdirSync(join(place, "compactions"))).toHaveLength(2);
    }
    expect(await run("jpg fork @ other --no-activate")).toMatchInlineSnapshot(`
      "$ jpg fork @ other --no-activate
      Forked <id>/main to <id>/other (6 turns)
      "
    `);
    expect(await run("jpg checkout <id>/other ../sparse")).toMatchInlineSnapshot(`
      "$ jpg checkout <id>/other ../sparse
      ! error: <root>/sparse is already a worktree of <id>/main.
      ! hint: In that folder, \`jpg use <id>/other\` changes its branch.
      ! hint: Or name another directory.
      [exit 2]
      "
    `);
    await expectRefusal(sandbox, ["checkout", `${sandbox.conversation}/other`, sparse], {
      code: "directory_in_use",
      exit: 2,
      says: /is already a worktree of/,
    });
  });
});
