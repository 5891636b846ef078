// The smallest agent as a format of jpg: see "A format" in docs/ARCHITECTURE.md. There is no such agent; the same one as a program
// outside of jpg is in examples/plain-agent.
import type { AgentFormat, Machine } from "../../../src/formats/agent-format.ts";
import { lineUuid, parseExportOrigin, sessionUuid } from "../../../src/formats/imported-session.ts";
import { writePlainSession } from "./export.ts";
import { isPlainSession, PLAIN_IMPORTER, plainSessionId, readPlainSession } from "./import.ts";

export const PLAIN: AgentFormat = {
  name: "plain",
  agent: { name: "Plain", email: "plain@jpg.invalid" },
  importer: PLAIN_IMPORTER,
  files: {
    endings: [".jsonl"],
    folders: (machine, directory) => [{ path: folderOf(machine, directory), directory: directory }],
  },
  detect: isPlainSession,
  sessionId: plainSessionId,
  origin: (source) => (source.lineCount > 0 ? parseExportOrigin(source.line(0)) : null),
  read: readPlainSession,
  write: { sessionId: sessionUuid, lineId: lineUuid, write: writePlainSession },
  resume: (machine, { sessionId, cwd }) => ({
    path: machine.join(folderOf(machine, cwd), `${sessionId}.jsonl`),
    command: ["plain", sessionId],
    hints: ["Give yourself access to ~/.plain."],
  }),
  help: {
    place: "Plain keeps its sessions under ~/.plain.",
    file: "~/.plain/-home-me-app/4f2e.jsonl",
    reads: "Lines of a role and a text.",
    lost: [],
  },
};

function folderOf({ home, join }: Machine, directory: string): string {
  return join(home, ".plain", directory.replace(/[^A-Za-z0-9]/g, "-"));
}
