// Has agents call jpg: puts into their settings what they need to keep their sessions (`hooks`) or to use jpg's tools (`server`),
// takes it out again, and says what stands where. What the user wrote there stays as it is.
import { rm } from "node:fs/promises";
import { delimiter, dirname } from "node:path";
import { nearestName, userError } from "../../core/errors.ts";
import type { AgentFormat, AgentSetup, SettingsPart } from "../../formats/agent-format.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import { hasProgram } from "../../store/git-dir.ts";
import { agents, machineOf } from "../sessions/session-registry.ts";
import type { Runtime } from "../workspace/runtime.ts";
import { hookPlaces } from "./hook-places.ts";
import { hookLine, hookScript } from "./hook-script.ts";
import { type InstalledPart, readInstalled, recordInstalled } from "./installed-parts.ts";
import { changeSettings, readSettingsFile } from "./settings-file.ts";
import { addPart, findPart, isEmptyFile, removePart } from "./settings-part.ts";

/** What an agent is told. */
export type SetupKind = "hooks" | "server";

export interface SetupRequest {
  /** The name of its format, as typed. */
  readonly agent: string;
  readonly what: SetupKind;
  /** Directory of the project, absolute; null = the user's settings. */
  readonly project: string | null;
}

/** What was done with one file. */
export interface SetupReport extends SetupRequest {
  readonly path: string;
  readonly status: "installed" | "updated" | "present" | "removed" | "absent";
  /** What the user has to do now, a sentence; null = nothing. */
  readonly next: string | null;
}

/** What stands in one file. */
export interface SetupRow extends SetupRequest {
  readonly path: string;
  /** `outdated`: another jpg put it there, or somebody changed it. */
  readonly state: "installed" | "outdated" | "absent" | "unreadable";
}

/** Lists the agents that can be told something. */
export function setupAgents(what?: SetupKind): readonly AgentFormat[] {
  return agents().filter(({ setup }) => setup !== undefined && (what === undefined || setup[what] !== undefined));
}

/** Installs. Throws `no_setup`, `settings_not_understood`, `settings_taken` and what `changeSettings` throws; nothing is changed then. */
export async function installSetup(runtime: Runtime, request: SetupRequest): Promise<SetupReport> {
  const { setup, part } = partOf(runtime, request);
  const { installed } = hookPlaces(runtime);
  if (request.what === "hooks") await writeScript(runtime);
  let status: SetupReport["status"] = "present";
  let entry: InstalledPart | null = null;
  await changeSettings(part.path, (text) => {
    const state = findPart(text, part);
    if (state === "foreign") throw taken(part);
    status = state === "same" ? "present" : state === "other" ? "updated" : "installed";
    if (state === "same") return undefined;
    const added = addPart(text, part);
    if ("problem" in added) throw notUnderstood(part.path, added.problem);
    const { agent, what } = request;
    entry = { agent, what, path: part.path, created: text === null, inserted: added.inserted };
    return added.text;
  });
  if (entry !== null) await recordInstalled(installed, { ...request, path: part.path }, entry);
  const next = request.what === "hooks" ? (setup.approve ?? null) : null;
  return { ...request, path: part.path, status, next };
}

/** Takes out what was installed. Throws `no_setup`, `settings_not_understood` and what `changeSettings` throws. */
export async function uninstallSetup(runtime: Runtime, request: SetupRequest): Promise<SetupReport> {
  const { part } = partOf(runtime, request);
  const places = hookPlaces(runtime);
  const named = { agent: request.agent, what: request.what, path: part.path };
  const known = readInstalled(places.installed).find((other) => isSame(other, named));
  let status: SetupReport["status"] = "absent";
  await changeSettings(part.path, (text) => {
    const state = findPart(text, part);
    status = state === "absent" || state === "foreign" ? "absent" : "removed";
    if (text === null || status === "absent") return undefined;
    const left = removePart(text, part, known?.inserted ?? []);
    if (left === null) throw notUnderstood(part.path, "cannot be read");
    const isOurs = part.type === "file" || (known?.created === true && isEmptyFile(left));
    return isOurs ? null : left;
  });
  if (known !== undefined) {
    const rest = await recordInstalled(places.installed, named, null);
    if (!rest.some(({ what }) => what === "hooks")) await rm(places.script, { force: true });
  }
  return { ...request, path: part.path, status, next: null };
}

/** Says what stands in the settings of every agent, the user's and the project's. */
export async function listSetups(runtime: Runtime, project: string | null): Promise<readonly SetupRow[]> {
  const rows: SetupRow[] = [];
  for (const { name } of setupAgents())
    for (const place of project === null ? [null] : [null, project])
      for (const what of ["hooks", "server"] as const) {
        const request = { agent: name, what, project: place };
        if (findAgent(name).setup?.[what] === undefined) continue;
        const { part } = partOf(runtime, request);
        rows.push({ ...request, path: part.path, state: await stateOf(part) });
      }
  return rows;
}

async function stateOf(part: SettingsPart): Promise<SetupRow["state"]> {
  const text = await readSettingsFile(part.path).catch(() => undefined);
  if (text === undefined) return "unreadable";
  return ({ same: "installed", other: "outdated", foreign: "absent", absent: "absent" } as const)[findPart(text, part)];
}

function partOf(
  runtime: Runtime,
  { agent, what, project }: SetupRequest,
): { readonly setup: AgentSetup; readonly part: SettingsPart } {
  const { setup } = findAgent(agent);
  const place = { machine: machineOf(runtime), project };
  const copies = setup?.rewrites === true;
  const line = hookLine(hookPlaces(runtime), { agent, copies, isShared: project !== null });
  const part =
    what === "hooks" ? setup?.hooks?.(place, line) : setup?.server?.(place, serverCommand(runtime, project !== null));
  if (setup === undefined || part === undefined) throw noSetup(agent, what);
  return { setup, part };
}

/** By its name where that finds it, for every program of the user and, in a project's file, of everybody else. */
function serverCommand({ env, nodePath, jpgPath }: Runtime, isShared: boolean): readonly string[] {
  const isOnPath = (env["PATH"] ?? "").split(delimiter).some((folder) => folder !== "" && hasProgram("jpg", folder));
  return isShared || isOnPath ? ["jpg", "mcp"] : [nodePath, jpgPath, "mcp"];
}

async function writeScript(runtime: Runtime): Promise<void> {
  const places = hookPlaces(runtime);
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
  const thing = what === "hooks" ? "hooks" : "MCP servers";
  const names = setupAgents(what).map(({ name }) => name);
  return userError("no_setup", `${agent} has no ${thing} that jpg can set up; these do: ${names.join(", ")}.`, {
    hints: what === "hooks" ? ["`jpg sync --watch` imports its sessions as they grow."] : [],
  });
}

function taken({ path }: SettingsPart): Error {
  return userError("settings_taken", `${path} has something else under jpg's name, which jpg leaves as it is.`, {
    hints: ["Remove or rename it, then run the command again."],
  });
}

function notUnderstood(path: string, problem: string): Error {
  return userError("settings_not_understood", `${path} ${problem}, so jpg leaves it as it is.`, {
    hints: ["Correct it, since the agent needs it too, and run the command again."],
  });
}

function isSame(one: InstalledPart, other: Pick<InstalledPart, "agent" | "what" | "path">): boolean {
  return one.agent === other.agent && one.what === other.what && one.path === other.path;
}
