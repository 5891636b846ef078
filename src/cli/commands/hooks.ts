import { locate } from "../../app/conversation/engine.ts";
import {
  installSetup,
  listSetups,
  type SetupKind,
  type SetupReport,
  setupAgents,
  uninstallSetup,
} from "../../app/import/hooks.ts";
import { userError } from "../../core/errors.ts";
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag, text } from "../frame/command.ts";
import { renderSetup, renderSetups } from "../render/import.ts";

export const command: CommandSpec = {
  name: "hooks",
  summary: "set up agents to save sessions to jpg, or to use its tools",
  description:
    "Adds hooks to an agent's settings. The agent then calls jpg when a session ends and before it compacts one: a shell line puts the session's file aside within a few milliseconds, and jpg imports it in the background, into the store of the project that the agent worked in. The agent's other settings stay as they are; uninstall removes only what jpg added. --mcp gives the agent the tools of `jpg mcp` instead. Without --project, this applies to all your projects.",
  arguments: [
    { name: "[action]", description: "install, uninstall or ls; default ls" },
    {
      name: "[agents...]",
      description: `agents (${setupAgents()
        .map(({ name }) => name)
        .join(", ")})`,
    },
  ],
  options: [
    { flags: "--mcp", description: "the server of `jpg mcp` instead of hooks" },
    { flags: "--project", description: "in this project's settings only" },
  ],
  examples: setupAgents()
    .slice(0, 1)
    .flatMap(({ name, agent }) => [
      { command: `jpg hooks install ${name}`, explains: `keep every session of ${agent.name}` },
      { command: `jpg hooks install ${name} --mcp`, explains: "give it jpg's tools" },
      { command: `jpg hooks uninstall ${name}`, explains: "remove both" },
      { command: "jpg hooks", explains: "what is installed where" },
    ]),
  withoutGit: true,
  run: async (context) => {
    const [action = "ls", ...names] = context.args;
    if (!["install", "uninstall", "ls"].includes(action)) throw usage(`there is no action ${action}`);
    if (action === "ls" && names.length > 0) throw usage("ls takes no agent");
    if (action === "ls") return list(context);
    if (names.length === 0) throw usage(`${action} needs an agent`);
    const project = flag(context.options, "project") ? await projectOf(context) : null;
    const reports: SetupReport[] = [];
    for (const agent of new Set(names))
      for (const what of kinds(context, action, agent))
        reports.push(
          await (action === "install" ? installSetup : uninstallSetup)(context.runtime, { agent, what, project }),
        );
    show(context, reports);
    return 0;
  },
};

/** Without --mcp, uninstall removes both hooks and tools. */
function kinds({ options }: CommandContext, action: string, agent: string): readonly SetupKind[] {
  if (flag(options, "mcp")) return ["server"];
  if (action === "install") return ["hooks"];
  const has = setupAgents().find(({ name }) => name === agent)?.setup;
  const all = (["hooks", "server"] as const).filter((what) => has?.[what] !== undefined);
  return all.length === 0 ? ["hooks"] : all;
}

async function list(context: CommandContext): Promise<number> {
  const { runtime, output, json } = context;
  const rows = await listSetups(runtime, await projectOf(context));
  if (json) output.json(rows);
  else output.data(renderSetups(rows, output));
  return 0;
}

function show({ output, json }: CommandContext, reports: readonly SetupReport[]): void {
  if (json) output.json(reports);
  for (const report of reports) {
    if (!json) output.data(renderSetup(report));
    if (report.next !== null && report.status !== "present") output.info(safe`${forTerminalLine(report.next)}`);
  }
}

/** The project around the current directory, else that directory. */
async function projectOf({ runtime, options }: CommandContext): Promise<string> {
  const { project } = await locate(runtime, text(options, "store"));
  return project?.root ?? runtime.cwd;
}

function usage(problem: string): Error {
  return userError("usage", `jpg hooks: ${problem}.`, {
    hints: [
      "jpg hooks install AGENT [--mcp] [--project]",
      "jpg hooks uninstall AGENT [--mcp] [--project]",
      "jpg hooks ls",
    ],
  });
}
