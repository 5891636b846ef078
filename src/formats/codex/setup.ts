// How Codex is told to call jpg: hooks stand in a file of their own, servers in its configuration.
import { type AgentSetup, commandHooks, type Machine, type SetupPlace } from "../agent-format.ts";

/** Seconds that it waits at most; when a session ends it waits no longer, and warns of more. */
const TIMEOUT = 3;

export const CODEX_SETUP: AgentSetup = {
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
  approve: "Codex runs new hooks once you have reviewed them: it asks when it starts at a terminal.",
};

/** The folder in which Codex keeps all it has. */
export function codexHome({ env, home, join }: Pick<Machine, "env" | "home" | "join">): string {
  const configured = env["CODEX_HOME"];
  return configured !== undefined && configured !== "" ? configured : join(home, ".codex");
}

function fileOf({ machine, project }: SetupPlace, name: string): string {
  return project === null ? machine.join(codexHome(machine), name) : machine.join(project, ".codex", name);
}
