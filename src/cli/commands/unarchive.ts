import type { CommandSpec } from "../frame/command.ts";
import { runArchive } from "./archive.ts";

export const command: CommandSpec = {
  name: "unarchive",
  summary: "list an archived conversation again",
  // The older spelling of `jpg archive --undo`.
  hidden: true,
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  run: (context) => runArchive(context, false),
};
