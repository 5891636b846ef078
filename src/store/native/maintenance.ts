// Packs a store in the background. `gc.auto=0` keeps stock commands from doing it at a bad moment; jpg starts it after bulk
// writes.
import { formatArguments, placeOf, type Repository, tryCommand } from "./git/git-command.ts";
import { startGit } from "./git/git-process.ts";
import { ignoredSettings } from "./git/store-guard.ts";

const COMMAND = { args: ["maintenance", "run", "--auto", "--quiet"], config: ["gc.auto=6700"] };

/** Asks whether git may maintain a repository by itself: `maintenance.auto`, wherever it is set. */
const ASKED = { args: ["config", "--type=bool", "--default=true", "--get", "maintenance.auto"] };

/**
 * Starts git's own maintenance when enough loose objects or packs piled up; does not wait for it and never fails. Not where
 * `maintenance.auto` is false, and not in a store whose configuration names programs: one of them is a list, which can be added
 * to and not be emptied (`gc.recentObjectsHook`).
 */
export async function startMaintenance(repository: Repository): Promise<void> {
  if (ignoredSettings(repository).length > 0) return;
  // Maintenance is an optimisation: where git cannot be asked, the next import tries again.
  const asked = await tryCommand(repository, ASKED).catch(() => null);
  if (asked === null || asked.stdout.toString().trim() === "false") return;
  startGit(formatArguments(repository, COMMAND), placeOf(repository));
}
