// Whether an agent has the tools of `jpg mcp`, as far as its settings tell: where jpg's server is named there, by whomever, and not
// switched off.
import { basename } from "node:path";
import { fieldsOf } from "../../core/conversation/event.ts";
import type { AgentFormat, JsonPlace, SettingsPart } from "../../formats/agent-format.ts";
import { machineOf } from "../sessions/session-registry.ts";
import type { Runtime } from "../workspace/runtime.ts";
import { readJson } from "./json-settings.ts";
import { readSettingsFile } from "./settings-file.ts";
import { readToml } from "./toml-settings.ts";

/** Looks into the user's settings of an agent, and into those of a project (its directory, absolute; null = there is none). */
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

/** What jpg's server is called in settings. */
const SERVER = "jpg";

async function isRefused(places: readonly JsonPlace[]): Promise<boolean> {
  const lists = await Promise.all(places.map(readPlace));
  return lists.some((names) => Array.isArray(names) && names.includes(SERVER));
}

function readPlace({ path, keys }: JsonPlace): Promise<unknown> {
  return heldIn(path, (text) => readJson(text, keys));
}

/** What a file holds; undefined where it cannot be read, which is no reason not to hand a session over. */
async function heldIn(path: string, read: (text: string) => unknown): Promise<unknown> {
  const text = await readSettingsFile(path).catch(() => null);
  return text === null ? undefined : read(text);
}

function readPart(text: string, part: SettingsPart): unknown {
  if (part.type === "file") return undefined;
  return part.type === "toml" ? readToml(text, part.table) : readJson(text, part.entries[0]?.keys ?? []);
}

/** Whether an entry starts `jpg mcp`, whatever it is called by: `jpg`, a path, node with its file. */
function startsJpg(entry: unknown): boolean {
  const { command, args, enabled, disabled } = fieldsOf(entry);
  if (enabled === false || disabled === true) return false;
  const words = [command, args].flat().filter((word) => typeof word === "string");
  return words.includes("mcp") && words.some((word) => /^jpg(\.js|\.cmd)?$/.test(basename(word)));
}
