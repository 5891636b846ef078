// @module-tag law
// Sessions whose lines name parents that the file does not hold, or holds only further on: however such a session grew, the
// store ends where a fresh import of the whole file ends.
import fc from "fast-check";
import { expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { exportConversation } from "../../../src/app/import/export.ts";
import { conversationOf } from "../../../src/core/conversation/name.ts";
import { JpgError } from "../../../src/core/errors.ts";
import type { Json } from "../../helpers/claude-session.ts";
import { runs } from "../../helpers/runs.ts";
import { buildSession, growingSteps } from "../../helpers/session-builder.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

/**
 * Damage to a line: its parent is not in the file, it is removed (a message, not a call), or it comes before the line that it
 * follows, where the agent writes it so: results and attachments.
 */
interface Damage {
  readonly kind: "lost" | "gone" | "early";
  readonly at: number;
}

const damages = (kinds: readonly Damage["kind"][]): fc.Arbitrary<readonly Damage[]> =>
  fc.array(fc.record({ kind: fc.constantFrom(...kinds), at: fc.nat(60) }), { minLength: 1, maxLength: 3 });

function damage(lines: readonly Json[], all: readonly Damage[]): Buffer {
  let left = [...lines];
  for (const { kind, at } of all) {
    const position = 1 + (at % Math.max(1, left.length - 1));
    const line = left[position];
    const text = JSON.stringify(line) ?? "";
    if (line === undefined) continue;
    if (kind === "lost" && typeof line["parentUuid"] === "string")
      left = left.with(position, { ...line, parentUuid: `ffffffff-0000-4000-8000-${String(at).padStart(12, "0")}` });
    else if (kind === "gone" && !text.includes('"tool_use"')) left = left.toSpliced(position, 1);
    else if (kind === "early" && (text.includes('"tool_result"') || line["type"] === "attachment") && position > 1)
      left = left.toSpliced(position - 1, 2, line, left[position - 1]!);
  }
  return Buffer.from(left.map((line) => `${JSON.stringify(line)}\n`).join(""));
}

/** Where the lines of a file end, in bytes, `stride` lines apart; the last is the file's end. */
function* cuts(bytes: Buffer, stride: number): Generator<number> {
  let line = 0;
  for (let end = bytes.indexOf(10) + 1; end > 0; end = bytes.indexOf(10, end) + 1) {
    line += 1;
    if (line % stride === 0 || end === bytes.length) yield end;
  }
}

async function importGrowing(workspace: TestWorkspace, bytes: Buffer, stride: number) {
  let report = null;
  for (const end of cuts(bytes, stride)) {
    try {
      report = await importBytes(workspace, bytes.subarray(0, end), { format: "claude-code" });
    } catch (error) {
      if (!(error instanceof JpgError) || !["empty_session", "not_a_session"].includes(error.code)) throw error;
    }
  }
  return report!;
}

async function viewOf(workspace: TestWorkspace, branch: string): Promise<unknown> {
  const tree = await loadBranchTree(workspace.store, branch, await tipOf(workspace, branch));
  return JSON.parse(await exportConversation(workspace, tree, { to: "anthropic", fullHistory: false, messages: true }));
}

async function expectSameEnd(bytes: Buffer, stride: number): Promise<void> {
  const [grown, whole] = [await createMemoryWorkspace(), await createMemoryWorkspace()];
  const once = await importBytes(whole, bytes, { format: "claude-code" });
  const last = await importGrowing(grown, bytes, stride);
  expect(await viewOf(grown, last.branch)).toEqual(await viewOf(whole, once.branch));
  expect(await tipOf(grown, last.branch)).toBe(await tipOf(whole, once.branch));
  const branches = await grown.store.listBranches();
  expect(branches).toEqual(await whole.store.listBranches());
  expect(branches.filter(({ name }) => conversationOf(name) === conversationOf(last.branch))).toHaveLength(1);
}

it("has one branch where a result was written before its call", () => {
  const steps = ["prompt", { tools: 1 }, "prompt", "prompt"] as const;
  return expectSameEnd(damage(buildSession(steps).lines, [{ kind: "early", at: 1 }]), 1);
});

it("has one branch where a message was written before the request that it follows", () => {
  const { lines } = buildSession(["prompt", "prompt", "prompt", "prompt", "queue", "prompt"]);
  return expectSameEnd(damage(lines, [{ kind: "early", at: 53 }]), 1);
});

const stride = fc.integer({ min: 1, max: 4 });

it("ends where a fresh import ends, whatever parents are lost", { tags: ["slow"] }, async () => {
  await fc.assert(
    fc.asyncProperty(growingSteps, damages(["lost", "gone"]), stride, (steps, all, by) =>
      expectSameEnd(damage(buildSession(steps).lines, all), by),
    ),
    { numRuns: runs(6) },
  );
});

it("ends where a fresh import ends, whatever is written before its parent", { tags: ["slow"] }, async () => {
  await fc.assert(
    fc.asyncProperty(growingSteps, damages(["early", "early", "lost"]), stride, (steps, all, by) =>
      expectSameEnd(damage(buildSession(steps).lines, all), by),
    ),
    { numRuns: runs(6) },
  );
});
