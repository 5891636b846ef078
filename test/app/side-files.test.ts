import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { importSessions } from "../../src/app/import.ts";
import { buildSession, plainTurns } from "../helpers/session-builder.ts";
import { git, writeText } from "../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, inFolder, removeWorkspace } from "../helpers/workspace.ts";

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

const stockGit = (...args: string[]): string => git(workspace.temp.root, workspace.temp.env, args);
const SESSION = "5e551073-0000-4000-8000-00000000000a";

describe("files beside a session", () => {
  it("are stored with it, but for those that git refuses, which are named", async () => {
    const file = inFolder(workspace, "sessions", `${SESSION}.jsonl`);
    const beside = (...names: string[]): string => inFolder(workspace, "sessions", SESSION, ...names);
    writeText(file, buildSession(plainTurns(2), { session: SESSION }).text().toString());
    const stored = ["subagents/agent-1.jsonl", "tool-results/.hidden"];
    const refused = [".git/HEAD", ".git/objects/x", "a/.GIT/config", "git~1", "b\tc/d", "e/.gitmodules"];
    for (const name of [...stored, ...refused]) writeText(beside(name), `${name}\n`);

    const { sessions, failed } = await importSessions(workspace, { paths: [file], allBranches: false });
    expect(sessions).toMatchObject([{ status: "created", turns: 2 }]);
    const leftOut = [".git", "a/.GIT", "b\ufffdc", "e/.gitmodules", "git~1"].map((name) => beside(name));
    expect(failed.map(({ path }) => path).sort()).toEqual(leftOut);
    for (const { path, error } of failed) {
      expect(error.code).toBe("side_file_left_out");
      expect(error.message).toContain(path);
    }
    const folder = join("sources", SESSION, "files/");
    const paths = stockGit("ls-tree", "-r", "--name-only", sessions[0]!.branch, folder).split("\n");
    expect(paths).toEqual(stored.map((name) => `${folder}${name}`));
    expect(stockGit("fsck", "--strict")).toBe("");

    const again = await importSessions(workspace, { paths: [file], allBranches: false });
    expect(again.sessions).toMatchObject([{ status: "unchanged" }]);
    expect(again.failed.map(({ path }) => path)).toEqual(failed.map(({ path }) => path));
  });
});
