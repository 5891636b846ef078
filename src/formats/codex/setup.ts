// How Codex calls jpg: hooks have a file of their own, servers are in its configuration.
import { fieldsOf } from "../../core/conversation/event.ts";
import {
  type AgentSetup,
  commandHooks,
  type Machine,
  type OwnPlugin,
  removalBy,
  type SetupPlace,
} from "../agent-format.ts";

/** Longest wait, seconds. At the end of a session Codex waits no longer, and warns about larger values. */
const TIMEOUT = 3;

/** Longest wait for the note about a compaction, seconds; the script gives up before. */
const NOTE_TIMEOUT = 10;

/** As `codex plugin add` names it: plug-in and marketplace. */
const PLUGIN = "jpg@jpg";

/** Measured with 0.169.0: the settings say whether it is on, its copy is in a cache. */
const CODEX_PLUGIN: OwnPlugin = {
  does: ["server"],
  find: ({ machine, project }, read) => {
    const cached = machine.join(codexHome(machine), "plugins", "cache", "jpg", "jpg");
    if (project !== null || machine.namesIn(cached).length === 0) return undefined;
    const path = machine.join(codexHome(machine), "config.toml");
    const { enabled } = fieldsOf(fieldsOf(read(path, "plugins"))[PLUGIN]);
    return enabled === true ? { path, removal: removalBy("codex", "plugin", "remove", PLUGIN) } : undefined;
  },
};

export const CODEX_SETUP: AgentSetup = {
  program: "codex",
  folder: codexHome,
  hooks: (place, line) => ({
    path: fileOf(place, "hooks.json"),
    ...commandHooks(["SessionEnd", "PreCompact"], line, { timeout: TIMEOUT }),
  }),
  server: (place, [program = "", ...args]) => ({
    path: fileOf(place, "config.toml"),
    type: "toml",
    table: "mcp_servers.jpg",
    values: { command: program, args },
  }),
  live: {
    part: (place, line) => {
      const hook = { type: "command", command: line, timeout: NOTE_TIMEOUT };
      const value = { matcher: "compact", hooks: [hook] };
      return {
        path: fileOf(place, "hooks.json"),
        type: "json",
        entries: [{ keys: ["hooks", "SessionStart"], value, isItem: true }],
      };
    },
    needsHooks: true,
    hasTools: false,
    next: "After Codex has compacted a session, the model is told what went and how to find it.",
  },
  ownPlugin: CODEX_PLUGIN,
  approve: "Codex runs new hooks once you have reviewed them: it asks when it starts at a terminal.",
};

/** The folder of all of Codex's files. */
export function codexHome({ env, home, join }: Pick<Machine, "env" | "home" | "join">): string {
  const configured = env["CODEX_HOME"];
  return configured !== undefined && configured !== "" ? configured : join(home, ".codex");
}

/** The provider where nothing else is configured. */
export const USUAL_PROVIDER = "openai";
const PROVIDER_LINE = /^[ \t]*model_provider[ \t]*=[ \t]*(?:"([^"\\]+)"|'([^']+)')/m;

/** The model provider that Codex uses on this machine: it resumes no session of another one. */
export function codexProvider(machine: Machine): string {
  const config = machine.readText(machine.join(codexHome(machine), "config.toml")) ?? "";
  // Tables follow the settings at the top.
  const [, double, single] = PROVIDER_LINE.exec(config.split(/^[ \t]*\[/m, 1)[0] ?? "") ?? [];
  return double ?? single ?? USUAL_PROVIDER;
}

function fileOf({ machine, project }: SetupPlace, name: string): string {
  return project === null ? machine.join(codexHome(machine), name) : machine.join(project, ".codex", name);
}
