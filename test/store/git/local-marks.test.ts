import { appendFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { markLocal, readLocalMarks } from "../../../src/store/git/sharing.ts";
import { createTempStore } from "../../helpers/temp-repository.ts";

let store: Awaited<ReturnType<typeof createTempStore>>;
beforeEach(async () => {
  store = await createTempStore();
});
afterEach(() => store.remove());

it("marks wait for another writer of the settings, and none is lost", async () => {
  const repository = { gitDir: join(store.root, ".git"), cwd: store.root, env: store.env };
  const lock = join(repository.gitDir, "config.lock");
  writeFileSync(lock, "");
  const marking = Promise.all(["one-k3f9", "two-k3f9"].map((id) => markLocal(repository, id, true)));
  await sleep(60);
  rmSync(lock);
  await marking;
  expect([...(await readLocalMarks(repository))].sort()).toEqual(["one-k3f9", "two-k3f9"]);
  await markLocal(repository, "one-k3f9", false);
  expect([...(await readLocalMarks(repository))]).toEqual(["two-k3f9"]);
});

it.each([
  ["[jpg]\n\tlocal = one-k3f9\n", ["one-k3f9"]],
  ["[JPG]LOCAL=one-k3f9\n", ["one-k3f9"]],
  ['[jpg]\n\tformat = 1\n[jpg] local = "one-k3f9" # why\n[jpg]\nlocal=two-k3f9', ["one-k3f9", "two-k3f9"]],
  ['[core]\n\thooksPath = /usr/local/hooks\n[remote "a"]\n\turl = ssh://localhost/x\n', []],
  ["[jpg]\n\tlocale = x\n", []],
  ["", []],
])("are those that git reads, however they are written: %j", async (text, marked) => {
  const repository = { gitDir: join(store.root, ".git"), cwd: store.root, env: store.env };
  appendFileSync(join(repository.gitDir, "config"), text);
  expect([...(await readLocalMarks(repository))]).toEqual(marked);
});
