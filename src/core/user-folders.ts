// Where jpg keeps a user's things, by system. Agents keep theirs in the same folder of the home on every system.
import { isWindowsPath, withoutEnd } from "./folder-path.ts";

/** What depends on the user. */
export interface UserHome {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Absolute. */
  readonly home: string;
  /** The system's name in node; absent = one like Linux. */
  readonly platform?: string | undefined;
}

interface FolderRule {
  /** Names the folder on every system, when it is absolute (XDG Base Directory Specification). */
  readonly variable: string;
  /** Below the home. */
  readonly usual: readonly string[];
  /** On Windows: the variable, what it usually is below the home, and jpg's folder there. */
  readonly windows: readonly [variable: string, usual: readonly string[], own: readonly string[]];
}

const LOCAL = ["AppData", "Local"];

/** macOS is as Linux, like git and most tools of developers there: one text describes both, and no folder has a blank in its name. */
const FOLDERS: Readonly<Record<"config" | "state" | "data" | "cache", FolderRule>> = {
  config: { variable: "XDG_CONFIG_HOME", usual: [".config"], windows: ["APPDATA", ["AppData", "Roaming"], ["jpg"]] },
  state: { variable: "XDG_STATE_HOME", usual: [".local", "state"], windows: ["LOCALAPPDATA", LOCAL, ["jpg", "state"]] },
  data: { variable: "XDG_DATA_HOME", usual: [".local", "share"], windows: ["LOCALAPPDATA", LOCAL, ["jpg", "data"]] },
  cache: { variable: "XDG_CACHE_HOME", usual: [".cache"], windows: ["LOCALAPPDATA", LOCAL, ["jpg", "cache"]] },
};

/** Returns a folder of jpg's own, absolute: settings, state and other things of this machine, stores, what can be made again. */
export function userFolder(kind: keyof typeof FOLDERS, { env, home, platform }: UserHome): string {
  const { variable, usual, windows } = FOLDERS[kind];
  const isWindows = platform === "win32";
  const named = (name: string): string | null => {
    const value = env[name] ?? "";
    return (isWindows ? isWindowsPath(value) : value.startsWith("/")) ? value : null;
  };
  const join = (...names: readonly string[]): string =>
    [withoutEnd(names[0] ?? ""), ...names.slice(1)].join(isWindows ? "\\" : "/");
  const chosen = named(variable);
  if (chosen !== null) return join(chosen, "jpg");
  if (!isWindows) return join(home, ...usual, "jpg");
  const [place, below, own] = windows;
  return join(named(place) ?? join(home, ...below), ...own);
}
