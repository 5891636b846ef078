// Makes agents call jpg: adds to their settings the hooks that keep their sessions (`hooks`) or jpg's tools (`server`), removes
// them, and shows their state. What the user wrote there does not change.
import { rm } from "node:fs/promises";
import { basename, delimiter, dirname } from "node:path";
import * as z from "zod/mini";
import { fieldsOf } from "../../core/conversation/event.ts";
import { codeOf, nearestName, userError } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import type { AgentFormat, AgentSetup, JsonEntry, JsonPlace, SettingsPart } from "../../formats/agent-format.ts";
import { makeFolders, readOwnText, replaceFile } from "../../store/files.ts";
import { hasProgram } from "../../store/git-dir.ts";
import type { Runtime } from "../conversation/runtime.ts";
import { agents, machineOf } from "../sessions/session-registry.ts";
import { addJson, findJson, isJson, readJson, removeJson } from "./json-settings.ts";
import { type AddedText, changeSettings, cutInserted, type NotAdded, readSettingsFile } from "./settings-file.ts";
import { hookLine, hookPaths, hookScript } from "./spool.ts";
import { editTomlTable, findToml, isToml, readToml } from "./toml-settings.ts";

/** What to install. */
export type SetupKind = "hooks" | "server";

interface SetupRequest {
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
}

export interface SetupRow extends SetupRequest {
  readonly path: string;
  /** `outdated`: another jpg installed it, or somebody changed it. */
  readonly state: "installed" | "outdated" | "absent" | "unreadable";
}

/** Lists the agents in which this can be installed; absent = anything. */
export function setupAgents(what?: SetupKind): readonly AgentFormat[] {
  return agents().filter(({ setup }) => setup !== undefined && (what === undefined || setup[what] !== undefined));
}

/**
 * Installs. Throws `no_setup`, `settings_not_understood`, `settings_taken` and as `changeSettings` does; then no file has changed.
 */
export async function installSetup(runtime: Runtime, request: SetupRequest): Promise<SetupReport> {
  const { setup, part } = partOf(runtime, request);
  const { installed } = hookPaths(runtime);
  if (request.what === "hooks") await writeScript(runtime);
  let status: SetupReport["status"] = "present";
  let entry: InstalledPart | null = null;
  await changeSettings(part.path, (text) => {
    const state = findPart(text, part);
    if (state === "foreign") throw taken(part);
    status = state === "same" ? "present" : state === "other" ? "updated" : "installed";
    if (state === "same") return undefined;
    const added = addPart(text, part);
    if ("problem" in added) throw notUnderstood(part.path, added);
    const { agent, what } = request;
    entry = { agent, what, path: part.path, created: text === null, inserted: added.inserted };
    return added.text;
  });
  if (entry !== null) await recordInstalled(installed, { ...request, path: part.path }, entry);
  const next = request.what === "hooks" ? (setup.approve ?? null) : null;
  return { ...request, path: part.path, status, next };
}

/** Removes what was installed. Throws `no_setup`, `settings_not_understood` and as `changeSettings` does. */
export async function uninstallSetup(runtime: Runtime, request: SetupRequest): Promise<SetupReport> {
  const { part } = partOf(runtime, request);
  const places = hookPaths(runtime);
  const named = { agent: request.agent, what: request.what, path: part.path };
  const known = readInstalled(places.installed).find((other) => isSame(other, named));
  let status: SetupReport["status"] = "absent";
  await changeSettings(part.path, (text) => {
    const state = findPart(text, part);
    status = state === "absent" || state === "foreign" ? "absent" : "removed";
    if (text === null || status === "absent") return undefined;
    const left = removePart(text, part, known?.inserted ?? []);
    if (typeof left !== "string") throw notUnderstood(part.path, left);
    const isOurs = part.type === "file" || (known?.created === true && isEmptyFile(left));
    return isOurs ? null : left;
  });
  if (known !== undefined) {
    const rest = await recordInstalled(places.installed, named, null);
    if (!rest.some(({ what }) => what === "hooks")) await rm(places.script, { force: true });
  }
  return { ...request, path: part.path, status, next: null };
}

/** Shows what is installed for every agent, in the user's settings and the project's. */
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
  const line = hookLine(hookPaths(runtime), { agent, copies, isShared: project !== null });
  const part =
    what === "hooks" ? setup?.hooks?.(place, line) : setup?.server?.(place, serverCommand(runtime, project !== null));
  if (setup === undefined || part === undefined) throw noSetup(agent, what);
  return { setup, part };
}

/** The command `jpg` if that is on the PATH, and always in a project's file, which others use, too; else full paths. */
function serverCommand({ env, nodePath, jpgPath }: Runtime, isShared: boolean): readonly string[] {
  const isOnPath = (env["PATH"] ?? "").split(delimiter).some((folder) => folder !== "" && hasProgram("jpg", folder));
  return isShared || isOnPath ? ["jpg", "mcp"] : [nodePath, jpgPath, "mcp"];
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

function notUnderstood(path: string, { problem, line }: NotAdded): Error {
  const place = line === undefined ? path : `${path}:${line}`;
  return userError("settings_not_understood", `${place} ${problem}, so jpg leaves it as it is.`, {
    hints: ["Correct it, since the agent needs it too, and run the command again."],
  });
}

function isSame(one: InstalledPart, other: Pick<InstalledPart, "agent" | "what" | "path">): boolean {
  return one.agent === other.agent && one.what === other.what && one.path === other.path;
}

// Records what jpg added to which settings file, to remove exactly that later. Contents of the files are not recorded: settings
// hold keys. Without the record, entries are found by their content.

interface InstalledPart {
  readonly agent: string;
  readonly what: "hooks" | "server";
  /** Absolute. */
  readonly path: string;
  /** Whether installing created the file. */
  readonly created: boolean;
  readonly inserted: readonly string[];
}

const FORMAT = 1;
const installedFile = z.object({
  format: z.literal(FORMAT),
  parts: z.array(
    z.object({
      agent: z.string(),
      what: z.enum(["hooks", "server"]),
      path: z.string(),
      created: z.boolean(),
      inserted: z.array(z.string()),
    }),
  ),
});

/** Reads the record; empty when there is none or it is damaged. */
function readInstalled(path: string): readonly InstalledPart[] {
  try {
    return parseJson(readOwnText(path), installedFile)?.parts ?? [];
  } catch (error) {
    if (codeOf(error) === "") throw error;
    return [];
  }
}

/** Replaces one part of a file in the record, null = removes it. Returns the parts in the record. */
async function recordInstalled(
  record: string,
  { agent, what, path }: Pick<InstalledPart, "agent" | "what" | "path">,
  part: InstalledPart | null,
): Promise<readonly InstalledPart[]> {
  const others = readInstalled(record).filter(
    (other) => other.agent !== agent || other.what !== what || other.path !== path,
  );
  const parts = part === null ? others : [...others, part];
  makeFolders(dirname(record), 0o700);
  await replaceFile(record, `${JSON.stringify({ format: FORMAT, parts }, null, 2)}\n`, { mode: 0o600 });
  return parts;
}

// The part of jpg in one settings file: finds it, adds it and removes it. Pure.

/** `same` = as this jpg writes it, `other` = by an older jpg or changed by somebody, `foreign` = an entry that is not jpg's. */
type PartState = "same" | "other" | "foreign" | "absent";

/** Finds a part in a file; `text` null = there is no file. */
export function findPart(text: string | null, part: SettingsPart): PartState {
  if (text === null) return "absent";
  if (part.type === "file") {
    if (text === part.text) return "same";
    return firstLine(text) === firstLine(part.text) ? "other" : "foreign";
  }
  if (part.type === "toml") return findToml(text, part) ?? "absent";
  const states = part.entries.map((entry) => findJson(text, entry, isOwnEntry) ?? "absent");
  if (states.includes("foreign")) return "foreign";
  const [first] = states;
  return first !== undefined && states.every((state) => state === first) ? first : "other";
}

/** Returns the file with the part. */
export function addPart(text: string | null, part: SettingsPart): AddedText | NotAdded {
  const before = text ?? "";
  if (part.type === "file") return { text: part.text, inserted: [part.text] };
  if (part.type === "toml") {
    const edited = editTomlTable(before, part.table, part.values);
    if (typeof edited !== "string") return edited;
    return { text: edited, inserted: edited === before ? [] : [edited.slice(before.length)] };
  }
  const isOld = findPart(text, part) === "other";
  const cleared = isOld ? removeJson(before, part.entries, isOwnEntry) : before;
  return typeof cleared === "string" ? addJson(cleared, part.entries) : cleared;
}

/**
 * Returns the file without the part: removes exactly the characters that were inserted if they are still there, else the entry
 * wherever it is now.
 */
export function removePart(text: string, part: SettingsPart, inserted: readonly string[]): string | NotAdded {
  if (part.type === "file") return "";
  const exact = inserted.length === 0 ? null : cutInserted(text, inserted);
  if (exact !== null && isReadable(exact, part) && findPart(exact, part) === "absent") return exact;
  return part.type === "toml" ? editTomlTable(text, part.table, null) : removeJson(text, part.entries, isOwnEntry);
}

/** Whether a file has no content left. */
function isEmptyFile(text: string): boolean {
  return text.trim() === "" || /^\s*\{\s*\}\s*$/.test(text);
}

function isReadable(text: string, part: SettingsPart): boolean {
  if (text.trim() === "") return true;
  return part.type === "toml" ? isToml(text) : isJson(text);
}

/**
 * An entry is jpg's if it has all that jpg wrote: the user may have added to it. A hook is jpg's if its line only calls the script.
 */
function isOwnEntry(value: unknown, { value: own, isItem }: JsonEntry): boolean {
  const [held, said] = [stringsIn(value), stringsIn(own)];
  if (!isItem) return said.every((text) => held.includes(text));
  return held.some((text) => HOOK_LINE.test(text));
}

/** Contained in every line that calls jpg's hook, wherever the user's files are. */
export const HOOK_MARK = "jpg/hooks/keep.sh";

const SCRIPT = `(?:'(?:[^']|'\\\\'')*${HOOK_MARK}'|[^\\s'";&|]*${HOOK_MARK})`;
/** A line that calls jpg's hook and nothing else, as written by any jpg. Lines that the user extended are the user's. */
const HOOK_LINE = new RegExp(
  `^(?:(?:\\[ ! -f ${SCRIPT} \\] \\|\\| )?(?:/bin/)?sh ${SCRIPT}|/bin/sh -c 'f="[^"';&|]*${HOOK_MARK}"; \\[ ! -f "\\$f" \\] \\|\\| exec /bin/sh "\\$f")(?: [a-z-]+){0,2}'?$`,
);

function stringsIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(stringsIn) : [];
}

function firstLine(text: string): string {
  return text.split("\n", 1)[0] ?? "";
}

/** Whether jpg's server is in the user's settings of an agent, or in those of a project (its directory, absolute; null = none). */
export async function hasServer(
  runtime: Runtime,
  { setup }: Pick<AgentFormat, "setup">,
  project: string | null,
): Promise<boolean> {
  const machine = machineOf(runtime);
  const isNamed = async (place: string | null): Promise<boolean> => {
    const part = setup?.server?.({ machine, project: place }, ["jpg", "mcp"]);
    return part !== undefined && startsJpg(await heldIn(part.path, (text) => readPart(text, part)));
  };
  if (await isNamed(null)) return true;
  if (project === null) return false;
  const own = setup?.ownServers?.(machine, project);
  if (own !== undefined && startsJpg(await readPlace({ ...own, keys: [...own.keys, SERVER] }))) return true;
  return (await isNamed(project)) && !(await isRefused(setup?.refusedServers?.(machine, project) ?? []));
}

/** The name of jpg's server in settings. */
const SERVER = "jpg";

async function isRefused(places: readonly JsonPlace[]): Promise<boolean> {
  const lists = await Promise.all(places.map(readPlace));
  return lists.some((names) => Array.isArray(names) && names.includes(SERVER));
}

function readPlace({ path, keys }: JsonPlace): Promise<unknown> {
  return heldIn(path, (text) => readJson(text, keys));
}

/** The content of a file; undefined if it cannot be read, which must not stop an export. */
async function heldIn(path: string, read: (text: string) => unknown): Promise<unknown> {
  const text = await readSettingsFile(path).catch(() => null);
  return text === null ? undefined : read(text);
}

function readPart(text: string, part: SettingsPart): unknown {
  if (part.type === "file") return undefined;
  return part.type === "toml" ? readToml(text, part.table) : readJson(text, part.entries[0]?.keys ?? []);
}

/** Whether an entry starts `jpg mcp`, in any form: `jpg`, a path, node with jpg's file. */
function startsJpg(entry: unknown): boolean {
  const { command, args, enabled, disabled } = fieldsOf(entry);
  if (enabled === false || disabled === true) return false;
  const words = [command, args].flat().filter((word) => typeof word === "string");
  return words.includes("mcp") && words.some((word) => /^jpg(\.js|\.cmd)?$/.test(basename(word)));
}
