// A file that grew continues the branch that has its beginning, byte for byte, with the same result as one import of all of it.
import { describe, expect, it } from "vitest";
import { loadTip } from "../../../src/app/conversation/tree.ts";
import type { ImportReport } from "../../../src/app/import/import-report.ts";
import { forkConversation } from "../../../src/app/manage/fork.ts";
import { JpgError } from "../../../src/core/errors.ts";
import { answer, meta, prompt, rolloutBytes } from "../../helpers/codex-session.ts";
import { createPiWriter } from "../../helpers/pi-session.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { createMemoryWorkspace, importBytes, type TestWorkspace } from "../../helpers/workspace.ts";

async function importState(workspace: TestWorkspace, bytes: Uint8Array): Promise<ImportReport | null> {
  try {
    return await importBytes(workspace, bytes);
  } catch (error) {
    if (error instanceof JpgError && ["empty_session", "not_a_session"].includes(error.code)) return null;
    throw error;
  }
}

/** Ends of lines, the middle of lines, and the end. */
function cutsOf(bytes: Buffer): number[] {
  const ends: number[] = [];
  for (let end = bytes.indexOf(10) + 1; end > 0; end = bytes.indexOf(10, end) + 1) ends.push(end - 7, end);
  return ends;
}

function codexTurns(): Buffer {
  const turns = Array.from({ length: 8 }, (_, at) => [prompt(`Ask ${at}`), answer(`Said ${at}`)]);
  return rolloutBytes([meta(), ...turns.flat()]);
}

function piTurns(): Buffer {
  const pi = createPiWriter();
  for (let at = 0; at < 8; at++) {
    pi.user(`Ask ${at}`);
    pi.say(`Said ${at}`);
  }
  return pi.bytes();
}

describe("import of a file that grew", () => {
  it.each([
    ["claude-code", buildSession(plainTurns(8)).text()],
    ["codex", codexTurns()],
    ["pi", piTurns()],
  ])("writes what is new, at every cut, and comes to what it comes to at once: %s", async (_, bytes) => {
    const [grown, whole] = [await createMemoryWorkspace(), await createMemoryWorkspace()];
    const once = await importState(whole, bytes);
    let added = 0;
    let last: ImportReport | null = null;
    for (const end of cutsOf(bytes)) {
      last = await importState(grown, bytes.subarray(0, end));
      added += last?.turns_added ?? 0;
    }
    expect({ ...last, status: "", turns_added: 0 }).toEqual({ ...once, status: "", turns_added: 0 });
    expect(added).toBe(8);
    expect(await grown.store.listBranches()).toEqual(await whole.store.listBranches());
  });

  it("is a fork where its beginning is another", async () => {
    const session = buildSession(plainTurns(12));
    const workspace = await createMemoryWorkspace();
    const { branch } = await importBytes(workspace, session.text(session.lines.length - 3));
    const before = await loadTip(workspace.store, branch);
    const other = Buffer.from(session.text().toString().replace("request 0", "Request 0"));
    expect(await importBytes(workspace, other)).toMatchObject({ status: "forked" });
    expect((await loadTip(workspace.store, branch))?.commit).toBe(before?.commit);
  });

  it("continues the active one of several branches that have the file", async () => {
    const session = buildSession(plainTurns(9));
    const workspace = await createMemoryWorkspace();
    const { branch } = await importBytes(workspace, session.text(session.lines.length - 2));
    const tree = await loadTip(workspace.store, branch);
    await forkConversation(workspace, tree!, { name: "aside", activate: true });
    const report = await importBytes(workspace, session.text());
    expect(report).toMatchObject({ status: "updated", turns: 9 });
    expect(report.branch).toMatch(/\/aside$/);
    expect((await loadTip(workspace.store, report.branch))?.turnOids.length).toBe(9);
  });
});
