// Changes a few refs without a git, by git's own protocol of lock files. jpg's gits run no hooks on a change of refs either
// (git-command.ts), so that nothing is passed over.
import * as fs from "node:fs";
import { JpgError } from "../../../core/errors.ts";
import { changeRefs, type RefChange } from "../../refs/ref-changes.ts";
import { readPlainIdentity } from "../../refs/user-settings.ts";
import type { Repository } from "../git/git-command.ts";
import { isReftable } from "./ref-reader.ts";

/** More of them are written down together faster by git. */
const FEW = 8;

/**
 * Changes refs, all or none: false when one stands elsewhere. Null, with nothing changed, when git has to do it, or to say why it
 * cannot be done. `beforeMoving` is run while the refs are locked and stand where they should. Throws `ref_in_the_way`, `ref_locked`
 * and a JpgError that `beforeMoving` throws, with nothing changed.
 */
export async function changeFewRefs(
  { gitDir, cwd: root, env }: Repository,
  changes: readonly RefChange[],
  message: string,
  beforeMoving?: () => Promise<void>,
): Promise<boolean | null> {
  if (changes.length > FEW || isReftable({ gitDir })) return null;
  try {
    const mover = await readPlainIdentity(gitDir, env, "committer");
    if (mover === null) return null;
    const identity = () => Promise.resolve(mover);
    const place = { fs, root, gitDir, isOnDisk: true, identity, now: () => new Date() };
    return await changeRefs(place, changes, message, beforeMoving);
  } catch (error) {
    // Of what the system refused git says what it was.
    if (error instanceof JpgError) throw error;
    return null;
  }
}
