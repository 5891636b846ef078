// The whole loop with jp: found in the project, compacted, exported, gone on with, imported again. There is no jp here: what it sends
// and saves is told by its specification (`jp-rules.ts`).
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { addToStream, type Entry, sentByJp } from "../helpers/jp-rules.ts";
import { variedJpStream } from "../helpers/jp-steps.ts";
import { createSandbox, type Sandbox, smallSession } from "../helpers/run-jpg.ts";

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.remove());

interface Report {
  readonly id: string;
  readonly status: string;
  readonly branch: string;
  readonly turns: number;
  readonly compactions: number;
}

async function jpg(...args: string[]): Promise<string> {
  const { stdout, stderr, code } = await sandbox.jpg(args);
  if (code !== 0) throw new Error(`jpg ${args.join(" ")}: exit ${code}\n${stderr}${stdout}`);
  return stdout;
}

const bringIn = async (...paths: string[]): Promise<readonly Report[]> =>
  JSON.parse(await jpg("import", ...paths, "--json")) as Report[];

/** Writes a conversation where jp keeps them, and gives its file. */
function keep(id: string, stream: string | readonly Entry[]): string {
  const file = join(sandbox.project, ".jp", "conversations", id, "events.json");
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, typeof stream === "string" ? stream : `${JSON.stringify(stream, null, 2)}\n`);
  return file;
}

function turn(text: string, minute: number): readonly Entry[] {
  const time = (second: number): string => `2026-11-24 09:${String(minute).padStart(2, "0")}:0${second}.5`;
  return [
    { timestamp: time(1), type: "turn_start" },
    { timestamp: time(2), type: "chat_request", content: text },
    { timestamp: time(3), type: "chat_response", message: `${text}: done` },
  ];
}

const sentIn = (file: string): readonly unknown[] => sentByJp(JSON.parse(readFileSync(file, "utf8")) as Entry[]);
const goOn = (file: string, entries: readonly Entry[]): void =>
  writeFileSync(file, addToStream(readFileSync(file, "utf8"), entries));

/** What is sent of the view, as an export of the conversation as it stands tells it. */
async function view(): Promise<readonly unknown[]> {
  return sentByJp(JSON.parse(await jpg("export", "--to", "jp")) as Entry[]);
}

describe("the loop with jp", () => {
  it("finds conversations in the project, and takes what jp adds", async () => {
    const file = keep("17671120783-kelp", variedJpStream());
    const bytes = readFileSync(file, "utf8");
    writeFileSync(join(dirname(file), "metadata.json"), '{\n  "title": "Kelp beds",\n  "labels": {"draft": ""}\n}\n');
    const [created] = await bringIn();
    expect(created).toMatchObject({ status: "created", turns: 3, compactions: 2 });
    expect(await jpg("ls")).toContain("Kelp beds");
    expect((await bringIn())[0]).toMatchObject({ status: "unchanged", branch: created?.branch });
    expect(await jpg("export", "--original")).toBe(bytes);
    expect(await view()).toEqual(sentIn(file));

    goOn(file, turn("And the deep?", 1));
    expect((await bringIn())[0]).toMatchObject({ status: "updated", branch: created?.branch, turns: 4 });
    goOn(file, [
      {
        type: "compaction",
        timestamp: "2026-11-24 09:02:00.0",
        from_turn: 0,
        to_turn: 3,
        summary: { summary: "All of it." },
      },
      ...turn("Next.", 3),
    ]);
    expect((await bringIn())[0]).toMatchObject({ status: "updated", turns: 5 });
    expect(await view()).toEqual(sentIn(file));
    expect(await jpg("print", "--compacted")).toContain("All of it.");
    goOn(file, turn("By sync.", 4));
    expect(JSON.parse(await jpg("sync", "jp", "--json"))).toMatchObject({
      sessions: [{ status: "updated", turns: 6 }],
    });
    expect(await jpg("fsck")).toContain("nothing");
  });

  it("takes a fork that jp made for a fork, whichever is imported first or again", async () => {
    const first = keep("1", variedJpStream());
    await bringIn();
    const [start, request, ...rest] = variedJpStream();
    const second = keep("2", [start!, request!, ...rest.slice(0, 7), ...turn("Another way.", 1)]);
    const forked = (await bringIn(second))[0];
    expect(forked).toMatchObject({ status: "forked", turns: 2 });
    goOn(first, turn("On the old way.", 2));
    const reports = await bringIn();
    expect(reports.map(({ status, turns }) => [status, turns]).sort()).toEqual([
      ["unchanged", 2],
      ["updated", 4],
    ]);
    expect(new Set(reports.map(({ branch }) => branch)).size).toBe(2);
    expect(new Set(reports.map(({ id }) => id)).size).toBe(1);
  });

  const COMPACTIONS: Readonly<Record<string, readonly (readonly string[])[]>> = {
    nothing: [],
    "what jp can say": [["--keep", "1", "--force"]],
    "a summary": [["--from", "0", "--to", "1", "--accept", "SUMMARY", "--force"]],
    "a summary over all": [["--from", "0", "--to", "2", "--accept", "SUMMARY", "--force"]],
    "a summary, then what jp can say": [
      ["--from", "0", "--to", "0", "--accept", "SUMMARY", "--force"],
      ["--to", "1", "--force"],
    ],
    "what jp can say in other words": [["--strategy", "strip-tool-results", "--keep", "0", "--force"]],
    "what jp cannot say": [["--from", "0", "--to", "0:c20260304050006000004", "--force"]],
    "both, and a summary": [
      ["--from", "0", "--to", "0:c20260304050006000004", "--force"],
      ["--strategy", "strip-tool-results", "--keep", "0", "--force"],
      ["--from", "1", "--to", "1", "--accept", "SUMMARY", "--force"],
    ],
  };

  it.each(Object.entries(COMPACTIONS))("closes twice after %s", async (_, compactions) => {
    const [{ turns, branch } = { turns: 0, branch: "" }] = await bringIn(keep("1", variedJpStream()));
    const summary = join(sandbox.root, "summary.md");
    writeFileSync(summary, "## TASK STATE\nEverything until here was done.\n");
    for (const args of compactions) await jpg("compact", ...args.map((word) => (word === "SUMMARY" ? summary : word)));
    const file = keep("2", await jpg("export", "--to", "jp"));
    const before = await view();
    expect((await bringIn(file))[0]).toMatchObject({ status: "unchanged", turns, branch });

    for (const [count, text] of ["go on, please", "and once more"].entries()) {
      goOn(file, turn(text, count));
      expect((await bringIn(file))[0]).toMatchObject({ status: "updated", turns: turns + count + 1, branch });
      expect((await bringIn(file))[0]).toMatchObject({ status: "unchanged", turns: turns + count + 1, branch });
    }
    const added = ["go on, please", "and once more"].flatMap((text) => [
      ["chat_request", text],
      ["chat_response", "message", `${text}: done`],
    ]);
    expect(await view()).toEqual([...before, ...added]);
    expect(sentIn(file)).toEqual([...before, ...added]);
    expect((await sandbox.jpg(["fsck"])).code).toBe(0);
  });

  it("takes what jp compacts in an exported conversation, over the turns that jp meant", async () => {
    const [{ turns } = { turns: 0 }] = await bringIn(keep("1", variedJpStream()));
    await jpg("compact", "--from", "0", "--to", "0", "--strategy", "strip-reasoning");
    const file = keep("2", await jpg("export", "--to", "jp"));
    goOn(file, turn("go on, please", 1));
    const newest = { type: "compaction", timestamp: "2027-11-24 09:02:00.0" };
    goOn(file, [
      { ...newest, from_turn: 1, to_turn: 2, summary: { summary: "The middle." } },
      ...turn("and once more", 3),
    ]);
    expect((await bringIn(file))[0]).toMatchObject({ status: "updated", turns: turns + 2 });
    expect(await view()).toEqual(sentIn(file));
  });

  it("takes a conversation of Claude Code to jp and back, and one of jp to Claude Code", async () => {
    const session = sandbox.session("small.jsonl", smallSession({ turns: 4 }));
    const [{ branch } = { branch: "" }] = await bringIn(session);
    await jpg("compact", "--keep", "1");
    const before = await view();
    const file = keep("1", await jpg("export", "--to", "jp"));
    expect((await bringIn(file))[0]).toMatchObject({ status: "unchanged", branch });
    goOn(file, turn("go on, please", 1));
    expect((await bringIn(file))[0]).toMatchObject({ status: "updated", turns: 5, branch });
    expect(await view()).toEqual([
      ...before,
      ["chat_request", "go on, please"],
      ["chat_response", "message", "go on, please: done"],
    ]);

    await bringIn(keep("2", variedJpStream()));
    const { path } = JSON.parse(await jpg("resume", "--with", "claude-code", "--json")) as { path: string };
    expect(readFileSync(path, "utf8")).toContain("And the reef?");
    expect((await bringIn(path))[0]).toMatchObject({ status: "unchanged", turns: 3 });
  });

  it("takes what jp sets for compactions as settings of the conversation, once", async () => {
    const settings = (minute: number, response: string): Entry => ({
      type: "config_delta",
      timestamp: `2026-11-24 09:0${minute}:00.0`,
      delta: { conversation: { compaction: { keep_last: 1 }, tools: { fs_read_file: { compaction: { response } } } } },
    });
    const shown = async (key: string): Promise<string> => (await jpg("config", key)).trim();
    const file = keep("1", [...variedJpStream(), settings(1, "keep"), ...turn("And the deep?", 2)]);
    await bringIn();
    expect(await shown("tools.fs_read_file")).toContain('response="keep"');
    expect(await shown("keep_last")).toBe("conversation.compaction.keep_last=1");
    goOn(file, [settings(3, "strip"), ...turn("Deeper.", 4)]);
    expect((await bringIn())[0]).toMatchObject({ status: "updated", turns: 5 });
    expect(await shown("tools.fs_read_file")).toContain('response="strip"');
    const copy = keep("2", await jpg("export", "--to", "jp"));
    goOn(copy, turn("Up.", 5));
    expect((await bringIn(copy))[0]).toMatchObject({ status: "updated", turns: 6 });
    expect(sandbox.git(["ls-tree", "--name-only", "HEAD:config"]).trim().split("\n")).toHaveLength(2);
    expect((await sandbox.jpg(["fsck"])).code).toBe(0);
  });

  it("says that it cannot resume in jp, and what a damaged conversation lacks", async () => {
    await bringIn(keep("1", variedJpStream()));
    const { code, stderr } = await sandbox.jpg(["resume", "--with", "jp"]);
    expect([code, stderr]).toEqual([2, expect.stringContaining("jpg cannot resume in jp:")]);
    const file = keep("2", JSON.stringify(variedJpStream(), null, 2).slice(0, -200));
    const damaged = await sandbox.jpg(["import", file]);
    expect([damaged.code, damaged.stderr]).toEqual([2, expect.stringContaining("cut off before its end")]);
  });
});
