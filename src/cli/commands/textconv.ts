import { readStoredFile } from "../../app/look/textconv.ts";
import { userError } from "../../core/errors.ts";
import type { CommandSpec } from "../frame/command.ts";
import { renderStoredFile } from "../render/stored-file.ts";

export const command: CommandSpec = {
  name: "textconv",
  summary: "called by git diff: a compaction's record, a turn or another record as readable text",
  hidden: true,
  passThrough: true,
  arguments: [{ name: "<file>", description: "record" }],
  withoutGit: true,
  run: async ({ args: [file], output }) => {
    if (file === undefined || file === "")
      throw userError("usage", "jpg textconv needs a file; git calls it, with one.", {
        hints: ["`jpg git show COMMIT` shows a compaction in words."],
      });
    output.raw(renderStoredFile(await readStoredFile(file)));
    return 0;
  },
};
