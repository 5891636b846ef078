// Packs a store in the background. `gc.auto=0` keeps stock commands from doing it at a bad moment; jpg starts it after bulk
// writes.
import type { Environment } from "./git-environment.ts";
import { startGit } from "./git-process.ts";

/** Starts git's own maintenance when enough loose objects or packs piled up; returns at once and never fails. */
export function startMaintenance(root: string, env: Environment): void {
  startGit(["-c", "gc.auto=6700", "maintenance", "run", "--auto", "--quiet"], { cwd: root, env });
}
