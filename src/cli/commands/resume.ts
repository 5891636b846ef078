import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { findSessionDamage, type SessionDamage } from "../../app/import/damage.ts";
import { parseRoots, systemSummaryNote } from "../../app/import/export.ts";
import { ownAgent, prepareResume } from "../../app/import/resume.ts";
import { revertCompactions } from "../../app/manage/revert.ts";
import { resolveWholeTree } from "../../app/names/resolve-id.ts";
import { exampleAgent, resumingAgents, wholeFormatName } from "../../app/sessions/session-registry.ts";
import { abbreviateCommit } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag, text, texts } from "../frame/command.ts";
import type { Output } from "../frame/output.ts";
import { renderDamage } from "../render/damage.ts";
import { continueInAgent } from "./continue-in-agent.ts";

const EXAMPLE = exampleAgent();
const AGENT_NAMES = resumingAgents()
  .map(({ name }) => name)
  .join(", ");

export const command: CommandSpec = {
  name: "resume",
  summary: "continue a conversation in a coding agent",
  description:
    "Writes the view as a new session where the agent keeps its sessions, and prints the command that continues it; on a terminal it offers to run it (--exec runs it without asking). Your own session is untouched, and a session that the agent has since written to is never overwritten: a new one is written under another id. Run `jpg import` afterwards to bring the new turns back into the same conversation; with `jpg hooks install` that happens by itself.",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [
    {
      flags: "--with <agent>",
      values: resumingAgents().map(({ name }) => name),
      description: `agent to continue in (${AGENT_NAMES}); default: the agent that the conversation comes from`,
    },
    {
      flags: "--root <old=new>",
      description: "write paths below OLD, somebody else's folder, as paths below NEW",
      repeatable: true,
    },
    {
      flags: "--repair",
      description:
        "say what the agent alone would lose of a session whose file is damaged, and write one without damage",
    },
    { flags: "--all", description: "with --repair: also the turns that the agent no longer reaches" },
    { flags: "--exec", description: "run that command" },
  ],
  examples: [
    { command: "jpg resume --exec", explains: "continue in the agent that the conversation comes from" },
    { command: "jpg resume --repair --all", explains: "a session that its agent would not read to its beginning" },
    { command: `jpg resume --with ${EXAMPLE.name} --exec`, explains: `continue in ${EXAMPLE.agent.name}` },
  ],
  withoutGit: true,
  run: async (context) => {
    const { args, options, runtime, output, open } = context;
    const repair = repairOf(options);
    const workspace = await open();
    const given = await resolveWholeTree(workspace, args[0]);
    const asked = text(options, "with");
    const agent = asked === undefined ? ownAgent(given) : wholeFormatName(asked);
    if (agent === undefined) {
      throw userError(
        "usage",
        `jpg resume: say which agent to continue in; ${given.branch} comes from none that jpg can resume.`,
        {
          hints: [`For example: \`jpg resume --with ${EXAMPLE.name}\`. The agents: ${AGENT_NAMES}.`],
        },
      );
    }
    const damage = await repairSession(workspace, given, { repair, output });
    const tree = repair === "all" ? await resolveWholeTree(workspace, given.branch) : given;
    const roots = parseRoots(texts(options, "root"), runtime.cwd);
    const isCopy = repair !== null || roots.length > 0;
    const report = await prepareResume(workspace, tree, { name: agent, roots, isCopy });
    const note = await systemSummaryNote(workspace, tree, agent);
    if (note !== null) output.warn(forTerminal(note));
    return continueInAgent(context, workspace, report, { more: { damage } });
  },
};

/** Whether a damaged session is repaired as far as the agent reads it, with all its turns, or not at all. Throws `usage`. */
function repairOf(options: CommandContext["options"]): "reached" | "all" | null {
  const isAll = flag(options, "all");
  if (flag(options, "repair")) return isAll ? "all" : "reached";
  if (!isAll) return null;
  throw userError("usage", "jpg resume: --all says what --repair includes, and --repair is missing.", {
    hints: ["`jpg resume --repair --all` writes the turns, too, that the agent no longer reaches."],
  });
}

/** Reverts what hides the turns that the agent no longer reaches. Returns the commits by compaction. */
async function showUnreached(
  workspace: Workspace,
  branch: string,
  { unreached }: SessionDamage,
): Promise<ReadonlyMap<string, string>> {
  const commits = new Map<string, string>();
  for (const { compaction } of unreached) {
    const { commit } = await revertCompactions(workspace, [compaction], branch);
    if (commit !== null) commits.set(compaction, abbreviateCommit(commit));
  }
  return commits;
}

/** Finds the damage, and with `all` shows the unreached turns again. Says what it found. Undefined without --repair. */
async function repairSession(
  workspace: Workspace,
  tree: BranchTree,
  { repair, output }: { readonly repair: ReturnType<typeof repairOf>; readonly output: Output },
): Promise<SessionDamage | undefined> {
  if (repair === null) return undefined;
  const damage = await findSessionDamage(workspace, tree);
  const commits = repair === "all" ? await showUnreached(workspace, tree.branch, damage) : null;
  const lines = renderDamage(damage, commits);
  for (const line of lines) output.warn(line);
  if (lines.length === 0) output.info(safe`Nothing to repair in ${forTerminalLine(tree.branch)}.`);
  return damage;
}
