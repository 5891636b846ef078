import {
  listRemoved,
  purgeRemoved,
  type RemoveReport,
  removeConversation,
  restoreConversation,
} from "../../app/manage/trash.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import { forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import { askYesNo } from "../frame/ask.ts";
import { type CommandContext, type CommandSpec, flag } from "../frame/command.ts";
import { renderCount, renderTime } from "../render/quantity.ts";
import { purgeNamed } from "./purge.ts";

type Work = (context: CommandContext, id: string | undefined) => Promise<number>;

export const command: CommandSpec = {
  name: "rm",
  summary: "remove a conversation or a fork, or bring it back",
  description:
    "Moves a conversation with all its forks, or just one fork if ID names a branch, to the store's trash. It is no longer listed anywhere; `jpg rm --restore ID` brings it back as it was. Remotes are not touched. If the agent still has the session, the next `jpg import` imports it again; use `jpg archive` to hide it for good. `--purge` deletes: with ID that one, as `jpg purge` does, whether it is in the trash or not; without ID all that is in the trash. It asks, and cannot be undone.",
  arguments: [{ name: "[id]", description: "conversation, or one of its forks" }],
  options: [
    { flags: "--list", description: "list what is in the trash", conflicts: ["restore", "purge"] },
    { flags: "--restore", description: "bring ID back as it was when last removed", conflicts: ["purge"] },
    { flags: "--purge", description: "delete ID, named in full, for good; without ID, empty the trash" },
    { flags: "-y, --yes", description: "with --purge: do not ask" },
  ],
  examples: [
    { command: "jpg rm fix-parser-k3f9", explains: "the conversation with all its forks" },
    { command: "jpg rm fix-parser-k3f9/try-b", explains: "one fork" },
    { command: "jpg rm --restore fix-parser", explains: "bring it back" },
    { command: "jpg rm --purge fix-parser-k3f9", explains: "delete it for good" },
    { command: "jpg rm --purge", explains: "empty the trash" },
  ],
  run: async (context) => {
    const is = (name: string): boolean => flag(context.options, name);
    const work: Work = is("list") ? list : is("restore") ? restore : is("purge") ? purge : remove;
    return work(context, context.args[0]);
  },
};

const remove: Work = async ({ output, json, open }, id) => {
  if (id === undefined) throw which("rm", "`jpg ls` lists the conversations; @ is the active one.");
  const report = await removeConversation(await open(), id);
  if (json) output.json(report);
  else {
    output.data(renderRemoved(report));
    if (report.moved)
      output.info(
        report.active === null ? safe`No conversation is left.` : safe`Now on ${forTerminalLine(report.active)}`,
      );
  }
  return 0;
};

function renderRemoved({ conversation, removed }: RemoveReport): SafeText {
  const [only] = removed;
  const isOne = removed.length === 1 && only !== undefined;
  const name = forTerminalLine(isOne ? only.branch : conversation);
  const count = isOne ? "" : safe` (${renderCount(removed.length, "branch", "branches")})`;
  return safe`Removed ${name}${count}; \`jpg rm --restore ${name}\` brings it back.`;
}

const list: Work = async ({ output, json, open }) => {
  const rows = await listRemoved(await open());
  if (json) output.json(rows.map((row) => ({ conversation: conversationOf(row.branch), ...row })));
  else if (rows.length === 0) output.info(safe`The trash is empty.`);
  else
    output.data(
      joinLines(
        rows.map(({ branch, removedAt }) => safe`${forTerminalLine(branch)}  removed ${renderTime(removedAt)}`),
      ),
    );
  return 0;
};

const restore: Work = async ({ output, json, open }, id) => {
  if (id === undefined) throw which("rm --restore", "`jpg rm --list` lists what can be restored.");
  const restored = await restoreConversation(await open(), id);
  if (json) output.json({ restored });
  else output.data(joinLines(restored.map(({ branch }) => safe`Restored ${forTerminalLine(branch)}.`)));
  return 0;
};

const purge: Work = (context, id) =>
  id === undefined ? emptyTrash(context) : purgeNamed(context, id, { asRemoval: true });

async function emptyTrash({ options, output, json, open }: CommandContext): Promise<number> {
  const workspace = await open();
  const chosen = await listRemoved(workspace);
  const names = joinSafe(
    chosen.map(({ branch }) => forTerminalLine(branch)),
    ", ",
  );
  const text = `Remove ${names} for good? This cannot be undone.`;
  const isAgreed =
    chosen.length === 0 ||
    flag(options, "yes") ||
    (await askYesNo({ text, otherwise: "no", instead: "--yes" }, { output }));
  const purged = isAgreed ? chosen : [];
  const objects = await purgeRemoved(workspace, purged);
  if (json) output.json({ purged, objects });
  else if (purged.length > 0) output.data(safe`Purged ${names}: ${renderCount(objects, "object")} removed.`);
  else output.info(chosen.length === 0 ? safe`The trash is empty.` : safe`Nothing was purged.`);
  return 0;
}

function which(what: string, hint: string): Error {
  return userError("usage", `jpg ${what}: say which conversation.`, { hints: [hint] });
}
