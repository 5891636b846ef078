import { addLabels, readLabels, removeLabels } from "../../app/manage/marks.ts";
import { namesNothing, resolveBranch } from "../../app/names/resolve-id.ts";
import { userError } from "../../core/errors.ts";
import { forTerminalLine, joinLines, safe } from "../../core/safe-text.ts";
import { type CommandSpec, flag } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "label",
  summary: "add labels to a conversation, or list its labels",
  description: "`jpg ls --label NAME` lists the conversations with a label.",
  arguments: [
    { name: "[id]", description: "conversation; default @" },
    { name: "[names...]", description: "labels; one alone is the active conversation's" },
  ],
  options: [{ flags: "--remove", description: "remove these labels" }],
  examples: [
    { command: "jpg label @ parser release", explains: "add two labels to the active conversation" },
    { command: "jpg ls --label parser", explains: "list the conversations with one of them" },
    { command: "jpg label @ release --remove", explains: "remove one" },
  ],
  run: async ({ args, options, output, json, open }) => {
    const workspace = await open();
    const isLabel = args.length === 1 && args[0] !== undefined && (await namesNothing(workspace, args[0]));
    const [id, ...names] = isLabel ? ["@", ...args] : args;
    if (flag(options, "remove") && names.length === 0)
      throw userError("usage", "jpg label --remove: say which conversation and which labels.", {
        hints: ["For example: jpg label @ release --remove"],
      });
    const tree = await resolveBranch(workspace, id, { changes: names.length > 0 });
    const change = flag(options, "remove") ? removeLabels : addLabels;
    const report = names.length === 0 ? await readLabels(workspace, tree) : await change(workspace, tree, names);
    if (json) output.json(report);
    else if (report.labels.length === 0) output.info(safe`${forTerminalLine(tree.branch)} has no labels.`);
    else output.data(joinLines(report.labels.map(forTerminalLine)));
    return 0;
  },
};
