// Where jpg keeps what agents' hooks need: all of it in the user's own state folder, none of it in a project or a store.
import { join } from "node:path";
import { resolveUserPaths } from "../../config/trust.ts";
import type { Runtime } from "../workspace/runtime.ts";

/** Absolute paths. */
export interface HookPlaces {
  /** What hooks run. */
  readonly script: string;
  /** What they put aside: a folder an event. */
  readonly spool: string;
  /** What was put into which file of settings. */
  readonly installed: string;
  /** Held by whoever takes in what was put aside. */
  readonly lock: string;
  readonly nodePath: string;
  readonly jpgPath: string;
}

/** Gives the places of this user. */
export function hookPlaces({ env, home, nodePath, jpgPath }: Runtime): HookPlaces {
  const { stateDir } = resolveUserPaths(env, home);
  return {
    script: join(stateDir, "hooks", "keep.sh"),
    spool: join(stateDir, "spool"),
    installed: join(stateDir, "hooks", "installed.json"),
    lock: join(stateDir, "hooks", "spool.lock"),
    nodePath,
    jpgPath,
  };
}
