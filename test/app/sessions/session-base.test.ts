// Files of Codex that continue another file, as Codex 0.169 writes them where the user went back and where a session was forked:
// both are read as one session, and nothing that was left is lost.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { exportConversation } from "../../../src/app/import/export.ts";
import { importSessions } from "../../../src/app/import/import.ts";
import type { ImportReport } from "../../../src/app/import/import-report.ts";
import { exportOriginal } from "../../../src/app/import/original.ts";
import { createBufferSource } from "../../../src/app/sessions/sources.ts";
import { readCodexSession } from "../../../src/formats/codex/agent.ts";
import { answer, CODEX_SESSION, meta, prompt, rolloutBytes, turnsOf } from "../../helpers/codex-session.ts";
import { writeText } from "../../helpers/temp-repository.ts";
import { createGitWorkspace, type GitWorkspace, inFolder, removeWorkspace, tipOf } from "../../helpers/workspace.ts";

const [SECOND, THIRD, FORK] = [1, 2, 3].map((n) => `019b1111-2222-7333-8444-00000000000${n}`) as [
  string,
  string,
  string,
];
const FIRST_TURN = [meta({ history_mode: "paginated" }), prompt("Which kelp grows here?"), answer("Bull kelp.")];

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
});
afterEach(() => removeWorkspace(workspace));

const place = (name: string, day = "02"): string =>
  inFolder(workspace, join("sessions", "2026", "01", day), `rollout-2026-01-${day}T03-04-05-${name}.jsonl`);

/** What a file continues: a number of lines of another one. */
const base = (file: string, lines: Buffer, end_ordinal_exclusive: number) => ({
  history_mode: "paginated",
  timestamp: `2026-01-02T05:00:0${end_ordinal_exclusive}.000Z`,
  history_base: { thread_id: file, end_ordinal_exclusive, end_byte_offset: lines.length },
});

async function load(...paths: readonly string[]): Promise<readonly ImportReport[]> {
  const { sessions, failed } = await importSessions(workspace, { paths, allBranches: false });
  expect(failed).toEqual([]);
  return sessions;
}

async function sent(branch: string): Promise<readonly string[]> {
  const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  const text = await exportConversation(workspace, tree, { to: "codex", fullHistory: false });
  return [...text.matchAll(/"(?:input|output)_text","text":"([^"]*)"/g)].map(([, said = ""]) => said);
}

/** The names of a branch's turn files by what is in them. */
async function turnFiles(branch: string): Promise<readonly string[]> {
  const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  return tree.turnOids;
}

async function original(branch: string, session?: string): Promise<string> {
  const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  const pieces: Uint8Array[] = [];
  for await (const piece of await exportOriginal(workspace, tree, { session })) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** The session with two turns; then from the first on another second turn, in a file of its own. */
function wentBack(): { readonly first: Buffer; readonly whole: Buffer; readonly second: Buffer } {
  const first = rolloutBytes(FIRST_TURN);
  const whole = rolloutBytes([...FIRST_TURN, prompt("And which crabs?"), answer("Shore crabs.")]);
  const second = rolloutBytes([meta(base(CODEX_SESSION, first, 3)), prompt("And which snails?"), answer("Whelks.")]);
  return { first, whole, second };
}

describe("a session of Codex in which the user went back", () => {
  it("continues the turns before, on a fork, and what the agent left stays", async () => {
    const { whole, second } = wentBack();
    writeText(place(CODEX_SESSION), whole.toString());
    const [{ branch: main } = { branch: "" }] = await load(place(CODEX_SESSION));
    writeText(place(`${CODEX_SESSION}_${SECOND}`, "03"), second.toString());
    const [report] = await load(place(`${CODEX_SESSION}_${SECOND}`, "03"));
    expect(report).toMatchObject({ status: "forked", turns: 2, skipped_lines: 0 });
    const fork = report?.branch ?? "";
    expect(await sent(fork)).toEqual(["Which kelp grows here?", "Bull kelp.", "And which snails?", "Whelks."]);
    expect(await sent(main)).toContain("Shore crabs.");
    const [left, right] = await Promise.all([turnFiles(main), turnFiles(fork)]);
    expect(right[0]).toBe(left[0]);
    expect(await original(fork)).toBe(second.toString());
    expect(await original(main)).toBe(whole.toString());
    const again = await load(place(CODEX_SESSION), place(`${CODEX_SESSION}_${SECOND}`, "03"));
    expect(again.map(({ status }) => status)).toEqual(["unchanged", "unchanged"]);
  });

  it("and went back again, from what that file holds", async () => {
    const { whole, second } = wentBack();
    writeText(place(CODEX_SESSION), whole.toString());
    writeText(place(`${CODEX_SESSION}_${SECOND}`), second.toString());
    const third = [meta(base(SECOND, second, 6)), prompt("And which birds?"), answer("Oystercatchers.")];
    writeText(place(`${CODEX_SESSION}_${THIRD}`), rolloutBytes(third).toString());
    const [report] = await load(place(`${CODEX_SESSION}_${THIRD}`));
    expect(await sent(report?.branch ?? "")).toEqual([
      "Which kelp grows here?",
      "Bull kelp.",
      "And which snails?",
      "Whelks.",
      "And which birds?",
      "Oystercatchers.",
    ]);
    expect(await original(report?.branch ?? "")).toBe(rolloutBytes(third).toString());
  });

  it.each(["gone", "cut short"])("is read as far as it goes where the other file is %s, and says so", async (how) => {
    const { first, second } = wentBack();
    if (how === "cut short") writeText(place(CODEX_SESSION), first.subarray(0, -1).toString());
    writeText(place(`${CODEX_SESSION}_${SECOND}`), second.toString());
    expect(await load(place(`${CODEX_SESSION}_${SECOND}`))).toMatchObject([{ turns: 1, skipped_lines: 1 }]);
  });

  it("has the ids that its events had in the other file, and no id of what was left there", () => {
    const { first, whole, second } = wentBack();
    const [before, after] = [whole, Buffer.concat([first, second])].map((bytes) => {
      const session = readCodexSession(createBufferSource(bytes));
      return turnsOf(session).map(({ events }) => events.map(({ id }) => id));
    });
    expect(after?.[0]).toEqual(before?.[0]);
    expect(after?.[1]?.filter((id) => before?.[1]?.includes(id))).toEqual([]);
  });

  it("is read where files continue each other", async () => {
    const own = rolloutBytes([meta(base(SECOND, Buffer.alloc(20), 3)), prompt("Round and round?"), answer("Yes.")]);
    writeText(place(`${CODEX_SESSION}_${SECOND}`), own.toString());
    expect(await load(place(`${CODEX_SESSION}_${SECOND}`))).toMatchObject([{ turns: 1, skipped_lines: 1 }]);
  });
});

describe("a session that Codex forked off another", () => {
  it("is a fork of its conversation, from the turns that it names", async () => {
    const { first, whole } = wentBack();
    writeText(place(CODEX_SESSION), whole.toString());
    const described = meta({ ...base(CODEX_SESSION, first, 3), id: FORK, forked_from_id: CODEX_SESSION });
    const own = rolloutBytes([described, prompt("And which stars?"), answer("Ochre stars.")]);
    writeText(place(FORK), own.toString());
    const [conversation, fork] = await load(place(CODEX_SESSION), place(FORK));
    expect(fork).toMatchObject({ status: "forked", id: conversation?.id, turns: 2, skipped_lines: 0 });
    expect(await sent(fork?.branch ?? "")).toEqual([
      "Which kelp grows here?",
      "Bull kelp.",
      "And which stars?",
      "Ochre stars.",
    ]);
    expect(await original(fork?.branch ?? "")).toBe(own.toString());
    expect(await original(fork?.branch ?? "", FORK)).toBe(own.toString());
    expect(await original(fork?.branch ?? "", CODEX_SESSION)).toBe(whole.toString());
    expect((await load(place(CODEX_SESSION), place(FORK))).map(({ status }) => status)).toEqual([
      "unchanged",
      "unchanged",
    ]);
  });
});
