// What jpg writes is a conversation's, and for its owner alone, as far as the store does not say otherwise. Programs that it
// starts for the user, and results in files that the user named, follow the user's own umask.

import type { Environment } from "../../store/environment.ts";
import { umaskFor } from "../../store/files/file-sharing.ts";
import { sharingOf, sharingOfUser } from "../../store/native/refs/store-sharing.ts";

/** The umask that jpg was started with; null before it was changed. */
let users: number | null = null;

/** From here on, files of this process and of the git it starts are for those whom the store in this git dir is shared with. */
export async function followSharing(gitDir: string): Promise<void> {
  setUmask(await sharingOf(gitDir));
}

/** The same for a store that is to be made: unsaid by it, the user's own settings say it, as git asks them. */
export async function followSharingToBe(gitDir: string, env: Environment): Promise<void> {
  setUmask((await sharingOf(gitDir)) ?? (await sharingOfUser(env)));
}

function setUmask(sharing: string | undefined): void {
  users ??= process.umask(0o077);
  process.umask(umaskFor(sharing, users));
}

/** Does something at once, such as starting a program, under the user's own umask. */
export function asUser<Value>(action: () => Value): Value {
  if (users === null) return action();
  const own = process.umask(users);
  try {
    return action();
  } finally {
    process.umask(own);
  }
}

/** Permission bits of a new file of the user's own. */
export function userFileMode(): number {
  return 0o666 & ~(users ?? process.umask());
}
