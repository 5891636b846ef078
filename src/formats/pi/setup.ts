// How pi calls jpg: by an extension, a file of jpg's own.
import {
  type AgentSetup,
  folderNamed,
  keepFunction,
  type Machine,
  type OwnPlugin,
  removalBy,
  type SetupPlace,
} from "../agent-format.ts";

/** Measured with 0.73.1: settings list packages, folders by their path from the settings' own folder. */
const PI_PACKAGE: OwnPlugin = {
  does: ["hooks", "server", "live"],
  find: ({ machine, project }, read) => {
    const base = project === null ? piFolder(machine) : machine.join(project, ".pi");
    const path = machine.join(base, "settings.json");
    const packages = read(path, "packages");
    for (const entry of Array.isArray(packages) ? packages : []) {
      // An object may leave parts of a package out.
      const folder = typeof entry === "string" ? folderNamed(machine, base, entry) : null;
      if (folder === null || read(machine.join(folder, "package.json"), "name") !== "jpg-pi") continue;
      const option = project === null ? [] : ["-l"];
      return { path, removal: removalBy("pi", "remove", ...option, folder) };
    }
    return undefined;
  },
};

export const PI_SETUP: AgentSetup = {
  program: "pi",
  folder: piFolder,
  hooks: (place, line) => ({
    path: place.machine.join(extensionsOf(place), FILE),
    type: "file",
    text: extension(line),
  }),
  live: {
    part: (place) => {
      const folder = extensionsOf(place);
      return { type: "plugin", path: place.machine.join(folder, FILE), folder, source: "pi", files: [FILE] };
    },
    needsHooks: false,
    hasTools: true,
    next: "Start pi anew: /jpg-compact, /jpg-undo.",
  },
  ownPlugin: PI_PACKAGE,
  // A session of an older version is rewritten in place.
  rewrites: true,
};

const FILE = "jpg.ts";

function extensionsOf({ machine, project }: SetupPlace): string {
  return machine.join(project === null ? piFolder(machine) : machine.join(project, ".pi"), "extensions");
}

/** The folder of all of pi's files. */
export function piFolder({ env, home, join }: Machine): string {
  const configured = env["PI_CODING_AGENT_DIR"];
  return configured !== undefined && configured !== "" ? configured : join(home, ".pi", "agent");
}

function extension(line: string): string {
  return `// Written by \`jpg hooks install pi\`: keeps a session before pi ends or compacts it. \`jpg hooks uninstall pi\` removes it.
${keepFunction(line)}
export default function (pi) {
  const on = (name) =>
    pi.on(name, async (_event, ctx) => {
      const path = ctx.sessionManager.getSessionFile();
      const session = ctx.sessionManager.getSessionId();
      if (path) keep({ session_id: session, transcript_path: path, cwd: ctx.cwd, hook_event_name: name });
    });
  on("session_shutdown");
  on("session_before_compact");
}
`;
}
