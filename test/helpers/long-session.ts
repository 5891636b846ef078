// Invented Claude Code sessions with outputs as long as those of real tools, for tests of what becomes of large views.
import { createClaudeWriter, type Json } from "./claude-session.ts";

export interface LongSession {
  /** Adds turns, each with a request, two calls with long outputs, and an answer. */
  turns(count: number): LongSession;
  /** Adds a turn that ends in the middle of a tool loop. */
  openTurn(): LongSession;
  /** Goes on in the open turn: more calls. */
  calls(): LongSession;
  /** Ends the open turn with an answer. */
  answer(): LongSession;
  bytes(): Buffer;
}

/** Characters of one tool output. */
const OUTPUT = "a line of some output\n".repeat(120);

/** Creates a session that grows; `session` replaces its own id. */
export function createLongSession(session?: string): LongSession {
  const writer = createClaudeWriter();
  let turn = 0;
  const long: LongSession = {
    turns(count) {
      for (let added = 0; added < count; added++) long.openTurn().answer();
      return long;
    },
    openTurn() {
      writer.prompt(`request ${turn++} about the harbour wall`);
      writer.tools(2);
      return long;
    },
    calls() {
      writer.tools(2);
      return long;
    },
    answer() {
      writer.say(`The wall of part ${turn} stands.`);
      return long;
    },
    bytes: () => Buffer.from(writer.lines.map((line) => `${lengthen(line, session)}\n`).join("")),
  };
  return long;
}

function lengthen(line: Json, session: string | undefined): string {
  const named = session === undefined ? line : { ...line, sessionId: session };
  return JSON.stringify(named, (key, value: unknown) =>
    key === "content" && typeof value === "string" && value.startsWith("output of ") ? `${value}\n${OUTPUT}` : value,
  );
}
