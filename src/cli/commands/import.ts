import { importSessions, parseImportArguments } from "../../app/import.ts";
import { type CommandSpec, flag } from "../command.ts";
import { renderFailure, renderImport } from "../render-import.ts";

export const command: CommandSpec = {
  name: "import",
  summary: "bring agents' sessions in",
  description:
    "Brings session files in, one conversation each, one commit a turn; the agent's own compactions become compactions that can be shown and reverted. Without PATH: what agents on this machine keep for this project. Importing a file again adds only what is new: a session that grew is continued, one that was rewound becomes a fork, one that jpg exported continues its conversation. PATH may be a folder, or - for standard input. The store is made when there is none.",
  arguments: [
    {
      name: "[format-or-paths...]",
      description: "format (claude-code; detected when left out), then files, folders or -",
    },
  ],
  options: [
    { flags: "--all-branches", description: "make forks of the branches that the agent left, too" },
    {
      flags: "--again",
      description: "read sessions that are known once more; a fork, where this version of jpg reads them differently",
    },
  ],
  examples: [
    { command: "jpg import", explains: "the sessions of this project" },
    { command: "jpg import ~/.claude/projects/-home-me-app/4f2e….jsonl", explains: "one session file" },
    { command: "jpg import claude-code - < session.jsonl", explains: "from standard input, naming the format" },
  ],
  run: async ({ args, options, runtime, output, json, open }) => {
    const request = await parseImportArguments(args, runtime.cwd);
    const workspace = await open({ create: true });
    const { sessions, failed } = await importSessions(workspace, {
      ...request,
      allBranches: flag(options, "allBranches"),
      again: flag(options, "again"),
    });
    if (json) output.json(sessions);
    else if (!output.quiet) output.data(renderImport(sessions, { ...output, verbose: output.verbose }));
    for (const failure of failed) output.warn(renderFailure(failure));
    return sessions.length === 0 ? 1 : 0;
  },
};
