// Where jpg keeps files of the user's: pure functions of the environment and the home folder (XDG Base Directory
// Specification: a variable that is empty or holds a relative path counts as unset).
import { isAbsolute, join } from "node:path";

/** Name of a project's config file, at the top of the project. */
export const PROJECT_CONFIG_NAME = ".jpg.toml";

/** The user's own places, absolute. */
export interface UserPaths {
  readonly configFile: string;
  /** Trust and other state of this machine. */
  readonly stateDir: string;
  readonly trustFile: string;
  readonly dataDir: string;
  /** What can be had again. */
  readonly cacheDir: string;
  /** The store used outside any project. */
  readonly storeDir: string;
}

/** Resolves the user's places. `home` is absolute. */
export function resolveUserPaths(env: Readonly<Record<string, string | undefined>>, home: string): UserPaths {
  const base = (variable: string, ...fallback: readonly string[]): string => {
    const value = env[variable];
    return join(value !== undefined && isAbsolute(value) ? value : join(home, ...fallback), "jpg");
  };
  const stateDir = base("XDG_STATE_HOME", ".local", "state");
  const dataDir = base("XDG_DATA_HOME", ".local", "share");
  return {
    configFile: join(base("XDG_CONFIG_HOME", ".config"), "config.toml"),
    stateDir,
    trustFile: join(stateDir, "trust.json"),
    dataDir,
    cacheDir: base("XDG_CACHE_HOME", ".cache"),
    storeDir: join(dataDir, "store"),
  };
}
