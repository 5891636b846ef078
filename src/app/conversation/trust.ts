// Trust in a project's config file, bound to its exact text and stored in the user's state directory. What trust would allow is
// read from the same text that is then trusted. Trust in a program, bound to its bytes.
import { dirname } from "node:path";
import { type ConfigFile, loadConfig } from "../../config/load.ts";
import { renderSettings } from "../../config/show-config.ts";
import { isTrusted, resolveUserPaths, trustDigest, withoutTrust, withTrust } from "../../config/trust.ts";
import { userError } from "../../core/errors.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import { locate } from "./engine.ts";
import type { Runtime } from "./runtime.ts";
import { projectConfigFile, readIfExists, readProjectConfig } from "./workspace.ts";

/** A setting that applies only if its file is trusted. */
interface AllowedSetting {
  readonly key: string;
  /** As written; a provider's API key is masked. */
  readonly value: unknown;
  /** 1-based. */
  readonly line?: number;
}

/** What trusting a project's config would allow. */
export interface TrustPlan extends ConfigFile {
  /** In the order written; empty = nothing in it needs trust. */
  readonly allows: readonly AllowedSetting[];
}

type TrustPlace = { readonly store: string | undefined };

/** Reads what trust would allow. Throws `no_project_config`, and `loadConfig`'s errors for a file with mistakes. */
export async function planTrust(runtime: Runtime, place: TrustPlace): Promise<TrustPlan> {
  const path = await findConfig(runtime, place);
  const text = await readProjectConfig(path);
  if (text === null) throw noConfig(path);
  const { configFile } = resolveUserPaths(runtime);
  const mine = await readIfExists(configFile);
  const user = mine === null ? {} : { user: { path: configFile, text: mine } };
  const load = (trusted: boolean) =>
    loadConfig({ ...user, project: { path, text, trusted }, conversation: [], overrides: [] });
  // Reports mistakes before the file is trusted.
  load(true);
  return { path, text, allows: load(false).ignored.map(allowedSetting) };
}

/** Trusts exactly the planned text. */
export async function applyTrust(runtime: Runtime, { path, text }: TrustPlan): Promise<void> {
  await changeTrust(runtime, (before) => withTrust(before, path, trustDigest(text)));
}

/**
 * Removes the trust in the project's config, whether the file still exists or not; returns its path. Throws `no_project_config`.
 */
export async function removeTrust(runtime: Runtime, place: TrustPlace): Promise<string> {
  const path = await findConfig(runtime, place);
  await changeTrust(runtime, (before) => withoutTrust(before, path));
  return path;
}

/** Whether the user trusted the program at a path, as it is now: `digest` is of its bytes. */
export async function isProgramTrusted(runtime: Runtime, path: string, digest: string): Promise<boolean> {
  const { trustFile } = resolveUserPaths(runtime);
  return isTrusted(path, digest, (await readIfExists(trustFile)) ?? undefined);
}

/** Trusts a program as long as its bytes stay the same; `digest` null = stops trusting it. */
export async function setProgramTrust(runtime: Runtime, path: string, digest: string | null): Promise<void> {
  await changeTrust(runtime, (before) =>
    digest === null ? withoutTrust(before, path) : withTrust(before, path, digest),
  );
}

/** Renders a setting, with its line if known. */
export function renderAllowed({ key, value, line }: AllowedSetting): string {
  const setting = renderSettings([{ key, value, origin: { layer: "project" } }], { showOrigin: false }).trimEnd();
  return line === undefined ? setting : `line ${line}: ${setting}`;
}

function allowedSetting({ key, value, line }: ReturnType<typeof loadConfig>["ignored"][number]): AllowedSetting {
  const shown = key.endsWith(".api_key") ? "(not shown)" : value;
  return { key, value: shown, line };
}

async function changeTrust(runtime: Runtime, change: (before: string | undefined) => string): Promise<void> {
  const { trustFile } = resolveUserPaths(runtime);
  const after = change((await readIfExists(trustFile)) ?? undefined);
  makeFolders(dirname(trustFile));
  await replaceFile(trustFile, after, { mode: 0o600 });
}

async function findConfig(runtime: Runtime, { store }: TrustPlace): Promise<string> {
  const path = projectConfigFile(await locate(runtime, store));
  if (path === null) throw noConfig(null);
  return path;
}

function noConfig(path: string | null): Error {
  const where = path === null ? ": this is no project" : ` at ${path}`;
  return userError("no_project_config", `There is no .jpg.toml to trust${where}.`, {
    hints: ["Run it in the project whose .jpg.toml you want to allow."],
  });
}
