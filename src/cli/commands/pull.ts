import { adoptOrigin, fetchedPlace, nothingThereNotice, pullConversations } from "../../app/share/pull.ts";
import { chooseRemote } from "../../app/share/remotes.ts";
import { forTerminal, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, text, watchTransfer } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/interrupt.ts";
import { renderPull, renderRemotePlace } from "../render/sharing.ts";

export const command: CommandSpec = {
  name: "pull",
  summary: "bring in what others pushed to a remote",
  description:
    "Adds new conversations, and the new turns of those that others continued. Compactions, reverts, settings and titles of both sides are merged automatically. If both sides have added turns, theirs keeps the name and yours becomes a fork, FORK-YOU-1, which stays active. Conversations that you removed (`jpg rm`) stay removed. In a clone of a project whose origin holds conversations, you need not set a remote first.",
  options: [{ flags: "--from <remote>", description: "remote to fetch from; default the only one, else origin" }],
  run: (context) => endOnInterrupt(context.output, (signal) => run(context, signal)),
};

async function run({ options, output, json, open }: CommandContext, signal: AbortSignal): Promise<number> {
  const workspace = await open({ create: true });
  const watched = { ...watchTransfer(output), signal };
  const chosen = await chooseRemote(workspace, { name: text(options, "from"), flag: "--from" });
  const remote = chosen ?? (await adoptOrigin(workspace, watched));
  if (remote === null) {
    output.info(forTerminal(await nothingThereNotice(workspace)));
    if (json) output.json(null);
    return 1;
  }
  output.info(safe`From ${renderRemotePlace(fetchedPlace(remote))}`);
  const report = await pullConversations(workspace, remote, watched);
  if (json) output.json(report);
  else output.data(renderPull(report, output));
  return 0;
}
