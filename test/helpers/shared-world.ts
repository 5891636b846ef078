// Three people's stores, a plain clone and their remote, all with a conversation and a fork of it: made once, and put back as it
// was for each example of a law. Making it starts sixty gits, putting it back none.
import { cpSync, rmSync } from "node:fs";
import { forkConversation } from "../../src/app/manage/fork.ts";
import { type Clone, createClones, openClone } from "./clones.ts";
import { createPlainClone, openPlainClone, type PlainClone, remoteRefs } from "./plain-clone.ts";
import { readRefs } from "./ref-files.ts";
import { buildSession, plainTurns, type SessionStep } from "./session-builder.ts";
import { createTempFolder } from "./temp-repository.ts";
import { importBytes } from "./workspace.ts";

const PEOPLE = 3;

/** Steps of the agent's session that everybody has. */
export const SHARED_SESSION: readonly SessionStep[] = [...plainTurns(2), "prompt", "think", "say"];

/** What stands where it is shared. */
export interface World {
  readonly all: readonly Clone[];
  readonly plain: PlainClone;
  /** Conversations' refs of the remote. */
  remote(): ReadonlyMap<string, string>;
  /** All refs of everybody as one text: what changed something changed it. */
  state(): string;
  close(): Promise<void>;
}

/** Makes it; the function opens it as it was made, one at a time. */
export async function prepareWorld(
  as: "branches" | "hidden",
): Promise<{ readonly open: () => Promise<World>; readonly remove: () => void }> {
  const place = createTempFolder();
  const saved = createTempFolder();
  const clones = await createClones(PEOPLE, as, place);
  const [first, ...others] = clones.all as [Clone, ...Clone[]];
  await importBytes(first.workspace, buildSession(SHARED_SESSION).text());
  const [main = ""] = Object.keys(await first.branches());
  await forkConversation(first.workspace, await first.tree(main), { activate: false, first: 2, name: "try" });
  await first.push();
  for (const other of others) await other.pull();
  createPlainClone(place.path, clones.remote, as);
  for (const { workspace } of clones.all) await workspace.close();
  cpSync(place.path, saved.path, { recursive: true, verbatimSymlinks: true });
  const open = async (): Promise<World> => {
    rmSync(place.path, { recursive: true, force: true });
    cpSync(saved.path, place.path, { recursive: true, verbatimSymlinks: true });
    const all: Clone[] = [];
    for (let at = 0; at < PEOPLE; at++) all.push(await openClone(place.path, at, 1));
    const plain = openPlainClone(place.path, clones.remote, as);
    const gitDirs = [...all.map(({ gitDir }) => gitDir), plain.gitDir, clones.remote];
    return {
      all,
      plain,
      remote: () => remoteRefs(clones.remote, as),
      state: () => JSON.stringify(gitDirs.map((gitDir) => [...readRefs(gitDir)].sort())),
      close: async () => {
        for (const { workspace } of all) await workspace.close();
      },
    };
  };
  const remove = (): void => {
    place.remove();
    saved.remove();
  };
  return { open, remove };
}

/** Everybody who has something to pulls and pushes, until all have the same; throws when it goes on for ever. */
export async function settle({ all, plain, remote }: World): Promise<void> {
  for (let round = 0; round < 12; round++) {
    const before = new Map(remote());
    if (plain.isBehind() || plain.isAhead()) {
      plain.pull();
      plain.push();
    }
    let differ = before.size === remote().size && same(Object.fromEntries(before), remote()) ? 0 : 1;
    for (const clone of all) {
      if (same(await clone.branches(), remote())) continue;
      differ++;
      const { branches } = await clone.pull();
      const kept = branches.filter(({ status }) => status === "kept");
      if (kept.length > 0) throw new Error(`a pull left something: ${JSON.stringify(kept)}`);
      if (!same(await clone.branches(), remote())) await clone.push();
    }
    if (differ === 0) return;
  }
  throw new Error("the stores did not come to rest in 12 rounds");
}

/** Whether a person's branches are what stands on the remote. */
function same(own: Readonly<Record<string, string>>, there: ReadonlyMap<string, string>): boolean {
  const names = Object.keys(own);
  return names.length === there.size && names.every((name) => own[name] === there.get(name));
}
