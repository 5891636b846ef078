// @module-tag law
// What leaves is looked at file by file, once: what that finds is what a look at the whole branch finds.
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256 } from "../../../src/app/conversation/runtime.ts";
import { createCheckedFiles } from "../../../src/app/integrity/checked-files.ts";
import { checkBranch } from "../../../src/app/integrity/fsck-branch.ts";
import { checkOutgoing } from "../../../src/app/share/outgoing.ts";
import { refuseDamage } from "../../../src/app/share/refuse-damage.ts";
import { turnPath } from "../../../src/core/conversation/turn-file.ts";
import { plantCommit } from "../../helpers/plant-commit.ts";
import { runs } from "../../helpers/runs.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { git } from "../../helpers/temp-repository.ts";
import { createImportedWorkspace, type GitWorkspace, removeWorkspace } from "../../helpers/workspace.ts";

const TURNS = 12;

let workspace: GitWorkspace;
let branch: string;
/** The tip that was found sound. */
let sound: string;
beforeEach(async () => {
  ({ workspace, branch } = await createImportedWorkspace(buildSession(plainTurns(TURNS)).text()));
  texts.clear();
  const payload = "what is too long for a line\n";
  const name = sha256(payload);
  sound = commit(branch, {
    [attachmentPath(name)]: payload,
    ...record("compactions", { type: "compaction", id: "c1", from_turn: 0, to_turn: 1, reasoning: "strip" }),
    ...record("config", { type: "config_delta", id: "p1", at_turn: 1, tools: { $attachment: name } }),
  });
  await refuseDamage(workspace.store, [{ name: branch, commit: sound }]);
});
afterEach(() => removeWorkspace(workspace));

/** Files of a commit; null = removed. */
type Files = Readonly<Record<string, string | null>>;

function run(args: readonly string[]): string {
  return git(workspace.store.root, workspace.temp.env, args);
}

/** Files of the sound commit that were read, by path. */
const texts = new Map<string, string>();

function read(path: string): string {
  const text = texts.get(path) ?? `${run(["show", `${sound}:${path}`])}\n`;
  texts.set(path, text);
  return text;
}

/** Commits files on a commit; no branch moves. */
function commit(on: string, files: Files): string {
  return plantCommit({ cwd: workspace.store.root, env: workspace.temp.env }, on, files);
}

function record(folder: string, fields: Readonly<Record<string, unknown>>): Files {
  const timestamp = "2026-05-01T12:00:00.000Z";
  return {
    [`${folder}/20260501T120000.000Z-${fields["id"]}.jsonl`]: `${JSON.stringify({ timestamp, ...fields })}\n`,
  };
}

function attachmentPath(name: string): string {
  return `attachments/${name.slice(0, 2)}/${name}`;
}

function event(fields: Readonly<Record<string, unknown>>): string {
  return `${JSON.stringify({ type: "note", kind: "planted", id: "planted", timestamp: "2026-05-01T12:00:00.000Z", ...fields })}\n`;
}

/** Changes of a branch at a turn: some damage it, some do not, and of some it depends on the turn. */
const CHANGES: readonly ((turn: number) => Files)[] = [
  () => record("meta", { type: "meta", id: "m1", title: "T" }),
  () =>
    record("compactions", { type: "compaction", id: "c2", from_turn: 1, to_turn: 3, tool_calls: { policy: "omit" } }),
  () => ({ ".gitattributes": null }),
  (turn) => ({ [turnPath(turn)]: read(turnPath(turn)) + event({}) }),
  (turn) => ({ [turnPath(turn)]: read(turnPath(turn)) + event({ id: firstId(TURNS - turn - 1) }) }),
  (turn) => ({
    [turnPath(turn)]:
      read(turnPath(turn)) + event({ type: "chat_response", message: { $attachment: "ab".repeat(32) } }),
  }),
  (turn) => ({ [turnPath(turn)]: `${read(turnPath(turn))}{"type":"chat_request"}\n` }),
  (turn) => ({ [turnPath(turn)]: read(turnPath(turn)).replace(/^.*\n/, "") }),
  (turn) => ({ [turnPath(turn)]: null }),
  (turn) => ({ [turnPath(TURNS)]: event({ type: "turn_start", id: "next", prev: oidOf(turnPath(turn)) }) }),
  (turn) => ({ [turnPath(TURNS + turn)]: event({ type: "turn_start", id: "next" }) }),
  (turn) => ({ [turnPath(turn)]: read(turnPath((turn + 1) % TURNS)) }),
  () => record("meta", { type: "meta", id: "c1" }),
  () => ({ "compactions/20260501T130000.000Z-c1.jsonl": read("compactions/20260501T120000.000Z-c1.jsonl") }),
  () => ({ "config/20260501T140000.000Z-p2.jsonl": "{" }),
  () => ({ "conversation.json": "{" }),
  () => ({ "conversation.json": '{"format":9,"id":"x"}\n' }),
  () => ({ [attachmentPath(sha256("what is too long for a line\n"))]: null }),
  () => ({ [attachmentPath(sha256("what is too long for a line\n"))]: "something else" }),
  () => ({ [attachmentPath("cd".repeat(32))]: "something else" }),
];

function firstId(turn: number): string {
  return (JSON.parse(read(turnPath(turn)).split("\n")[0] ?? "") as { id: string }).id;
}

function oidOf(path: string): string {
  return run(["rev-parse", `${sound}:${path}`]);
}

async function isDamaged(tip: string): Promise<boolean> {
  const { findings } = await checkBranch(workspace.store, { name: branch, commit: tip }, createCheckedFiles());
  return findings.some(({ severity, code }) => severity === "error" && code !== "newer_format");
}

async function isRefused(tip: string): Promise<boolean> {
  try {
    await refuseDamage(workspace.store, [{ name: branch, commit: tip }]);
    return false;
  } catch (error) {
    expect(error).toMatchObject({ code: "damaged_conversation" });
    return true;
  }
}

describe("what is sent after a tip that is sound", () => {
  it("is refused exactly when a look at the whole branch finds an error", { tags: ["slow"] }, async () => {
    const verdicts = new Set<boolean>();
    const change = fc.tuple(fc.constantFrom(...CHANGES), fc.nat(TURNS - 1));
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 2 }), async (changes) => {
        const tip = commit(sound, Object.assign({}, ...changes.map(([make, turn]) => make(turn))) as Files);
        const isWrong = await isDamaged(tip);
        verdicts.add(isWrong);
        expect(await isRefused(tip)).toBe(isWrong);
        // A tip on top of what was refused is no better for it.
        expect(await isRefused(commit(tip, record("meta", { type: "meta", id: "m9", title: "T" })))).toBe(isWrong);
      }),
      { numRuns: runs(25) },
    );
    expect(verdicts.size).toBe(2);
  });

  it("is refused so for each change, at each end", async () => {
    for (const make of CHANGES)
      for (const turn of [0, TURNS - 1]) {
        const tip = commit(sound, make(turn));
        expect(await isRefused(tip), `${make}`).toBe(await isDamaged(tip));
      }
  });
});

describe("what is sent for the first time", () => {
  it.each([[{}], [{ "compactions/20260501T120000.000Z-c1.jsonl": null }]] as readonly (readonly [Files])[])(
    "is refused exactly when a look at the whole finds an error: %j",
    async (before) => {
      const verdicts = new Set<boolean>();
      for (const make of CHANGES) {
        const tip = commit(sound, { ...before, ...make(TURNS - 2) });
        const isWrong = await isDamaged(tip);
        verdicts.add(isWrong);
        const refused = refuseDamage(workspace.store, [{ name: branch, commit: tip }]);
        if (isWrong) await expect(refused, `${make}`).rejects.toMatchObject({ code: "damaged_conversation" });
        else await refused;
      }
      expect(verdicts.size).toBe(2);
    },
  );

  it.each([
    ["jpg push", "nothing was sent"],
    ["jpg share --full", "nothing was written"],
  ] as const)("is refused by %s with the words for what it did not do: %s", async (command, nothing) => {
    const outgoing = { tips: [{ name: branch, commit: commit(sound, { [turnPath(1)]: null }) }], known: [] };
    await expect(checkOutgoing(workspace, outgoing, { command })).rejects.toMatchObject({
      code: "damaged_conversation",
      message: expect.stringContaining(`copies of it would be, too; ${nothing}:\n`),
    });
  });
});
