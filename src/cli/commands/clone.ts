import { cloneConversations } from "../../app/share/pull.ts";
import { userError } from "../../core/errors.ts";
import { forTerminal, forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, watchTransfer } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/interrupt.ts";
import { renderClone } from "../render/sharing.ts";

export const command: CommandSpec = {
  name: "clone",
  summary: "copy the conversations at an address into a new store",
  description:
    "Makes DIR a conversation repository with all conversations at the address (hidden refs if there are any, else branches) and sets the address as the remote `origin`. In a clone of a project you do not need this: `jpg pull` fetches the project's conversations.",
  arguments: [
    { name: "<url>", description: "https://…, ssh://…, user@host:path, or a folder" },
    { name: "[dir]", description: "new folder; default named after the repository" },
  ],
  options: [
    {
      flags: "--filter <what>",
      description: "blob:none downloads turns only when they are read",
      choices: ["blob:none"],
    },
  ],
  examples: [
    { command: "jpg clone git@example.com:team/talks.git", explains: "into talks/" },
    {
      command: "jpg clone --filter blob:none https://example.com/talks.git",
      explains: "the history now, turns when they are read",
    },
  ],
  run: (context) => endOnInterrupt(context.output, (signal) => run(context, signal)),
};

async function run({ args, options, runtime, output, json }: CommandContext, signal: AbortSignal): Promise<number> {
  const [url, directory] = args;
  if (url === undefined) throw userError("usage", "jpg clone needs an address.", { hints: ["jpg clone URL [DIR]"] });
  if (options["store"] !== undefined)
    throw userError("usage", "jpg clone makes a new store, so --store does not apply: give its folder as DIR.", {
      hints: ["jpg clone URL DIR"],
    });
  const say = (text: string): void => output.info(forTerminal(text));
  const report = await cloneConversations(
    runtime,
    {
      url,
      directory,
      filter: options["filter"] === undefined ? undefined : "blob:none",
    },
    {
      transfer: { ...watchTransfer(output), signal },
      voice: { info: say, warn: (text) => output.warn(forTerminal(text)) },
    },
  );
  if (json) output.json(report);
  else output.data(renderClone(report));
  for (const { branch, reason } of report.branches)
    if (reason !== undefined) output.warn(safe`${forTerminalLine(branch)} was left out: ${forTerminalLine(reason)}`);
  return 0;
}
