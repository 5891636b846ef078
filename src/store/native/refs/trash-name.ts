// The refs of branches in the trash: `refs/trash/<time of removal>/<branch>`.
import type { TrashedBranch } from "../../conversation-store.ts";
import { refOfBranch } from "../../refs/ref-name.ts";

/** What the names of all such refs begin with. */
export const TRASH: string = "refs/trash/";

/** The ref of a removed branch. Throws `bad_branch_name`. */
export function refInTrash(removedAt: string, branch: string): string {
  // Checked as a branch's name is.
  return `${TRASH}${removedAt.replace(/[-:]/g, "")}/${refOfBranch(branch).slice("refs/heads/".length)}`;
}

/** The removed branch that a ref keeps; null for what jpg did not name so. */
export function parseTrashRef(ref: string, commit: string): TrashedBranch | null {
  const [, stamp = "", branch = ""] = /^refs\/trash\/([^/]+)\/(.+)$/.exec(ref) ?? [];
  const [, date = "", ...time] = /^(\d{8})T(\d\d)(\d\d)(\d\d\.\d{3})Z$/.exec(stamp) ?? [];
  if (date === "") return null;
  const removedAt = `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6)}T${time.join(":")}Z`;
  return { branch, commit, removedAt };
}
