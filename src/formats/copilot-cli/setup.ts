// How Copilot CLI calls jpg: its settings hold hooks, a file of its own the servers.
import { type AgentSetup, commandHooks, type Machine, namedServer, type SetupPlace } from "../agent-format.ts";

/** Longest wait, seconds. */
const TIMEOUT = 10;

export const COPILOT_SETUP: AgentSetup = {
  program: "copilot",
  folder: copilotFolder,
  // Hooks under these names are given the session's file as `transcript_path`; the one for the end of a session is not.
  hooks: (place, line) => ({
    path: settingsOf(place),
    ...commandHooks(["Stop", "PreCompact"], line, { timeout: TIMEOUT }),
  }),
  server: ({ machine, project }, command) => ({
    path:
      project === null ? machine.join(copilotFolder(machine), "mcp-config.json") : machine.join(project, ".mcp.json"),
    ...namedServer("mcpServers", command),
  }),
  // `/undo` and `/rewind` rewrite a session's file.
  rewrites: true,
};

/** The folder of all of Copilot CLI's files. */
export function copilotFolder({ env, home, join }: Machine): string {
  const configured = env["COPILOT_HOME"];
  return configured !== undefined && configured !== "" ? configured : join(home, ".copilot");
}

/** In a project, the settings that only the user has. */
function settingsOf({ machine, project }: SetupPlace): string {
  return project === null
    ? machine.join(copilotFolder(machine), "settings.json")
    : machine.join(project, ".github", "copilot", "settings.local.json");
}
