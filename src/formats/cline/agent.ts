// Cline as one value: see docs/ARCHITECTURE.md, and `../agent-format.ts` for what each part means. Its files do not say of which
// project they are: they are read where the user names them.
import type { AgentFormat } from "../agent-format.ts";
import { isRecord, parseJsonLine, recordOf } from "../json-line.ts";
import { namedUnder, type SessionDescent } from "../session-descent.ts";
import { toUsableId } from "../usable-id.ts";
import { parseClineDocument } from "./document.ts";
import { CLINE_IMPORTER, readClineSession } from "./import.ts";

const SESSION = ".messages.json";
const COMPACTED = ".compaction.json";

export const CLINE: AgentFormat = {
  name: "cline",
  agent: { name: "Cline", email: "cline@jpg.invalid" },
  importer: CLINE_IMPORTER,
  files: {
    endings: [SESSION, COMPACTED],
    document: () => "json",
    companion: { session: SESSION, companion: COMPACTED },
    about: (fileName) => (fileName.endsWith(SESSION) ? fileName.replace(/\.messages\.json$/, ".json") : null),
  },
  detect: (source) => parseClineDocument(source) !== null,
  sessionId: (source) => parseClineDocument(source)?.sessionId ?? null,
  origin: () => null,
  descent: (_, about) => readDescent(about),
  read: (source, _, companion) => readClineSession(source, companion),
  help: {
    place: "Cline keeps its sessions under ~/.cline/data/sessions.",
    file: "~/.cline/data/sessions/1784094124598_rruoq/1784094124598_rruoq.messages.json",
    reads:
      "Sessions of CLI 3 and VS Code 4 (`….messages.json`). What is sent since a compaction (`….compaction.json`, beside it) becomes a compaction of the session; imported alone, that file is a conversation of its own. A session forked off another becomes a fork of its conversation.",
    lost: [
      "The files do not say which project they belong to, so you have to name them.",
      "The system prompt stays in the source.",
      "Tasks of VS Code 3 (`api_conversation_history.json`) are imported as a request to the Anthropic API, with only their messages; what Cline had cut from them is shown.",
    ],
  },
};

/** The session that it was forked off, as the file beside it says. */
function readDescent(about: string | null): SessionDescent | null {
  const manifest = about === null ? null : parseJsonLine(about);
  const fork = isRecord(manifest) ? recordOf(recordOf(manifest, "metadata") ?? {}, "fork") : undefined;
  const session = fork === undefined ? undefined : namedUnder(fork, "forkedFromSessionId");
  return session === undefined ? null : { kind: "fork", sessions: [toUsableId(session)] };
}
