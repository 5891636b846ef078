import { renderPrinted } from "../../app/look/print.ts";
import { resolveTree } from "../../app/names/resolve-id.ts";
import { parseRange } from "../../core/conversation/range-bound.ts";
import { forTerminal } from "../../core/safe-text.ts";
import { type CommandSpec, flag, text } from "../frame/command.ts";
import { idAndTurns, readIdAndTurns, refuseBoth } from "../frame/range-argument.ts";

export const command: CommandSpec = {
  name: "print",
  summary: "print a conversation: everything that was said, or the view",
  arguments: idAndTurns("only these turns"),
  options: [
    { flags: "--compacted", description: "the view: what the model sees" },
    { flags: "--turn <a..b>", description: "only these turns", listed: "never" },
    { flags: "--format <format>", description: "markdown (default) or jsonl", choices: ["markdown", "jsonl"] },
  ],
  examples: [
    { command: "jpg print 3..7", explains: "some turns, as they were said" },
    { command: "jpg print --compacted", explains: "what the model sees" },
  ],
  withoutGit: true,
  run: async ({ args, options, runtime, output, json, open }) => {
    const { id, turns: named } = readIdAndTurns(args, runtime);
    const turn = text(options, "turn");
    refuseBoth(named, { "--turn": turn });
    const turns = turn === undefined ? named : parseRange(turn, runtime);
    const workspace = await open();
    const tree = await resolveTree(workspace, id);
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
