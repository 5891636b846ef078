import { addRemote, listRemotes, removeRemote } from "../../app/share/remotes.ts";
import { userError } from "../../core/errors.ts";
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, text } from "../frame/command.ts";
import { renderPublished, renderRemotes } from "../render/sharing.ts";

export const command: CommandSpec = {
  name: "remote",
  summary: "add, list or forget places to share conversations",
  description:
    "A remote is any git repository that your git can reach: over https or ssh, with your own credentials, or in a folder. There, conversations are branches (in a repository made for them: you can browse them and open pull requests) or hidden refs (next to a project's code: absent from branch lists, clones and CI runs). In the repository that the project itself is pushed to they are hidden unless --as says otherwise. Anyone who can read the repository can read what is pushed there.",
  arguments: [
    { name: "[action]", description: "add, ls or rm; default ls" },
    { name: "[name]", description: "name of the remote, e.g. origin" },
    { name: "[url]", description: "with add: https://…, ssh://…, user@host:path, or a folder" },
  ],
  options: [
    { flags: "--as <way>", description: "how conversations are stored there", choices: ["branches", "hidden"] },
  ],
  examples: [
    {
      command: "jpg remote add team git@example.com:team/talks.git --as branches",
      explains: "a repository of their own",
    },
    { command: "jpg remote add origin git@example.com:team/app.git", explains: "next to the project's code, hidden" },
    { command: "jpg remote rm team", explains: "forget it; what was pushed stays there" },
  ],
  run: async (context) => {
    const [action = "ls", name, url, ...more] = context.args;
    const expected = { add: 3, rm: 2, ls: 1 }[action];
    if (expected === undefined) throw usage(`there is no action ${action}`);
    if (context.args.length > Math.max(expected, 1) || more.length > 0) throw usage(`${action} takes fewer arguments`);
    if (action === "ls") return list(context);
    if (name === undefined || (action === "add" && url === undefined)) throw usage(`${action} needs more arguments`);
    return action === "add" ? add(context, name, url ?? "") : remove(context, name);
  },
};

async function list({ output, json, open }: CommandContext): Promise<number> {
  const rows = await listRemotes(await open());
  if (json) output.json(rows);
  else if (rows.length === 0) output.info(safe`There are no remotes yet: \`jpg remote add NAME URL\` adds one.`);
  else output.data(renderRemotes(rows, output));
  return 0;
}

async function add({ options, output, json, open }: CommandContext, name: string, url: string): Promise<number> {
  const as = text(options, "as");
  const workspace = await open({ create: true });
  const added = await addRemote(workspace, { name, url, ...(as === "branches" || as === "hidden" ? { as } : {}) });
  if (json) output.json(added);
  else
    output.data(
      safe`Added ${forTerminalLine(added.name)} (${renderPublished(added.as)}): ${forTerminalLine(added.url)}`,
    );
  if (added.as === "branches" && added.ofProject)
    output.warn(
      safe`The project itself is also pushed there: its branch list will show conversations, and its CI may run on them. \`--as hidden\` keeps them apart.`,
    );
  return 0;
}

async function remove({ output, json, open }: CommandContext, name: string): Promise<number> {
  const removed = await removeRemote(await open(), name);
  if (json) output.json({ name: removed.name, removed: true });
  else output.data(safe`Forgot ${forTerminalLine(removed.name)}; nothing there has changed.`);
  return 0;
}

function usage(problem: string): Error {
  return userError("usage", `jpg remote: ${problem}.`, {
    hints: ["jpg remote add NAME URL [--as branches|hidden]", "jpg remote ls", "jpg remote rm NAME"],
  });
}
