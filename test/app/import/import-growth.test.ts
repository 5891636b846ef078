// @module-tag law
// A file that grew is read from its newest turns on: the store ends where it ends when the whole file is read, and the lines
// before are not parsed.
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { loadTip } from "../../../src/app/conversation/tree.ts";
import type { ImportReport } from "../../../src/app/import/import-report.ts";
import { forkConversation } from "../../../src/app/manage/fork.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { CLAUDE_CODE } from "../../../src/formats/claude-code/agent.ts";
import { CODEX } from "../../../src/formats/codex/agent.ts";
import { PI } from "../../../src/formats/pi/agent.ts";
import { answer, meta, prompt, rolloutBytes } from "../../helpers/codex-session.ts";
import { createMemoryStore } from "../../helpers/embedded-store.ts";
import { withCaches } from "../../helpers/memory-cache.ts";
import { createPiWriter } from "../../helpers/pi-session.ts";
import { runs } from "../../helpers/runs.ts";
import { anySteps, buildSession, growingSteps, plainTurns } from "../../helpers/session-builder.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace } from "../../helpers/workspace.ts";

/** A workspace that notes from the first byte on where files may be read from. */
async function createMarkingWorkspace() {
  const { store, kept } = withCaches(await createMemoryStore());
  return { workspace: await createMemoryWorkspace(undefined, store), kept };
}

async function importMarked(
  workspace: TestWorkspace,
  bytes: Uint8Array,
  format = "claude-code",
): Promise<ImportReport | null> {
  try {
    return await importBytes(workspace, bytes, { markedFrom: 1, format });
  } catch (error) {
    if (error instanceof JpgError && ["empty_session", "not_a_session"].includes(error.code)) return null;
    throw error;
  }
}

const isMarked = (kept: Map<string, Buffer>): boolean => [...kept.keys()].some((name) => name.startsWith("growth-"));

/** Ends of lines, `stride` lines apart, the middle of some lines, and the end. */
function cutsOf(bytes: Buffer, stride: number): number[] {
  const ends: number[] = [];
  for (let end = bytes.indexOf(10) + 1; end > 0; end = bytes.indexOf(10, end) + 1) ends.push(end);
  return ends.filter((end, line) => line % stride === 0 || end === bytes.length).flatMap((end) => [end - 7, end]);
}

function codexTurns(): Buffer {
  const turns = Array.from({ length: 20 }, (_, at) => [prompt(`Ask ${at}`), answer(`Said ${at}`)]);
  return rolloutBytes([meta(), ...turns.flat()]);
}

function piTurns(): Buffer {
  const pi = createPiWriter();
  for (let at = 0; at < 20; at++) {
    pi.user(`Ask ${at}`);
    pi.say(`Said ${at}`);
  }
  return pi.bytes();
}

describe("import of a file that grew", () => {
  it("does not read the whole file where only turns were added", async () => {
    const session = buildSession(plainTurns(40));
    const { workspace } = await createMarkingWorkspace();
    const bytes = session.text();
    const cut = session.text(session.lines.length - 2).length;
    await importMarked(workspace, bytes.subarray(0, cut));
    const read = vi.spyOn(CLAUDE_CODE, "read");
    const report = await importMarked(workspace, bytes);
    expect(report).toMatchObject({ status: "updated", turns: 40 });
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();
  });

  it.each([
    [CODEX, codexTurns()],
    [PI, piTurns()],
  ])("does not read the whole file of other agents either", async (format, bytes) => {
    const { workspace } = await createMarkingWorkspace();
    const plain = await createMemoryWorkspace();
    const cut = bytes.lastIndexOf(10, bytes.length * 0.95) + 1;
    for (const one of [workspace, plain]) await importMarked(one, bytes.subarray(0, cut), format.name);
    const expected = await importMarked(plain, bytes, format.name);
    const read = vi.spyOn(format, "read");
    expect(await importMarked(workspace, bytes, format.name)).toEqual(expected);
    expect(read).not.toHaveBeenCalled();
    read.mockRestore();
    expect(await workspace.store.listBranches()).toEqual(await plain.store.listBranches());
  });

  it("reads the whole file where its beginning is another, the branch has other turns, or nothing is known", async () => {
    const session = buildSession(plainTurns(12));
    const cut = session.text(session.lines.length - 3).length;
    const whole = await createMemoryWorkspace();
    await importMarked(whole, session.text().subarray(0, cut));
    const expected = await importMarked(whole, session.text());
    for (const spoil of [
      (kept: Map<string, Buffer>) => kept.clear(),
      (kept: Map<string, Buffer>) => {
        for (const [name, content] of kept) kept.set(name, Buffer.from(content).fill(7, content.length >> 1));
      },
    ]) {
      const { workspace, kept } = await createMarkingWorkspace();
      await importMarked(workspace, session.text().subarray(0, cut));
      spoil(kept);
      expect(await importMarked(workspace, session.text())).toEqual(expected);
    }
    const { workspace } = await createMarkingWorkspace();
    await importMarked(workspace, session.text().subarray(0, cut));
    const other = Buffer.from(session.text().toString().replace("request 0", "Request 0"));
    expect(await importMarked(workspace, other)).toMatchObject({ status: "forked" });
  });

  it("goes on the branch that is active of several that hold the file", async () => {
    const session = buildSession(plainTurns(9));
    const cut = session.text(session.lines.length - 2).length;
    const reports = [];
    for (const workspace of [(await createMarkingWorkspace()).workspace, await createMemoryWorkspace()]) {
      await importMarked(workspace, session.text().subarray(0, cut));
      const tree = await loadTip(workspace.store, (await workspace.store.readActiveBranch()) ?? "");
      await forkConversation(workspace, tree!, { name: "aside", activate: true });
      reports.push(await importMarked(workspace, session.text()), await workspace.store.listBranches());
      expect((await loadTip(workspace.store, (await workspace.store.readActiveBranch()) ?? ""))?.turnOids.length).toBe(
        9,
      );
    }
    expect(reports.slice(2)).toEqual(reports.slice(0, 2));
  });

  // Last: a law that is interrupted while exploring still imports for a moment.
  it("writes the same commits and reports the same whether the file was read from a mark or whole, at every cut", {
    tags: ["slow"],
  }, async () => {
    let marked = 0;
    await fc.assert(
      fc.asyncProperty(fc.oneof(anySteps, growingSteps), fc.integer({ min: 1, max: 4 }), async (steps, stride) => {
        const bytes = buildSession([...plainTurns(2), ...steps]).text();
        const { workspace, kept } = await createMarkingWorkspace();
        const plain = await createMemoryWorkspace();
        for (const end of cutsOf(bytes, stride)) {
          const [short, whole] = [
            await importMarked(workspace, bytes.subarray(0, end)),
            await importMarked(plain, bytes.subarray(0, end)),
          ];
          expect(short).toEqual(whole);
          expect(await workspace.store.listBranches()).toEqual(await plain.store.listBranches());
          marked += Number(isMarked(kept));
        }
      }),
      { numRuns: runs(2) },
    );
    expect(marked).toBeGreaterThan(0);
  });
});
