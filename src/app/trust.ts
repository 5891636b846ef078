// Trust in a project's config file: bound to its text, kept in the user's state directory.
import { mkdir } from "node:fs/promises";
import { dirname } from "node:path";
import { resolveUserPaths } from "../config/paths.ts";
import { trustDigest, withoutTrust, withTrust } from "../config/trust.ts";
import { userError } from "../core/errors.ts";
import { replaceFile } from "./replace-file.ts";
import type { Runtime } from "./runtime.ts";
import { locate, projectConfigFile, readIfExists } from "./workspace.ts";

export interface TrustReport {
  readonly path: string;
  readonly trusted: boolean;
}

/** Trusts the project's config as it is now, or no longer. Throws `no_project_config`. */
export async function trustProject(
  runtime: Runtime,
  request: { readonly store: string | undefined; readonly remove: boolean },
): Promise<TrustReport> {
  const path = projectConfigFile(await locate(runtime, request.store));
  const text = path === null ? null : await readIfExists(path);
  if (path === null || (text === null && !request.remove)) {
    throw userError(
      "no_project_config",
      `There is no .jpg.toml to trust${path === null ? ": this is no project" : ` at ${path}`}.`,
      { hints: ["Run it in the project whose .jpg.toml you have read."] },
    );
  }
  const { trustFile } = resolveUserPaths(runtime.env, runtime.home);
  const before = (await readIfExists(trustFile)) ?? undefined;
  const after =
    request.remove || text === null ? withoutTrust(before, path) : withTrust(before, path, trustDigest(text));
  await mkdir(dirname(trustFile), { recursive: true });
  await replaceFile(trustFile, after, { mode: 0o600 });
  return { path, trusted: !request.remove };
}
