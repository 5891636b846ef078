import { readStoredFile } from "../../app/inspect/textconv.ts";
import type { CommandSpec } from "../frame/command.ts";
import { renderStoredFile } from "../render/render-stored-file.ts";

export const command: CommandSpec = {
  name: "textconv",
  summary: "called by git diff: a compaction's record, a turn or another record as readable text",
  hidden: true,
  passThrough: true,
  arguments: [{ name: "<file>", description: "record" }],
  run: async ({ args, output }) => {
    output.raw(renderStoredFile(await readStoredFile(args[0] ?? "")));
    return 0;
  },
};
