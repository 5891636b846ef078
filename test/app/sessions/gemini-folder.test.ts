// What Gemini CLI keeps for a directory: a folder named by its own rules, documents of old versions next to files of lines, and
// empty files of sessions that were opened.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { importSessions } from "../../../src/app/import/import.ts";
import type { ImportReport } from "../../../src/app/import/import-report.ts";
import {
  answer,
  documentBytes,
  header,
  type Json,
  list,
  prompt,
  SURROUNDINGS,
  sessionBytes,
  timeOf,
  wentBack,
} from "../../helpers/gemini-session.ts";
import { writeText } from "../../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, removeWorkspace } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

const NAME = "session-2026-01-02T03-00-6e31b1ab";

function keep(folder: string, name: string, bytes: Buffer): void {
  writeText(join(workspace.runtime.home, ".gemini/tmp", folder, "chats", name), bytes.toString());
}

async function load(allBranches = false): Promise<readonly ImportReport[]> {
  return (await importSessions(workspace, { paths: [], allBranches })).sessions;
}

const first = [prompt("u1", "map the beds"), answer("a1", "done")];
const second = [prompt("u2", "and the reef"), answer("a2", "done, too")];
const dated = (messages: readonly Json[]): readonly Json[] =>
  messages.map((message, at) => ({ ...message, timestamp: timeOf(at + 1) }));

describe("the folder that Gemini CLI has for a directory", () => {
  beforeEach(() => {
    const { home, cwd } = workspace.runtime;
    writeText(
      join(home, ".gemini/projects.json"),
      JSON.stringify({ projects: { [cwd]: "tidepool", "/other": "reef" } }),
    );
  });

  it("gives the sessions of that directory only", async () => {
    keep("tidepool", `${NAME}.jsonl`, sessionBytes([header(), ...first]));
    keep("reef", `${NAME}.jsonl`, sessionBytes([header({ sessionId: "other" }), ...second]));
    expect(await load()).toMatchObject([{ status: "created", title: "map the beds", turns: 1 }]);
    expect(await load()).toMatchObject([{ status: "unchanged" }]);
  });

  it("gives one conversation for a document, its later states, and the lines that the agent makes of it", async () => {
    keep("tidepool", `${NAME}.json`, documentBytes(first.slice(0, 1)));
    const [{ branch } = { branch: "" }] = await load();
    keep("tidepool", `${NAME}.json`, documentBytes(first));
    expect(await load()).toMatchObject([{ status: "updated", turns: 1, branch }]);
    keep("tidepool", `${NAME}.json`, documentBytes([...first, ...second]));
    expect(await load()).toMatchObject([{ status: "updated", turns: 2, branch }]);
    const lines = [header(), ...dated([...first, ...second]), list(SURROUNDINGS, ...first, ...second)];
    keep("tidepool", `${NAME}.jsonl`, sessionBytes([...lines, prompt("u3", "again")]));
    expect((await load()).map(({ status, turns }) => [status, turns])).toEqual([
      ["unchanged", 2],
      ["updated", 3],
    ]);
    expect((await load()).map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
  });

  it("is no trouble by the empty file of a session that was opened", async () => {
    keep("tidepool", `${NAME}.jsonl`, sessionBytes([header(), ...first]));
    keep("tidepool", "session-2026-01-02T09-00-6e31b1ab.jsonl", sessionBytes([header(), list(SURROUNDINGS)]));
    const outcome = await importSessions(workspace, { paths: [], allBranches: false });
    expect(outcome.sessions).toMatchObject([{ status: "created", turns: 1 }]);
    expect(outcome.failed.map(({ error }) => error.code)).toEqual([]);
  });

  it("gives what was left by going back as a fork, when it is asked for, and after it as one", async () => {
    const before = [header(), ...first, ...second];
    keep("tidepool", `${NAME}.jsonl`, sessionBytes(before));
    const [{ branch } = { branch: "" }] = await load();
    keep("tidepool", `${NAME}.jsonl`, sessionBytes([...before, wentBack("u2"), prompt("u3", "the shore")]));
    const [report] = await load(true);
    expect(report).toMatchObject({ status: "forked", turns: 2 });
    expect(report?.branch).not.toBe(branch);
  });
});
