// Makes a conversation store, or completes one, and says where it is and where settings go.
import { dirname, resolve } from "node:path";
import { PROJECT_CONFIG_NAME, resolveUserPaths } from "../../config/trust.ts";
import { createFile, makeFolders } from "../../store/files.ts";
import { locate, makeStore } from "./engine.ts";
import type { Runtime } from "./runtime.ts";
import { readTemplate } from "./templates.ts";

export interface InitReport {
  /** Absolute path of the store. */
  readonly path: string;
  readonly created: boolean;
  /** The user's own settings: absolute path, and whether this call put the commented template there. */
  readonly settings: { readonly path: string; readonly created: boolean };
  /** What to do next. */
  readonly hints: readonly string[];
}

/** Makes the project's store, or DIR itself a conversation repository. Idempotent. */
export async function initStore(
  runtime: Runtime,
  request: { readonly directory: string | undefined; readonly store: string | undefined },
): Promise<InitReport> {
  const named = request.directory ?? request.store;
  const location = await locate(runtime, named === undefined ? undefined : resolve(runtime.cwd, named));
  await makeStore(runtime, location.root);
  const { configFile } = resolveUserPaths(runtime.env, runtime.home);
  const created = await writeSettingsTemplate(configFile);
  const settings = `Settings go into ${configFile}${created ? " (every setting is listed there, commented out)" : ""}`;
  const own = location.project === undefined ? "" : `; those of this project alone into ${PROJECT_CONFIG_NAME}`;
  return {
    path: location.root,
    created: !location.exists,
    settings: { path: configFile, created },
    hints: [
      ...(location.exists ? [] : ["`jpg import` imports the sessions that agents keep for this project."]),
      ...(created || !location.exists ? [`${settings}${own}.`] : []),
    ],
  };
}

/** Puts the commented settings where the user's own are read, unless some stand there; false too where that cannot be written. */
async function writeSettingsTemplate(path: string): Promise<boolean> {
  try {
    makeFolders(dirname(path), 0o700);
    return await createFile(path, await readTemplate("config.toml"));
  } catch {
    return false; // nothing hangs on it: jpg works without settings
  }
}
