import { runHook } from "../../app/manage/hook.ts";
import { forTerminal } from "../../core/safe-text.ts";
import type { CommandSpec } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "hook",
  summary: "called by the store's git hooks: updates views, checks what is pushed",
  hidden: true,
  passThrough: true,
  arguments: [{ name: "[args...]", description: "name of the hook and its arguments" }],
  withoutGit: true,
  run: async ({ args, runtime, output }) => {
    await runHook(runtime, args[0] ?? "", (message) => output.warn(forTerminal(message)));
    return 0;
  },
};
