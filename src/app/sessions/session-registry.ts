// The formats jpg reads, by name: how each is recognised, what its sessions are called, and who stands as their author.
import { userError } from "../../core/errors.ts";
import { nearestName } from "../../core/nearest-name.ts";
import { isClaudeSession } from "../../formats/claude-code/detect.ts";
import { readExportOrigin } from "../../formats/claude-code/export-ids.ts";
import { claudeSessionId, IMPORTER_VERSION, readClaudeSession } from "../../formats/claude-code/import.ts";
import type { ExportOrigin, ImportedSession } from "../../formats/imported-session.ts";
import type { SessionSource } from "../../formats/session-source.ts";

export interface SessionFormat {
  readonly name: string;
  /** Version of its importer. */
  readonly importer: number;
  /** Stands as author and committer of the turns. */
  readonly agent: { readonly name: string; readonly email: string };
  readonly detect: (source: SessionSource) => boolean;
  /** The session's id without reading the whole file; null when the file names none. */
  readonly sessionId: (source: SessionSource) => string | null;
  readonly origin: (source: SessionSource) => ExportOrigin | null;
  readonly read: (source: SessionSource) => ImportedSession;
}

const FORMATS: readonly SessionFormat[] = [
  {
    name: "claude-code",
    importer: IMPORTER_VERSION,
    agent: { name: "Claude Code", email: "claude-code@jpg.invalid" },
    detect: isClaudeSession,
    sessionId: claudeSessionId,
    origin: (source) => readExportOrigin(parseOrNull(source.lineCount > 0 ? source.line(0) : "")),
    read: readClaudeSession,
  },
];

export function formatNames(): readonly string[] {
  return FORMATS.map((format) => format.name);
}

/** Gives a format by name. Throws `unknown_format` with the nearest name. */
export function formatByName(name: string): SessionFormat {
  const format = FORMATS.find((candidate) => candidate.name === name);
  if (format !== undefined) return format;
  const nearest = nearestName(name, formatNames());
  throw userError("unknown_format", `${name} is no format that jpg imports; it reads: ${formatNames().join(", ")}.`, {
    hints: nearest === undefined ? [] : [`Did you mean ${nearest}?`],
  });
}

/** Recognises a file's format. Throws `not_a_session` naming the file. */
export function detectFormat(source: SessionSource, path: string): SessionFormat {
  const format = FORMATS.find((candidate) => candidate.detect(source));
  if (format !== undefined) return format;
  throw userError(
    "not_a_session",
    `${path} is not a session that jpg knows: expected one of ${formatNames().join(", ")}, one JSON object a line.`,
    {
      hints: ["If it is one, name its format first: `jpg import claude-code FILE`."],
    },
  );
}

function parseOrNull(text: string): unknown {
  if (text.length > LONGEST_ORIGIN) return null;
  try {
    return JSON.parse(text.replace(/^\uFEFF/, ""));
  } catch {
    return null; // not jpg's side line; the importer reports lines that cannot be read
  }
}

/** jpg's own first line is short. Characters. */
const LONGEST_ORIGIN = 4096;
