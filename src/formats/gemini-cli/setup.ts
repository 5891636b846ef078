// How Gemini CLI calls jpg: its settings hold hooks and servers.
import { type AgentSetup, commandHooks, type Machine, namedServer, type SetupPlace } from "../agent-format.ts";

/** Longest wait, milliseconds. */
const TIMEOUT = 10_000;

export const GEMINI_SETUP: AgentSetup = {
  program: "gemini",
  folder: geminiFolder,
  hooks: (place, line) => ({
    path: settingsOf(place),
    ...commandHooks(["SessionEnd", "PreCompress"], line, { timeout: TIMEOUT }),
  }),
  server: (place, command) => ({ path: settingsOf(place), ...namedServer("mcpServers", command) }),
  // A session from before 2026 is rewritten in place.
  rewrites: true,
};

/** The folder of all of Gemini CLI's files. */
export function geminiFolder({ env, home, join }: Machine): string {
  const configured = env["GEMINI_CLI_HOME"];
  return join(configured !== undefined && configured !== "" ? configured : home, ".gemini");
}

function settingsOf({ machine, project }: SetupPlace): string {
  return machine.join(project === null ? geminiFolder(machine) : machine.join(project, ".gemini"), "settings.json");
}
