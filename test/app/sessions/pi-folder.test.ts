// pi keeps the sessions of several directories in one folder now and then: only those of this one are its own.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { importSessions } from "../../../src/app/import/import.ts";
import type { ImportReport } from "../../../src/app/import/import-report.ts";
import { createPiWriter } from "../../helpers/pi-session.ts";
import { writeText } from "../../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, removeWorkspace } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

function usualFolder(): string {
  const { home, cwd: here } = workspace.runtime;
  const slug = here.replace(/^[/\\]/, "").replace(/[/\\:]/g, "-");
  return join(home, ".pi", "agent", "sessions", `--${slug}--`);
}

function keep(id: string, cwd: string, words: string, folder = usualFolder()): string {
  const path = join(folder, `2026-01-02T10-00-00-000Z_${id}.jsonl`);
  const pi = createPiWriter({ header: { id, cwd } });
  pi.user(words);
  pi.say("done");
  writeText(path, pi.bytes().toString());
  return path;
}

async function load(): Promise<readonly ImportReport[]> {
  return (await importSessions(workspace, { paths: [], allBranches: false })).sessions;
}

describe("pi's folder of a directory", () => {
  it("gives the sessions of that directory, and what is new in them", async () => {
    const { cwd } = workspace.runtime;
    keep("aaaa", cwd, "map the beds");
    keep("bbbb", `${cwd}-other`, "somebody else's");
    expect(await load()).toMatchObject([{ status: "created", title: "map the beds", turns: 1 }]);
    keep("cccc", cwd, "and the reef");
    expect((await load()).map(({ status, title }) => [status, title]).sort()).toEqual([
      ["created", "and the reef"],
      ["unchanged", "map the beds"],
    ]);
  });

  it("may be another one, by the settings of the user or the project, or by the environment", async () => {
    const { home, cwd } = workspace.runtime;
    const titles = async (): Promise<readonly (string | undefined)[]> =>
      (await load()).map(({ title }) => title).sort();
    keep("aaaa", cwd, "usual");
    keep("bbbb", cwd, "in mine", join(home, "mine"));
    keep("cccc", `${cwd}-other`, "in mine, somebody else's", join(home, "mine"));
    keep("dddd", cwd, "in ours", join(cwd, "ours"));
    keep("eeee", cwd, "in theirs", join(home, "theirs"));
    expect(await titles()).toEqual(["usual"]);
    writeText(join(home, ".pi", "agent", "settings.json"), JSON.stringify({ sessionDir: "~/mine" }));
    expect(await titles()).toEqual(["in mine", "usual"]);
    writeText(join(cwd, ".pi", "settings.json"), JSON.stringify({ sessionDir: "ours" }));
    expect(await titles()).toEqual(["in ours", "usual"]);
    writeText(join(cwd, ".pi", "settings.json"), "{ damaged");
    expect(await titles()).toEqual(["in mine", "usual"]);
    Object.assign(workspace.runtime.env, { PI_CODING_AGENT_SESSION_DIR: join(home, "theirs") });
    expect(await titles()).toEqual(["in theirs", "usual"]);
  });
});
