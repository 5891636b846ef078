// How Gemini CLI calls jpg: its settings hold hooks and servers.
import { fieldsOf } from "../../core/conversation/event.ts";
import {
  type AgentSetup,
  commandHooks,
  type Machine,
  namedServer,
  type OwnPlugin,
  removalBy,
  type SetupPlace,
} from "../agent-format.ts";

/** Longest wait, milliseconds. */
const TIMEOUT = 10_000;

/**
 * Measured with 0.61.0: a folder for each extension, a link's with nothing but the record of its installation. Rules for folders
 * where it is off begin with `!`; then jpg does not say that it is there.
 */
const GEMINI_EXTENSION: OwnPlugin = {
  does: ["server"],
  find: ({ machine, project }, read) => {
    const folder = machine.join(geminiFolder(machine), "extensions");
    const path = machine.join(folder, "jpg", ".gemini-extension-install.json");
    const source = read(path, "source");
    if (project !== null || typeof source !== "string") return undefined;
    const manifest = machine.join(
      read(path, "type") === "link" ? source : machine.join(folder, "jpg"),
      "gemini-extension.json",
    );
    const { jpg } = fieldsOf(read(manifest, "mcpServers"));
    if (jpg === undefined) return undefined;
    const { overrides } = fieldsOf(read(machine.join(folder, "extension-enablement.json"), "jpg"));
    const rules: readonly unknown[] = Array.isArray(overrides) ? overrides : [];
    if (rules.some((rule) => typeof rule !== "string" || rule.startsWith("!"))) return undefined;
    return { path, removal: removalBy("gemini", "extensions", "uninstall", "jpg") };
  },
};

export const GEMINI_SETUP: AgentSetup = {
  program: "gemini",
  folder: geminiFolder,
  hooks: (place, line) => ({
    path: settingsOf(place),
    ...commandHooks(["SessionEnd", "PreCompress"], line, { timeout: TIMEOUT }),
  }),
  server: (place, command) => ({ path: settingsOf(place), ...namedServer("mcpServers", command) }),
  ownPlugin: GEMINI_EXTENSION,
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
