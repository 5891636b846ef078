// What jpg writes is a conversation's, and for its owner alone, as far as the store does not say otherwise. Programs that it
// starts for the user, and results in files that the user named, follow the user's own umask.
import { umaskFor } from "../../store/files.ts";

/** The umask that jpg was started with; null before it was changed. */
let users: number | null = null;

/** From here on, files of this process and of the git it starts are for those whom a store is shared with, by its `core.sharedRepository`. */
export function followSharing(sharing: string | undefined): void {
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
