// `jpg hooks`: what is installed in agents, and what was changed in their settings.
import type { SetupReport, SetupRow } from "../../app/import/hooks.ts";
import { forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import { type Cell, renderTableText } from "../frame/table.ts";
import type { Rendering } from "../frame/terminal.ts";

const HEADER = ["AGENT", "KEEP", "TOOLS", "LIVE"];
const KINDS = ["hooks", "server", "live"] as const;

/** An agent on this machine. */
interface AgentHere {
  readonly name: string;
  /** Whether jpg inside it gives it the tools, too. */
  readonly toolsLive: boolean;
}

/** Renders one line for each agent that is on this machine. */
export function renderSetups(
  rows: readonly SetupRow[],
  here: readonly AgentHere[],
  { style, width }: Rendering,
): SafeText {
  if (here.length === 0) return safe`No agent that jpg can set up is on this machine.`;
  const cells = HEADER.map((text): Cell => ({ text, paint: style.faint }));
  for (const agent of here) {
    cells.push(agent.name);
    const own = rows.filter((row) => row.agent === agent.name);
    for (const kind of KINDS) {
      const text = cellOf(own, kind, agent);
      const paint = text === "-" ? style.faint : /outdated|unreadable/.test(text) ? style.caution : style.good;
      cells.push({ text, paint });
    }
  }
  return renderTableText(cells, { columns: HEADER.map(() => ({})), width });
}

/** `yes`, `outdated`, `project` …; `-` = not installed, empty = the agent has no such thing. */
function cellOf(rows: readonly SetupRow[], kind: SetupRow["what"], { toolsLive }: AgentHere): string {
  const isByLive = ({ what }: SetupRow): boolean => kind === "server" && what === "live" && toolsLive;
  const own = rows.filter((row) => row.state !== "absent" && (row.what === kind || isByLive(row)));
  const words = own.map((row) => {
    const place = row.project === null ? "" : "project";
    if (isByLive(row)) return `${place} by live`.trim();
    return row.state === "installed" ? place || "yes" : `${place} ${row.state}`.trim();
  });
  const [plugged] = rows.filter((row) => row.plugin !== undefined && (row.what === kind || isByLive(row)));
  if (plugged !== undefined) words.push(plugged.project === null ? "by the plug-in" : "project plug-in");
  if (words.length > 0) return words.join(", ");
  const isPossible = rows.some(({ what }) => what === kind) || (kind === "server" && toolsLive);
  return isPossible ? "-" : "";
}

/** Renders what was done with one settings file or plug-in. */
export function renderSetup({ agent, what, path, status, plugin }: SetupReport): SafeText {
  const file = forTerminalLine(path);
  const name = forTerminalLine(agent);
  const thing = { hooks: safe`Hooks of ${name}`, server: safe`Tools of ${name}`, live: safe`Live part of ${name}` }[
    what
  ];
  const verb = what === "live" ? safe`is` : safe`are`;
  switch (status) {
    case "installed":
      return safe`${thing} installed: ${file}`;
    case "updated":
      return safe`${thing} brought up to date: ${file}`;
    case "present":
      return safe`${thing} ${verb} there already${plugin === undefined ? "" : ", by the plug-in"}: ${file}`;
    case "removed":
      return safe`${thing} removed: ${file}`;
    case "absent":
      return safe`${thing} ${verb} not there: ${file}`;
  }
}
