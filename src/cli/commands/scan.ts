import { scanSessions } from "../../app/share/scan.ts";
import { forTerminal } from "../../core/safe-text.ts";
import type { CommandSpec } from "../frame/command.ts";
import { errorDocument } from "../frame/render-error.ts";
import { renderScan } from "../render/sharing.ts";

export const command: CommandSpec = {
  name: "scan",
  summary: "find secrets in session files, without importing them",
  description:
    "Looks for keys, tokens and passwords in the session files that agents keep for this project (all its folders and worktrees), or in FILES and folders: agents store whatever they read. Prints where each secret is, its kind, and a sample that does not give it away. Reads only; nothing is sent or stored. Exit code 1 if something is found.",
  arguments: [{ name: "[files...]", description: "files or folders; default: the agents' sessions of this project" }],
  examples: [
    { command: "jpg scan", explains: "the sessions of this project" },
    { command: "jpg scan ~/old-sessions", explains: "all sessions in a folder" },
  ],
  withoutGit: true,
  run: async ({ args, output, json, open }) => {
    const report = await scanSessions(await open({ create: true }), args);
    if (json) {
      const failed = report.failed.map(({ path, error }) => ({ path, ...errorDocument(error) }));
      output.json({ ...report, failed });
    } else await output.page(renderScan(report, output));
    for (const { error } of report.failed) output.warn(forTerminal(error.message));
    return report.secrets.length === 0 ? 0 : 1;
  },
};
