import { renderPrinted } from "../../app/look/print.ts";
import { resolveTree } from "../../app/names/resolve-id.ts";
import { forTerminal } from "../../core/safe-text.ts";
import { type CommandSpec, flag, text } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "print",
  summary: "print a conversation: everything that was said, or the view",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [
    { flags: "--compacted", description: "the view: what the model sees" },
    { flags: "--turn <a..b>", description: "only these turns" },
    { flags: "--format <format>", description: "markdown (default) or jsonl", choices: ["markdown", "jsonl"] },
  ],
  withoutGit: true,
  run: async ({ args, options, output, json, open }) => {
    const workspace = await open();
    const tree = await resolveTree(workspace, args[0]);
    const turns = text(options, "turn");
    const format = json || text(options, "format") === "jsonl" ? "jsonl" : "markdown";
    const printed = await renderPrinted(workspace, tree, {
      compacted: flag(options, "compacted"),
      format,
      turns,
    });
    if (json)
      output.json(
        printed.trim() === ""
          ? []
          : printed
              .trim()
              .split("\n")
              .map((line) => JSON.parse(line) as unknown),
      );
    else if (format === "jsonl") output.raw(printed);
    else await output.page(forTerminal(printed));
    return 0;
  },
};
