import { readStatus } from "../../app/overview/status.ts";
import { isTerminal } from "../frame/ask.ts";
import { type CommandContext, type CommandSpec, flag } from "../frame/command.ts";
import { renderProjectStatus } from "../render/status.ts";
import { printMachine } from "./machine-list.ts";

export const command: CommandSpec = {
  name: "status",
  summary: "show what is here, and what to type next",
  description:
    "Shows the active conversation, how many there are, and the sessions that agents keep for this project. `jpg` without a command prints the same where there is no terminal; on one it lists conversations and sessions to choose from: r resumes, s shows, c compacts, u undoes, w opens the web page, / filters, Tab lists the whole machine. Changes nothing.",
  options: [
    { flags: "--all", description: "show the whole machine, as `jpg ls --all` does" },
    {
      flags: "--screen",
      description: "on a terminal, choose with the arrow keys, as `jpg` alone does",
      listed: "more",
    },
  ],
  noArguments: "`jpg show ID` shows one conversation, `jpg use ID` makes it the active one.",
  withoutGit: true,
  run: async (context) => {
    const { options, output, json, open } = context;
    if (flag(options, "screen") && hasScreen(context)) {
      const { runDailyScreen } = await import("./daily-screen.ts");
      const code = await runDailyScreen(context, flag(options, "all"));
      if (code !== null) return code;
    }
    if (flag(options, "all")) return printMachine(context, {});
    const report = await readStatus(await open({ create: true }));
    if (json) output.json(report);
    else output.data(renderProjectStatus(report, output));
    return 0;
  },
};

/** Whether a list can be drawn: a person sits at a terminal that can move its cursor. */
function hasScreen({ output, json, runtime }: CommandContext): boolean {
  const isSeen = isTerminal(process.stdin, output) && process.stdout.isTTY;
  return !json && !output.quiet && isSeen && runtime.env["TERM"] !== "dumb";
}
