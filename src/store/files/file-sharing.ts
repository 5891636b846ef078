// Who else may read a store: nobody, unless its `core.sharedRepository` says so (git-config(1)).

/** What a store is made with: files for its owner alone. */
export const PRIVATE = "0600";

/** The umask (permission bits that new files do not get) for a store that is shared like this, from the user's own. */
export function umaskFor(sharing: string | undefined, users: number): number {
  const value = (sharing ?? PRIVATE).toLowerCase();
  if (/^(umask|false|no|off|0+|)$/.test(value)) return users;
  if (/^(group|true|yes|on|0*1)$/.test(value)) return users & ~0o070;
  if (/^(all|world|everybody|0*2)$/.test(value)) return users & ~0o075;
  const mode = /^[0-7]+$/.test(value) ? Number.parseInt(value, 8) & 0o666 : 0o600;
  // Who may read a file may enter a folder.
  return 0o777 & ~(mode | 0o700 | ((mode & 0o444) >> 2));
}
