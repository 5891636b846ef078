// Several people's stores with what a test begins with: made once, and put back as it was for each test. Making them starts dozens
// of gits, putting them back none.
import { rmSync } from "node:fs";
import { type Clone, type Clones, createClones, openClone } from "./clones.ts";
import { copyStore, createTempFolder, git, testEnvironment } from "./temp-repository.ts";

/** Stores to be put back. */
export interface PreparedClones<T> {
  /** What was made there. */
  readonly made: T;
  /** The folder of all of them. */
  readonly folder: string;
  /** Opens them as they were made; those that were opened before are closed. */
  open(): Promise<Clones>;
  remove(): Promise<void>;
}

/** Makes `count` stores with one remote, and there what `make` does; it may put more repositories in the folder, and name them to `pack`. */
export async function prepareClones<T>(
  count: number,
  as: "branches" | "hidden",
  make: (clones: Clones, folder: string, pack: (gitDir: string) => void) => Promise<T>,
): Promise<PreparedClones<T>> {
  const place = createTempFolder();
  const saved = createTempFolder();
  const clones = await createClones(count, as, place);
  const gitDirs = [...clones.all.map(({ gitDir }) => gitDir), clones.remote];
  const made = await make(clones, place.path, (gitDir) => gitDirs.push(gitDir));
  for (const { workspace } of clones.all) await workspace.close();
  // A pack is one file to copy, its objects are fifty.
  for (const gitDir of gitDirs) git(gitDir, testEnvironment(place.path), ["repack", "-adq"]);
  copyStore(place.path, saved.path);
  let opened: readonly Clone[] = [];
  const close = async (): Promise<void> => {
    for (const { workspace } of opened) await workspace.close();
    opened = [];
  };
  return {
    made,
    folder: place.path,
    async open() {
      await close();
      rmSync(place.path, { recursive: true, force: true });
      copyStore(saved.path, place.path);
      const all: Clone[] = [];
      for (let at = 0; at < count; at++) all.push(await openClone(place.path, at, 1));
      opened = all;
      return { all, remote: clones.remote, remove: close };
    },
    async remove() {
      await close();
      place.remove();
      saved.remove();
    },
  };
}
