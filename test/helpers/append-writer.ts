// A process that appends to branches of a store until each of its commits has landed. Arguments: root of the store, engine,
// name of the writer, number of appends, branches.
import { setTimeout as sleep } from "node:timers/promises";
import { openEmbeddedStore } from "../../src/store/embedded/store.ts";
import { openNativeStore } from "../../src/store/git/store.ts";
import { append, commit, file } from "./store-writes.ts";

/** A writer whose branch moved plans again before it writes again; milliseconds, at most. */
const PLANNING_MS = 100;

const [root = "", engine = "", name = "", count = "0", ...branches] = process.argv.slice(2);
const place = { root, env: process.env, now: () => new Date() };
const store = engine === "native" ? await openNativeStore(place) : await openEmbeddedStore(place);
for (let n = 0; n < Number(count); n++) {
  const branch = branches[n % branches.length] ?? "";
  const change = file(`turns/${name}-${n}`, `${name} ${n}\n`);
  while (!(await append(store, branch, [commit(`${name} ${n}`, [change], n)])).moved) {
    await sleep(Math.random() * PLANNING_MS);
  }
}
await store.close();
