// Whether an agent has jpg's tools, by its settings.
import { basename } from "node:path";
import { fieldsOf } from "../../core/conversation/event.ts";
import type { AgentFormat, JsonPlace, SettingsPart } from "../../formats/agent-format.ts";
import type { Runtime } from "../conversation/runtime.ts";
import { machineOf } from "../sessions/session-registry.ts";
import { hasLiveTools } from "./hooks.ts";
import { readJson } from "./json-settings.ts";
import { pluginDoing } from "./own-plugin.ts";
import { readSettingsFile } from "./settings-file.ts";
import { readToml } from "./toml-settings.ts";

/**
 * Whether jpg's server, or a plug-in with the same tools, is in the user's settings of an agent, or in those of a project (its
 * directory, absolute; null = none).
 */
export async function hasServer(
  runtime: Runtime,
  { name, setup }: Pick<AgentFormat, "name" | "setup">,
  project: string | null,
): Promise<boolean> {
  const machine = machineOf(runtime);
  const isNamed = async (place: string | null): Promise<boolean> => {
    const part = setup?.server?.({ machine, project: place }, ["jpg", "mcp"]);
    return part !== undefined && startsJpg(await heldIn(part.path, (text) => readPart(text, part)));
  };
  if (await isNamed(null)) return true;
  if (pluginDoing(runtime, { setup }, { what: "server", project }) !== null) return true;
  if (setup?.live?.hasTools === true && (await hasLiveTools(runtime, name, project))) return true;
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
