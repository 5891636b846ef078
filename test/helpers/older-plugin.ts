// A plug-in in an agent's folder as an older jpg would have left it.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Sandbox } from "./run-jpg.ts";

/** Turns a file of an installed plug-in, and jpg's record of it, into those of an older jpg. */
export function makeOlder({ home }: Pick<Sandbox, "home">, path: string): void {
  const record = join(home, ".local", "state", "jpg", "hooks", "installed.json");
  const text = readFileSync(path, "utf8");
  const older = `${text.replace(/"--plugin","[^"]*"/, '"--plugin","0.0.9"')}// older\n`;
  const sha = (of: string): string => createHash("sha256").update(of).digest("hex");
  writeFileSync(record, readFileSync(record, "utf8").replace(sha(text), sha(older)));
  writeFileSync(path, older);
}
