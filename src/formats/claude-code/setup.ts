// How Claude Code calls jpg. In a project it uses the settings that only the user has; a project's servers are in a file that
// everybody working on it shares.
import { fieldsOf } from "../../core/conversation/event.ts";
import {
  type AgentSetup,
  commandHooks,
  type Machine,
  namedServer,
  type OwnPlugin,
  removalBy,
} from "../agent-format.ts";

/** Longest wait, seconds. */
const TIMEOUT = 10;

/** As `claude plugin install` names it: plug-in and marketplace. */
const PLUGIN = "jpg@jpg";

/** Measured with 2.1.330: both files name it, with the scope; the settings alone say whether it is on. */
const CLAUDE_PLUGIN: OwnPlugin = {
  does: ["hooks", "server", "live"],
  find: ({ machine, project }, read) => {
    const list = machine.join(configFolder(machine), "plugins", "installed_plugins.json");
    const installed = fieldsOf(read(list, "plugins"))[PLUGIN];
    if (!Array.isArray(installed) || installed.length === 0) return undefined;
    const folder = project === null ? configFolder(machine) : machine.join(project, ".claude");
    const files = project === null ? SCOPES.slice(-1) : SCOPES.slice(0, -1);
    for (const { scope, name } of files) {
      const path = machine.join(folder, name);
      const isOn = fieldsOf(read(path, "enabledPlugins"))[PLUGIN];
      if (isOn === false) return null;
      const option = scope === "user" ? [] : ["--scope", scope];
      if (isOn === true) return { path, removal: removalBy("claude", "plugin", "uninstall", PLUGIN, ...option) };
    }
    return undefined;
  },
};

/** The first that says something counts. */
const SCOPES = [
  { scope: "local", name: "settings.local.json" },
  { scope: "project", name: "settings.json" },
  { scope: "user", name: "settings.json" },
];

export const CLAUDE_SETUP: AgentSetup = {
  program: "claude",
  folder: configFolder,
  // The Git Bash that it needs there anyway.
  hasShellOnWindows: true,
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
  live: {
    part: ({ machine, project }) => {
      const skills = machine.join(
        project === null ? configFolder(machine) : machine.join(project, ".claude"),
        "skills",
      );
      const folder = machine.join(skills, "jpg");
      return { type: "plugin", path: folder, folder, source: "claude-code", files: PLUGIN_FILES, byAgent: BY_CLAUDE };
    },
    // They work with --bare, where a policy refuses plug-ins, and before 2.1.287.
    needsHooks: true,
    hasTools: true,
    next: "Start Claude Code anew, 2.1.287 or newer: /compact is then jpg's, and /jpg-undo undoes it.",
  },
  ownPlugin: CLAUDE_PLUGIN,
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

/** A folder with `plugin.json` is a plug-in, so that is written last. */
const PLUGIN_FILES = [
  "hooks/register.js",
  "skills/jpg/SKILL.md",
  "skills/jpg/reference.md",
  "hooks/hooks.json",
  ".claude-plugin/plugin.json",
];

const TYPES = ".claude-plugin/types";
/** Seen with 2.1.332: a session at a terminal may write types for whoever edits a plug-in that it loads from a folder. */
const BY_CLAUDE = [
  { name: "tsconfig.json", saidIn: "tsconfig.json", words: `"./${TYPES}/tsconfig.json"` },
  { name: TYPES, saidIn: `${TYPES}/claude-code/index.d.ts`, words: "// Written by Claude Code" },
];

/** The folder of all of Claude Code's files. */
export function configFolder({ env, home, join }: Machine): string {
  const configured = env["CLAUDE_CONFIG_DIR"];
  return configured !== undefined && configured !== "" ? configured : join(home, ".claude");
}

function userServers({ env, home, join }: Machine): string {
  const configured = env["CLAUDE_CONFIG_DIR"];
  return configured !== undefined && configured !== "" ? join(configured, ".claude.json") : join(home, ".claude.json");
}
