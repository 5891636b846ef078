// Invented sessions of Copilot CLI, line by line: one minute between lines, ids by number.
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import { readCopilotSession } from "../../src/formats/copilot-cli/agent.ts";
import type { ImportedSession } from "../../src/formats/imported-session.ts";
import type { Json } from "./claude-session.ts";

export const COPILOT_SESSION = "c0b11070-aaaa-4bbb-8ccc-1234567890ab";

/** A line without what frames it. */
export type CopilotLine = readonly [type: string, data: Json];

export const begun = (more: Json = {}): CopilotLine => [
  "session.start",
  {
    sessionId: COPILOT_SESSION,
    version: 1,
    producer: "copilot-agent",
    copilotVersion: "1.0.64",
    context: { cwd: "/home/ada/tidepool", gitRoot: "/home/ada/tidepool", branch: "main" },
    ...more,
  },
];
export const typed = (content: string, sent = content): CopilotLine => [
  "user.message",
  { content, transformedContent: sent, attachments: [] },
];
export const said = (content: string, calls: readonly string[] = [], more: Json = {}): CopilotLine => [
  "assistant.message",
  {
    content,
    toolRequests: calls.map((id) => ({ toolCallId: id, name: "bash", arguments: { command: `ls ${id}` } })),
    ...more,
  },
];
export const done = (id: string, content = "kelp.md"): CopilotLine => [
  "tool.execution_complete",
  { toolCallId: id, success: true, result: { content, detailedContent: "shown" } },
];
export const noticed = (content: string): CopilotLine => ["system.notification", { content }];

/** The lines of a file. */
export function framed(lines: readonly CopilotLine[]): readonly Json[] {
  return lines.map(([type, data], at) => ({
    type,
    data,
    id: `e${at}`,
    timestamp: new Date(Date.UTC(2026, 0, 2, 3, at)).toISOString(),
    parentId: at === 0 ? null : `e${at - 1}`,
  }));
}

export function copilotBytes(lines: readonly CopilotLine[]): Buffer {
  return Buffer.from(
    framed(lines)
      .map((line) => `${JSON.stringify(line)}\n`)
      .join(""),
  );
}

export function readCopilot(lines: readonly CopilotLine[]): ImportedSession {
  return readCopilotSession(createBufferSource(copilotBytes(lines)));
}

/** A line that is more than type and data. */
export interface CopilotRow {
  readonly type: string;
  readonly data: Json;
  readonly agentId?: string;
}

/** The text of a session that Copilot CLI resumes: it wants UUIDs, and a few more fields. */
export function resumableCopilot(rows: readonly (CopilotLine | CopilotRow)[]): string {
  const uuid = (at: number): string => `00000000-0000-4000-8000-${String(at).padStart(12, "0")}`;
  return rows
    .map((row, at) => {
      const { type, data, agentId } = "type" in row ? row : { type: row[0], data: row[1], agentId: undefined };
      const more = type === "session.start" ? { startTime: "2026-01-02T03:00:00.000Z" } : {};
      const named = type === "assistant.message" ? { messageId: `m${at}` } : {};
      return JSON.stringify({
        type,
        data: { ...more, ...named, ...(data as object) },
        id: uuid(at + 1),
        timestamp: new Date(Date.UTC(2026, 0, 2, 3, at)).toISOString(),
        parentId: at === 0 ? null : uuid(at),
        agentId,
      });
    })
    .map((line) => `${line}\n`)
    .join("");
}
