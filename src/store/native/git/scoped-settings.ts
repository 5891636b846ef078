// Git's settings with where each comes from, as `git config --show-scope -z --list` prints them: includes are resolved.

/** One value of a setting; a key may have several, later ones win. */
export interface ScopedSetting {
  /** `system`, `global`, `local`, `worktree` or `command`. */
  readonly scope: string;
  /** Section and name in lower case, the subsection as it was written. */
  readonly key: string;
  readonly value: string;
}

/** The arguments whose output `parseScopedSettings` reads. */
export const LIST_SETTINGS: readonly string[] = ["config", "--show-scope", "--list", "-z"];

/** Parses the list, in its order. A key without a value has an empty one. */
export function parseScopedSettings(output: string): readonly ScopedSetting[] {
  const words = output.split("\0");
  const settings: ScopedSetting[] = [];
  for (let i = 0; i + 1 < words.length; i += 2) {
    const [scope = "", entry = ""] = words.slice(i, i + 2);
    const end = entry.indexOf("\n");
    settings.push({ scope, key: end < 0 ? entry : entry.slice(0, end), value: end < 0 ? "" : entry.slice(end + 1) });
  }
  return settings;
}

/** Whether a setting stands in the repository itself, where whoever made it wrote it. */
export function isOwnSetting({ scope }: ScopedSetting): boolean {
  return scope === "local" || scope === "worktree";
}
