// Packs a store in the background. `gc.auto=0` keeps stock commands from doing it at a bad moment; jpg starts it after bulk
// writes.
import { formatArguments, placeOf, type Repository } from "./git/git-command.ts";
import { startGit } from "./git/git-process.ts";
import { ignoredSettings } from "./git/store-guard.ts";

const COMMAND = { args: ["maintenance", "run", "--auto", "--quiet"], config: ["gc.auto=6700"] };

/**
 * Starts git's own maintenance when enough loose objects or packs piled up; returns at once and never fails. Not in a store
 * whose configuration names programs: one of them is a list, which can be added to and not be emptied (`gc.recentObjectsHook`).
 */
export function startMaintenance(repository: Repository): void {
  if (ignoredSettings(repository).length > 0) return;
  startGit(formatArguments(repository, COMMAND), placeOf(repository));
}
