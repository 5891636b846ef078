import { describeRecord } from "../../app/inspect/textconv.ts";
import type { CommandSpec } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "textconv",
  summary: "called by git diff: a compaction's record as readable text",
  hidden: true,
  passThrough: true,
  arguments: [{ name: "<file>", description: "record" }],
  run: async ({ args, output }) => {
    output.raw(await describeRecord(args[0] ?? ""));
    return 0;
  },
};
