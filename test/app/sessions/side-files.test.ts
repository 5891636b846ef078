import { symlinkSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type ImportOutcome, importSessions } from "../../../src/app/import/import.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { git, writeText } from "../../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, inFolder, removeWorkspace } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
let file: string;
beforeEach(async () => {
  workspace = await createGitWorkspace();
  file = inFolder(workspace, "sessions", `${SESSION}.jsonl`);
  writeText(file, buildSession(plainTurns(2), { session: SESSION }).text().toString());
});
afterEach(() => removeWorkspace(workspace));

const SESSION = "5e551073-0000-4000-8000-00000000000a";
const stockGit = (...args: string[]): string => git(workspace.temp.root, workspace.temp.env, args);
const beside = (...names: string[]): string => inFolder(workspace, "sessions", SESSION, ...names);
const load = (): Promise<ImportOutcome> => importSessions(workspace, { paths: [file], allBranches: false });

function storedNames({ sessions }: ImportOutcome): string[] {
  const folder = join("sources", SESSION, "files/");
  const listed = stockGit("ls-tree", "-r", "--name-only", sessions[0]!.branch, folder);
  return listed === "" ? [] : listed.split("\n").map((path) => path.slice(folder.length));
}

describe("side files of a session", () => {
  it("are stored when the agent wrote them; others are named but neither read nor stored", async () => {
    for (const name of ["subagents/agent-1.jsonl", "tool-results/r.txt"]) writeText(beside(name), "12345");
    const foreign = [".env", ".ssh/id_rsa", ".git/HEAD", "src/subagents/agent-2.jsonl", "tool-results/.hidden.txt"];
    for (const name of foreign) writeText(beside(name), "secret");
    const outcome = await load();
    expect(storedNames(outcome)).toEqual(["subagents/agent-1.jsonl", "tool-results/r.txt"]);
    expect(outcome.failed).toEqual([]);
    const left = [".env", ".git/", ".ssh/", "src/", "tool-results/.hidden.txt"];
    expect(outcome.sessions[0]!.side_files).toEqual({ files: 2, bytes: 10, left });
    expect(stockGit("fsck", "--strict")).toBe("");
  });

  it("are not read through links: of a file, of a folder in between, of the whole folder", async () => {
    const secret = inFolder(workspace, "elsewhere", "subagents", "agent-1.jsonl");
    writeText(secret, "secret");
    writeText(beside("tool-results/own.txt"), "own");
    symlinkSync(secret, beside("tool-results", "r.txt"));
    symlinkSync(join(secret, ".."), beside("subagents"));
    const outcome = await load();
    expect(storedNames(outcome)).toEqual(["tool-results/own.txt"]);
    expect(outcome.sessions[0]!.side_files?.left).toEqual(["subagents", "tool-results/r.txt"]);

    const other = "5e551073-0000-4000-8000-00000000000b";
    const linked = inFolder(workspace, "sessions", `${other}.jsonl`);
    writeText(linked, buildSession(plainTurns(1), { session: other }).text().toString());
    symlinkSync(inFolder(workspace, "elsewhere"), inFolder(workspace, "sessions", other));
    const { sessions } = await importSessions(workspace, { paths: [linked], allBranches: false });
    expect(sessions[0]!.side_files).toBeUndefined();
    expect(stockGit("ls-tree", "-r", "--name-only", sessions[0]!.branch)).not.toContain("/files/");
  });

  it("are left out by name where git refuses them and where they are too large", async () => {
    for (const name of ["a\tb.txt", "huge.txt", "ok.txt"]) writeText(beside("tool-results", name), "x");
    truncateSync(beside("tool-results", "huge.txt"), 51 * 1024 * 1024);
    const outcome = await load();
    expect(storedNames(outcome)).toEqual(["tool-results/ok.txt"]);
    const leftOut = ["tool-results/a b.txt", "tool-results/huge.txt"].map((name) => beside(name));
    expect(outcome.failed.map(({ path }) => path)).toEqual(leftOut);
    for (const { path, error } of outcome.failed) {
      expect(error.code).toBe("side_file_left_out");
      expect(error.message).toContain(path);
    }
    const again = await load();
    expect(again.sessions).toMatchObject([{ status: "unchanged" }]);
    expect(again.failed.map(({ path }) => path)).toEqual(leftOut);
  });
});
