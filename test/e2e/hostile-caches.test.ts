// A store that somebody gave you, caches and all: whatever stands in its caches becomes no option of git and no path that is
// written to. What is damaged is worked out anew.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { copyImportedSandbox, type ImportedSandbox } from "../helpers/prepared-sandbox.ts";
import { smallSession } from "../helpers/run-jpg.ts";

let box: ImportedSandbox;
let victim: string;
let session: string;
beforeEach(async () => {
  box = await copyImportedSandbox();
  victim = join(box.root, "victim");
  writeFileSync(victim, "mine\n");
  session = join(box.root, "session.jsonl");
  writeFileSync(session, smallSession({ turns: 6 }));
});
afterEach(() => box.remove());

/** Every cache of the store, made by the commands that keep one. */
async function fillCaches(): Promise<string[]> {
  await box.jpg(["pin", "1"]);
  await box.jpg(["compact", "--keep", "0"]);
  for (const args of [["ls"], ["log"], ["stats"], ["diff", "--stat"], ["title", "@", "First"], ["import", session]])
    await box.jpg(args);
  const folder = join(box.store, ".git", "jpg-cache");
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
  return files.filter((path) => statSync(path).isFile());
}

/** A cache with every object id and digest in it replaced. One that is sealed is not to be believed then. */
function poison(path: string, text: string): void {
  writeFileSync(path, readFileSync(path, "utf8").replace(/"(?:[0-9a-f]{24})?[0-9a-f]{40}"/g, JSON.stringify(text)));
}

const COMMANDS = [
  ["title"],
  ["title", "@", "Second"],
  ["ls"],
  ["log"],
  ["status"],
  ["stats"],
  ["diff", "--stat"],
  ["undo"],
  ["compact", "--keep", "0"],
];

it.each(["--index-output=VICTIM", "--output=VICTIM", "../../../victim"])(
  "%s in every cache",
  { tags: ["slow"] },
  async (pattern) => {
    const caches = await fillCaches();
    const names = caches.map((path) => basename(path).replace(/-[0-9a-f]{16,}$/, ""));
    expect(names.sort()).toEqual(["sources-1", "tip-3", "view"]);
    const text = pattern.replace("VICTIM", victim);
    for (const args of [...COMMANDS, ["import", session]]) {
      for (const path of caches) if (existsSync(path)) poison(path, text);
      const result = await box.jpg(args);
      expect([args, result.code, result.stderr.includes(text)]).toEqual([args, 0, false]);
      expect(readFileSync(victim, "utf8")).toBe("mine\n");
    }
  },
);
