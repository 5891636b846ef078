// Sessions in which jpg compacted while the agent ran: an import finds its own compactions and undos again, and makes no turns of
// the context that it gave the agent.
import { beforeEach, describe, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { type BranchTree, loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { loadView } from "../../../src/app/conversation/view.ts";
import { checkStore } from "../../../src/app/integrity/fsck.ts";
import { readCompactionLog } from "../../../src/app/look/log.ts";
import { revertCompactions, undoCompaction } from "../../../src/app/manage/revert.ts";
import { formatLiveMark } from "../../../src/formats/live-mark.ts";
import { type AnswerItem, answerCompaction, writeMark } from "../../helpers/claude-answers.ts";
import { type ClaudeWriter, createClaudeWriter, importLines, sessionBytes } from "../../helpers/claude-session.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

/** A workspace, the session of a running agent, and its branch in the workspace. */
interface Running {
  readonly workspace: TestWorkspace;
  readonly writer: ClaudeWriter;
}

let here: Running;
beforeEach(async () => {
  here = { workspace: await createMemoryWorkspace(), writer: createClaudeWriter() };
});

const keep = async ({ workspace, writer }: Running) => importBytes(workspace, sessionBytes(writer.lines));

async function treeOf(workspace: TestWorkspace): Promise<BranchTree> {
  const [branch] = await workspace.store.listBranches();
  return loadBranchTree(workspace.store, branch!.name, await tipOf(workspace, branch!.name));
}

/** What a view says, a word a block. */
async function said(workspace: TestWorkspace): Promise<readonly string[]> {
  const { view } = await loadView(workspace.store, await treeOf(workspace));
  return view.turns
    .flatMap(({ events }) => events)
    .flatMap((event): readonly string[] => {
      if (event.type === "chat_request") return [String(event.content)];
      if (event.type === "tool_call_request") return [`call ${event.call_id}`];
      if (event.type === "tool_call_response") return [`${event.call_id}: ${String(event.content)}`];
      return event.type === "chat_response" ? [String(event.message ?? `(${event.reasoning})`)] : [];
    })
    .filter((text) => !text.startsWith("<"));
}

async function newestRow(workspace: TestWorkspace) {
  const [row] = await readCompactionLog(workspace, await treeOf(workspace));
  return row!;
}

const kinds = async (workspace: TestWorkspace): Promise<readonly string[]> =>
  (await readCompactionLog(workspace, await treeOf(workspace))).map(({ kind, live }) => `${kind}${live ? "" : "-"}`);

/** Three turns: `prompts` are their rows. */
function talk(writer: ClaudeWriter, words: readonly string[]): readonly string[] {
  return words.map((word) => {
    const prompt = writer.prompt(`ask ${word}`);
    writer.think(`about ${word}`, `answer ${word}`);
    return prompt;
  });
}

const answerOf = (prompts: readonly string[], words: readonly string[]): readonly AnswerItem[] =>
  prompts.flatMap((prompt, at) => [{ keep: prompt }, { say: `answer ${words[at]}` }]);

/** jpg compacts, and the agent installs the answer. */
async function compactLive(
  { workspace, writer }: Running,
  items: readonly AnswerItem[],
  { installs = true }: { installs?: boolean } = {},
): Promise<string> {
  await keep({ workspace, writer });
  const range = { keep: 1 };
  const policies = { reasoning: "strip" } as const;
  const request = { dryRun: false, fork: false, activate: false, range, policies };
  const { compaction, commit } = await compact(workspace, await treeOf(workspace), request);
  const mark = markOf("compact", compaction!.id, commit!, items.length);
  if (installs) answerCompaction(writer, items, { mark });
  else writeMark(writer, mark);
  return compaction!.id;
}

async function undoLive(
  { workspace, writer }: Running,
  items: readonly AnswerItem[],
  compaction: string,
): Promise<void> {
  await keep({ workspace, writer });
  const { commit } = await revertCompactions(workspace, [compaction], (await treeOf(workspace)).branch);
  answerCompaction(writer, items, { mark: markOf("undo", compaction, commit!, items.length) });
}

function markOf(kind: "compact" | "undo", compaction: string, commit: string, rows: number): string {
  return formatLiveMark({ words: "Compacted.", kind, compaction, commit, rows });
}

const WORDS = ["oak", "elm", "ash"];

describe("a session of Claude Code that jpg compacted while it ran", () => {
  it("gains only its new turns in the store that compacted it", async () => {
    const prompts = talk(here.writer, WORDS);
    await compactLive(here, answerOf(prompts, WORDS));
    const before = await kinds(here.workspace);
    talk(here.writer, ["fir"]);
    expect(await keep(here)).toMatchObject({ turns: 4, turns_added: 1, status: "updated", compactions: 1 });
    expect(await kinds(here.workspace)).toEqual(before);
    expect(await said(here.workspace)).toEqual([
      ...WORDS.slice(0, 2).flatMap((word) => [`ask ${word}`, `answer ${word}`]),
      ...["ash", "fir"].flatMap((word) => [`ask ${word}`, `(about ${word})`, `answer ${word}`]),
    ]);
    await undoCompaction(here.workspace, await treeOf(here.workspace));
    expect(await said(here.workspace)).toContain("(about oak)");
    expect((await checkStore(here.workspace)).findings).toEqual([]);
  });

  it("does not count rows that the agent hides from jpg and copies by itself", async () => {
    const { writer, workspace } = here;
    const asked = writer.prompt("ask oak");
    writer.node({ type: "user", isMeta: true, message: { role: "user", content: "Words of a skill." } });
    writer.think("about oak", "answer oak");
    const prompts = [asked, ...talk(writer, ["elm", "ash"])];
    await compactLive(here, answerOf(prompts, WORDS));
    talk(writer, ["fir"]);
    expect(await keep(here)).toMatchObject({ turns: 4, turns_added: 1, status: "updated", compactions: 1 });
    expect(await kinds(workspace)).toHaveLength(1);
    expect((await said(workspace)).slice(0, 3)).toEqual(["ask oak", "Words of a skill.", "answer oak"]);
    expect((await said(workspace)).filter((word) => word === "answer ash")).toHaveLength(1);
  });

  it("shows what the agent sends in a store that lacks the compaction, under its id", async () => {
    const prompts = talk(here.writer, WORDS);
    const items: AnswerItem[] = [
      { user: "in short: oak, elm" },
      { keep: prompts[2]! },
      { say: "answer ash" },
      { say: "" },
    ];
    const id = await compactLive(here, items);
    talk(here.writer, ["fir"]);
    const there = { ...here, workspace: await createMemoryWorkspace() };
    expect(await keep(there)).toMatchObject({ turns: 4, compactions: 1 });
    expect((await readCompactionLog(there.workspace, await treeOf(there.workspace)))[0]).toMatchObject({
      compaction: id,
    });
    expect(await said(there.workspace)).toEqual([
      "in short: oak, elm",
      "ask ash",
      "answer ash",
      "ask fir",
      "(about fir)",
      "answer fir",
    ]);
    await undoCompaction(there.workspace, await treeOf(there.workspace));
    expect((await said(there.workspace)).slice(0, 3)).toEqual(["ask oak", "(about oak)", "answer oak"]);
    expect((await checkStore(there.workspace)).findings).toEqual([]);
  });

  it("has its undos as reverts, here and in a store that lacks them", async () => {
    const prompts = talk(here.writer, WORDS);
    const first = await compactLive(here, answerOf(prompts, WORDS));
    const later = talk(here.writer, ["fir", "yew"]);
    const second = await compactLive(here, answerOf([...prompts, ...later], [...WORDS, "fir", "yew"]));
    await undoLive(here, answerOf([...prompts, ...later], [...WORDS, "fir", "yew"]), second);
    talk(here.writer, ["bay"]);
    await undoLive(here, answerOf(prompts, WORDS), first);
    talk(here.writer, ["box"]);
    expect(await keep(here)).toMatchObject({ turns: 7, status: "updated", compactions: 0 });
    const there = { ...here, workspace: await createMemoryWorkspace() };
    expect(await keep(there)).toMatchObject({ turns: 7, compactions: 0 });
    expect(await kinds(here.workspace)).toEqual(["revert-", "revert-", "compaction-", "compaction-"]);
    expect(await kinds(there.workspace)).toEqual(["revert-", "revert-", "compaction-", "compaction-"]);
    expect(await said(there.workspace)).toEqual(await said(here.workspace));
    expect(await keep(there)).toMatchObject({ status: "unchanged" });
    expect((await checkStore(there.workspace)).findings).toEqual([]);
  });

  it("does not lose what the user brought back since", async () => {
    const prompts = talk(here.writer, WORDS);
    const id = await compactLive(here, answerOf(prompts, WORDS));
    await undoLive(here, answerOf(prompts, WORDS), id);
    await keep(here);
    const commit = (await newestRow(here.workspace)).commit;
    await revertCompactions(here.workspace, [commit], (await treeOf(here.workspace)).branch);
    talk(here.writer, ["fir"]);
    expect(await keep(here)).toMatchObject({ turns: 4, compactions: 1 });
    expect(await said(here.workspace)).not.toContain("(about oak)");
  });

  it("takes back a compaction of the agent's own", async () => {
    talk(here.writer, WORDS);
    here.writer.compact("so far: trees");
    talk(here.writer, ["fir"]);
    await keep(here);
    const { compaction } = await newestRow(here.workspace);
    await undoLive(here, [{ user: "ask oak" }, { say: "answer oak" }], compaction);
    talk(here.writer, ["yew"]);
    for (const workspace of [here.workspace, await createMemoryWorkspace()]) {
      expect(await keep({ ...here, workspace })).toMatchObject({ turns: 5, compactions: 0 });
      expect((await said(workspace)).slice(0, 2)).toEqual(["ask oak", "(about oak)"]);
      expect(await kinds(workspace)).toEqual(["revert-", "compaction-"]);
    }
  });

  it("has no effect of a mark whose answer was not installed", async () => {
    const prompts = talk(here.writer, WORDS);
    const id = await compactLive(here, answerOf(prompts, WORDS), { installs: false });
    const [fir] = talk(here.writer, ["fir"]);
    await revertCompactions(here.workspace, [id], (await treeOf(here.workspace)).branch);
    const again = await compactLive(here, answerOf([...prompts, fir!], [...WORDS, "fir"]));
    talk(here.writer, ["yew"]);
    expect(importLines(here.writer.lines).live?.marks).toMatchObject([
      { compaction: id, isInstalled: false },
      { compaction: again, isInstalled: true },
    ]);
    const there = { ...here, workspace: await createMemoryWorkspace() };
    expect(await keep(there)).toMatchObject({ turns: 5, compactions: 1 });
  });

  it("keeps its turns when compacted several times in the middle of one", async () => {
    const prompts = talk(here.writer, WORDS);
    const fir = here.writer.prompt("ask fir");
    const long: AnswerItem[] = [...answerOf(prompts, WORDS), { keep: fir }];
    let follows: string | undefined;
    for (const round of [1, 2, 3]) {
      here.writer.tools(1);
      const [call, result] = here.writer.lines.slice(-2).map(({ uuid }) => String(uuid));
      const name = /toolu_\d+/.exec(JSON.stringify(here.writer.lines.at(-1)))?.[0] ?? "";
      expect(result).toBeDefined();
      long.push({ keep: call! }, { result: name, text: `short ${round}` });
      const mark = markOf("compact", `k3f9a0b1c${round}`, "0a1b2c3d4e", long.length);
      follows = answerCompaction(here.writer, long, { mark, byCommand: false, follows }).marked;
    }
    here.writer.tools(1);
    here.writer.say("answer fir");
    talk(here.writer, ["yew"]);
    const session = importLines(here.writer.lines);
    expect([session.turnCount, session.abandoned, session.skippedLines]).toEqual([5, [], []]);
    expect(session.compactions.map(({ id }) => id)).toEqual(["k3f9a0b1c1", "k3f9a0b1c2", "k3f9a0b1c3"]);
    expect(session.live?.marks.map(({ isInstalled }) => isInstalled)).toEqual([true, true, true]);
    expect(await keep(here)).toMatchObject({ turns: 5, compactions: 3 });
    expect((await said(here.workspace)).slice(-5, -3)).toEqual([expect.stringContaining("output of"), "answer fir"]);
    expect((await checkStore(here.workspace)).findings).toEqual([]);
    for (let cut = 8; cut < here.writer.lines.length; cut++) {
      const workspace = await createMemoryWorkspace();
      await importBytes(workspace, sessionBytes(here.writer.lines.slice(0, cut)));
      expect(await keep({ ...here, workspace }), String(cut)).toMatchObject({ turns: 5, compactions: 3 });
      expect(await workspace.store.listBranches(), String(cut)).toHaveLength(1);
    }
  });

  it("says under which ids the agent holds the rows of events now", async () => {
    const prompts = talk(here.writer, WORDS);
    await keep(here);
    const mark = markOf("compact", "k3f9a0b1c2", "0a1b2c3d4e", 4);
    const { rows } = answerCompaction(here.writer, answerOf(prompts.slice(1), WORDS.slice(1)), { mark });
    const [fir] = talk(here.writer, ["fir"]);
    const { live } = importLines(here.writer.lines);
    expect(prompts.map((prompt) => live?.handleOf(prompt))).toEqual([undefined, rows[0], rows[2]]);
    expect(live?.handleOf(`${fir}.1`)).toBe(fir);
  });
});

describe("a mark that somebody wrote", () => {
  const FAKE = markOf("compact", "k3f9a0b1c2", "0a1b2c3d4e", 40);

  it("swallows nothing after a compaction of the agent's own", async () => {
    talk(here.writer, WORDS);
    writeMark(here.writer, FAKE);
    here.writer.compact("so far: trees");
    talk(here.writer, ["fir"]);
    expect(await keep(here)).toMatchObject({ turns: 4, compactions: 1 });
    expect(await said(here.workspace)).toEqual(["so far: trees", "ask fir", "(about fir)", "answer fir"]);
  });

  it("does not make an answer longer than it is", async () => {
    const prompts = talk(here.writer, WORDS);
    answerCompaction(here.writer, answerOf(prompts, WORDS), { mark: FAKE, byCommand: false });
    talk(here.writer, ["fir"]);
    expect(await keep(here)).toMatchObject({ turns: 4, compactions: 1 });
    expect((await said(here.workspace)).slice(-3)).toEqual(["ask fir", "(about fir)", "answer fir"]);
  });
});

it("comes to the same when the file grows, wherever it was cut", { tags: ["slow"] }, async () => {
  const prompts = talk(here.writer, WORDS);
  const mark = markOf("compact", "k3f9a0b1c2", "0a1b2c3d4e", 6);
  answerCompaction(here.writer, answerOf(prompts, WORDS), { mark });
  const [fir] = talk(here.writer, ["fir"]);
  const undo = markOf("undo", "k3f9a0b1c2", "1a1b2c3d4e", 8);
  answerCompaction(here.writer, answerOf([...prompts, fir!], [...WORDS, "fir"]), { mark: undo });
  talk(here.writer, ["yew"]);
  for (let cut = 3; cut < here.writer.lines.length; cut++) {
    const workspace = await createMemoryWorkspace();
    await importBytes(workspace, sessionBytes(here.writer.lines.slice(0, cut)));
    expect(await keep({ ...here, workspace }), String(cut)).toMatchObject({ turns: 5, compactions: 0 });
    expect(await kinds(workspace), String(cut)).toEqual(["revert-", "compaction-"]);
  }
});
