// Which model answered last, and how many turns are read to know it.
import { expect, it } from "vitest";
import { loadBranchTree } from "../../../src/app/conversation/tree.ts";
import { lastModel } from "../../../src/app/models/choose-model.ts";
import { sessionAnsweredIn } from "../../helpers/run-jpg.ts";
import { createMemoryWorkspace, importBytes, tipOf } from "../../helpers/workspace.ts";

const MODEL = "anthropic/claude-sonnet-4-5-20250929";

/** The model of a conversation that one answered in one turn of, and the turns that were read, in order. */
async function findIn(answered: number, turns: number): Promise<{ model: string | null; read: readonly number[] }> {
  const workspace = await createMemoryWorkspace();
  const { branch } = await importBytes(workspace, sessionAnsweredIn(answered, turns));
  const { store } = workspace;
  const tree = await loadBranchTree(store, branch, await tipOf(workspace, branch));
  const read: number[] = [];
  const model = await lastModel(
    {
      ...store,
      readBlobs: (oids) => {
        const wanted = [...oids];
        read.push(...wanted.map((oid) => tree.turnOids.indexOf(oid)));
        return store.readBlobs(wanted);
      },
    },
    tree,
  );
  return { model, read };
}

it("is found in the newest three turns without reading others", async () => {
  for (const answered of [37, 38, 39]) expect(await findIn(answered, 40)).toEqual({ model: MODEL, read: [37, 38, 39] });
});

it("is found however long ago it was, and no turn is read twice", { tags: ["slow"] }, async () => {
  for (const answered of [0, 1, 12, 36]) {
    const { model, read } = await findIn(answered, 40);
    expect(model).toBe(MODEL);
    expect(new Set(read).size).toBe(read.length);
    expect(read).toContain(answered);
  }
});

it("is looked for in older turns only as far back as needed", { tags: ["slow"] }, async () => {
  expect((await findIn(30, 100)).read.length).toBe(100);
  expect((await findIn(80, 100)).read.length).toBe(27);
});

it("is none where no turn names one, and all were read then", async () => {
  const { model, read } = await findIn(-1, 30);
  expect(model).toBeNull();
  expect(read.length).toBe(30);
});
