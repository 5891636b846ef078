import { listProfiles } from "../../app/manage/settings.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import { forTerminal } from "../../core/safe-text.ts";
import type { CommandSpec } from "../frame/command.ts";
import { IDS_COMMAND } from "../frame/completion.ts";

/** Names without characters that are special in a shell: a clone may hold others. */
const PLAIN = /^[\w./@:=-]+$/;

export const command: CommandSpec = {
  name: IDS_COMMAND,
  summary: "list conversations and branches for the completion of a shell",
  hidden: true,
  arguments: [{ name: "[what]", description: "profiles; default: conversations and branches" }],
  withoutGit: true,
  run: async ({ args, output, open }) => {
    try {
      if (args[0] === "profiles") {
        const names = await listProfiles(await open({ create: false }));
        output.data(forTerminal(names.filter((name) => PLAIN.test(name)).join("\n")));
        return 0;
      }
      const names = (await (await open()).store.listBranches()).map(({ name }) => name);
      const ids = new Set(names.flatMap((name) => [conversationOf(name), name]));
      output.data(forTerminal([...ids].filter((id) => PLAIN.test(id)).join("\n")));
    } catch (error) {
      // An error must not be printed into a line being typed.
      if (!(error instanceof JpgError)) throw error;
    }
    return 0;
  },
};
