// What a session comes from: the call of another agent, whose session's file it is in, or `/fork`, which copies the other session's lines
// and adds one that names it.
import { toUsableId } from "../imported-session.ts";
import {
  type RawLine,
  type SessionDescent,
  type SessionPart,
  type SessionSource,
  stringOf,
} from "../session-source.ts";
import { dataOf, parseCopilotLine, partOf, sessionStartedBy, writerOf } from "./lines.ts";

/** The lines of sub-agents, gathered line by line. */
export interface PartLines {
  /** `by` = the sub-agent that wrote the line, "" = the session's own. */
  add(line: RawLine, at: number, by: string): void;
  /** In the order in which they begin; those without an answer are left out. */
  list(): readonly SessionPart[];
}

interface OpenPart {
  readonly lines: number[];
  call: string | undefined;
  hasAnswer: boolean;
}

export function createParts(): PartLines {
  const parts = new Map<string, OpenPart>();
  let start: number | undefined;
  return {
    add(line, at, by) {
      if (sessionStartedBy(line) !== undefined && by === "") start ??= at;
      if (by === "") return;
      const part = parts.get(by) ?? newPart(start);
      parts.set(by, part);
      part.lines.push(at);
      part.call ??= callOf(line);
      part.hasAnswer ||= line["type"] === "assistant.message";
    },
    list: () =>
      start === undefined
        ? []
        : [...parts.values()].flatMap(({ lines, call, hasAnswer }) => (hasAnswer ? [{ lines, call }] : [])),
  };
}

/** A sub-agent's session begins with the line that names the session. */
function newPart(start: number | undefined): OpenPart {
  return { lines: start === undefined ? [] : [start], call: undefined, hasAnswer: false };
}

function callOf(line: RawLine): string | undefined {
  const data = dataOf(line);
  const isStart = line["type"] === "subagent.started";
  return (isStart ? stringOf(data, "toolCallId") : undefined) ?? stringOf(data, "parentToolCallId");
}

/** Reads what a session comes from; null for one of its own. Never throws. */
export function copilotDescent(source: SessionSource): SessionDescent | null {
  const session = startOf(source);
  if (session === undefined) return null;
  const agent = partOf(source);
  if (agent !== "") return { kind: "agent", sessions: [toUsableId(session)], name: agent };
  const ancestors = ancestorsOf(source, session);
  return ancestors.length === 0 ? null : { kind: "fork", sessions: ancestors.map(toUsableId) };
}

function startOf(source: SessionSource): string | undefined {
  for (let at = 0; at < source.lineCount; at++) {
    const line = parseCopilotLine(source.line(at));
    const id = line === null || typeof line === "string" ? undefined : sessionStartedBy(line);
    if (id !== undefined) return id;
  }
  return undefined;
}

/** `Forked from "<name>" (<session>) as "<name>" (<session>).` */
const FORKED = /^Forked from ".*" \(([\w-]+)\) as ".*" \(([\w-]+)\)\.$/s;

/** A fork of a fork holds the lines that name both; nearest first. */
function ancestorsOf(source: SessionSource, session: string): readonly string[] {
  const parents = new Map<string, string>();
  for (let at = 0; at < source.lineCount; at++) {
    const text = source.line(at);
    if (!text.includes('"fork"')) continue;
    const line = parseCopilotLine(text);
    if (line === null || typeof line === "string" || line["type"] !== "session.info" || writerOf(line) !== "") continue;
    const [, parent, child] = FORKED.exec(stringOf(dataOf(line), "message") ?? "") ?? [];
    if (parent !== undefined && child !== undefined) parents.set(child, parent);
  }
  const found = new Set<string>();
  for (let at = parents.get(session); at !== undefined && !found.has(at); at = parents.get(at)) found.add(at);
  found.delete(session);
  return [...found];
}
