// How Claude Code calls jpg. In a project it uses the settings that only the user has; a project's servers are in a file that
// everybody working on it shares.
import { type AgentSetup, commandHooks, type Machine, namedServer } from "../agent-format.ts";

/** Longest wait, seconds. */
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
  // Measured with 2.1.330: each of these excludes a server of .mcp.json. Files alone do not show which servers are approved: the
  // agent asks at its start, and accepts them unasked when run without a person.
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

/** The folder of all of Claude Code's files. */
export function configFolder({ env, home, join }: Machine): string {
  const configured = env["CLAUDE_CONFIG_DIR"];
  return configured !== undefined && configured !== "" ? configured : join(home, ".claude");
}

function userServers({ env, home, join }: Machine): string {
  const configured = env["CLAUDE_CONFIG_DIR"];
  return configured !== undefined && configured !== "" ? join(configured, ".claude.json") : join(home, ".claude.json");
}
