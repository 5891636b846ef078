// How Gemini CLI is told to call jpg: hooks and servers stand in its settings.
import { type AgentSetup, commandHooks, type Machine, namedServer, type SetupPlace } from "../agent-format.ts";

/** Milliseconds that it waits at most. */
const TIMEOUT = 10_000;

export const GEMINI_SETUP: AgentSetup = {
  hooks: (place, line) => ({
    path: settingsOf(place),
    ...commandHooks(["SessionEnd", "PreCompress"], line, { timeout: TIMEOUT }),
  }),
  server: (place, command) => ({ path: settingsOf(place), ...namedServer("mcpServers", command) }),
  // A session of before 2026 is rewritten where it stands.
  rewrites: true,
};

/** The folder in which Gemini CLI keeps all it has. */
export function geminiFolder({ env, home, join }: Machine): string {
  const configured = env["GEMINI_CLI_HOME"];
  return join(configured !== undefined && configured !== "" ? configured : home, ".gemini");
}

function settingsOf({ machine, project }: SetupPlace): string {
  return machine.join(project === null ? geminiFolder(machine) : machine.join(project, ".gemini"), "settings.json");
}
