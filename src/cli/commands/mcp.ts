import { setupAgents } from "../../app/import/hooks.ts";
import { agents } from "../../app/sessions/session-registry.ts";
import { forTerminal } from "../../core/safe-text.ts";
import { type CommandSpec, optionsFrom } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "mcp",
  summary: "serve jpg's tools to an agent over MCP (standard input/output)",
  description:
    "Once you have registered it, the agent starts this itself. It then has the tools compact, log, show, search, fork and stats, which work like the commands of the same names; its own session is imported first. compact cannot shrink the agent's own context: it prepares a smaller continuation and returns the command that continues there.",
  examples: [
    ...agents().flatMap(({ agent, help: { addServer } }) =>
      addServer === undefined
        ? []
        : [{ command: addServer, explains: `give the tools to ${agent.name}, in this project` }],
    ),
    ...setupAgents("server").map(({ name, agent }) => ({
      command: `jpg hooks install ${name} --mcp`,
      explains: `give them to ${agent.name}, in all your projects`,
    })),
    { command: "jpg mcp --store ~/talks", explains: "always use this conversation repository" },
  ],
  run: async ({ options, runtime, output, fronts }) => {
    const info = (text: string): void => output.info(forTerminal(text));
    const warn = (text: string): void => output.warn(forTerminal(text));
    await fronts.serveMcp({ runtime, options: { ...optionsFrom(options), info, warn } });
    return 0;
  },
};
