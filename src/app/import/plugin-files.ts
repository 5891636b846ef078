// A plug-in of jpg's in an agent's folder: copies of files of the package. A file there is jpg's if it has jpg's mark, or was
// recorded when it was written; others are the user's and are never replaced or removed.
import { lstat, rm, rmdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { AgentFile, PluginPart } from "../../formats/agent-format.ts";
import { type Runtime, readPackaged, sha256, startWords } from "../conversation/runtime.ts";
import type { InstalledFile, InstalledPart } from "./installed-record.ts";
import { changeSettings, readSettingsFile, refuseLink, refuseReadOnly } from "./settings-file.ts";
import type { PartState } from "./settings-part.ts";

/** A plug-in as this jpg writes it. */
export interface Plugin {
  readonly part: PluginPart;
  /** In the order in which they are written. */
  readonly files: readonly PluginFile[];
  /** Contained in each file of any version. */
  readonly mark: string;
}

interface PluginFile {
  /** Absolute. */
  readonly path: string;
  readonly text: string;
}

/** The line that says how a plug-in starts jpg; in the package, by the PATH. */
const START_LINE = /^const JPG = \["jpg", "live"\];$/m;
/** How an agent starts the server of a plug-in whose code it does not load. */
const SERVER_LINES = /"command": "jpg",\s*"args": \["mcp"\]/;
/** The first line in any installed file. */
const ANY_START = /^const JPG = \[/m;

/** Reads a plug-in from jpg's package. `isShared` = other people get these files, too: they name no path of this user. */
export async function readPlugin(
  runtime: Pick<Runtime, "nodePath" | "jpgPath" | "version">,
  part: PluginPart,
  { agent, isShared }: { readonly agent: string; readonly isShared: boolean },
): Promise<Plugin> {
  const [program, ...words] = startWords(runtime);
  const server = `"command": ${JSON.stringify(program)}, "args": ${JSON.stringify([...words, "mcp"])}`;
  const start = `const JPG = ${JSON.stringify([program, ...words, "live", "--plugin", runtime.version])};`;
  const files: PluginFile[] = [];
  for (const name of part.files) {
    const text = await readPackaged(join("plugins", part.source, name));
    const path = join(part.folder, ...name.split("/"));
    const own = text.replace(START_LINE, () => start).replace(SERVER_LINES, () => server);
    files.push({ path, text: isShared ? text : own });
  }
  return { part, files, mark: `jpg hooks uninstall ${agent}` };
}

/**
 * Finds what is in a plug-in's place; `known` = what was recorded. Throws as `readSettingsFile` does, and `settings_is_link` for
 * a folder that is a link.
 */
export async function findPlugin(plugin: Plugin, known: InstalledPart | undefined): Promise<PartState> {
  const states: PartState[] = [];
  for (const file of plugin.files) states.push(await stateOf(plugin, file, known));
  if (states.includes("foreign")) return "foreign";
  const [first = "absent"] = states;
  return states.every((state) => state === first) ? first : "other";
}

/** The first file in its place that is not jpg's. */
export async function findForeign(plugin: Plugin, known: InstalledPart | undefined): Promise<string | null> {
  for (const file of plugin.files) if ((await stateOf(plugin, file, known)) === "foreign") return file.path;
  return null;
}

async function stateOf(plugin: Plugin, file: PluginFile, known: InstalledPart | undefined): Promise<PartState> {
  await refuseLinks(plugin.part, file.path);
  const text = await readSettingsFile(file.path);
  if (text === null) return "absent";
  if (text === file.text) return "same";
  if (recordOf(known, file.path) !== undefined) return "other";
  if (!text.includes(plugin.mark)) return "foreign";
  // Hooks that only keep sessions may be a file of jpg's in the same place.
  return ANY_START.test(text) || !ANY_START.test(file.text) ? "other" : "absent";
}

function recordOf(known: InstalledPart | undefined, path: string): InstalledFile | undefined {
  return known?.files?.find((file) => file.path === path);
}

/** Whether somebody changed or removed one of the recorded files. */
export async function isPluginChanged({ files = [] }: InstalledPart): Promise<boolean> {
  for (const file of files) {
    const text = await readSettingsFile(file.path);
    if (text === null || !file.sha256.includes(sha256(text))) return true;
  }
  return false;
}

/**
 * Writes the files, and removes those of an older version. `record` gets what to record before the first and after the last of
 * them, so that a killed jpg leaves nothing unknown. Throws as `changeSettings` does; running it again completes it.
 */
export async function writePlugin(
  plugin: Plugin,
  known: InstalledPart | undefined,
  record: (now: Required<Pick<InstalledPart, "files" | "folders">>) => Promise<void>,
): Promise<void> {
  const { part, files } = plugin;
  for (const { path } of files) await refuseReadOnly(path);
  const folders = new Set([...(known?.folders ?? []), ...(await missingFolders(files.map(({ path }) => path)))]);
  const written = files.map(({ path, text }) => ({ path, sha256: [sha256(text)] }));
  const older = olderFiles(plugin, known);
  const both = written.map(({ path, sha256: now }) => ({
    path,
    sha256: [...now, ...(recordOf(known, path)?.sha256 ?? [])],
  }));
  await record({ files: [...both, ...older], folders: [...folders] });
  for (const { path, text } of files) await changeSettings(path, () => text);
  for (const file of older) await removeOlder(part, file);
  await record({ files: written, folders: [...folders] });
}

/** Recorded files that this version no longer has. */
function olderFiles({ files }: Plugin, known: InstalledPart | undefined): readonly InstalledFile[] {
  return (known?.files ?? []).filter(({ path }) => !files.some((file) => file.path === path));
}

/** Removes a file that this version no longer has, unless somebody changed it. */
async function removeOlder(part: PluginPart, { path, sha256: known }: InstalledFile): Promise<void> {
  await refuseLinks(part, path);
  const text = await readSettingsFile(path);
  if (text !== null && known.includes(sha256(text))) await rm(path, { force: true });
}

/** Removes jpg's files, what the agent wrote among them, and folders that are empty then. Returns whether there were any. */
export async function removePlugin(plugin: Plugin, known: InstalledPart | undefined): Promise<boolean> {
  const { part } = plugin;
  const paths: string[] = [];
  // The file that makes the agent load the others goes first.
  for (const file of [...plugin.files].reverse()) {
    const state = await stateOf(plugin, file, known);
    if (state === "same" || state === "other") paths.push(file.path);
  }
  for (const path of paths) await refuseReadOnly(path);
  for (const path of paths) await rm(path, { force: true });
  for (const file of olderFiles(plugin, known)) await removeOlder(part, file);
  for (const file of paths.length > 0 ? (part.byAgent ?? []) : []) await removeByAgent(part, file);
  const inside = part.path === part.folder ? plugin.files.flatMap(({ path }) => foldersTo(part.folder, path)) : [];
  await removeEmpty([...inside, ...(known?.folders ?? [])]);
  return paths.length > 0;
}

async function removeByAgent(part: PluginPart, { name, saidIn, words }: AgentFile): Promise<void> {
  const said = join(part.folder, ...saidIn.split("/"));
  await refuseLinks(part, said);
  const text = await readSettingsFile(said).catch(() => null);
  if (text?.includes(words) === true) await rm(join(part.folder, ...name.split("/")), { recursive: true, force: true });
}

/** Removes those folders that are empty, the deepest first. */
export async function removeEmpty(folders: readonly string[]): Promise<void> {
  const byDepth = [...new Set(folders)].sort((one, other) => other.length - one.length);
  for (const folder of byDepth) {
    const found = await lstat(folder).catch(() => null);
    // One that is not empty, or that jpg may not remove, stays.
    if (found?.isDirectory() === true) await rmdir(folder).catch(() => undefined);
  }
}

/** The folders that writing files will create, absolute. */
export async function missingFolders(paths: readonly string[]): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const path of paths)
    for (let at = dirname(path); dirname(at) !== at && (await lstat(at).catch(() => null)) === null; at = dirname(at))
      missing.push(at);
  return missing;
}

/** The folders from a plug-in's own folder down to one of its files, both absolute. */
function foldersTo(folder: string, path: string): readonly string[] {
  const all: string[] = [];
  for (let at = dirname(path); at.length >= folder.length && dirname(at) !== at; at = dirname(at)) all.push(at);
  return all;
}

/** Throws `settings_is_link` where the plug-in's own folder, or one below it, is a link. */
async function refuseLinks({ path, folder }: PluginPart, file: string): Promise<void> {
  if (path !== folder) return;
  for (const at of foldersTo(folder, file)) await refuseLink(at);
}
