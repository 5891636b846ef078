// How OpenCode calls jpg: by a plug-in, a file of jpg's own. Sessions are in a database, so the plug-in fetches the session as
// `opencode export` does and passes it as a temporary file.
import { type AgentSetup, folderNamed, keepFunction, type OwnPlugin, type SetupPlace } from "../agent-format.ts";

/** Seen with 1.18.33: settings list plug-ins, folders by their path from the settings' own folder. */
const OPENCODE_PACKAGE: OwnPlugin = {
  does: ["hooks", "live"],
  find: (place, read) => {
    for (const path of settingsOf(place)) {
      const plugin = read(path, "plugin");
      for (const entry of Array.isArray(plugin) ? plugin : []) {
        const folder =
          typeof entry === "string" ? folderNamed(place.machine, place.machine.join(path, ".."), entry) : null;
        if (folder === null || read(place.machine.join(folder, "package.json"), "name") !== "jpg-opencode") continue;
        return { path, removal: `To remove the plug-in, take "${entry}" out of \`plugin\` in ${path}.` };
      }
    }
    return undefined;
  },
};

export const OPENCODE_SETUP: AgentSetup = {
  program: "opencode",
  folder: (machine) => fileOf({ machine, project: null }),
  hooks: (place, line) => ({ path: fileOf(place, "plugin", FILE), type: "file", text: plugIn(line) }),
  server: (place, command) => ({
    path: place.project === null ? fileOf(place, "opencode.json") : place.machine.join(place.project, "opencode.json"),
    type: "json",
    entries: [{ keys: ["mcp", "jpg"], value: { type: "local", command, enabled: true }, isItem: false }],
  }),
  live: {
    part: (place) => {
      const folder = fileOf(place, "plugin");
      return { type: "plugin", path: place.machine.join(folder, FILE), folder, source: "opencode", files: [FILE] };
    },
    needsHooks: false,
    hasTools: false,
    next: "Start OpenCode anew: it then sends what jpg's compactions show.",
  },
  ownPlugin: OPENCODE_PACKAGE,
  // The temporary file is gone a moment later.
  rewrites: true,
};

const FILE = "jpg.js";

function fileOf({ machine, project }: SetupPlace, ...names: string[]): string {
  const { env, home, join } = machine;
  if (project !== null) return join(project, ".opencode", ...names);
  const { XDG_CONFIG_HOME: configured = "" } = env;
  return join(configured === "" ? join(home, ".config") : configured, "opencode", ...names);
}

/** The files that it may be set up by. */
function settingsOf(place: SetupPlace): readonly string[] {
  const { machine, project } = place;
  const { OPENCODE_CONFIG: named = "" } = machine.env;
  const inFolder = (join: (name: string) => string): readonly string[] => ["opencode.json", "opencode.jsonc"].map(join);
  const own = inFolder((name) => fileOf(place, name));
  if (project !== null) return [...own, ...inFolder((name) => machine.join(project, name))];
  return named === "" ? own : [...own, named];
}

function plugIn(line: string): string {
  return `// Written by \`jpg hooks install opencode\`: keeps a session after each answer and before it is compacted. \`jpg hooks uninstall opencode\` removes it.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
${keepFunction(line)}
export const JpgHooks = async ({ client, directory }) => {
  const keepSession = async (id, name) => {
    let folder;
    try {
      const path = { id };
      const [info, messages] = await Promise.all([client.session.get({ path }), client.session.messages({ path })]);
      if (!info.data || !messages.data) return;
      folder = mkdtempSync(join(tmpdir(), "jpg-"));
      const file = join(folder, "session.json");
      writeFileSync(file, JSON.stringify({ info: info.data, messages: messages.data }), { mode: 0o600 });
      keep({ session_id: id, transcript_path: file, cwd: directory, hook_event_name: name });
    } catch {
      // A session that is not kept is no reason to stop the agent.
    } finally {
      if (folder) rmSync(folder, { recursive: true, force: true });
    }
  };
  return {
    event: async ({ event }) => {
      if (event.type === "session.idle") await keepSession(event.properties.sessionID, event.type);
    },
    "experimental.session.compacting": ({ sessionID }) => keepSession(sessionID, "session.compacting"),
  };
};
`;
}
