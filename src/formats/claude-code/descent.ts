// Sub-agents of Claude Code: whose transcript a file is, and the transcripts that old versions wrote into the session's own
// file, as lines beside its path.
import { defined } from "../../core/json.ts";
import { isRecord, parseJsonLine, type RawLine, recordOf, stringOf } from "../json-line.ts";
import type { ParsedLines } from "../parsed-lines.ts";
import { namedUnder, type SessionDescent, type SessionPart } from "../session-descent.ts";
import type { SessionSource } from "../session-source.ts";
import { toUsableId } from "../usable-id.ts";
import { messageBlocks, parseLine } from "./line.ts";
import { agentNamedBy } from "./named-session.ts";
import type { LineEntry, SessionIndex } from "./session-index.ts";

/** How the tool is called that begins a sub-agent. */
const AGENT_TOOLS: ReadonlySet<unknown> = new Set(["Task", "Agent"]);

/** Whose sub-agent wrote a file; null for a session of its own. `about` is what stands in the file beside it. */
export function claudeDescent(source: SessionSource, about: string | null): SessionDescent | null {
  const line = firstNamed(source);
  const session = line === null ? undefined : stringOf(line, "sessionId");
  const agent = line === null ? undefined : agentNamedBy(line);
  if (session === undefined || agent === undefined) return null;
  const told = about === null ? null : parseJsonLine(about);
  const call = isRecord(told) ? namedUnder(told, "toolUseId") : undefined;
  return { kind: "agent", sessions: [toUsableId(session)], name: agent, ...defined({ call }) };
}

/** The first line that names the session. */
function firstNamed(source: SessionSource): RawLine | null {
  for (let at = 0; at < source.lineCount; at++) {
    const line = parseLine(source.line(at));
    if (line !== null && typeof line !== "string" && stringOf(line, "sessionId") !== undefined) return line;
  }
  return null;
}

/**
 * The transcripts among a session's own lines, in the order in which they begin; none in a file that is one itself. One in
 * which nothing was answered yet is none.
 */
export function listParts(lines: ParsedLines, index: SessionIndex): readonly SessionPart[] {
  const beside = index.entries.filter(({ isSidechain, uuid }) => isSidechain && uuid !== undefined);
  if (beside.length === 0 || (index.firstLine !== undefined && agentNamedBy(index.firstLine) !== undefined)) return [];
  const transcripts = new Map<LineEntry, LineEntry[]>();
  const roots = new Map<LineEntry, LineEntry>();
  for (const entry of beside) {
    const above = index.nodes.get(entry.parent ?? "");
    const root = (above?.isSidechain === true ? roots.get(above) : undefined) ?? entry;
    roots.set(entry, root);
    const transcript = transcripts.get(root);
    if (transcript === undefined) transcripts.set(root, [entry]);
    else transcript.push(entry);
  }
  const answered = [...transcripts].filter(([, entries]) => entries.some(({ kind }) => kind === "assistant"));
  const calls = callsByPrompt(lines, index);
  return answered.map(([root, entries]) => {
    const call = calls.get(textOf(lines.at(root.line)) ?? "")?.shift();
    return { lines: entries.map(({ line }) => line).sort((a, b) => a - b), ...defined({ call }) };
  });
}

/** Ids of the calls that began sub-agents, by what these were asked, oldest first. */
function callsByPrompt(lines: ParsedLines, { entries }: SessionIndex): Map<string, string[]> {
  const calls = new Map<string, string[]>();
  const own = entries.filter(({ kind, isSidechain, calls: made }) => kind === "assistant" && !isSidechain && made);
  for (const { line } of own) {
    const raw = lines.at(line);
    for (const block of raw === null || typeof raw === "string" ? [] : (messageBlocks(raw) ?? [])) {
      const [id, prompt] = [stringOf(block, "id"), stringOf(recordOf(block, "input") ?? {}, "prompt")];
      if (id === undefined || prompt === undefined || !AGENT_TOOLS.has(block["name"])) continue;
      calls.set(prompt, [...(calls.get(prompt) ?? []), id]);
    }
  }
  return calls;
}

function textOf(line: RawLine | string | null): string | undefined {
  if (line === null || typeof line === "string") return undefined;
  const [first] = messageBlocks(line) ?? [];
  return first === undefined ? undefined : stringOf(first, "text");
}
