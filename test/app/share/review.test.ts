// Reviews of forks that were merged into each other: git counts what was merged into a branch as part of it.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { forkConversation } from "../../../src/app/manage/fork.ts";
import { mergeFork } from "../../../src/app/manage/merge.ts";
import { isDifferent, reviewFork } from "../../../src/app/share/review.ts";
import { type Clone, type Clones, createClones } from "../../helpers/clones.ts";
import { buildSession, plainTurns } from "../../helpers/session-builder.ts";
import { importBytes } from "../../helpers/workspace.ts";

let clones: Clones;
let ada: Clone;
let main: string;
const at = (name: string): string => main.replace("/main", `/${name}`);
const fork = async (name: string): Promise<void> => {
  await forkConversation(ada.workspace, await ada.tree(main), { activate: false, name });
};
const tell = async (of: string, into: string): Promise<void> => {
  const request = { into: await ada.tree(into), fork: await ada.tree(of), text: "told", dryRun: false, summary: {} };
  expect((await mergeFork(ada.workspace, request)).commit).not.toBeNull();
};
beforeEach(async () => {
  clones = await createClones(1);
  [ada] = clones.all as [Clone];
  ({ branch: main } = await importBytes(ada.workspace, buildSession(plainTurns(3)).text()));
  await fork("try");
  await ada.turn(at("try"), "tried");
});
afterEach(() => clones.remove());

describe("a review", () => {
  it("of a fork that was merged into main shows what is new since", async () => {
    await ada.turn(main, "on main");
    await tell(at("try"), main);
    const told = await reviewFork(ada.workspace, at("try"));
    expect(told).toMatchObject({ told: "against", turns: [], turns_left_out: 0, compactions: [], reverted: [] });
    expect(isDifferent(told)).toBe(false);
    await ada.turn(at("try"), "later");
    await ada.compact(main, 0);
    const review = await reviewFork(ada.workspace, at("try"));
    expect(review).toMatchObject({ told: "against", turns_left_out: 0, reverted: [] });
    expect(review.turns.map(({ turn, continued }) => [turn, continued])).toEqual([[4, false]]);
    expect(review.meanwhile).toEqual({ turns: 2, compactions: 1 });
  });

  it("of a fork that main was merged into says which turns and compactions of main it does not have", async () => {
    await ada.turn(main, "on main");
    await ada.turn(main, "on main, too");
    const id = await ada.compact(main, 0);
    await tell(main, at("try"));
    const review = await reviewFork(ada.workspace, at("try"));
    expect(review).toMatchObject({ told: "fork", turns_left_out: 2, reverted: [{ id }] });
    expect(review.turns.map(({ turn, continued }) => [turn, continued])).toEqual([
      [3, false],
      [4, false],
    ]);
  });

  it("of two that both merged a third uses where they parted themselves", async () => {
    await fork("third");
    const id = await ada.compact(at("third"), 0);
    await ada.turn(at("third"), "thirdly");
    await tell(at("third"), main);
    await tell(at("third"), at("try"));
    const review = await reviewFork(ada.workspace, at("try"));
    expect(review).toMatchObject({ told: null, turns_left_out: 0, reverted: [], meanwhile: { turns: 1 } });
    expect(review.turns.map(({ turn }) => turn)).toEqual([3, 4]);
    expect(JSON.stringify(review)).not.toContain(id);
  });
});
