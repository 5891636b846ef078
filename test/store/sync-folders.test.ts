// What a power cut leaves: a name is on the disk once its folder was synced after the rename. Every folder into which a write
// renames something is.

import { existsSync, mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openEmbeddedStore } from "../../src/store/embedded/store.ts";
import { foldersOf, replaceFile, syncFolders } from "../../src/store/files.ts";
import { openNativeStore } from "../../src/store/git/store.ts";
import { append, commit, file } from "../helpers/store-writes.ts";
import { createTempStore, type TempStore } from "../helpers/temp-repository.ts";

const log = vi.hoisted(() => ({ steps: [] as string[], opened: new Map<number, string>() }));

vi.mock("node:fs", async (load) => {
  const fs = await load<typeof import("node:fs")>();
  const openSync: typeof fs.openSync = (path, ...rest) => {
    const descriptor = fs.openSync(path, ...rest);
    log.opened.set(descriptor, String(path));
    return descriptor;
  };
  const renameSync: typeof fs.renameSync = (from, to) => {
    fs.renameSync(from, to);
    log.steps.push(`rename ${String(to)}`);
  };
  const fsync = Object.assign(
    (descriptor: number, done: (error: NodeJS.ErrnoException | null) => void) => {
      log.steps.push(`sync ${log.opened.get(descriptor)}`);
      fs.fsync(descriptor, done);
    },
    { __promisify__: fs.fsync.__promisify__ },
  );
  const rename: typeof fs.promises.rename = async (from, to) => {
    await fs.promises.rename(from, to);
    log.steps.push(`rename ${String(to)}`);
  };
  const logged = { ...fs, openSync, renameSync, fsync, promises: { ...fs.promises, rename } };
  return { ...logged, default: logged };
});

/** Folders into which something was renamed, and that were not synced since. */
function unsynced(isMeant: (path: string) => boolean): readonly string[] {
  const waiting = new Set<string>();
  for (const step of log.steps) {
    const path = step.slice(step.indexOf(" ") + 1);
    if (step.startsWith("rename ") && isMeant(path)) waiting.add(dirname(path));
    else waiting.delete(path);
  }
  return [...waiting];
}

let temp: TempStore;
beforeEach(async () => {
  temp = await createTempStore();
  log.steps.length = 0;
});
afterEach(() => temp.remove());

describe("a write", () => {
  const OPEN = {
    native: () => openNativeStore({ root: temp.root, env: temp.env }),
    embedded: () => openEmbeddedStore({ root: temp.root, env: temp.env, now: () => new Date() }),
  };

  it.each(["native", "embedded"] as const)("of the %s engine is on the disk with its names", async (engine) => {
    const store = await OPEN[engine]();
    for (const name of ["a", "b"]) await append(store, "talk-k3f9/main", [commit(name, [file(`meta/${name}`, name)])]);
    await store.close();
    // Git brings the objects of the native engine to the disk itself (`core.fsync`).
    const objects = join(temp.root, ".git", "objects");
    const renamed = log.steps.filter((step) => step.startsWith(`rename ${objects}`)).length;
    if (engine === "embedded") expect(renamed).toBeGreaterThan(3);
    expect(unsynced((path) => !path.includes("jpg-cache"))).toEqual([]);
    // Git moves refs of the native engine itself.
    const refs = join(temp.root, ".git", "refs", "heads");
    expect(log.steps.slice(-6)).toEqual(expect.arrayContaining([`sync ${refs}/talk-k3f9`, `sync ${refs}`]));
  });

  it("of a file is, and of a cache need not be", async () => {
    const [kept, cache] = [join(temp.folder, "kept"), join(temp.folder, "cache")];
    await replaceFile(cache, "1", { isCache: true });
    expect(log.steps).toEqual([`rename ${cache}`]);
    await replaceFile(kept, "1");
    expect(log.steps.slice(1)).toEqual([
      expect.stringMatching(/^sync .*draft/),
      `rename ${kept}`,
      `sync ${temp.folder}`,
    ]);
  });
});

describe("folders", () => {
  it("are synced once each; one that is gone, is no folder or is a link is skipped", async () => {
    const [here, gone] = [join(temp.folder, "here"), join(temp.folder, "gone")];
    mkdirSync(here);
    await syncFolders([here, gone, here, join(temp.root, ".git", "config")]);
    expect(log.steps).toEqual([`sync ${here}`]);
    expect(existsSync(gone)).toBe(false);
  });

  it("of files are the two above each", () => {
    expect([...foldersOf(["/a/b/c", "/a/b/d"])]).toEqual(["/a/b", "/a"]);
  });
});
