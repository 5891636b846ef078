// Long invented sessions of Claude Code, for what happens near the end of a context window.
import { createClaudeWriter, sessionBytes } from "./claude-session.ts";

export interface SurveyedSession {
  readonly turns: number;
  /** Length of the one tool result of each turn, characters; 0 = no tool is called. */
  readonly resultChars?: number;
  /** Length of the answer of each turn, characters. */
  readonly answerChars?: number;
  /** The session's id, from which its lines' are made; absent = the one of all invented sessions. */
  readonly session?: string;
  /** Whether the agent is at work on the newest turn: its last call has no result yet. */
  readonly isOpen?: boolean;
}

/** The bytes of a session whose every turn is a request, a command with its result, and an answer. */
export function surveyedSession(options: SurveyedSession): Buffer {
  const { turns, resultChars = 0, answerChars = 100, session, isOpen = false } = options;
  const writer = createClaudeWriter();
  for (let turn = 0; turn < turns; turn++) {
    writer.prompt(`Request ${turn}: survey berth ${turn} of the harbour`);
    if (resultChars > 0) command(writer, `survey berth-${turn}`, proseOf(`depth ${turn}`, resultChars));
    writer.say(`Berth ${turn} is surveyed. ${proseOf(`mud ${turn}`, answerChars)}`);
  }
  if (isOpen) {
    writer.prompt("Go on with the quay");
    command(writer, "survey quay", null);
  }
  const bytes = sessionBytes(writer.lines);
  if (session === undefined) return bytes;
  const own = bytes.toString().replaceAll("00000000-0000-4000-", `${session.slice(-8)}-0000-4000-`);
  return Buffer.from(own.replace(/"sessionId":"[^"]*"/g, `"sessionId":"${session}"`));
}

function command(writer: ReturnType<typeof createClaudeWriter>, line: string, result: string | null): void {
  const id = `toolu_${line.replace(/\W/g, "_")}`;
  writer.node({
    type: "assistant",
    message: {
      id: `msg_${id}`,
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5-20250929",
      content: [{ type: "tool_use", id, name: "Bash", input: { command: line } }],
    },
  });
  if (result === null) return;
  writer.node({
    type: "user",
    message: { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: result }] },
    toolUseResult: { stdout: "…" },
  });
}

/** So many characters of words that differ from line to line. */
function proseOf(about: string, chars: number): string {
  let text = "";
  for (let line = 0; text.length < chars; line++) text += `${about} at mark ${line} is ${(line * 37) % 101} cm\n`;
  return text.slice(0, chars);
}
