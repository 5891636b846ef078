// Checks one turn file by itself, and takes from it what the checks of the whole conversation need. Every line is read,
// also behind one that is malformed.
import { appendAll } from "../append-all.ts";
import { JpgError } from "../errors.ts";
import { attachmentsOf } from "../event/attachment.ts";
import type { Event } from "../event/event.ts";
import { parseEventLine } from "../event/event-line.ts";
import { previousTurn } from "../event/turn.ts";
import { createFinding, type Finding } from "./finding.ts";

/** What a turn file holds. It follows from the file's bytes and its position alone. */
export interface CheckedTurn {
  readonly events: readonly Event[];
  /** The turn file that it was said after; null when it does not say. */
  readonly previous: string | null;
  /** Names of payloads that its events refer to. */
  readonly attachments: ReadonlySet<string>;
  readonly findings: readonly Finding[];
}

const TIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?Z?$/;

/** Checks the lines of a turn file (with their line ends or without); `path` names it in findings. */
export function checkTurnFile(lines: Iterable<string>, path: string): CheckedTurn {
  const findings: Finding[] = [];
  const events: Event[] = [];
  const attachments = new Set<string>();
  let line = 0;
  for (const text of lines) {
    line += 1;
    const event = parseOrReport(text, { path, line }, findings);
    if (event === null) continue;
    events.push(event);
    appendAll(findings, checkEvent(event, { path, line, isFirst: events.length === 1 && line === 1 }));
    for (const name of namesOf(event, { path, line }, findings)) attachments.add(name);
  }
  const [first] = events;
  if (line === 0 || (first !== undefined && first.type !== "turn_start")) findings.push(withoutStart(path, line));
  return { events, previous: previousTurn(events), attachments, findings };
}

interface Place {
  readonly path: string;
  readonly line: number;
}

function parseOrReport(text: string, { path, line }: Place, findings: Finding[]): Event | null {
  try {
    return parseEventLine(text, { file: path, line });
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    const reason = String(error.data["reason"] ?? error.message);
    findings.push(
      createFinding("turn_malformed", {
        path,
        line,
        message: `line ${line} is not an event: ${reason}`,
        hint: `\`jpg git log -p -- ${path}\` shows who changed it; \`jpg git checkout COMMIT -- ${path}\` and a commit bring it back`,
      }),
    );
    return null;
  }
}

function checkEvent(event: Event, { path, line, isFirst }: Place & { readonly isFirst: boolean }): readonly Finding[] {
  const findings: Finding[] = [];
  if (event.type === "turn_start" && !isFirst)
    findings.push(
      createFinding("turn_start_missing", {
        path,
        line,
        message: `line ${line} opens another turn: a turn is a file`,
        hint: `\`jpg git log -p -- ${path}\` shows which commit joined two turns; revert it`,
      }),
    );
  if (typeof event.timestamp === "string" && !TIME.test(event.timestamp))
    findings.push(
      createFinding("time_malformed", {
        path,
        line,
        message: `the time of event ${event.id} is ${JSON.stringify(event.timestamp.slice(0, 40))}, not RFC 3339 in UTC`,
        hint: "bounds by time pass over it; nothing else needs it",
      }),
    );
  return findings;
}

function namesOf(event: Event, { path, line }: Place, findings: Finding[]): readonly string[] {
  try {
    return attachmentsOf(event);
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    findings.push(
      createFinding("turn_malformed", {
        path,
        line,
        message: error.message,
        hint: `\`jpg git log -p -- ${path}\` shows who changed it`,
      }),
    );
    return [];
  }
}

function withoutStart(path: string, lines: number): Finding {
  return createFinding("turn_start_missing", {
    path,
    message: lines === 0 ? "the file is empty" : "the first event is not a turn_start",
    hint: `\`jpg git log -p -- ${path}\` shows which commit changed it; revert it`,
  });
}
