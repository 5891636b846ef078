import { listLocal, setLocal } from "../../app/share/remotes.ts";
import { userError } from "../../core/errors.ts";
import { forTerminalLine, joinLines, joinSafe, safe } from "../../core/safe-text.ts";
import { type CommandSpec, flag } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "local",
  summary: "keep a conversation on this machine, or list those kept here",
  description:
    "`jpg push` and stock `git push` refuse a local conversation with all its forks. The mark is kept in the store's own settings and never sent. What was pushed before stays where it is.",
  arguments: [{ name: "[id]", description: "conversation; @ = the active one" }],
  options: [{ flags: "--off", description: "remove the mark" }],
  examples: [
    { command: "jpg local @", explains: "this conversation stays here" },
    { command: "jpg local fix-parser-k3f9 --off", explains: "that one may be pushed again" },
  ],
  run: async ({ args, options, output, json, open }) => {
    const workspace = await open();
    const [id] = args;
    const off = flag(options, "off");
    if (id === undefined) {
      if (off) throw userError("usage", "jpg local --off: say which conversation.", { hints: ["jpg local ID --off"] });
      const local = await listLocal(workspace);
      if (json) output.json(local);
      else if (local.length === 0) output.info(safe`No conversation is local.`);
      else output.data(joinLines(local.map(forTerminalLine)));
      return 0;
    }
    const report = await setLocal(workspace, id, !off);
    const name = forTerminalLine(report.conversation);
    if (json) output.json(report);
    else output.data(off ? safe`${name} may be pushed again.` : safe`${name} is local: it is never sent.`);
    if (!off && report.seen_on.length > 0)
      output.warn(
        safe`It was seen on ${joinSafe(report.seen_on.map(forTerminalLine), ", ")}: the copy there stays, and others may have it.`,
      );
    return 0;
  },
};
