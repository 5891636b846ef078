// jpg's plug-in where an agent itself installed it: from a marketplace, as an extension or a package. The agent's files are only read.
import type { AgentFormat, FoundPlugin, ReadSettings } from "../../formats/agent-format.ts";
import type { Runtime } from "../conversation/runtime.ts";
import { machineOf } from "../sessions/session-registry.ts";
import type { SetupKind } from "./installed-record.ts";
import { readJson } from "./json-settings.ts";
import { readToml } from "./toml-settings.ts";

/** The plug-in named in the user's files, or in a project's; null if there is none, it is off, or the files do not say it for certain. */
export function findOwnPlugin(
  runtime: Runtime,
  { setup }: Pick<AgentFormat, "setup">,
  project: string | null,
): FoundPlugin | null {
  return lookIn(runtime, setup, project) ?? null;
}

/** The plug-in that does something in a project (null = everywhere), wherever it is named. */
export function pluginDoing(
  runtime: Runtime,
  { setup }: Pick<AgentFormat, "setup">,
  { what, project }: { readonly what: SetupKind; readonly project: string | null },
): FoundPlugin | null {
  if (setup?.ownPlugin?.does.includes(what) !== true) return null;
  const here = lookIn(runtime, setup, project);
  return (here === undefined && project !== null ? lookIn(runtime, setup, null) : here) ?? null;
}

function lookIn(runtime: Runtime, setup: AgentFormat["setup"], project: string | null): FoundPlugin | null | undefined {
  const machine = machineOf(runtime);
  const read: ReadSettings = (path, key) => {
    const text = machine.readText(path);
    if (text === null) return undefined;
    return path.endsWith(".toml") ? readToml(text, key) : readJson(text, [key]);
  };
  return setup?.ownPlugin?.find({ machine, project }, read);
}
