import { parseRoots, systemSummaryNote } from "../../app/import/export.ts";
import { ownAgent, prepareResume, type ResumeReport } from "../../app/import/resume.ts";
import { runProgram } from "../../app/models/external-process.ts";
import { resolveWholeTree } from "../../app/names/resolve-id.ts";
import { exampleAgent, resumingAgents } from "../../app/sessions/session-registry.ts";
import { userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, quoteForShell, safe, shellWord } from "../../core/safe-text.ts";
import { type CommandSpec, flag, text, texts } from "../frame/command.ts";

const EXAMPLE = exampleAgent();
const AGENT_NAMES = resumingAgents()
  .map(({ name }) => name)
  .join(", ");

export const command: CommandSpec = {
  name: "resume",
  summary: "continue a conversation in a coding agent",
  description:
    "Writes the view as a session where the agent keeps its sessions, and prints the command that continues it (--exec runs it). A session that the agent has since written to is never overwritten: a new one is written under another id. Run `jpg import` afterwards to bring the new turns back into the same conversation.",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [
    {
      flags: "--with <agent>",
      description: `agent to continue in (${AGENT_NAMES}); default: the agent that the conversation comes from`,
    },
    {
      flags: "--root <old=new>",
      description: "write paths below OLD, somebody else's folder, as paths below NEW",
      repeatable: true,
    },
    { flags: "--exec", description: "run that command" },
  ],
  examples: [
    { command: "jpg resume --exec", explains: "continue in the agent that the conversation comes from" },
    { command: `jpg resume --with ${EXAMPLE.name} --exec`, explains: `continue in ${EXAMPLE.agent.name}` },
  ],
  withoutGit: true,
  run: async ({ args, options, runtime, output, json, open }) => {
    const workspace = await open();
    const tree = await resolveWholeTree(workspace, args[0]);
    const agent = text(options, "with") ?? ownAgent(tree);
    if (agent === undefined) {
      throw userError(
        "usage",
        `jpg resume: say which agent to continue in; ${tree.branch} comes from none that jpg can resume.`,
        {
          hints: [`For example: \`jpg resume --with ${EXAMPLE.name}\`. The agents: ${AGENT_NAMES}.`],
        },
      );
    }
    const report = await prepareResume(workspace, tree, {
      name: agent,
      roots: parseRoots(texts(options, "root"), runtime.cwd),
    });
    const note = await systemSummaryNote(workspace, tree, agent);
    if (note !== null) output.warn(forTerminal(note));
    if (json) output.json(report);
    else output.raw(`${commandLine(report, runtime.cwd)}\n`);
    output.detail(
      safe`${report.reused ? "The session was there already" : "Wrote the session"}: ${forTerminalLine(report.path)}`,
    );
    if (report.note !== undefined && !report.reused) output.detail(forTerminalLine(report.note));
    if (!flag(options, "exec")) return 0;
    await workspace.close();
    const where = { cwd: report.directory, env: runtime.env };
    const failed = report.before === undefined ? 0 : await runProgram(report.before, where);
    return failed === 0 ? runProgram(report.command, where) : failed;
  },
};

/** Quotes the command for a shell, with a `cd`: the agent finds its session only in the project's directory. */
function commandLine({ before, command, directory }: ResumeReport, cwd: string): string {
  const words = (program: readonly string[]): string => program.map(shellWord).join(" ");
  const line = before === undefined ? words(command) : `${words(before)} && ${words(command)}`;
  return directory === cwd ? line : `cd ${quoteForShell(directory)} && ${line}`;
}
