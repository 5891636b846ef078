// How Claude Code is told to call jpg. In a project the settings are those that are the user's alone; servers of a project
// stand in a file that all who work on it share.
import { type AgentSetup, commandHooks, type Machine, namedServer } from "../agent-format.ts";

/** Seconds that it waits at most. */
const TIMEOUT = 10;

export const CLAUDE_SETUP: AgentSetup = {
  hooks: ({ machine, project }, line) => ({
    path:
      project === null
        ? machine.join(configFolder(machine), "settings.json")
        : machine.join(project, ".claude", "settings.local.json"),
    ...commandHooks(["SessionEnd", "PreCompact"], line, { timeout: TIMEOUT }),
  }),
  server: ({ machine, project }, command) => ({
    path: project === null ? userServers(machine) : machine.join(project, ".mcp.json"),
    ...namedServer("mcpServers", command),
  }),
  // `claude mcp add` puts them there.
  ownServers: (machine, project) => ({ path: userServers(machine), keys: ["projects", project, "mcpServers"] }),
  // Measured with 2.1.330: each of these keeps a server of .mcp.json out. What approves one cannot be told from files alone: the
  // agent asks for it when it starts, and takes it unasked where nobody sits before it.
  refusedServers: (machine, project) => [
    ...[
      machine.join(configFolder(machine), "settings.json"),
      machine.join(project, ".claude", "settings.json"),
      machine.join(project, ".claude", "settings.local.json"),
    ].map((path) => ({ path, keys: [REFUSED] })),
    { path: userServers(machine), keys: ["projects", project, REFUSED] },
  ],
};

const REFUSED = "disabledMcpjsonServers";

/** The folder in which Claude Code keeps all it has. */
export function configFolder({ env, home, join }: Machine): string {
  const configured = env["CLAUDE_CONFIG_DIR"];
  return configured !== undefined && configured !== "" ? configured : join(home, ".claude");
}

function userServers({ env, home, join }: Machine): string {
  const configured = env["CLAUDE_CONFIG_DIR"];
  return configured !== undefined && configured !== "" ? join(configured, ".claude.json") : join(home, ".claude.json");
}
