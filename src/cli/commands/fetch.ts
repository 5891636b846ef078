import { fetchConversations, fetchedPlace } from "../../app/share/pull.ts";
import { chooseRemote, noRemote, projectOrigin } from "../../app/share/remotes.ts";
import { safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, text, watchTransfer } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/interrupt.ts";
import { renderFetch, renderRemotePlace } from "../render/sharing.ts";

export const command: CommandSpec = {
  name: "fetch",
  summary: "download what a remote has, without changing your branches",
  description:
    "What was downloaded is kept apart from your branches until `jpg pull` brings it in, or `jpg use ID` starts a branch from it.",
  options: [{ flags: "--from <remote>", description: "remote to fetch from; default the only one, else origin" }],
  run: (context) => endOnInterrupt(context.output, (signal) => run(context, signal)),
};

async function run({ options, output, json, open }: CommandContext, signal: AbortSignal): Promise<number> {
  const workspace = await open();
  const remote = await chooseRemote(workspace, { name: text(options, "from"), flag: "--from" });
  if (remote === null) throw noRemote(await projectOrigin(workspace));
  output.info(safe`From ${renderRemotePlace(fetchedPlace(remote))}`);
  const report = await fetchConversations(workspace, remote, { ...watchTransfer(output), signal });
  if (json) output.json(report);
  else output.data(renderFetch(report, output));
  return 0;
}
