// Compares each request that a session's file records with the view that jpg would give of the lines before it.

import type { View } from "../../core/conversation/event.ts";
import { projectTurns } from "../../core/conversation/projection.ts";
import { JpgError, userError } from "../../core/errors.ts";
import type { AgentFormat } from "../../formats/agent-format.ts";
import { exportAnthropic } from "../../formats/anthropic/write.ts";
import { compactionsInForce } from "../../formats/imported-session.ts";
import { findSentDifference, type SentLog, type SentRequest } from "../../formats/sent-requests.ts";
import type { Runtime } from "../conversation/runtime.ts";
import { sha256 } from "../conversation/runtime.ts";
import type { BranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { listSourceSessions } from "../import/original.ts";
import { readSource } from "../sessions/open-session.ts";
import { readSessionFile } from "../sessions/session-files.ts";
import { agents, detectFormat } from "../sessions/session-registry.ts";
import { type BufferSource, beginningOf, createBufferSource } from "../sessions/sources.ts";

/** One request that was compared. */
export interface ComparedRequest {
  /** The session that records it. */
  readonly session: string;
  /** Its number among the session's requests, from 1. */
  readonly request: number;
  /** Its line in the session's file, from 1. */
  readonly line: number;
  readonly result: "equal" | "differs" | "unreadable";
  /** The first message that differs, 0-based. */
  readonly message?: number;
  /** What differs, or why it cannot be read. */
  readonly difference?: string;
}

/** The JSON document of `jpg check --sent --json`. */
export interface SentReport {
  /** Whether no request differs. */
  readonly ok: boolean;
  readonly source: string;
  /** Requests that the files record. */
  readonly requests: number;
  readonly equal: number;
  readonly differs: number;
  readonly unreadable: number;
  readonly compared: readonly ComparedRequest[];
}

/**
 * Lines and messages that are read to compare the requests of one session: for each, the lines before it are read again. A session
 * of 5,000 lines with 500 requests has half of that; of a larger one only the newest requests are compared.
 */
const MAX_WORK = 2_500_000;

/** Checks a session's file. Throws `empty_file`, `not_a_session`. */
export async function checkSentFile(runtime: Runtime, path: string): Promise<SentReport> {
  const source = createBufferSource(await readSessionFile(runtime, { path, named: true }));
  if (source.byteLength === 0) {
    throw userError("empty_file", `${path} is empty: nothing to check.`, { hints: ["Name the file of a session."] });
  }
  return createSentReport(path, [compareSession(source, path)]);
}

/** Checks all sessions that a conversation was imported from. */
export async function checkSentConversation(workspace: Workspace, tree: BranchTree): Promise<SentReport> {
  const compared: SessionRequests[] = [];
  for (const session of await listSourceSessions(workspace, tree)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of readSource(workspace.store, tree, session)) chunks.push(chunk);
    compared.push(compareSession(createBufferSource(Buffer.concat(chunks)), session));
  }
  return createSentReport(tree.branch, compared);
}

/** Names of the agents whose files record what was sent. */
export function agentsWithSentLog(): readonly string[] {
  return agents().flatMap(({ sent, agent }) => (sent === undefined ? [] : [agent.name]));
}

interface SessionRequests {
  readonly requests: number;
  readonly compared: readonly ComparedRequest[];
}

function compareSession(source: BufferSource, session: string): SessionRequests {
  const format = detectFormat(source, session);
  const requests = format.sent?.read(source, sha256) ?? [];
  if (format.sent === undefined) return { requests: 0, compared: [] };
  const from = firstAffordable(requests);
  const compared: ComparedRequest[] = [];
  for (const [at, request] of requests.entries()) {
    if (at < from) continue;
    const result = compareRequest(source, request, { format, log: format.sent });
    compared.push({ session, request: at + 1, line: request.line + 1, ...result });
  }
  return { requests: requests.length, compared };
}

/** The first of the newest requests that together cost no more than the limit. */
function firstAffordable(requests: readonly SentRequest[]): number {
  let [first, work] = [requests.length, 0];
  while (first > 0) {
    const { line, messageCount } = requests[first - 1] ?? { line: 0, messageCount: 0 };
    work += line + messageCount;
    if (work > MAX_WORK) break;
    first--;
  }
  return first;
}

type Result = Pick<ComparedRequest, "result" | "message" | "difference">;

function compareRequest(
  source: BufferSource,
  request: SentRequest,
  { format, log }: { readonly format: AgentFormat; readonly log: SentLog },
): Result {
  const sent = request.blocks();
  if (typeof sent === "string") return { result: "unreadable", difference: sent };
  const view = viewBefore(source, request.line, format);
  const { messages } = exportAnthropic(view, { model: request.model, systemMessages: true });
  const found = findSentDifference(sent, log.said(messages));
  return found === null ? { result: "equal" } : { result: "differs", message: found.message, difference: found.text };
}

/** The view of the lines before one; empty if they are no session yet. */
function viewBefore(source: BufferSource, line: number, format: AgentFormat): View {
  try {
    const session = format.read(beginningOf(source, source.lineStart(line)));
    const turns = Array.from({ length: session.turnCount }, (_, index) => ({ index, events: session.readTurn(index) }));
    return projectTurns(turns, compactionsInForce(session));
  } catch (error) {
    if (error instanceof JpgError && error.code === "not_a_session") return { turns: [] };
    throw error;
  }
}

function createSentReport(source: string, sessions: readonly SessionRequests[]): SentReport {
  const compared = sessions.flatMap((session) => session.compared);
  const count = (result: ComparedRequest["result"]): number => compared.filter((one) => one.result === result).length;
  return {
    ok: count("differs") === 0,
    source,
    requests: sessions.reduce((sum, { requests }) => sum + requests, 0),
    equal: count("equal"),
    differs: count("differs"),
    unreadable: count("unreadable"),
    compared,
  };
}
