import type { Workspace } from "../../app/conversation/workspace.ts";
import { listConversations } from "../../app/look/list.ts";
import { describeRemotes } from "../../app/names/conversations.ts";
import { forTerminal, forTerminalLine, type SafeText, safe } from "../../core/safe-text.ts";
import { type CommandSpec, flag, type OptionValues, texts } from "../frame/command.ts";
import { renderList, renderUnreadable } from "../render/list.ts";
import { renderCount } from "../render/quantity.ts";

/** The exit code if a part of the store is damaged, or newer than this jpg. */
const BROKEN_STORE = 3;

export const command: CommandSpec = {
  name: "ls",
  summary: "list conversations with turns, tokens, compactions and forks",
  options: [
    { flags: "-a, --all", description: "one row per fork, including archived ones and sub-agents" },
    { flags: "--archived", description: "only archived conversations" },
    {
      flags: "--label <name>",
      description: "only conversations with this label, or with all of several",
      repeatable: true,
    },
  ],
  withoutGit: true,
  run: async ({ options, runtime, output, json, open }) => {
    const workspace = await open();
    const { rows, archived, unreadable } = await listConversations(workspace, {
      all: flag(options, "all"),
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
    if (archived > 0 && rows.length > 0)
      output.detail(
        safe`${renderCount(archived, "archived conversation")} left out; \`jpg ls --archived\` lists them.`,
      );
    if (!json && rows.some(({ agents = 0 }) => agents > 0))
      output.detail(
        safe`Conversations of sub-agents are left out; \`jpg ls --all\` lists them below the ones that started them.`,
      );
    for (const one of unreadable) output.warn(renderUnreadable(one));
    return unreadable.length === 0 ? 0 : BROKEN_STORE;
  },
};

async function emptyListText(workspace: Workspace, options: OptionValues, archived: number): Promise<SafeText> {
  const remotes = await describeRemotes(workspace);
  return remotes === null ? nothingListedText(options, archived) : forTerminal(remotes);
}

function nothingListedText(options: OptionValues, archived: number): SafeText {
  if (flag(options, "archived")) return safe`No conversation is archived.`;
  if (archived > 0) return safe`All of them are archived: \`jpg ls --archived\` lists ${archived}.`;
  const labels = texts(options, "label");
  if (labels.length > 0) return safe`No conversation has the label ${forTerminalLine(labels.join(" and "))}.`;
  return safe`There are no conversations yet: \`jpg import\` imports sessions.`;
}
