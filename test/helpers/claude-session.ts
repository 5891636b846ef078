// Writes session files as Claude Code does, line by line, and remembers what the agent would send when it resumes them:
// an oracle for the importer that shares no code with it.
import { createHash } from "node:crypto";
import { createBufferSource } from "../../src/app/sessions/sources.ts";
import type { Turn } from "../../src/core/conversation/event.ts";
import { readClaudeSession } from "../../src/formats/claude-code/agent.ts";
import type { ImportedSession } from "../../src/formats/imported-session.ts";

export type Json = Record<string, unknown>;

export interface ClaudeWriter {
  readonly lines: Json[];
  /** What the agent sends, one mark a block: `U:` `A:` `Q:` text, `K:` thinking, `T:` call id, `R:` call id. */
  readonly sent: { mark: string; uuid: string }[];
  /** The node that the next line follows. */
  head: string | null;
  side(line: Json): void;
  node(line: Json, at?: { parent?: string | null }): string;
  prompt(text: string, extra?: Json): string;
  say(text: string, extra?: Json): string;
  think(text: string, thenSay: string): void;
  /** Calls tools in one message and answers them in the order given (positions of calls). */
  tools(count: number, order?: readonly number[]): void;
  queue(text: string): void;
  progress(): void;
  compact(summary: string, options?: { keepLast?: number; followTail?: boolean; trigger?: string }): void;
  /** Goes back to just after a node that was sent before. */
  rewind(uuid: string): void;
}

const SESSION = "5e551073-0000-4000-8000-00000000000a";

/** Creates a writer of an invented session. Ids and times count up, so the same calls write the same bytes. */
export function createClaudeWriter(): ClaudeWriter {
  let count = 0;
  const number = (): string => String(++count).padStart(12, "0");
  const uuid = (): string => `00000000-0000-4000-8000-${number()}`;
  const time = (): string => new Date(Date.UTC(2026, 2, 1, 9, 0, 0) + count * 1000).toISOString();
  const model = "claude-sonnet-4-5-20250929";
  const envelope = (): Json => ({
    isSidechain: false,
    userType: "external",
    cwd: "/home/sam/tidepool",
    sessionId: SESSION,
    version: "2.1.330",
    gitBranch: "main",
  });
  const assistantLine = (id: string, block: Json): Json => ({
    type: "assistant",
    message: {
      id,
      type: "message",
      role: "assistant",
      model,
      content: [block],
      usage: { input_tokens: 12, output_tokens: 3 },
    },
  });
  const writer: ClaudeWriter = {
    lines: [],
    sent: [],
    head: null,
    side(line) {
      writer.lines.push({ ...line, sessionId: SESSION });
    },
    node(line, at = {}) {
      const id = typeof line["uuid"] === "string" ? line["uuid"] : uuid();
      const parentUuid = at.parent === undefined ? writer.head : at.parent;
      writer.lines.push({ parentUuid, ...envelope(), ...line, uuid: id, timestamp: time() });
      writer.head = id;
      return id;
    },
    prompt(text, extra = {}) {
      const id = writer.node({ type: "user", message: { role: "user", content: text }, ...extra });
      writer.sent.push({ mark: `U:${text}`, uuid: id });
      return id;
    },
    say(text, extra = {}) {
      const id = writer.node({ ...assistantLine(`msg_${number()}`, { type: "text", text }), ...extra });
      writer.sent.push({ mark: `A:${text}`, uuid: id });
      return id;
    },
    think(text, thenSay) {
      const message = `msg_${number()}`;
      const thought = writer.node(
        assistantLine(message, { type: "thinking", thinking: text, signature: `c2ln${count}` }),
      );
      const said = writer.node(assistantLine(message, { type: "text", text: thenSay }));
      writer.sent.push({ mark: `K:${text}`, uuid: thought }, { mark: `A:${thenSay}`, uuid: said });
    },
    tools(size, order = Array.from({ length: size }, (_, position) => position)) {
      const message = `msg_${number()}`;
      const calls = Array.from({ length: size }, () => {
        const id = `toolu_${number()}`;
        const at = writer.node(
          assistantLine(message, { type: "tool_use", id, name: "Bash", input: { command: `echo ${id}` } }),
        );
        writer.sent.push({ mark: `T:${id}`, uuid: at });
        return { id, at };
      });
      for (const position of order) {
        const { id, at } = calls[position]!;
        const content = [{ type: "tool_result", tool_use_id: id, content: `output of ${id}` }];
        const result = {
          type: "user",
          message: { role: "user", content },
          sourceToolAssistantUUID: at,
          toolUseResult: { stdout: "…" },
        };
        writer.sent.push({ mark: `R:${id}`, uuid: writer.node(result, { parent: at }) });
      }
    },
    queue(text) {
      const id = writer.node({
        type: "attachment",
        attachment: { type: "queued_command", prompt: text, commandMode: "prompt" },
      });
      writer.sent.push({ mark: `Q:${text}`, uuid: id });
    },
    progress() {
      writer.node({
        type: "progress",
        data: { type: "hook_progress", hookEvent: "PostToolUse", hookName: "fmt" },
        toolUseID: "t",
      });
    },
    compact(summary, { keepLast = 0, followTail = false, trigger = "auto" } = {}) {
      const kept = keepLast === 0 ? [] : writer.sent.slice(-keepLast);
      const tail = writer.head;
      const uuids = [...new Set(kept.map((item) => item.uuid))];
      const metadata = {
        trigger,
        preTokens: 1000,
        ...(uuids.length > 0 && { preservedMessages: { uuids, allUuids: uuids } }),
      };
      const boundary = {
        type: "system",
        subtype: "compact_boundary",
        content: "Conversation compacted",
        compactMetadata: metadata,
      };
      const at = writer.node({ ...boundary, logicalParentUuid: tail }, { parent: null });
      const told = {
        type: "user",
        isCompactSummary: true,
        isVisibleInTranscriptOnly: true,
        message: { role: "user", content: summary },
      };
      const id = writer.node(told, { parent: at });
      writer.sent.splice(0, writer.sent.length, { mark: `U:${summary}`, uuid: id }, ...kept);
      if (followTail && uuids.length > 0) writer.head = uuids.at(-1)!;
    },
    rewind(to) {
      const position = writer.sent.findLastIndex((item) => item.uuid === to);
      writer.sent.length = position + 1;
      writer.head = to;
    },
  };
  return writer;
}

/** The same lines as a session of its own: another session id, and other ids of the lines, as no two sessions share them. */
export function asSession(lines: readonly Json[], session: string): Json[] {
  const own = createHash("sha1").update(session).digest("hex").slice(0, 8);
  return lines.map((line) => {
    const text = JSON.stringify(line).replaceAll("00000000-0000-4000-8000-", `${own}-0000-4000-8000-`);
    return { ...(JSON.parse(text) as Json), sessionId: session };
  });
}

/** The bytes of a session file. */
export function sessionBytes(lines: readonly (Json | string)[]): Buffer {
  return Buffer.from(lines.map((line) => `${typeof line === "string" ? line : JSON.stringify(line)}\n`).join(""));
}

/** Imports a session made of these lines. */
export function importLines(lines: readonly (Json | string)[]): ImportedSession {
  return readClaudeSession(createBufferSource(sessionBytes(lines)));
}

/** All turns of a chain, in order. */
export function allTurns(session: Pick<ImportedSession, "turnCount" | "readTurn">): readonly Turn[] {
  return Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
}
