// Another user of the machine owns what one stands in or names: jpg works only where stock git would. Real owners need the
// rights of root; git's own switch for tests, which takes every owner for another, needs none.
import { chownSync, lstatSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createImportedSandbox, type Sandbox, storeState } from "../helpers/run-jpg.ts";

const isRoot = process.geteuid?.() === 0;
const NOBODY = 65534;
const FOREIGN = { GIT_TEST_ASSUME_DIFFERENT_OWNER: "1" };

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await createImportedSandbox(2);
});
afterEach(() => sandbox.remove());

/** What a refusal prints that names this repository. */
function refusalOf(path: string): { stdout: string; stderr: string; code: number } {
  return {
    stdout: "",
    stderr: `error: ${path} belongs to somebody else, so neither git nor jpg works in it.\nhint: If you trust its owner: git config --global --add safe.directory ${path}\n`,
    code: 3,
  };
}

/** Gives a folder with all that is in it to a user. */
function changeOwner(path: string, owner: number): void {
  chownSync(path, owner, owner);
  if (!lstatSync(path).isDirectory()) return;
  for (const name of readdirSync(path)) changeOwner(join(path, name), owner);
}

describe("where git takes every owner for another", () => {
  it("refuses the store one is in, the one that is named, and the project's", async () => {
    const { store, project, root } = sandbox;
    expect(await sandbox.jpg(["log"], { cwd: store, env: FOREIGN })).toEqual(refusalOf(store));
    expect(await sandbox.jpg(["log", "--store", store], { cwd: root, env: FOREIGN })).toEqual(refusalOf(store));
    expect(await sandbox.jpg(["log"], { cwd: root, env: { ...FOREIGN, JPG_STORE: store } })).toEqual(refusalOf(store));
    expect(await sandbox.jpg(["git", "status"], { cwd: store, env: FOREIGN })).toEqual(refusalOf(store));
    expect(await sandbox.jpg(["log"], { env: FOREIGN })).toEqual(refusalOf(project));
    expect(await sandbox.jpg(["init"], { env: FOREIGN })).toEqual(refusalOf(project));
    expect(await sandbox.jpg(["trust"], { env: FOREIGN })).toEqual(refusalOf(project));
  });

  it("works where safe.directory names the place, as git does, and refuses again after an empty value", async () => {
    const config = join(sandbox.root, "gitconfig");
    const env = { ...FOREIGN, GIT_CONFIG_GLOBAL: config };
    const says = async (text: string): Promise<number> => {
      writeFileSync(config, `[safe]\n${text}`);
      return (await sandbox.jpg(["log"], { env })).code;
    };
    const { project, store } = sandbox;
    expect(await says(`directory = ${project}\n`)).toBe(3);
    expect(await says(`directory = ${project}\ndirectory = ${store}\n`)).toBe(0);
    expect(await says("directory = *\n")).toBe(0);
    expect(await says("directory = *\ndirectory =\n")).toBe(3);
  });

  it("does not take safe.directory from the store itself", async () => {
    sandbox.git(["config", "safe.directory", "*"]);
    expect(await sandbox.jpg(["log"], { cwd: sandbox.store, env: FOREIGN })).toEqual(refusalOf(sandbox.store));
  });

  it("reads nothing before: broken settings of a project are not even noticed", async () => {
    writeFileSync(join(sandbox.project, ".jpg.toml"), "no toml");
    expect((await sandbox.jpg(["config"])).stderr).toContain(".jpg.toml");
    expect(await sandbox.jpg(["config"], { env: FOREIGN })).toEqual(refusalOf(sandbox.project));
  });
});

describe("a folder, a gitfile or a git dir of another user", () => {
  const whole = "refuses a store with all its files, in every way to name it, without writing to it (as root)";
  it.skipIf(!isRoot)(whole, { tags: ["slow"] }, async () => {
    const { store, root } = sandbox;
    const before = storeState(sandbox);
    changeOwner(store, NOBODY);
    const ways = [{}, { cwd: store }, { cwd: root, env: { JPG_STORE: store } }];
    for (const way of ways) {
      for (const words of [["log"], ["compact"], ["git", "log"], ["ls"]]) {
        expect(await sandbox.jpg(words, way)).toEqual(refusalOf(store));
      }
    }
    changeOwner(store, 0);
    expect(storeState(sandbox)).toBe(before);
    expect((await sandbox.jpg(["log"])).code).toBe(0);
  });

  it.skipIf(!isRoot)("refuses when one of the three is another's, and names the store (as root)", async () => {
    const { store } = sandbox;
    const linked = join(sandbox.root, "linked");
    expect((await sandbox.jpg(["checkout", "@", linked])).code).toBe(0);
    const cases = [
      { foreign: store, refused: store, cwd: sandbox.project },
      { foreign: join(store, ".git"), refused: store, cwd: sandbox.project },
      { foreign: join(sandbox.project, ".git"), refused: sandbox.project, cwd: sandbox.project },
      { foreign: join(sandbox.project, ".git"), refused: sandbox.project, cwd: store },
      { foreign: join(linked, ".git"), refused: linked, cwd: linked },
      { foreign: join(store, ".git"), refused: store, cwd: linked },
    ];
    for (const { foreign, refused, cwd } of cases) {
      chownSync(foreign, NOBODY, NOBODY);
      expect(await sandbox.jpg(["log"], { cwd })).toEqual(refusalOf(refused));
      chownSync(foreign, 0, 0);
      expect((await sandbox.jpg(["log"], { cwd })).code).toBe(0);
    }
  });

  it.skipIf(!isRoot)("works in a store of one's own beside another's project, when it is named (as root)", async () => {
    chownSync(join(sandbox.project, ".git"), NOBODY, NOBODY);
    expect((await sandbox.jpg(["log", "--store", sandbox.store], { cwd: sandbox.root })).code).toBe(0);
  });
});
