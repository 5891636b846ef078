// Hands a written session to its agent: prints the command that continues it, says what was written and what the first call costs,
// and runs the command if the user wants that.
import type { Runtime } from "../../app/conversation/runtime.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { isOnPath } from "../../app/import/hooks.ts";
import type { ResumeReport } from "../../app/import/resume.ts";
import { runProgram } from "../../app/models/external-process.ts";
import { readShortNames } from "../../app/names/short-names.ts";
import { agentName } from "../../app/sessions/session-registry.ts";
import { isSameFolder } from "../../core/folder-path.ts";
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { shellLine, userShell } from "../../core/shell-line.ts";
import { askYesNo, isTerminal } from "../frame/ask.ts";
import { type CommandContext, flag } from "../frame/command.ts";
import { renderResumed } from "../render/resume.ts";

interface HandOver {
  /** Whether the price of the first call was said before. */
  readonly isPriced?: boolean;
  /** More keys of the JSON document. */
  readonly more?: Readonly<Record<string, unknown>>;
}

/** Returns the exit code of the agent, or 0 if it was not started. Closes the workspace before it starts the agent. */
export async function continueInAgent(
  { options, runtime, output, json }: CommandContext,
  workspace: Workspace,
  report: ResumeReport,
  { isPriced = false, more = {} }: HandOver,
): Promise<number> {
  const agent = agentName(report.agent);
  if (json) output.json({ ...report, ...more });
  else {
    output.raw(`${commandLine(report, runtime)}\n`);
    const id = (await readShortNames(workspace))(report.branch);
    for (const line of renderResumed(report, { agent, id, home: runtime.home, isPriced })) output.info(line);
    if (report.note !== undefined && !report.reused) output.info(forTerminalLine(report.note));
  }
  const isAsked = !json && !output.quiet && Number.isFinite(output.width) && isTerminal(process.stdin, output);
  if (!flag(options, "exec") && !(isAsked && (await isWantedNow({ runtime, output }, report)))) return 0;
  await workspace.close();
  return startAgent({ runtime, output }, report);
}

/** Runs what has to be run before, and the agent. Returns the exit code of the first that fails, or 0. */
async function startAgent(
  { runtime, output }: Pick<CommandContext, "runtime" | "output">,
  report: ResumeReport,
): Promise<number> {
  for (const command of [report.before ?? [], report.command]) {
    const code = command.length === 0 ? 0 : await runProgram(command, { cwd: report.directory, env: runtime.env });
    if (code !== 0) return sayFailed({ runtime, output }, { report, command, code });
  }
  return 0;
}

/** Says which program ended with an error, on what, and what starts it again. Returns its exit code. */
function sayFailed(
  { runtime, output }: Pick<CommandContext, "runtime" | "output">,
  {
    report,
    command,
    code,
  }: { readonly report: ResumeReport; readonly command: readonly string[]; readonly code: number },
): number {
  const [program = ""] = command;
  output.warn(
    safe`${forTerminalLine(program)} ended with exit code ${code}. It was to continue "${forTerminalLine(report.title)}" for ${forTerminalLine(agentName(report.agent))}, and that session stays as it is; what ${forTerminalLine(program)} said is above.`,
  );
  output.info(safe`To start it again: ${forTerminalLine(commandLine(report, runtime))}`);
  return code;
}

/** Asks whether to start the agent. Where its program is not installed, says what to type once it is. */
async function isWantedNow(
  { runtime, output }: Pick<CommandContext, "runtime" | "output">,
  report: ResumeReport,
): Promise<boolean> {
  const agent = agentName(report.agent);
  const missing = [report.before, report.command]
    .flatMap((words) => words?.[0] ?? [])
    .find((program) => !isOnPath(runtime, program));
  if (missing === undefined)
    return askYesNo({ text: `Start ${agent} with it now?`, otherwise: "yes", instead: "--exec" }, { output });
  const command = forTerminalLine(commandLine(report, runtime));
  output.info(safe`${forTerminalLine(missing)} is not on the PATH; once it is installed: ${command}`);
  return false;
}

/** Quotes the command for the user's shell, with a `cd`: the agent finds its session only in the project's directory. */
function commandLine({ before, command, directory }: ResumeReport, { cwd, env, platform }: Runtime): string {
  const commands = before === undefined ? [command] : [before, command];
  return shellLine(userShell(env, platform), commands, isSameFolder(directory, cwd, platform) ? null : directory);
}
