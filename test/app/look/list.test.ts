import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { loadTip } from "../../../src/app/conversation/tree.ts";
import { openWorkspace } from "../../../src/app/conversation/workspace.ts";
import { type Listing, listConversations } from "../../../src/app/look/list.ts";
import { addLabels, setTitle } from "../../../src/app/manage/marks.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { createGitWorkspace, type GitWorkspace, importBytes, removeWorkspace } from "../../helpers/workspace.ts";

const SESSIONS = ["a", "b", "c"].map((name) => `00000000-0000-4000-8000-00000000000${name}`);

let workspace: GitWorkspace;
beforeEach(async () => {
  workspace = await createGitWorkspace();
  for (const [index, session] of SESSIONS.entries())
    await importBytes(workspace, buildSession(plainTurns(index + 1), { session }).text());
});
afterEach(() => removeWorkspace(workspace));

/** What a new process would list, and how many objects it reads for that. */
async function listAnew(): Promise<Listing & { readonly objectsRead: number }> {
  const opened = await openWorkspace(workspace.runtime, { store: workspace.store.root });
  try {
    const listing = await listConversations(opened, { all: true });
    return { ...listing, objectsRead: opened.store.objectsRead };
  } finally {
    await opened.close();
  }
}

describe("a list of conversations", () => {
  it("reads no object for what it has listed before", async () => {
    const first = await listAnew();
    expect(first.rows.map(({ turns }) => turns).sort()).toEqual([1, 2, 3]);
    expect(first.objectsRead).toBeGreaterThan(0);
    const again = await listAnew();
    expect(again.objectsRead).toBe(0);
    expect(again.rows).toEqual(first.rows);
  });

  it("reads only the conversation that changed", async () => {
    const whole = await listAnew();
    const changed = whole.rows.find(({ turns }) => turns === 1);
    const tree = await loadTip(workspace.store, changed?.branch ?? "");
    if (tree === null) throw new Error("no tip");
    await setTitle(workspace, tree, "Another title");
    const after = await listAnew();
    expect(after.objectsRead).toBeLessThan(whole.objectsRead);
    expect(after.rows.find(({ branch }) => branch === changed?.branch)).toMatchObject({
      title: "Another title",
      turns: 1,
      // A title is no message.
      updated_at: changed?.updated_at,
    });
    expect(after.rows.filter(({ branch }) => branch !== changed?.branch)).toEqual(
      whole.rows.filter(({ branch }) => branch !== changed?.branch),
    );
  });

  it.each([
    ["is empty", () => ""],
    ["is cut", (whole: string) => whole.slice(0, -9)],
    ["says something else", (whole: string) => whole.replace(/"turns":\d+/, '"turns":99')],
    ["has no seal", (whole: string) => whole.slice(64)],
  ])("is right when what is kept of it %s", async (_, change) => {
    const { rows } = await listAnew();
    const folder = join(workspace.store.gitDir, "jpg-cache");
    const names = (await readdir(folder)).filter((name) => name.startsWith("tip-"));
    expect(names).toHaveLength(rows.length);
    for (const name of names) await writeFile(join(folder, name), change(await readFile(join(folder, name), "utf8")));
    expect((await listAnew()).rows).toEqual(rows);
  });

  it("keeps what few conversations have", async () => {
    const [newest] = (await listAnew()).rows;
    const tree = await loadTip(workspace.store, newest?.branch ?? "");
    if (tree === null) throw new Error("no tip");
    await addLabels(workspace, tree, ["draft"]);
    const first = await listAnew();
    const again = await listAnew();
    expect(again.objectsRead).toBe(0);
    expect(again.rows).toEqual(first.rows);
    expect(again.rows.find(({ branch }) => branch === newest?.branch)?.labels).toEqual(["draft"]);
  });
});
