// What an agent alone would lose of a session that jpg imported: turns that it no longer reaches, lines that cannot be read.
import { BREAK_REASONS, findBreaks } from "../../core/conversation/broken-chain.ts";
import type { Compaction } from "../../core/conversation/compaction.ts";
import { JpgError } from "../../core/errors.ts";
import type { ImportedSession, SkippedLine } from "../../formats/imported-session.ts";
import { isRecord, parseJsonLine, type SessionSource } from "../../formats/session-source.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { loadCompactions } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { readSource } from "../sessions/open-session.ts";
import { agents, detectFormat } from "../sessions/session-registry.ts";
import { createBufferSource } from "../sessions/sources.ts";
import { listSourceSessions } from "./original.ts";

/** Turns of the active path that the agent no longer sends, because its file is damaged; those that it also compacted later are none. */
export interface UnreachedTurns {
  /** The compaction that hides them; reverting it shows them. */
  readonly compaction: string;
  readonly from_turn: number;
  readonly to_turn: number;
  /** The line at which the agent stops, from 1; absent = no session of the branch has it. */
  readonly line?: number;
  /** Why, without the line: a predicate of it. */
  readonly reason: string;
}

/** A line of a session's file that neither the agent nor jpg can read. */
export interface UnreadableLine extends SkippedLine {
  readonly session: string;
}

export interface SessionDamage {
  /** Shown name of the agent that the conversation comes from; absent = it comes from none. */
  readonly agent?: string;
  readonly unreached: readonly UnreachedTurns[];
  readonly unreadable: readonly UnreadableLine[];
  /** Branches that the session abandoned, which an import leaves out unless asked. */
  readonly abandoned: number;
}

/** Finds the damage of the sessions that a branch was imported from, as far as the branch has it. */
export async function findSessionDamage(workspace: Workspace, tree: BranchTree): Promise<SessionDamage> {
  const sources = await readSources(workspace, tree);
  const { applied } = await loadCompactions(workspace.store, tree);
  return {
    agent: agents().find(({ name }) => name === tree.header.source?.format)?.agent.name,
    unreached: findBreaks(tree.turnOids.length, applied).unreached.map(({ compaction, from_turn, to_turn }) => ({
      compaction: compaction.id,
      from_turn,
      to_turn,
      line: lineOf(compaction, sources),
      reason: BREAK_REASONS.get(compaction.reason) ?? "",
    })),
    unreadable: sources.flatMap(({ id, session }) => session.skippedLines.map((line) => ({ session: id, ...line }))),
    abandoned: sources.reduce((sum, { session }) => sum + session.abandoned.length, 0),
  };
}

interface ReadSession {
  readonly id: string;
  readonly source: SessionSource;
  readonly session: ImportedSession;
}

async function readSources(workspace: Workspace, tree: BranchTree): Promise<readonly ReadSession[]> {
  const read: ReadSession[] = [];
  for (const id of await listSourceSessions(workspace, tree)) {
    const chunks: Uint8Array[] = [];
    for await (const chunk of readSource(workspace.store, tree, id)) chunks.push(chunk);
    const source = createBufferSource(Buffer.concat(chunks));
    try {
      read.push({ id, source, session: detectFormat(source, id).read(source) });
    } catch (error) {
      // A branch that begins inside a session has only its end.
      if (!(error instanceof JpgError) || error.code !== "not_a_session") throw error;
    }
  }
  return read;
}

/** The line, from 1, that a compaction names by its uuid. */
function lineOf({ metadata }: Compaction, sources: readonly ReadSession[]): number | undefined {
  const uuid = metadata?.["line"] ?? metadata?.["boundary"];
  if (typeof uuid !== "string") return undefined;
  for (const { source } of sources) {
    for (let line = 0; line < source.lineCount; line++) {
      const text = source.line(line);
      if (!text.includes(uuid)) continue;
      const raw = parseJsonLine(text);
      if (isRecord(raw) && raw["uuid"] === uuid) return line + 1;
    }
  }
  return undefined;
}
