// Makes agents call jpg: adds to their settings the hooks that keep their sessions (`hooks`), jpg's tools (`server`), or jpg inside
// the running agent (`live`), removes them, and shows their state. What the user wrote there does not change.
import { lstatSync } from "node:fs";
import { rm } from "node:fs/promises";
import { delimiter, dirname } from "node:path";
import { JpgError, nearestName, userError } from "../../core/errors.ts";
import { plainLine } from "../../core/hook-line.ts";
import type { AgentFormat, AgentSetup, FoundPlugin, PluginPart, SettingsPart } from "../../formats/agent-format.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import { findProgram, hasProgram } from "../../store/program-call.ts";
import { type Runtime, startWords } from "../conversation/runtime.ts";
import { agentName, agents, machineOf } from "../sessions/session-registry.ts";
import {
  findInstalled,
  type InstalledKey,
  type InstalledPart,
  recordInstalled,
  type SetupKind,
} from "./installed-record.ts";
import { findOwnPlugin, pluginDoing } from "./own-plugin.ts";
import {
  findForeign,
  findPlugin,
  isPluginChanged,
  missingFolders,
  type Plugin,
  readPlugin,
  removeEmpty,
  removePlugin,
  writePlugin,
} from "./plugin-files.ts";
import { changeSettings, type NotAdded, readSettingsFile } from "./settings-file.ts";
import { addPart, findPart, isEmptyFile, type PartState, removePart } from "./settings-part.ts";
import { type HookMode, hookLine, hookPaths, hookScript } from "./spool.ts";

export interface SetupRequest {
  /** The name of its format. */
  readonly agent: string;
  readonly what: SetupKind;
  /** Directory of the project, absolute; null = the user's settings. */
  readonly project: string | null;
}

export interface SetupReport extends SetupRequest {
  readonly path: string;
  readonly status: "installed" | "updated" | "present" | "removed" | "absent";
  /** What the user has to do next, a sentence; null = nothing. */
  readonly next: string | null;
  /** The plug-in that the agent itself installed, which does it (`present`) or stays (after uninstalling); absent = none. */
  readonly plugin?: FoundPlugin;
}

export interface SetupRow extends SetupRequest {
  readonly path: string;
  /** `outdated`: another jpg installed it, or somebody changed it. */
  readonly state: "installed" | "outdated" | "absent" | "unreadable";
  /** The plug-in that the agent itself installed, which does this, too; absent = none. */
  readonly plugin?: FoundPlugin;
}

/** What jpg does for an agent: `keep` its sessions; give it `tools`, too; or also work inside it while it runs (`live`). */
export type SetupLevel = "keep" | "tools" | "live";

/** Lists the agents in which this can be installed; absent = anything. */
export function setupAgents(what?: SetupKind): readonly AgentFormat[] {
  return agents().filter(({ setup }) => setup !== undefined && (what === undefined || setup[what] !== undefined));
}

/** The levels that an agent has. Throws `no_setup`. */
export function levelsOf(agent: string): readonly SetupLevel[] {
  const { setup } = findAgent(agent);
  return [
    "keep",
    ...(setup?.server === undefined ? [] : (["tools"] as const)),
    ...(setup?.live === undefined ? [] : (["live"] as const)),
  ];
}

/** Installs all of a level; what a plug-in does itself is removed elsewhere. Throws as `installSetup` does. */
export async function installLevel(
  runtime: Runtime,
  { agent, level, project }: Omit<SetupRequest, "what"> & { readonly level: SetupLevel },
): Promise<readonly SetupReport[]> {
  const { live } = findAgent(agent).setup ?? {};
  if (level === "live" && live === undefined) throw noSetup(agent, "live");
  const kinds = {
    keep: ["hooks"],
    tools: ["hooks", "server"],
    live: live?.needsHooks === true ? ["hooks", "live"] : ["live"],
  };
  const reports: SetupReport[] = [];
  for (const what of kinds[level] as SetupKind[]) reports.push(await installSetup(runtime, { agent, what, project }));
  if (level !== "live" || live?.hasTools !== true || !levelsOf(agent).includes("tools")) return reports;
  const server = await uninstallSetup(runtime, { agent, what: "server", project });
  return server.status === "removed" ? [...reports, server] : reports;
}

/**
 * Installs. Throws `no_setup`, `hooks_need_shell`, `hooks_need_plain_path`, `settings_not_understood`, `settings_taken` and as `changeSettings` does; then no file has changed,
 * or running it again completes it.
 */
export async function installSetup(runtime: Runtime, request: SetupRequest): Promise<SetupReport> {
  const { setup, part } = partOf(runtime, request);
  const plugin = isNeededBesidePlugin(request) ? null : pluginDoing(runtime, findAgent(request.agent), request);
  if (plugin !== null) return { ...request, path: plugin.path, status: "present", next: null, plugin };
  if (await isDoneLive(runtime, request)) {
    const { path, status } = await installSetup(runtime, { ...request, what: "live" });
    return { ...request, path, status, next: null };
  }
  if (request.what !== "server" && part.type !== "plugin") {
    if (!needsPlainLine(runtime, setup)) await writeScript(runtime);
    else if (request.project !== null) throw needsShell(request);
    else if (plainHookLine(runtime, request.agent, null) === null) throw needsPlainPath();
  }
  const install = part.type === "plugin" ? installPlugin(runtime, request, part) : addToFile(runtime, request, part);
  const next = { hooks: setup.approve, live: setup.live?.next, server: undefined }[request.what];
  return { ...request, path: part.path, status: await install, next: next ?? null };
}

/** Hooks that keep a session also where the agent does not load its plug-in: the second import of the same adds nothing. */
function isNeededBesidePlugin({ agent, what }: Pick<SetupRequest, "agent" | "what">): boolean {
  return what === "hooks" && findAgent(agent).setup?.live?.needsHooks === true;
}

/** Whether an agent passes its hooks to a shell of Windows: a POSIX shell comes with git. `isProgram`: as of `findProgram`. */
export function needsPlainLine(
  { platform, env }: Pick<Runtime, "platform" | "env">,
  { hasShellOnWindows }: Pick<AgentSetup, "hasShellOnWindows">,
  isProgram?: (path: string) => boolean,
): boolean {
  if (platform !== "win32") return false;
  return hasShellOnWindows !== true || findProgram("git", { env, platform, ...(isProgram && { isProgram }) }) === null;
}

/** The line for an agent that passes it to a shell of Windows; null when no line would mean the same to all of them. */
function plainHookLine(runtime: Runtime, agent: string, mode: HookMode): string | null {
  const words = ["keep", agent, ...(mode === null ? [] : [mode])];
  // By its path: cmd.exe would prefer a jpg.cmd of the project that the agent works in, PowerShell npm's jpg.ps1, which it may not run.
  const found = findProgram("jpg", { env: runtime.env, platform: "win32" });
  return plainLine([...(found === null ? startWords(runtime) : [found]), ...words]);
}

/** Such hooks would keep nothing, and nobody would be told. */
function needsShell({ agent }: SetupRequest): JpgError {
  const name = agentName(agent);
  const message = `In a project's files, hooks of jpg are lines for a POSIX shell, and ${name} on Windows uses none.`;
  return userError("hooks_need_shell", message, {
    hints: [`In your own settings they work: jpg hooks install ${agent}`],
  });
}

function needsPlainPath(): JpgError {
  const message = "Hooks on Windows name jpg by its path, which may hold no blanks, and the one in PATH does.";
  return userError("hooks_need_plain_path", message, {
    hints: [
      "Install jpg in a folder without blanks that comes first in PATH, for instance: npm config set prefix C:\\npm",
      "Or `jpg sync` imports sessions while they grow.",
    ],
  });
}

type Installed = "installed" | "updated" | "present";

async function addToFile(runtime: Runtime, request: SetupRequest, part: SettingsPart): Promise<Installed> {
  let status: Installed = "present";
  let entry: InstalledPart | null = null;
  const key = keyOf(request, part);
  const record = hookPaths(runtime).installed;
  const known = findInstalled(record, key);
  const folders = [...(known?.folders ?? []), ...(await missingFolders([part.path]))];
  await changeSettings(part.path, (text) => {
    const state = findPart(text, part);
    if (state === "foreign") throw taken(part.path);
    status = STATUS[state];
    if (state === "same") return undefined;
    const added = addPart(text, part);
    if ("problem" in added) throw notUnderstood(part.path, added);
    entry = { ...key, created: text === null || known?.created === true, inserted: added.inserted, folders };
    return added.text;
  });
  if (entry !== null) await recordInstalled(record, key, entry);
  return status;
}

const STATUS: Readonly<Record<"same" | "other" | "absent", Installed>> = {
  same: "present",
  other: "updated",
  absent: "installed",
};

async function installPlugin(runtime: Runtime, request: SetupRequest, part: PluginPart): Promise<Installed> {
  const plugin = await openPlugin(runtime, request, part);
  const record = hookPaths(runtime).installed;
  const key = keyOf(request, part);
  // Hooks may be a file in the same place, which is replaced.
  const hooks = { ...key, what: "hooks" as const };
  const folders = findInstalled(record, hooks)?.folders ?? [];
  const known = findInstalled(record, key);
  const foreign = await findForeign(plugin, known);
  if (foreign !== null) throw taken(foreign);
  const state = await findPlugin(plugin, known);
  if (state === "same" || state === "foreign") return "present";
  await writePlugin(plugin, known, async (now) => {
    const all = [...new Set([...folders, ...now.folders])];
    await recordInstalled(record, key, { ...key, created: false, inserted: [], ...now, folders: all });
  });
  await recordInstalled(record, hooks, null);
  return STATUS[state];
}

/** Removes what was installed. Throws `no_setup`, `settings_not_understood` and as `changeSettings` does. */
export async function uninstallSetup(runtime: Runtime, request: SetupRequest): Promise<SetupReport> {
  const { part } = partOf(runtime, request);
  const places = hookPaths(runtime);
  const key = keyOf(request, part);
  const known = findInstalled(places.installed, key);
  const wasThere =
    part.type === "plugin"
      ? await removePlugin(await openPlugin(runtime, request, part), known)
      : await removeFromFile(part, known);
  if (known !== undefined) {
    const rest = await recordInstalled(places.installed, key, null);
    await passOn(places.installed, rest, known);
    await removeEmpty(known.folders ?? []);
    if (!rest.some(callsScript)) await rm(places.script, { force: true });
  }
  const plugin = findOwnPlugin(runtime, findAgent(request.agent), request.project) ?? undefined;
  return { ...request, path: part.path, status: wasThere ? "removed" : "absent", next: null, plugin };
}

/** Returns whether the part was there. */
async function removeFromFile(part: SettingsPart, known: InstalledPart | undefined): Promise<boolean> {
  let wasThere = false;
  await changeSettings(part.path, (text) => {
    const state = findPart(text, part);
    wasThere = state === "same" || state === "other";
    if (text === null || !wasThere) return undefined;
    const left = removePart(text, part, known?.inserted ?? []);
    if (typeof left !== "string") throw notUnderstood(part.path, left);
    const isOurs = part.type === "file" || (known?.created === true && isEmptyFile(left));
    return isOurs ? null : left;
  });
  return wasThere;
}

/** A file that jpg created is removed with the last of its parts, in whichever order they go, and so are its folders. */
async function passOn(record: string, parts: readonly InstalledPart[], gone: InstalledPart): Promise<void> {
  const heir = parts.find((part) => part.path === gone.path);
  if (heir === undefined) return;
  const folders = [...(heir.folders ?? []), ...(gone.folders ?? [])];
  await recordInstalled(record, heir, { ...heir, created: heir.created || gone.created, folders });
}

function callsScript({ what, files }: InstalledPart): boolean {
  return what === "hooks" || (what === "live" && files === undefined);
}

/**
 * Replaces this user's plug-ins that a jpg of another version wrote, unless somebody changed them. Returns the agents whose were.
 * Throws as `installSetup` does.
 */
export async function refreshPlugins(runtime: Runtime, version: string): Promise<readonly string[]> {
  const refreshed: string[] = [];
  if (version === runtime.version) return refreshed;
  for (const { name: agent } of setupAgents("live")) {
    const request: SetupRequest = { agent, what: "live", project: null };
    const known = findInstalled(hookPaths(runtime).installed, keyOf(request, partOf(runtime, request).part));
    if (known?.files === undefined || (await isPluginChanged(known))) continue;
    if ((await installSetup(runtime, request)).status === "updated") refreshed.push(agent);
  }
  return refreshed;
}

/** Shows what is installed for every agent, in the user's settings and the project's. */
export async function listSetups(runtime: Runtime, project: string | null): Promise<readonly SetupRow[]> {
  const rows: SetupRow[] = [];
  for (const agent of setupAgents())
    for (const place of project === null ? [null] : [null, project])
      for await (const row of rowsOf(runtime, agent, place)) rows.push(row);
  return rows;
}

async function* rowsOf(runtime: Runtime, agent: AgentFormat, project: string | null): AsyncGenerator<SetupRow> {
  const found = findOwnPlugin(runtime, agent, project) ?? undefined;
  for (const what of ["hooks", "server", "live"] as const) {
    if (agent.setup?.[what] === undefined) continue;
    const request = { agent: agent.name, what, project };
    const plugin = agent.setup.ownPlugin?.does.includes(what) === true ? found : undefined;
    yield { ...request, path: partOf(runtime, request).part.path, state: await rowState(runtime, request), plugin };
  }
}

/** The agents in which a plug-in that they installed does what jpg's hooks, tools or live part do, too; each once. */
export function doneTwice(
  rows: readonly SetupRow[],
): readonly { readonly agent: string; readonly plugin: FoundPlugin }[] {
  const twice = new Map<string, FoundPlugin>();
  for (const { plugin, agent, what } of rows) {
    const own = rows.some((row) => row.agent === agent && row.what === what && row.state !== "absent");
    if (plugin !== undefined && own && !isNeededBesidePlugin({ agent, what })) twice.set(agent, plugin);
  }
  return [...twice].map(([agent, plugin]) => ({ agent, plugin }));
}

/** The agents on this machine: those whose program is on the PATH, or whose folder exists. */
export function agentsHere(runtime: Runtime): readonly AgentFormat[] {
  const machine = machineOf(runtime);
  return setupAgents().filter(({ setup }) => {
    if (setup === undefined) return false;
    const folder = lstatSync(setup.folder(machine), { throwIfNoEntry: false });
    return folder !== undefined || isOnPath(runtime, setup.program);
  });
}

/** The row of hooks for which a plug-in's file stands in is that of the plug-in. */
async function rowState(runtime: Runtime, request: SetupRequest): Promise<SetupRow["state"]> {
  const isFile = request.what === "hooks" && findAgent(request.agent).setup?.live?.needsHooks === false;
  const live = isFile ? await stateOf(runtime, { ...request, what: "live" }) : "absent";
  return live === "installed" || live === "outdated" ? live : stateOf(runtime, request);
}

async function stateOf(runtime: Runtime, request: SetupRequest): Promise<SetupRow["state"]> {
  try {
    return STATE[await findState(runtime, request)];
  } catch (error) {
    if (error instanceof JpgError && error.kind === "user") return "unreadable";
    throw error;
  }
}

const STATE = { same: "installed", other: "outdated", foreign: "absent", absent: "absent" } as const;

async function findState(runtime: Runtime, request: SetupRequest): Promise<PartState> {
  const { part } = partOf(runtime, request);
  if (part.type !== "plugin") return findPart(await readSettingsFile(part.path), part);
  const known = findInstalled(hookPaths(runtime).installed, keyOf(request, part));
  return findPlugin(await openPlugin(runtime, request, part), known);
}

/** Whether jpg inside the agent does what is asked for, in the same place. */
async function isDoneLive(runtime: Runtime, request: SetupRequest): Promise<boolean> {
  const { live } = findAgent(request.agent).setup ?? {};
  const covers = { hooks: live?.needsHooks === false, server: live?.hasTools === true, live: false };
  if (!covers[request.what]) return false;
  const state = await stateOf(runtime, { ...request, what: "live" });
  return state === "installed" || state === "outdated";
}

/** Whether jpg inside an agent gives it jpg's tools, in the user's settings or a project's (null = none). */
export async function hasLiveTools(runtime: Runtime, agent: string, project: string | null): Promise<boolean> {
  for (const place of project === null ? [null] : [null, project])
    if (await isDoneLive(runtime, { agent, what: "server", project: place })) return true;
  return false;
}

function openPlugin(runtime: Runtime, { agent, project }: SetupRequest, part: PluginPart): Promise<Plugin> {
  return readPlugin(runtime, part, { agent, isShared: project !== null });
}

function keyOf({ agent, what }: SetupRequest, { path }: { readonly path: string }): InstalledKey {
  return { agent, what, path };
}

function partOf(
  runtime: Runtime,
  { agent, what, project }: SetupRequest,
): { readonly setup: AgentSetup; readonly part: SettingsPart | PluginPart } {
  const { setup } = findAgent(agent);
  const place = { machine: machineOf(runtime), project };
  const isPlain = setup !== undefined && needsPlainLine(runtime, setup);
  const line = (mode: HookMode): string =>
    isPlain
      ? (plainHookLine(runtime, agent, mode) ?? "")
      : hookLine(hookPaths(runtime), { agent, mode, isShared: project !== null });
  const part = {
    hooks: () => setup?.hooks?.(place, line(setup.rewrites === true ? "copy" : null)),
    server: () => setup?.server?.(place, serverCommand(runtime, project !== null)),
    live: () => setup?.live?.part(place, line("note")),
  }[what]();
  if (setup === undefined || part === undefined) throw noSetup(agent, what);
  return { setup, part };
}

/** The command `jpg` if that is on the PATH, and always in a project's file, which others use, too; else full paths. */
function serverCommand(runtime: Runtime, isShared: boolean): readonly string[] {
  return isShared || isOnPath(runtime, "jpg") ? ["jpg", "mcp"] : [...startWords(runtime), "mcp"];
}

/** Whether a program is in a folder of PATH. */
export function isOnPath({ env, platform }: Runtime, program: string): boolean {
  if (platform === "win32") return findProgram(program, { env, platform }) !== null;
  return (env["PATH"] ?? "").split(delimiter).some((folder) => folder !== "" && hasProgram(program, folder));
}

async function writeScript(runtime: Runtime): Promise<void> {
  const places = hookPaths(runtime);
  makeFolders(dirname(places.script), 0o700);
  makeFolders(places.spool, 0o700);
  await replaceFile(places.script, hookScript(places), { mode: 0o700 });
}

function findAgent(name: string): AgentFormat {
  const found = agents().find((agent) => agent.name === name);
  if (found?.setup !== undefined) return found;
  const names = setupAgents().map((agent) => agent.name);
  const nearest = nearestName(name, names);
  throw userError("no_setup", `${name} is not an agent that jpg can set up: expected one of ${names.join(", ")}.`, {
    hints: nearest === undefined ? [] : [`Did you mean ${nearest}?`],
  });
}

function noSetup(agent: string, what: SetupKind): Error {
  const thing = { hooks: "hooks", server: "MCP servers", live: "plug-ins" }[what];
  const names = setupAgents(what).map(({ name }) => name);
  return userError("no_setup", `${agent} has no ${thing} that jpg can set up; these do: ${names.join(", ")}.`, {
    hints: what === "hooks" ? ["`jpg sync --watch` imports its sessions as they grow."] : [],
  });
}

function taken(path: string): Error {
  return userError("settings_taken", `${path} has something else under jpg's name, which jpg leaves as it is.`, {
    hints: ["Remove or rename it, then run the command again."],
  });
}

function notUnderstood(path: string, { problem, line }: NotAdded): Error {
  const place = line === undefined ? path : `${path}:${line}`;
  return userError("settings_not_understood", `${place} ${problem}, so jpg leaves it as it is.`, {
    hints: ["Correct it, since the agent needs it too, and run the command again."],
  });
}
