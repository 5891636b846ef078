// How the remotes of a store are: whether there is one, whether jpg reaches its address, and whether the project around would
// delete what stands there.
import { JpgError } from "../../core/errors.ts";
import { isSameRepository, shownUrl } from "../../core/remote-address.ts";
import type { Remote } from "../../store/sharing.ts";
import type { ConversationStore, Upkeep } from "../../store/store.ts";

/** What was found. */
export interface RemoteVerdict {
  readonly state: "ok" | "warning" | "problem";
  readonly message: string;
  readonly hint?: string;
}

/** Looks at the remotes; reaches none of them. */
export async function checkRemotes(
  { root, sharing }: Pick<ConversationStore, "root" | "sharing">,
  upkeep: Upkeep,
): Promise<RemoteVerdict> {
  const remotes = await sharing?.remotes().catch((error: unknown) => {
    if (error instanceof JpgError) return error;
    throw error;
  });
  if (remotes instanceof JpgError) return { state: "problem", message: remotes.message, hint: remotes.hints.join(" ") };
  if (remotes === undefined || remotes.length === 0) {
    const hint =
      "`jpg remote add NAME URL` and `jpg push --all` keep a copy elsewhere; nothing is pushed unless you push it";
    return { state: "warning", message: `none: if ${root} is lost, so are its conversations`, hint };
  }
  const deleted = await findMirrored(upkeep, remotes);
  if (deleted !== null) return deleted;
  const listed = remotes.map(({ name, as }) => `${name} (${as === "hidden" ? "hidden refs" : "branches"})`);
  return { state: "ok", message: `remotes: ${listed.join(", ")}` };
}

/** A remote to which the project is mirrored: each such push deletes the hidden refs there. */
async function findMirrored(upkeep: Upkeep, remotes: readonly Remote[]): Promise<RemoteVerdict | null> {
  const mirrors = await upkeep.mirrors();
  for (const { name, pushUrl, as } of remotes) {
    const mirror = as === "hidden" ? mirrors.find(({ url }) => isSameRepository(url, pushUrl)) : undefined;
    if (mirror === undefined) continue;
    return {
      state: "warning",
      message: `the project is mirrored to ${mirror.name}: each \`git push ${mirror.name}\` of the project deletes the conversations on ${name} (${shownUrl(pushUrl)})`,
      hint: `\`git config --unset remote.${mirror.name}.mirror\` in the project, or a repository of their own: \`jpg remote add NAME URL --as branches\``,
    };
  }
  return null;
}
