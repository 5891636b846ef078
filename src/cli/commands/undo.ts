import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { prepareResume } from "../../app/import/resume.ts";
import { undoCompaction } from "../../app/manage/revert.ts";
import {
  type AgentUndoPlan,
  applyAgentUndo,
  newestSession,
  planAgentUndo,
  type SmallerBy,
} from "../../app/manage/undo-agent.ts";
import { resolveBranch } from "../../app/names/resolve-id.ts";
import { agentName } from "../../app/sessions/session-registry.ts";
import { choosePipelines } from "../../core/compact/strategies/pipelines.ts";
import { userError } from "../../core/errors.ts";
import { forTerminal, safe } from "../../core/safe-text.ts";
import { askYesNo, isTerminal } from "../frame/ask.ts";
import { type CommandContext, type CommandSpec, flag, text, texts } from "../frame/command.ts";
import { isOverfull, renderAgentUndo } from "../render/resume.ts";
import { renderRevert } from "../render/sharing.ts";
import { continueInAgent } from "./continue-in-agent.ts";
import { idToType } from "./next-steps.ts";

export const command: CommandSpec = {
  name: "undo",
  summary: "undo the newest compaction, or with --agent the agent's own",
  description:
    "Undoes the newest compaction in force; `jpg redo` brings it back. With --agent: takes the newest session of this folder that is no copy by jpg, imports what it has gained, undoes the compaction that its agent made by itself, and writes the result as a new session, whole or made smaller in jpg's way. The agent's own file and the active conversation stay as they are.",
  arguments: [{ name: "[id]", description: "conversation; default @, with --agent the newest session's" }],
  options: [
    { flags: "--agent", description: "undo what the agent compacted by itself, and continue there" },
    {
      flags: "-s, --strategy <name>",
      description: "with --agent: then compact by this strategy, e.g. auto",
      repeatable: true,
    },
    {
      flags: "-p, --profile <name>",
      conflicts: ["strategy"],
      description: "with --agent: then compact by this profile",
    },
    { flags: "--yes", description: "with --agent: do not ask" },
    { flags: "--exec", description: "with --agent: start the agent" },
  ],
  examples: [
    { command: "jpg undo", explains: "undo the newest compaction" },
    { command: "jpg undo --agent --exec", explains: "go on with all that your agent compacted away" },
    { command: "jpg undo --agent -s auto", explains: "the same, but repeated and obsolete calls stay out" },
  ],
  withoutGit: true,
  run: async (context) => {
    const { args, options, output, json, open } = context;
    if (flag(options, "agent")) return undoAgent(context);
    refuseWithoutAgent(options);
    const workspace = await open();
    const tree = await resolveBranch(workspace, args[0]);
    const report = await undoCompaction(workspace, tree);
    if (json) output.json(report);
    else output.data(renderRevert(report, output));
    for (const warning of report.warnings ?? []) output.warn(forTerminal(warning));
    const id = await idToType(workspace, tree.branch);
    output.info(safe`\`jpg redo${id}\` brings it back.`);
    if (output.seen) output.info(safe`Continue: jpg resume${id} --exec`);
    return 0;
  },
};

/** Throws `usage`. */
function refuseWithoutAgent(options: CommandContext["options"]): void {
  const given = ["strategy", "profile", "yes", "exec"].find((name) => options[name] !== undefined);
  if (given === undefined) return;
  throw userError("usage", `jpg undo: --${given} has no effect without --agent.`, {
    hints: ["`jpg undo --agent` undoes what the agent compacted by itself."],
  });
}

async function undoAgent(context: CommandContext): Promise<number> {
  const { args, options, output, open } = context;
  const smaller = readSmaller(options);
  const workspace = await open({ create: true });
  const tree = args[0] === undefined ? await newestSession(workspace) : await resolveBranch(workspace, args[0]);
  const plan = await planAgentUndo(workspace, tree, smaller);
  const shown = { agent: agentName(plan.agent), id: args[0], isSmaller: smaller !== null };
  for (const line of renderAgentUndo(plan, shown)) output.info(line);
  if (!(await isWanted(context, plan))) {
    output.info(safe`Nothing was undone.`);
    return 0;
  }
  return continueUndone(context, { workspace, plan, smaller });
}

/** Asks on a terminal; whoever gave --yes or --exec, or has no terminal, decided before. */
async function isWanted(
  { options, output, json }: CommandContext,
  { agent, first_call: first }: AgentUndoPlan,
): Promise<boolean> {
  const isDecided = flag(options, "yes") || flag(options, "exec") || json || !isTerminal(process.stdin, output);
  const text = `Undo it, and write a session for ${agentName(agent)}?`;
  return isDecided || askYesNo({ text, otherwise: isOverfull(first) ? "no" : "yes", instead: "--yes" }, { output });
}

async function continueUndone(
  context: CommandContext,
  { workspace, plan, smaller }: { workspace: Workspace; plan: AgentUndoPlan; smaller: SmallerBy | null },
): Promise<number> {
  const { output } = context;
  const { tree, undone, compacted } = await applyAgentUndo(workspace, plan, smaller);
  for (const warning of [...(undone.warnings ?? []), ...(compacted?.warnings ?? [])]) output.warn(forTerminal(warning));
  const report = await prepareResume(workspace, tree, { name: plan.agent });
  const id = await idToType(workspace, tree.branch);
  output.info(safe`\`jpg redo${id}\` brings ${forTerminal(agentName(plan.agent))}'s compaction back.`);
  const more = { undone, compacted: describeCompacted(tree, compacted?.commit) };
  return continueInAgent(context, workspace, report, { isPriced: true, more });
}

function describeCompacted({ branch }: BranchTree, commit: string | null | undefined): object | null {
  return commit === null || commit === undefined ? null : { branch, commit };
}

/** Null = it stays whole. */
function readSmaller(options: CommandContext["options"]): SmallerBy | null {
  const [names, profile] = [texts(options, "strategy"), text(options, "profile")];
  if (names.length > 0) return { strategies: choosePipelines(names) };
  return profile === undefined ? null : { profile };
}
