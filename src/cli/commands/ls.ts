import { listConversations } from "../../app/list.ts";
import { describeRemotes } from "../../app/remote-conversations.ts";
import { type CommandSpec, flag } from "../command.ts";
import { renderList } from "../render-list.ts";
import { renderCount } from "../render-quantity.ts";

/** The exit code of a store that is damaged, or newer than this jpg, in part. */
const BROKEN_STORE = 3;

/** Conversations that take so long to read that one wonders. */
const MANY = 200;

export const command: CommandSpec = {
  name: "ls",
  summary: "list conversations with turns, tokens, compactions and forks",
  options: [{ flags: "-a, --all", description: "one row for every fork" }],
  run: async ({ options, runtime, output, json, open }) => {
    const workspace = await open();
    const { rows, unreadable } = await listConversations(workspace, {
      all: flag(options, "all"),
      onReading: (count) => {
        if (count >= MANY)
          output.info(`Counting the tokens of ${renderCount(count, "conversation")}; the next list is quick.`);
      },
    });
    if (json) output.json(rows);
    else if (rows.length === 0 && unreadable.length === 0)
      output.info(
        (await describeRemotes(workspace)) ?? "There are no conversations yet: `jpg import` brings sessions in.",
      );
    else output.data(renderList(rows, { style: output.style, width: output.width, now: runtime.now() }));
    for (const { branch } of rows.filter(({ spliced }) => spliced === true))
      output.warn(
        `Turns of ${branch} do not continue each other: git put them together; \`jpg show ${branch}\` says more.`,
      );
    for (const { error } of unreadable) output.warn([error.message, ...error.hints].join("\n"));
    return unreadable.length === 0 ? 0 : BROKEN_STORE;
  },
};
