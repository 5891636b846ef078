// Changes a few refs without a git, by git's own protocol of lock files. jpg's gits run no hooks on a change of refs either
// (git-command.ts), so that nothing is passed over.
import * as fs from "node:fs";
import { codeOf } from "../../../core/errors.ts";
import { changeRefs, type RefChange } from "../../refs/ref-changes.ts";
import { readPlainIdentity } from "../../refs/user-settings.ts";
import type { Repository } from "../git/git-command.ts";
import { isReftable } from "./ref-reader.ts";

/** More of them are written down together faster by git. */
const FEW = 8;

/**
 * Changes refs, all or none: false when one stands elsewhere. Null, with nothing changed, when git has to do it, or to say why it
 * cannot be done. Throws `ref_in_the_way`.
 */
export async function changeFewRefs(
  { gitDir, cwd: root, env }: Repository,
  changes: readonly RefChange[],
  message: string,
): Promise<boolean | null> {
  if (changes.length > FEW || isReftable({ gitDir })) return null;
  try {
    const mover = await readPlainIdentity(gitDir, env, "committer");
    if (mover === null) return null;
    const identity = () => Promise.resolve(mover);
    const place = { fs, root, gitDir, isOnDisk: true, identity, now: () => new Date() };
    return await changeRefs(place, changes, message);
  } catch (error) {
    if (codeOf(error) === "ref_in_the_way") throw error;
    return null;
  }
}
