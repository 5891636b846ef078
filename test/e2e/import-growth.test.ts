// Sessions that grow, with the git program: what is imported again is appended, whatever the user did meanwhile.
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { compact } from "../../src/app/compact/compact.ts";
import { type BranchTree, loadBranchTree } from "../../src/app/conversation/tree.ts";
import { loadCompactions, loadView } from "../../src/app/conversation/view.ts";
import { importSessions } from "../../src/app/import/import.ts";
import { exportOriginal } from "../../src/app/import/original.ts";
import { readCompactionLog } from "../../src/app/look/log.ts";
import { forkConversation } from "../../src/app/manage/fork.ts";
import { revertCompactions } from "../../src/app/manage/revert.ts";
import { parseBound } from "../../src/core/conversation/range-bound.ts";
import { JpgError } from "../../src/core/errors.ts";
import { corpusMissing, GROWTH_SERIES, readCorpusFile, sharedFolder } from "../helpers/corpus.ts";
import { buildSession, plainTurns, type SessionStep } from "../helpers/session-builder.ts";
import { git } from "../helpers/temp-repository.ts";
import {
  createGitWorkspace,
  createMemoryWorkspace,
  type GitWorkspace,
  importBytes,
  inFolder,
  removeWorkspace,
  type TestWorkspace,
  tipOf,
} from "../helpers/workspace.ts";

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

const stockGit = (...args: string[]): string => git(workspace.temp.root, workspace.temp.env, args);
const load = (steps: readonly SessionStep[]) => importBytes(workspace, buildSession(steps).text());
const treeOf = async (of: TestWorkspace, branch: string): Promise<BranchTree> =>
  loadBranchTree(of.store, branch, await tipOf(of, branch));
const subjects = (branch: string): string[] => stockGit("log", "--format=%s", branch).split("\n");

async function summarise(branch: string, to: number): Promise<string> {
  const range = { from: parseBound("0"), to: parseBound(String(to)) };
  const request = { range, summary: { summary: "in short" }, dryRun: false, fork: false, activate: false };
  return (await compact(workspace, await treeOf(workspace, branch), request)).compaction!.id;
}

async function originalOf(of: TestWorkspace, branch: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of await exportOriginal(of, await treeOf(of, branch))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

describe("a session that grows", () => {
  it("has the same commits in every engine, whoever imports it and whenever", async () => {
    const steps: SessionStep[] = [...plainTurns(3), { compact: 0 }, "prompt", { tools: 2 }, "title", "say"];
    const { branch } = await load(steps);
    const other = await createMemoryWorkspace();
    await importBytes(other, buildSession(steps).text());
    expect(await tipOf(other, branch)).toBe(await tipOf(workspace, branch));
    const authors = stockGit("log", "--format=%an <%ae> %cn", branch).split("\n");
    expect(new Set(authors)).toEqual(new Set(["Claude Code <claude-code@jpg.invalid> Claude Code"]));
    expect(stockGit("fsck", "--strict")).toBe("");
  });

  it("replaces the newest turn's commit while nothing was built on it", async () => {
    const { branch } = await load(plainTurns(2));
    await load([...plainTurns(2), "say"]);
    await load([...plainTurns(2), "say", "title", "think"]);
    expect(subjects(branch).filter((subject) => subject.startsWith("turn 1"))).toEqual(["turn 1: request 2"]);
    expect(stockGit("status", "--porcelain")).toBe("");
  });

  it("goes on with the turn in a commit of its own when the user compacted meanwhile, and keeps that in force", async () => {
    const { branch } = await load(plainTurns(4));
    const id = await summarise(branch, 3);
    const grown = await load([...plainTurns(4), "say"]);
    expect(grown).toMatchObject({ status: "updated", branch, turns: 4, turns_added: 0, compactions: 1 });
    expect(subjects(branch)[0]).toBe("turn 3 (continued)");
    await load([...plainTurns(4), "say", "say"]);
    expect(subjects(branch).slice(0, 2)).toEqual(["turn 3 (continued)", expect.stringContaining("compact 0..3")]);
    const later = await load([...plainTurns(4), "say", "say", "prompt"]);
    expect(later).toMatchObject({ status: "updated", turns: 5, turns_added: 1 });
    expect(subjects(branch)[0]).toBe("turn 4: request 11");
    const tree = await treeOf(workspace, branch);
    expect((await loadCompactions(workspace.store, tree)).applied.map((one) => one.id)).toEqual([id]);
    const { view } = await loadView(workspace.store, tree);
    expect(view.turns.map(({ origin }) => origin)).toMatchObject([
      { kind: "summary", from: 0, to: 3 },
      { kind: "kept", turn: 3, part: true },
      { kind: "kept", turn: 4 },
    ]);
  });

  it("leaves a fork as it is that was made of the turn before it grew", async () => {
    const { branch } = await load(plainTurns(3));
    const fork = await forkConversation(workspace, await treeOf(workspace, branch), { name: "b", activate: false });
    const before = await tipOf(workspace, fork.branch);
    await load([...plainTurns(3), "say"]);
    expect(subjects(branch)[0]).toBe("turn 2 (continued)");
    expect(await tipOf(workspace, fork.branch)).toBe(before);
    expect(stockGit("merge-base", branch, fork.branch)).toBe(before);
  });

  it("does not bring a compaction of the agent back that the user took back", async () => {
    const steps: SessionStep[] = [...plainTurns(3), { compact: 0 }, "prompt", "say"];
    const { branch } = await load(steps);
    const [row] = await readCompactionLog(workspace, await treeOf(workspace, branch));
    await revertCompactions(workspace, [row!.compaction]);
    for (const more of [["say"], ["say", "prompt", "say"]] as const) {
      expect(await load([...steps, ...more])).toMatchObject({ status: "updated", branch, compactions: 0 });
      expect((await treeOf(workspace, branch)).compactions).toEqual([]);
    }
    const { view } = await loadView(workspace.store, await treeOf(workspace, branch));
    expect(view.turns.every(({ origin }) => origin.kind === "kept")).toBe(true);
  });

  it("brings worktrees and views of every branch it moved along", async () => {
    const { branch } = await load(plainTurns(2));
    const checkout = inFolder(workspace, "checkout");
    stockGit("worktree", "add", "--force", "--quiet", checkout, branch);
    await load([...plainTurns(2), "say"]);
    await load(plainTurns(4));
    for (const folder of [checkout, workspace.temp.root])
      expect(git(folder, workspace.temp.env, ["status", "--porcelain"])).toBe("");
  });

  it("is not lost or doubled when several processes import it at once", { tags: ["slow"] }, async () => {
    const bin = fileURLToPath(new URL("../../bin/jpg.js", import.meta.url));
    const states = [2, 3, 4, 5].map((count) => {
      const path = inFolder(workspace, `state-${count}.jsonl`);
      writeFileSync(path, buildSession(plainTurns(count)).text());
      return path;
    });
    const run = (path: string) =>
      promisify(execFile)(process.execPath, [bin, "import", "--json", "--store", workspace.temp.root, path], {
        env: workspace.temp.env,
        cwd: workspace.temp.folder,
      });
    const reports = await Promise.all(states.map(run));
    const branches = new Set(reports.map(({ stdout }) => (JSON.parse(stdout) as { branch: string }[])[0]!.branch));
    expect(branches.size).toBe(1);
    const [branch] = [...branches];
    expect((await workspace.store.listBranches()).map(({ name }) => name)).toEqual([branch]);
    const alone = await createMemoryWorkspace();
    await importBytes(alone, buildSession(plainTurns(5)).text());
    expect(await tipOf(workspace, branch!)).toBe(await tipOf(alone, branch!));
    expect(stockGit("status", "--porcelain")).toBe("");
  });
});

const corpusFile = (name: string): string => `claude-code/entireio__cli/${name}.jsonl`;
if (corpusMissing !== null) console.warn(`corpus: growing sessions are not imported (SKIPPED: ${corpusMissing})`);

describe.skipIf(corpusMissing !== null)("corpus: real sessions", () => {
  it("corpus: a session imported at each of its checkpoints ends at the same commit as imported once", async () => {
    let branch = "";
    for (const state of GROWTH_SERIES) {
      const report = await importBytes(workspace, readCorpusFile(state));
      expect(["created", "updated"]).toContain(report.status);
      ({ branch } = report);
    }
    const whole = await createGitWorkspace();
    const once = await importBytes(whole, readCorpusFile(GROWTH_SERIES.at(-1)!));
    expect(await tipOf(workspace, branch)).toBe(await tipOf(whole, once.branch));
    expect((await workspace.store.listBranches()).length).toBe(1);
    for (const state of GROWTH_SERIES.toReversed())
      expect(await importBytes(workspace, readCorpusFile(state))).toMatchObject({ status: "unchanged" });
    await removeWorkspace(whole);
  });

  it("corpus: sessions imported at some of their lines end at the turns of the whole, or in a fork that has them", async () => {
    for (const name of ["cd_95adddad32_0", "5c_5cb639eac4_0", "13_db96e5c261_0"]) {
      const bytes = readCorpusFile(corpusFile(name));
      const one = await createGitWorkspace();
      for (const share of [0.2, 0.35, 0.5, 0.65, 0.8, 0.95]) {
        const end = bytes.indexOf(10, Math.floor(bytes.length * share)) + 1;
        await importBytes(one, bytes.subarray(0, end)).catch((error) => {
          if (!(error instanceof JpgError) || error.code !== "empty_session") throw error;
        });
      }
      const grown = await importBytes(one, bytes);
      const whole = await createGitWorkspace();
      const once = await importBytes(whole, bytes);
      expect((await treeOf(one, grown.branch)).turnOids).toEqual((await treeOf(whole, once.branch)).turnOids);
      expect((await originalOf(one, grown.branch)).equals(bytes)).toBe(true);
      expect(await importBytes(one, bytes)).toMatchObject({ status: "unchanged", branch: grown.branch });
      for (const each of [one, whole]) await removeWorkspace(each);
    }
  });

  it("corpus: every Claude Code session comes back byte for byte", async () => {
    const paths = [`${sharedFolder}/corpus/claude-code`];
    const { sessions, failed } = await importSessions(workspace, { paths, allBranches: true });
    expect(failed).toEqual([]);
    const longest = new Map<string, string>();
    for (const { branch, source } of sessions) {
      const known = longest.get(branch);
      const size = (path: string): number => readCorpusFile(path.slice(`${sharedFolder}/corpus/`.length)).length;
      if (known === undefined || size(source!) > size(known)) longest.set(branch, source!);
    }
    expect(longest.size).toBe(13);
    for (const [branch, path] of longest) {
      const bytes = readCorpusFile(path.slice(`${sharedFolder}/corpus/`.length));
      expect((await originalOf(workspace, branch)).equals(bytes)).toBe(true);
    }
  });
});
