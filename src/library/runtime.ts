// The runtime of a program that uses jpg as a library: what it gives, else this process's own. Nothing else of src/library reads
// the process.
import { randomBytes } from "node:crypto";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { findPackaged, type Runtime, SYSTEM_CLOCK } from "../app/conversation/runtime.ts";

/** Replaced by the build. */
declare const JPG_VERSION: string;

/** What a program says about the world; all of it can be left out. */
export interface World {
  /**
   * Environment variables. Default: those of this process that jpg and git need to find programs, settings and the author's name;
   * no other, so that no key of a model is read.
   */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** The user's home folder, absolute. Default: HOME of `env`, else the system's. */
  readonly home?: string;
  /** Default: the system's clock. */
  readonly now?: () => Date;
}

/** Variables that are read where no environment is given. */
const NEEDED =
  /^(?:PATH|PATHEXT|HOME|USERPROFILE|APPDATA|LOCALAPPDATA|SYSTEMROOT|COMSPEC|TMPDIR|TMP|TEMP|TZ|LANG|LC_\w+|XDG_(?:CONFIG|DATA|STATE|CACHE)_HOME|EMAIL|GIT_(?:AUTHOR|COMMITTER)_\w+|GIT_CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM))$/i;

/** Creates a runtime; `directory` may be relative to the current folder. */
export function createLibraryRuntime(directory: string, { env, home, now }: World): Runtime {
  const read = env ?? neededVariables();
  return {
    ...SYSTEM_CLOCK,
    ...(now === undefined ? {} : { now }),
    version: typeof JPG_VERSION === "string" ? JPG_VERSION : "0.0.0",
    env: read,
    platform: process.platform,
    cwd: resolve(directory),
    home: home ?? (read["HOME"] || homedir()),
    nodePath: process.execPath,
    // Called by the hooks of stores that are made here; a later call of the command repairs them if it is not there.
    jpgPath: findPackaged(join("bin", "jpg.js")) ?? resolve("node_modules", ".bin", "jpg"),
    random: (length) => randomBytes(length),
    inputKind: () => Promise.resolve("none"),
    readStdin: () => Promise.resolve(new Uint8Array()),
    readStdinWithin: () => Promise.resolve(null),
    readLines: () => NO_LINES,
  };
}

function neededVariables(): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => NEEDED.test(name)));
}

const NO_LINES: AsyncIterable<string> = {
  [Symbol.asyncIterator]: () => ({ next: () => Promise.resolve({ done: true, value: undefined }) }),
};
