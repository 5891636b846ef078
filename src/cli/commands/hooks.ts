import { locate } from "../../app/conversation/engine.ts";
import {
  agentsHere,
  doneTwice,
  installLevel,
  installSetup,
  levelsOf,
  listSetups,
  type SetupLevel,
  type SetupReport,
  type SetupRow,
  setupAgents,
  uninstallSetup,
} from "../../app/import/hooks.ts";
import type { SetupKind } from "../../app/import/installed-record.ts";
import { wholeFormatName } from "../../app/sessions/session-registry.ts";
import { userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import { ask, isTerminal } from "../frame/ask.ts";
import { type CommandContext, type CommandSpec, flag, text } from "../frame/command.ts";
import { renderSetup, renderSetups } from "../render/setup.ts";

export const command: CommandSpec = {
  name: "hooks",
  summary: "set up agents to save sessions, use jpg's tools, run jpg inside",
  description:
    "Adds hooks to an agent's settings. The agent then calls jpg when a session ends and before it compacts one: a shell line puts the session's file aside within a few milliseconds, and jpg imports it in the background, into the store of the project that the agent worked in. --mcp gives the agent the tools of `jpg mcp` instead. --live keeps sessions, too, and gets jpg into the running agent, by a plug-in where the agent has them. On a terminal, jpg asks which of these you want. The agent's other settings stay as they are; uninstall removes only what jpg added. Without --project, this applies to all your projects.",
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
    { flags: "--live", description: "get jpg into the running agent, and keep its sessions", conflicts: ["mcp"] },
    { flags: "--project", description: "in this project's settings only" },
    { flags: "--all", description: "ls: agents that are not on this machine, too" },
  ],
  examples: setupAgents("live")
    .slice(0, 1)
    .flatMap(({ name, agent }) => [
      { command: `jpg hooks install ${name}`, explains: `keep every session of ${agent.name}` },
      { command: `jpg hooks install ${name} --mcp`, explains: "give it jpg's tools" },
      { command: `jpg hooks install ${name} --live`, explains: "compact and undo in the running session" },
      { command: `jpg hooks uninstall ${name}`, explains: "remove all of it" },
      { command: "jpg hooks", explains: "what is installed in the agents on this machine" },
    ]),
  withoutGit: true,
  run: async (context) => {
    const [action = "ls", ...names] = context.args;
    if (!["install", "uninstall", "ls"].includes(action)) throw usage(`there is no action ${action}`);
    if (action === "ls" && names.length > 0) throw usage("ls takes no agent");
    if (action !== "ls" && flag(context.options, "all"))
      throw usage(`--all is for ls; ${action} takes the names of agents`);
    if (action === "ls") return list(context);
    if (names.length === 0) throw usage(`${action} needs an agent`);
    const project = flag(context.options, "project") ? await projectOf(context) : null;
    const agents = [...new Set(names.map(wholeFormatName))];
    const reports = await (action === "install" ? install : uninstall)(context, agents, project);
    show(context, reports);
    return 0;
  },
};

async function install(
  context: CommandContext,
  agents: readonly string[],
  project: string | null,
): Promise<readonly SetupReport[]> {
  const { runtime, options } = context;
  const isServerAlone = flag(options, "mcp");
  const level = isServerAlone ? "tools" : await chooseLevel(context, agents, project);
  const reports: SetupReport[] = [];
  for (const agent of agents) {
    const done = isServerAlone
      ? [await installSetup(runtime, { agent, what: "server", project })]
      : await installLevel(runtime, { agent, level, project });
    appendAll(reports, done);
  }
  return reports;
}

const LABELS: Readonly<Record<SetupLevel, string>> = {
  keep: "keep sessions",
  tools: "keep them, and give the agent jpg's tools",
  live: "keep them, and compact and undo in the running agent",
};

const LEVELS = ["keep", "tools", "live"] as const;

/** By option; else the person at the terminal is asked, once for all agents. */
async function chooseLevel(
  context: CommandContext,
  agents: readonly string[],
  project: string | null,
): Promise<SetupLevel> {
  const { options, output, json } = context;
  if (flag(options, "live")) return "live";
  const each = agents.map(levelsOf);
  if (json || !isTerminal(process.stdin, output)) return "keep";
  const levels = LEVELS.filter((level) => each.every((has) => has.includes(level)));
  if (levels.length === 1) return "keep";
  const choices = levels.map((value) => ({ key: value.slice(0, 1), value, label: `${value}: ${LABELS[value]}` }));
  const otherwise = await levelNow(context, agents, project);
  return ask<SetupLevel>({ text: "What should jpg do?", choices, otherwise, instead: "`--live`" }, { output });
}

/** The highest level that all of the agents have now; `keep` if there is none. */
async function levelNow(
  { runtime }: CommandContext,
  agents: readonly string[],
  project: string | null,
): Promise<SetupLevel> {
  const rows = (await listSetups(runtime, project)).filter((row) => row.project === project && row.state !== "absent");
  const hasAll = (what: SetupKind): boolean =>
    agents.every((agent) => rows.some((row) => row.agent === agent && row.what === what));
  if (hasAll("live")) return "live";
  return hasAll("server") ? "tools" : "keep";
}

/** Without an option, all that jpg may have installed. */
async function uninstall(
  { runtime, options }: CommandContext,
  agents: readonly string[],
  project: string | null,
): Promise<readonly SetupReport[]> {
  const reports: SetupReport[] = [];
  for (const agent of agents)
    for (const what of kinds(options, agent)) reports.push(await uninstallSetup(runtime, { agent, what, project }));
  return reports;
}

/** In the order in which their texts come out of one file. */
function kinds(options: CommandContext["options"], agent: string): readonly SetupKind[] {
  if (flag(options, "mcp")) return ["server"];
  if (flag(options, "live")) return ["live"];
  const has = setupAgents().find(({ name }) => name === agent)?.setup;
  const all = (["live", "hooks", "server"] as const).filter((what) => has?.[what] !== undefined);
  return all.length === 0 ? ["hooks"] : all;
}

async function list(context: CommandContext): Promise<number> {
  const { runtime, output, json } = context;
  const rows = await listSetups(runtime, await projectOf(context));
  if (json) {
    output.json(rows);
    return 0;
  }
  const isAll = flag(context.options, "all");
  const here = agentsHere(runtime).map(({ name }) => name);
  const shown = setupAgents()
    .filter(
      ({ name }) => isAll || here.includes(name) || rows.some((row) => row.agent === name && row.state !== "absent"),
    )
    .map(({ name, setup }) => ({ name, toolsLive: setup?.live?.hasTools === true }));
  output.data(renderSetups(rows, shown, output));
  for (const update of new Set(rows.filter(({ state }) => state === "outdated").map(updateOf)))
    output.info(safe`To bring it up to date: ${forTerminalLine(update)}`);
  for (const { agent, plugin } of doneTwice(rows)) {
    output.info(
      safe`${forTerminalLine(agent)} has jpg twice; \`jpg hooks uninstall ${forTerminalLine(agent)}\` leaves the plug-in.`,
    );
    output.info(forTerminalLine(plugin.removal));
  }
  return 0;
}

/** What to type for an outdated row. */
function updateOf({ agent, what, project }: SetupRow): string {
  const option = { hooks: "", server: " --mcp", live: " --live" }[what];
  return `jpg hooks install ${agent}${option}${project === null ? "" : " --project"}`;
}

/** Prints what was done to which file, then what the user does next and how to take it back. */
function show({ output, json }: CommandContext, reports: readonly SetupReport[]): void {
  if (json) output.json(reports);
  for (const report of json ? [] : reports) {
    const isTold =
      report.status !== "absent" || !reports.some((o) => o.agent === report.agent && o.status === "removed");
    if (isTold) output.data(renderSetup(report));
  }
  for (const line of new Set(linesAfter(reports))) output.info(line);
}

function* linesAfter(reports: readonly SetupReport[]): Iterable<SafeText> {
  const changed = reports.filter(({ status }) => status === "installed" || status === "updated");
  for (const { next } of changed) if (next !== null) yield forTerminalLine(next);
  if (changed.some(({ what }) => what === "hooks"))
    yield safe`When a session has grown large: \`jpg compact && jpg resume --exec\``;
  for (const { plugin } of reports) if (plugin !== undefined) yield forTerminalLine(plugin.removal);
  const names = [...new Set(changed.filter(({ status }) => status === "installed").map(({ agent }) => agent))];
  const where = reports.some(({ project }) => project !== null) ? safe` --project` : safe``;
  if (names.length > 0) yield safe`To take it back: jpg hooks uninstall ${forTerminalLine(names.join(" "))}${where}`;
}

/** The project around the current directory, else that directory. */
async function projectOf({ runtime, options }: CommandContext): Promise<string> {
  const { project } = await locate(runtime, text(options, "store"));
  return project?.root ?? runtime.cwd;
}

function usage(problem: string): Error {
  return userError("usage", `jpg hooks: ${problem}.`, {
    hints: [
      "jpg hooks install AGENT [--live | --mcp] [--project]",
      "jpg hooks uninstall AGENT [--live | --mcp] [--project]",
      "jpg hooks ls [--all]",
    ],
  });
}
