import type { Workspace } from "../../app/conversation/workspace.ts";
import { type Listing, type ListOrder, listConversations } from "../../app/look/list.ts";
import { describeRemotes } from "../../app/names/conversations.ts";
import { findFormatPlugin } from "../../app/sessions/format-plugins.ts";
import {
  agentCalled,
  exampleAgent,
  formatNames,
  shortAgentName,
  wholeFormatName,
} from "../../app/sessions/session-registry.ts";
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import {
  type CommandContext,
  type CommandSpec,
  count,
  flag,
  type OptionValues,
  text,
  texts,
} from "../frame/command.ts";
import { activeNote, renderList } from "../render/conversations.ts";
import { renderUnreadable } from "../render/list.ts";
import { renderCount } from "../render/quantity.ts";
import { printMachine, type RowChoice } from "./machine-list.ts";

/** The exit code if a part of the store is damaged, or newer than this jpg. */
const BROKEN_STORE = 3;

export const command: CommandSpec = {
  name: "ls",
  summary: "list conversations with agent, turns, tokens and cost",
  description:
    "Lists conversations, the one with the newest message first; AGE is the time since that message. TOKENS are those of the whole history and, after the arrow, those that the model sees (~ = an estimate); FULL is their share of the model's window. COST is what the recorded requests cost so far, at today's list prices. The last column names the conversation in other commands; the active one has a star.",
  options: [
    {
      flags: "--agent <name>",
      description: `only conversations of this agent: ${formatNames().join(", ")}`,
      values: formatNames(),
      asks: "plugins",
    },
    {
      flags: "--sort <order>",
      description:
        "last message first, most tokens that the model sees first (size or tokens), or most expensive first",
      choices: ["age", "size", "tokens", "cost"],
    },
    { flags: "-n, --count <n>", description: "only the first so many" },
    {
      flags: "--all",
      description: "the whole machine: every project's conversations, and agents' sessions that are not imported",
      conflicts: ["branches", "archived", "label"],
    },
    { flags: "-a, --branches", description: "one row per fork, including archived ones and sub-agents" },
    { flags: "--archived", description: "only archived conversations" },
    {
      flags: "--label <name>",
      description: "only conversations with this label, or with all of several",
      repeatable: true,
    },
  ],
  examples: [
    {
      command: `jpg ls --agent ${shortAgentName(exampleAgent().name)} --sort size`,
      explains: `the largest conversations of ${exampleAgent().agent.name} first`,
    },
    { command: "jpg ls -n 5", explains: "the newest five" },
  ],
  noArguments: "`jpg show ID` shows one conversation, `jpg use ID` makes it the active one.",
  withoutGit: true,
  run: async (context) => {
    const { options, runtime, output, json, open } = context;
    if (flag(options, "all")) return printMachine(context, await rowChoice(context));
    const workspace = await open();
    const { rows, archived, left, unreadable } = await listConversations(workspace, {
      ...(await rowChoice(context)),
      all: flag(options, "branches"),
      archived: flag(options, "archived"),
      labels: texts(options, "label"),
    });
    if (json) output.json(rows);
    else if (rows.length === 0 && unreadable.length === 0)
      output.info(await emptyListText(workspace, options, archived));
    else output.data(renderList(rows, { style: output.style, width: output.width, now: runtime.now() }));
    for (const { branch } of rows.filter(({ spliced }) => spliced === true)) {
      const name = forTerminalLine(branch);
      output.warn(safe`Turns of ${name} do not continue each other: git joined them; \`jpg show ${name}\` says more.`);
    }
    for (const line of json ? [] : leftOutLines({ rows, archived, left })) output.detail(line);
    if (output.seen && !json) for (const line of activeNote(rows)) output.info(output.errorStyle.faint(line));
    for (const one of unreadable) output.warn(renderUnreadable(one));
    return unreadable.length === 0 ? 0 : BROKEN_STORE;
  },
};

async function rowChoice(context: CommandContext): Promise<RowChoice> {
  const { options } = context;
  return {
    agent: await agentOf(context),
    order: orderOf(options),
    most: count(options, "count"),
  };
}

/** An agent that jpg knows, or one of a format plug-in on this machine. Throws `unknown_format`. */
async function agentOf({ runtime, options }: CommandContext): Promise<string | undefined> {
  const word = text(options, "agent");
  if (word === undefined || formatNames().includes(wholeFormatName(word))) return word && wholeFormatName(word);
  return (await findFormatPlugin(runtime, word, text(options, "store")))?.name ?? agentCalled(word).name;
}

function orderOf(options: OptionValues): ListOrder | undefined {
  const order = text(options, "sort");
  if (order === "tokens") return "size";
  return order === "age" || order === "size" || order === "cost" ? order : undefined;
}

function leftOutLines({ rows, archived, left }: Pick<Listing, "rows" | "archived" | "left">): readonly SafeText[] {
  const agents = rows.some((row) => (row.agents ?? 0) > 0);
  return [
    ...(left > 0 ? [safe`${renderCount(left, "more row")}; without \`-n\` all are listed.`] : []),
    ...(archived > 0 && rows.length > 0
      ? [safe`${renderCount(archived, "archived conversation")} left out; \`jpg ls --archived\` lists them.`]
      : []),
    ...(agents
      ? [
          safe`Conversations of sub-agents are left out; \`jpg ls --branches\` lists them below the ones that started them.`,
        ]
      : []),
  ];
}

async function emptyListText(workspace: Workspace, options: OptionValues, archived: number): Promise<SafeText> {
  const remotes = await describeRemotes(workspace);
  return remotes === null ? nothingListedText(options, archived) : forTerminal(remotes);
}

function nothingListedText(options: OptionValues, archived: number): SafeText {
  if (flag(options, "archived")) return safe`No conversation is archived.`;
  if (archived > 0) return safe`All of them are archived: \`jpg ls --archived\` lists ${archived}.`;
  const agent = text(options, "agent");
  if (agent !== undefined) return safe`No conversation here is of ${forTerminalLine(agent)}.`;
  const labels = texts(options, "label");
  if (labels.length > 0) return safe`No conversation has the label ${forTerminalLine(labels.join(" and "))}.`;
  return safe`There are no conversations yet: \`jpg import\` imports sessions.`;
}
