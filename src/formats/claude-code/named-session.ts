// The session that a line names. A sub-agent's lines name the session that began it: its own id is made of both.
import { type RawLine, stringOf } from "../json-line.ts";

/** The id of the session that a line belongs to; absent where it names none. */
export function sessionOfLine(line: RawLine): string | undefined {
  const session = stringOf(line, "sessionId");
  const agent = agentNamedBy(line);
  return session === undefined || agent === undefined ? session : `${session}-agent-${agent}`;
}

/** The sub-agent whose line it is: its id, or in older versions the line's; absent for the session's own lines. */
export function agentNamedBy(line: RawLine): string | undefined {
  if (line["isSidechain"] !== true) return undefined;
  return stringOf(line, "agentId") ?? stringOf(line, "uuid");
}
