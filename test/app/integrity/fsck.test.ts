// Each kind of damage is planted in a sound store with stock git, as a hand, a disk or a merge would leave it.
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { refreshViews } from "../../../src/app/conversation/refresh-view.ts";
import { openWorkspace } from "../../../src/app/conversation/workspace.ts";
import { checkStore, type FsckReport } from "../../../src/app/integrity/fsck.ts";
import type { FindingCode } from "../../../src/core/conversation/branch-files.ts";
import type { Compaction } from "../../../src/core/conversation/compaction.ts";
import { plantCommit } from "../../helpers/plant-commit.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { git } from "../../helpers/temp-repository.ts";
import { createImportedWorkspace, type GitWorkspace, importBytes, removeWorkspace } from "../../helpers/workspace.ts";

const SESSION = "00000000-0000-4000-8000-00000000000a";
const TURN_1 = "turns/0000/000001.jsonl";
const TURN_2 = "turns/0000/000002.jsonl";
const SOURCE = `sources/${SESSION}/0000/000001.jsonl`;
const NEWEST_SOURCE = `sources/${SESSION}/0000/000002.jsonl`;

let workspace: GitWorkspace;
let branch: string;
beforeEach(async () => {
  const session = buildSession([...plainTurns(2), "prompt", { tools: 1 }, "say"], { session: SESSION });
  ({ workspace, branch } = await createImportedWorkspace(session.text()));
});
afterEach(() => removeWorkspace(workspace));

describe("fsck", () => {
  it("finds nothing in a store that is sound", async () => {
    plant({ [pathOf("c1", "12")]: compaction({ reasoning: "strip" }) }, "100644", "compact 0..1: reasoning stripped");
    await refreshViews(workspace, branch);
    expect(await check()).toEqual({ ok: true, branches: 1, turns: 3, findings: [] });
  });

  it.each<[FindingCode, () => void]>([
    ["header_unreadable", () => plant({ "conversation.json": null })],
    ["header_unreadable", () => plant({ "conversation.json": "{" })],
    ["newer_format", () => plant({ "conversation.json": '{"format":9,"id":"x"}\n' })],
    ["turn_missing", () => plant({ [TURN_1]: null })],
    ["turn_malformed", () => plant({ [TURN_1]: `${read(TURN_1)}{"type":"chat_request"}\n` })],
    ["turn_malformed", () => plant({ [TURN_1]: `${read(TURN_1)}not JSON\n` })],
    ["turn_start_missing", () => plant({ [TURN_2]: read(TURN_2).replace(/^.*\n/, "") })],
    ["turn_start_missing", () => plant({ [TURN_2]: "" })],
    ["id_repeated", () => plant({ [TURN_2]: read(TURN_2) + read(TURN_2).split("\n")[1] })],
    ["chain_broken", () => plant({ [TURN_1]: read(TURN_1).replace("request", "another request") })],
    ["record_malformed", () => plant({ "compactions/20260501T120000.000Z-c1.jsonl": "{}\n" })],
    ["record_malformed", () => plant({ "meta/20260501T120000.000Z-m1.jsonl": "two\nlines\n" })],
    ["record_malformed", () => plant({ "config/20260501T120000.000Z-p1.jsonl": metaRecord("p1") })],
    ["record_repeated", () => plant({ ...record("c1", "12"), ...record("c1", "13") })],
    ["attachment_missing", () => plant({ [TURN_2]: read(TURN_2) + attachmentLine("a".repeat(64)) })],
    ["attachment_damaged", () => plant({ [`attachments/aa/${"a".repeat(64)}`]: "something else" })],
    ["source_gap", () => plant({ [SOURCE]: null })],
    ["not_a_file", () => plant({ "meta/link.jsonl": "/etc/passwd" }, "120000")],
    ["object_damaged", () => damageBlob(TURN_1)],
    ["object_damaged", () => removeBlob(TURN_1)],
    ["ref_broken", () => writeFileSync(join(gitDir(), "refs/heads/broken"), "no id\n")],
    ["header_differs", () => plantOn("fork", { "conversation.json": '{"format":1,"id":"x"}\n' })],
  ])("finds an error: %s", async (code, damage) => {
    damage();
    const report = await check();
    expect(codes(report, "error")).toContain(code);
    expect(report.ok).toBe(false);
  });

  it.each<[FindingCode, () => unknown]>([
    ["attributes_differ", () => plant({ ".gitattributes": "* text=auto\n" })],
    ["misplaced_file", () => plant({ "turns/0000/2.jsonl": "{}\n" })],
    ["misplaced_file", () => plant({ "turns/9999999/999999999.jsonl": "{}\n" })],
    ["changed_in_place", () => changeRecord()],
    ["changed_in_place", () => plant({ [TURN_2]: read(TURN_2).replace("answer", "another answer") })],
    ["changed_in_place", () => plant({ [SOURCE]: `${read(SOURCE)}{"type":"summary"}\n` })],
    ["changed_in_place", () => plant({ [NEWEST_SOURCE]: read(NEWEST_SOURCE).replace("answer", "another answer") })],
    ["time_malformed", () => plant({ [TURN_2]: read(TURN_2) + noteLine("yesterday") })],
    ["result_without_call", () => plant({ [TURN_2]: read(TURN_2) + resultLine() })],
    ["record_misnamed", () => plant({ "meta/20260501T120000.000Z-other.jsonl": metaRecord("m1") })],
    ["range_beyond_end", () => plant({ [pathOf("c1", "12")]: compaction({ from_turn: 7, to_turn: 9 }) })],
    ["event_missing", () => plant({ [pathOf("c1", "12")]: compaction({ to_event: "nowhere" }) })],
    [
      "compaction_stale",
      () => plant({ [pathOf("c1", "12")]: compaction({ ...summary(0, 1), covers: "0".repeat(64) }) }),
    ],
    ["summaries_overlap", () => plant({ ...overlapping("c1", 0, 1), ...overlapping("c2", 1, 2) })],
    ["attachment_unused", () => plant({ [`attachments/${EMPTY.slice(0, 2)}/${EMPTY}`]: "" })],
    ["source_without_turn", () => plant({ [`sources/${SESSION}/0000/000003.jsonl`]: "{}\n" })],
    ["message_differs", () => plant(record("c1", "12"), "100644", "compact 0..0: tools stripped")],
    ["view_stale", () => moveBranchAlone()],
  ])("warns: %s", async (code, damage) => {
    await damage();
    const report = await check();
    expect(codes(report, "warning")).toContain(code);
    expect(codes(report, "error")).toEqual([]);
    expect(report.ok).toBe(true);
  });

  it("lets the newest piece of a session grow, and what an agent rewrites each time change", async () => {
    const side = { [`sources/${SESSION}/files/agent.jsonl`]: "{}\n", "sources/other/document.json": "{}\n" };
    plant(side);
    plant({ [NEWEST_SOURCE]: `${read(NEWEST_SOURCE)}{"type":"summary"}\n` });
    plant(Object.fromEntries(Object.keys(side).map((path) => [path, '{"other":1}\n'])));
    expect(codes(await check(), "warning")).not.toContain("changed_in_place");
  });

  it("checks the other branches when a ref or a branch is broken", async () => {
    const session = buildSession(plainTurns(1), { session: `${SESSION.slice(0, -1)}b` });
    const other = await importBytes(workspace, session.text());
    plant({ [TURN_1]: null });
    writeFileSync(join(gitDir(), "refs/heads/broken"), "no id\n");
    const report = await check();
    expect(report.branches).toBe(2);
    expect(report.turns).toBe(4);
    expect(report.findings.filter((finding) => finding.branch === other.branch)).toEqual([]);
  });

  it("checks one conversation only, when asked", async () => {
    const session = buildSession(plainTurns(1), { session: `${SESSION.slice(0, -1)}b` });
    const other = await importBytes(workspace, session.text());
    plant({ [TURN_1]: null });
    const report = await check(new Set([other.branch]));
    expect(report).toEqual({ ok: true, branches: 1, turns: 1, findings: [] });
  });

  it("says what to do about everything", async () => {
    plant({ [TURN_1]: null, ".gitattributes": null, "meta/x": "" });
    const { findings } = await check();
    expect(findings.length).toBeGreaterThan(3);
    for (const { hint, message } of findings) {
      expect(hint).toMatch(/\S/);
      expect(message).not.toMatch(/[.:]$/);
    }
  });
});

/** SHA-256 of nothing. */
const EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/** As a new process would. */
async function check(wanted?: ReadonlySet<string>): Promise<FsckReport> {
  const opened = await openWorkspace(workspace.runtime, { store: workspace.store.root });
  try {
    return await checkStore(opened, wanted);
  } finally {
    await opened.close();
  }
}

function codes({ findings }: FsckReport, severity: string): FindingCode[] {
  return findings.filter((finding) => finding.severity === severity).map(({ code }) => code);
}

function gitDir(): string {
  return workspace.store.gitDir;
}

function run(args: readonly string[], input = ""): string {
  return git(workspace.store.root, workspace.temp.env, args, input);
}

function read(path: string): string {
  return `${run(["show", `${branch}:${path}`])}\n`;
}

/** Commits files (null = removed) on the branch, and updates its worktree. */
function plant(files: Readonly<Record<string, string | null>>, mode = "100644", message?: string): void {
  commitOn(branch, files, mode, message);
  run(["reset", "--quiet", "--hard"]);
}

function plantOn(fork: string, files: Readonly<Record<string, string | null>>): void {
  const name = `${branch.slice(0, branch.lastIndexOf("/"))}/${fork}`;
  run(["branch", name, branch]);
  commitOn(name, files, "100644");
}

function commitOn(name: string, files: Readonly<Record<string, string | null>>, mode: string, message?: string): void {
  const place = { cwd: workspace.store.root, env: workspace.temp.env };
  plantCommit(place, name, files, { branch: name, mode, ...(message === undefined ? {} : { message }) });
}

/** Follows the branch nowhere: no hook runs, no worktree moves. */
function moveBranchAlone(): void {
  commitOn(branch, { [pathOf("c1", "12")]: compaction({ reasoning: "strip" }) }, "100644");
}

function changeRecord(): void {
  plant({ [pathOf("c1", "12")]: compaction({ reasoning: "strip" }) });
  plant({ [pathOf("c1", "12")]: compaction({ reasoning: "strip", to_turn: 2 }) });
}

function damageBlob(path: string): void {
  const file = looseObject(path);
  rmSync(file);
  writeFileSync(file, "damaged");
}

function removeBlob(path: string): void {
  rmSync(looseObject(path));
}

/** The file of a blob, once no object is in a pack. */
function looseObject(path: string): string {
  const oid = run(["rev-parse", `${branch}:${path}`]);
  const folder = join(gitDir(), "objects/pack");
  const files = readdirSync(folder).map((name) => join(folder, name));
  const packs = files.filter((name) => name.endsWith(".pack")).map((name) => readFileSync(name));
  for (const name of files) rmSync(name);
  for (const input of packs)
    execFileSync("git", ["unpack-objects", "-q"], { cwd: workspace.store.root, env: workspace.temp.env, input });
  return join(gitDir(), "objects", oid.slice(0, 2), oid.slice(2));
}

function pathOf(id: string, hour: string): string {
  return `compactions/20260501T${hour}0000.000Z-${id}.jsonl`;
}

function compaction(fields: Partial<Compaction>, id = "c1", hour = "12"): string {
  const timestamp = `2026-05-01T${hour}:00:00.000Z`;
  return `${JSON.stringify({ type: "compaction", id, timestamp, from_turn: 0, to_turn: 1, ...fields })}\n`;
}

function record(id: string, hour: string): Record<string, string> {
  return { [pathOf(id, hour)]: compaction({ reasoning: "strip" }, id, hour) };
}

function summary(from_turn: number, to_turn: number): Partial<Compaction> {
  return { from_turn, to_turn, summary: { summary: "What was said.", source: "authored" } };
}

function overlapping(id: string, from: number, to: number): Record<string, string> {
  const hour = id === "c1" ? "12" : "13";
  return { [pathOf(id, hour)]: compaction(summary(from, to), id, hour) };
}

function metaRecord(id: string): string {
  return `${JSON.stringify({ type: "meta", id, timestamp: "2026-05-01T12:00:00.000Z", title: "T" })}\n`;
}

function line(fields: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify({ id: "planted", timestamp: "2026-05-01T12:00:00.000Z", ...fields })}\n`;
}

function noteLine(timestamp: string): string {
  return line({ type: "note", timestamp, kind: "planted" });
}

function resultLine(): string {
  return line({ type: "tool_call_response", call_id: "nobody", content: "alone", is_error: false });
}

function attachmentLine(name: string): string {
  return line({ type: "chat_response", message: { $attachment: name } });
}
