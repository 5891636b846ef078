// @module-tag law
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readSource } from "../../../src/app/sessions/open-session.ts";
import { conversationOf } from "../../../src/core/conversation/name.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { runs } from "../../helpers/runs.ts";
import { anySteps, buildSession, growingSteps, type SessionStep } from "../../helpers/session-builder.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace, tipOf } from "../../helpers/workspace.ts";

/** Imports every state of a session, one line more each time; states in which nobody has asked anything are refused. */
async function importGrowing(workspace: TestWorkspace, steps: readonly SessionStep[], skip = (_: number) => false) {
  const session = buildSession(steps);
  let report = null;
  for (let lines = 1; lines <= session.lines.length; lines++) {
    if (skip(lines) && lines < session.lines.length) continue;
    try {
      report = await importBytes(workspace, session.text(lines));
    } catch (error) {
      if (!(error instanceof JpgError) || !["empty_session", "not_a_session"].includes(error.code)) throw error;
    }
  }
  return report!;
}

async function original(workspace: TestWorkspace, branch: string): Promise<string> {
  const commit = await tipOf(workspace, branch);
  const [folder] = await workspace.store.listTree(commit, { under: ["sources"] });
  const chunks: Uint8Array[] = [];
  for await (const chunk of readSource(workspace.store, { commit }, folder!.path.split("/")[1]!)) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

describe("import, laws", () => {
  it("is a pure function of the bytes: two stores get the same commits", async () => {
    await fc.assert(
      fc.asyncProperty(anySteps, async (steps) => {
        const bytes = buildSession(steps).text();
        const [one, two] = [await createMemoryWorkspace(), await createMemoryWorkspace("/elsewhere")];
        const [first, second] = [await importBytes(one, bytes), await importBytes(two, bytes)];
        expect(second).toEqual(first);
        expect(await tipOf(two, second.branch)).toBe(await tipOf(one, first.branch));
      }),
      { numRuns: runs(12) },
    );
  });

  it("ends at the same commit whether a growing session came line by line or at once", { tags: ["slow"] }, async () => {
    await fc.assert(
      fc.asyncProperty(growingSteps, async (steps) => {
        const [grown, whole] = [await createMemoryWorkspace(), await createMemoryWorkspace()];
        const last = await importGrowing(grown, steps);
        const once = await importBytes(whole, buildSession(steps).text());
        expect({ ...last, status: "", turns_added: 0 }).toEqual({ ...once, status: "", turns_added: 0 });
        expect(await tipOf(grown, last.branch)).toBe(await tipOf(whole, once.branch));
        const branches = await grown.store.listBranches();
        expect(branches).toEqual(await whole.store.listBranches());
        expect(branches.filter(({ name }) => conversationOf(name) === conversationOf(last.branch))).toHaveLength(1);
      }),
      { numRuns: runs(4) },
    );
  });

  it("gives the bytes back and is unchanged the second time, whatever way a session grew and went back", async () => {
    await fc.assert(
      fc.asyncProperty(anySteps, fc.integer({ min: 1, max: 5 }), async (steps, stride) => {
        const workspace = await createMemoryWorkspace();
        const session = buildSession(steps);
        const { branch } = await importGrowing(workspace, steps, (lines) => lines % stride !== 0);
        expect(await original(workspace, branch)).toBe(session.text().toString());
        const tips = await workspace.store.listBranches();
        const again = await importBytes(workspace, session.text());
        expect(again).toMatchObject({ status: "unchanged", branch, turns_added: 0 });
        expect(await workspace.store.listBranches()).toEqual(tips);
        const whole = await createMemoryWorkspace();
        const once = await importBytes(whole, session.text());
        expect([again.turns, again.events]).toEqual([once.turns, once.events]);
        const turns = async (of: TestWorkspace, at: string) =>
          (await of.store.listTree(await tipOf(of, at), { under: ["turns", "compactions"] })).map(({ oid }) => oid);
        expect(await turns(workspace, branch)).toEqual(await turns(whole, once.branch));
      }),
      { numRuns: runs(6) },
    );
  });

  it("takes older states of a session for unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(growingSteps, fc.nat(), async (steps, at) => {
        const workspace = await createMemoryWorkspace();
        const session = buildSession(steps);
        const { branch } = await importBytes(workspace, session.text());
        const tip = await tipOf(workspace, branch);
        const older = session.text().subarray(0, 1 + (at % session.text().length));
        const report = await importBytes(workspace, older, { format: "claude-code" }).catch((error) => error);
        if (!(report instanceof Error)) expect(report).toMatchObject({ status: "unchanged", branch });
        expect(await tipOf(workspace, branch)).toBe(tip);
      }),
      { numRuns: runs(12) },
    );
  });
});
