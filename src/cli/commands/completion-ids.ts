import { listProfiles } from "../../app/manage/settings.ts";
import { shortNamesAmong } from "../../app/names/short-names.ts";
import { listFormatPlugins } from "../../app/sessions/format-plugins.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { JpgError } from "../../core/errors.ts";
import { forTerminal } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, text } from "../frame/command.ts";
import { IDS_COMMAND } from "../frame/completion.ts";

/** Names without characters that are special in a shell: a clone may hold others. */
const PLAIN = /^[\w./@:=-]+$/;

export const command: CommandSpec = {
  name: IDS_COMMAND,
  summary: "list conversations and branches for the completion of a shell",
  hidden: true,
  arguments: [{ name: "[what]", description: "ids, profiles or plugins; default: ids, conversations and branches" }],
  withoutGit: true,
  run: async (context) => {
    try {
      const names = new Set(await listNames(context));
      context.output.data(forTerminal([...names].filter((name) => PLAIN.test(name)).join("\n")));
    } catch (error) {
      // An error must not be printed into a line being typed.
      if (!(error instanceof JpgError)) throw error;
    }
    return 0;
  },
};

async function listNames({ args: [what], runtime, options, open }: CommandContext): Promise<readonly string[]> {
  if (what === "profiles") return listProfiles(await open({ create: false }));
  if (what === "plugins") return listFormatPlugins(runtime, text(options, "store"));
  const branches = (await (await open()).store.listBranches()).map(({ name }) => name);
  const shortName = shortNamesAmong(branches);
  return branches.flatMap((branch) => [conversationOf(branch), branch, shortName(branch)]);
}
