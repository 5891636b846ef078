import { listConversations } from "../../app/list.ts";
import { type CommandSpec, flag } from "../command.ts";
import { renderList } from "../render-list.ts";

/** The exit code of a store that is damaged, or newer than this jpg, in part. */
const BROKEN_STORE = 3;

export const command: CommandSpec = {
  name: "ls",
  summary: "list conversations with turns, tokens, compactions and forks",
  options: [{ flags: "-a, --all", description: "one row for every fork" }],
  run: async ({ options, runtime, output, json, open }) => {
    const workspace = await open();
    const { rows, unreadable } = await listConversations(workspace, { all: flag(options, "all") });
    if (json) output.json(rows);
    else if (rows.length === 0 && unreadable.length === 0)
      output.info("There are no conversations yet: `jpg import` brings sessions in.");
    else output.data(renderList(rows, { style: output.style, width: output.width, now: runtime.now() }));
    for (const { error } of unreadable) output.warn([error.message, ...error.hints].join("\n"));
    return unreadable.length === 0 ? 0 : BROKEN_STORE;
  },
};
