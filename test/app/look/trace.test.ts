// Tracing a phrase: who was first, in what was said, in summaries (reverted ones too) and in what jpg wrote into the view.

import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compact } from "../../../src/app/compact/compact.ts";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { type TraceReport, tracePhrase } from "../../../src/app/look/trace.ts";
import { forkConversation } from "../../../src/app/manage/fork.ts";
import { revertCompactions } from "../../../src/app/manage/revert.ts";
import { createClaudeWriter, sessionBytes } from "../../helpers/claude-session.ts";
import { smallSession } from "../../helpers/run-jpg.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

let workspace: GitWorkspace;
let small: string;

beforeAll(async () => {
  workspace = await createGitWorkspace();
  small = (await importBytes(workspace, smallSession({ turns: 6 }))).branch;
});
afterAll(() => removeWorkspace(workspace));

const treeOf = async (branch: string) => loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
const trace = async (phrase: string, branch = small): Promise<TraceReport> =>
  tracePhrase(workspace, await treeOf(branch), phrase);
const forkOf = async (name: string): Promise<string> =>
  (await forkConversation(workspace, await treeOf(small), { name, activate: false })).branch;
const turns = (from: number, to: number) => ({
  range: { from: { type: "turn", turn: from }, to: { type: "turn", turn: to } } as const,
  dryRun: false,
  activate: false,
});
const summarise = async (branch: string, to: number, summary: string): Promise<string> => {
  const made = await compact(workspace, await treeOf(branch), {
    ...turns(0, to),
    summary: { summary, source: "authored" },
    force: true,
  });
  return made.compaction?.id ?? "";
};
const kinds = ({ places }: TraceReport): readonly string[] =>
  places.map(({ kind, who, in_view }) => `${kind} ${who}${in_view ? "" : " (gone)"}`);

describe("tracePhrase", () => {
  it("finds who said it first, and everybody after", async () => {
    const report = await trace("Harbour   wall");
    expect(report).toMatchObject({ branch: small, verdict: "said", summaries: 0 });
    expect(report.places[0]).toMatchObject({ kind: "event", who: "user", turn: 1, match: "normalised", in_view: true });
    expect((await trace("stood at 4 metres")).places).toMatchObject([{ who: "assistant", turn: 4, match: "exact" }]);
    expect((await trace("thought 3")).places[0]).toMatchObject({ who: "reasoning", turn: 3 });
    expect(await trace("no such words")).toMatchObject({ verdict: "nowhere", places: [] });
  });

  it("tells what only a summary says, and that somebody repeats it later", async () => {
    const branch = await forkOf("told");
    const id = await summarise(branch, 1, "The harbour wall stood at 3 metres; the ferry is called Lotte.");
    expect(await trace("ferry is called Lotte", branch)).toMatchObject({
      verdict: "summary",
      summaries: 1,
      places: [{ kind: "summary", who: "authored", turn: 0, to_turn: 1, compaction: id, in_view: true }],
    });
    // Turn 3 says so, too, and before the summary was made.
    expect(kinds(await trace("stood at 3 metres", branch))).toEqual(["event assistant", "summary authored"]);
    expect(kinds(await trace("stood at 1 metres", branch))).toEqual(["event assistant (gone)"]);
    expect((await trace("ferry is called Lotte")).verdict).toBe("nowhere");
  });

  it("looks into summaries that were taken back", async () => {
    const branch = await forkOf("reverted");
    const id = await summarise(branch, 2, "The lighthouse keeper agreed.");
    await revertCompactions(workspace, [id], branch);
    expect(kinds(await trace("lighthouse keeper", branch))).toEqual(["summary authored (gone)"]);
  });

  it("puts a summary that came in with its session before what was said after it", async () => {
    const writer = createClaudeWriter();
    writer.prompt("Build the jetty.");
    writer.say("Done.");
    writer.compact("The jetty is of larch wood.");
    writer.prompt("Go on.");
    writer.say("The jetty is of larch wood, as you said.");
    const bytes = sessionBytes(
      writer.lines.map((line) => ({ ...line, sessionId: "5e551073-0000-4000-8000-0000000000cc" })),
    );
    const { branch } = await importBytes(workspace, bytes);
    const report = await trace("of larch wood", branch);
    expect(report.verdict).toBe("repeated");
    expect(kinds(report)).toEqual(["summary imported", "event assistant"]);
  });

  it("names what jpg wrote into the view as such", async () => {
    const branch = await forkOf("stripped");
    await compact(workspace, await treeOf(branch), turns(0, 3));
    const report = await trace("[compacted]", branch);
    expect(report.verdict).toBe("view");
    expect(new Set(report.places.map(({ kind, who }) => `${kind} ${who.split(" ", 2).join(" ")}`))).toEqual(
      new Set(["view tool result"]),
    );
    const pair = await forkOf("pair");
    await summarise(pair, 1, "Short.");
    expect((await trace("[Summary of previous", pair)).places).toMatchObject([{ kind: "view", who: "jpg" }]);
  });

  it("reads a revision, and a fork's own turns", async () => {
    const { branch } = await forkConversation(workspace, await treeOf(small), {
      first: 2,
      name: "cut",
      activate: false,
    });
    expect((await trace("stood at 1 metres", branch)).verdict).toBe("said");
    expect((await trace("stood at 5 metres", branch)).verdict).toBe("nowhere");
  });

  it("finds long texts that are kept in files of their own", async () => {
    const writer = createClaudeWriter();
    writer.prompt(`Here is the log:\n${"wave after wave\n".repeat(25_000)}and then the buoy sank`);
    writer.say("That is long.");
    const bytes = sessionBytes(
      writer.lines.map((line) => ({ ...line, sessionId: "5e551073-0000-4000-8000-0000000000dd" })),
    );
    const { branch } = await importBytes(workspace, bytes);
    expect(kinds(await trace("And then\nthe buoy sank", branch))).toEqual(["event user"]);
  });
});
