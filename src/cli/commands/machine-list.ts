// Prints the whole machine, for `jpg --all` and `jpg ls --all`.
import { listMachine, type MachineReport } from "../../app/overview/machine.ts";
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import type { CommandContext } from "../frame/command.ts";
import { activeNote, renderList } from "../render/conversations.ts";
import { renderCount } from "../render/quantity.ts";
import { renderExpiring } from "../render/status.ts";

/** Which rows, of one store or of the machine, and in which order. */
export type RowChoice = Pick<Parameters<typeof listMachine>[1], "agent" | "order" | "most">;

/** Returns the exit code: 1 = nothing is there. */
export async function printMachine(
  { runtime, output, json }: Pick<CommandContext, "runtime" | "output" | "json">,
  choice: RowChoice,
): Promise<number> {
  const warn = (text: string): void => output.warn(forTerminal(text));
  const report = await listMachine(runtime, { ...choice, progress: output.counts, warn });
  if (json) output.json(report.rows);
  else if (report.rows.length === 0) output.info(safe`No conversation and no agent's session is on this machine.`);
  else output.data(renderList(report.rows, { style: output.style, width: output.width, now: runtime.now() }));
  for (const { directory, error } of report.unreadable)
    output.warn(safe`The store of ${forTerminalLine(directory)} cannot be read: ${forTerminal(error.message)}`);
  if (output.seen && !json) for (const line of activeNote(report.rows)) output.info(output.errorStyle.faint(line));
  if (!json) for (const line of machineLines(report)) output.info(line);
  return report.rows.length === 0 ? 1 : 0;
}

function machineLines({ left, expiring }: MachineReport): readonly SafeText[] {
  return [
    ...(left > 0 ? [safe`${renderCount(left, "more row")}; without \`-n\` all are listed.`] : []),
    ...expiring.map((one) => renderExpiring(one, safe`\`jpg sync --all\``)),
  ];
}
