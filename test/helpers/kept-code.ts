// What V8 compiled of the command is kept below HOME (bin/load-command.js), and each test has a HOME of its own. Its processes find
// there what those of other tests have kept, as a user's find what the ones before them kept: a third of what a start costs.
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { createTempFolder, keepFolder } from "./temp-repository.ts";

let shared: string | undefined;

/** Makes the compiled code in a new HOME that of all tests of this process. */
export function shareKeptCode(home: string): void {
  if (shared === undefined) {
    const folder = createTempFolder();
    keepFolder(folder);
    shared = folder.path;
  }
  const caches = join(home, ".cache", "jpg");
  mkdirSync(caches, { recursive: true, mode: 0o700 });
  symlinkSync(shared, join(caches, "code"));
}
