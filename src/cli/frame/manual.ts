// Shows the manual page of a command, which the package has beside its program (scripts/generate-man-pages.mjs).
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Runtime } from "../../app/conversation/runtime.ts";
import { isOnPath } from "../../app/import/hooks.ts";
import { runProgram } from "../../app/models/external-process.ts";

/** Opens the page in `man`. Returns false if there is no page (a clone in which none was made), no `man`, or one that failed. */
export async function showManual(runtime: Runtime, command: string): Promise<boolean> {
  const page = join(dirname(runtime.jpgPath), "..", "man", `jpg-${command}.1`);
  if (!existsSync(page) || !isOnPath(runtime, "man")) return false;
  return (await runProgram(["man", page], runtime)) === 0;
}
