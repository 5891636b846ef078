// Reports what an import did. Counts are of the branch after the import.
import { conversationOf } from "../../core/conversation/name.ts";
import { isNewerVersion } from "../../formats/agent-format.ts";
import type { ExportOrigin, SkippedLine } from "../../formats/imported-session.ts";
import type { BranchTip, ConversationStore, FileChange } from "../../store/store.ts";
import { openSealedCache } from "../conversation/caches.ts";
import { sha256 } from "../conversation/runtime.ts";
import { conversationTitle } from "../conversation/title.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { familyOf, importSuffix } from "../names/find-session.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import type { SideFilesReport } from "../sessions/side-files.ts";

export interface ImportReport {
  /** The conversation's id. */
  readonly id: string;
  readonly branch: string;
  readonly turns: number;
  readonly events: number;
  /** Live compactions, the user's and the agent's. */
  readonly compactions: number;
  /** Lines that are no event; they are kept in sources/. 0 when unchanged: then no line was read. */
  readonly skipped_lines: number;
  readonly status: "created" | "updated" | "unchanged" | "forked";
  readonly source?: string;
  readonly title?: string;
  /** Of a sub-agent: the id of the session that started it. */
  readonly agent_of?: string;
  readonly turns_added?: number;
  readonly bytes?: number;
  /** Time of the newest event, RFC 3339 UTC. */
  readonly updated_at?: string;
  /** Which lines were skipped and why; may be incomplete, `skipped_lines` is the count. */
  readonly skipped?: readonly SkippedLine[];
  /** Branches made from the agent's abandoned ones (`--all-branches`). */
  readonly abandoned?: readonly string[];
  /**
   * The file, though lines are only appended to it, no longer begins as it did when it was imported: it is shorter, or was
   * rewritten. What it held stays in the store; absent = it only grew.
   */
  readonly file_state?: FileState;
  /** Turns of branches that the agent abandoned and no branch has; absent = none, or the file was not read. */
  readonly turns_left?: number;
  /** Where those turns are, at most a few; absent as `turns_left`. */
  readonly left_at?: readonly LeftTurns[];
  /** Turns that the agent no longer reaches because its file is damaged; absent = none, or the file was not read. */
  readonly unreached?: {
    /** Shown name of the agent. */
    readonly agent: string;
    /** Turn positions, 0-based, inclusive. */
    readonly turns: readonly { readonly from_turn: number; readonly to_turn: number }[];
    /** Those that it has compacted besides; absent = none. */
    readonly compacted_turns?: readonly { readonly from_turn: number; readonly to_turn: number }[];
  };
  /** The agent's version, if newer than the one that jpg was tried with. */
  readonly newer_agent?: { readonly agent: string; readonly version: string; readonly tried: string };
  /** Side files that were imported. Absent when there are none, and when unchanged. */
  readonly side_files?: SideFilesReport;
}

/** A branch that the agent abandoned. */
export interface LeftTurns {
  readonly turns: number;
  /** The turn that it follows, 0-based; -1 = it is another beginning. */
  readonly after_turn: number;
  /** Its first request, shortened; "" = it has none. */
  readonly request: string;
}

export type FileState = "shorter" | "rewritten";

const NEWLINE = 10;

/** What a branch has, for the report. */
export type HeldContent = Pick<ImportReport, "turns" | "events" | "compactions" | "title" | "agent_of">;

/** Reports a session of which the branch has everything. No line was read, so none is counted as skipped. */
export async function reportUnchanged(
  store: ConversationStore,
  open: Pick<OpenSession, "path" | "descent"> & { readonly source: { readonly byteLength: number } },
  tree: BranchTree,
): Promise<ImportReport> {
  const events = sum(await countStoredEvents(store, tree.turnOids));
  const { branch, turnOids, compactions } = tree;
  const held = {
    turns: turnOids.length,
    events,
    compactions: compactions.length,
    title: await conversationTitle({ store }, tree),
    ...agentOf(open),
  };
  return unchangedReport(branch, held, { path: open.path, byteLength: open.source.byteLength });
}

/** The field that names a sub-agent's parent session. */
export function agentOf({ descent }: Pick<OpenSession, "descent">): Pick<ImportReport, "agent_of"> {
  const session = descent?.kind === "agent" ? descent.sessions[0] : undefined;
  return session === undefined ? {} : { agent_of: session };
}

/** The field that names a version of the agent newer than jpg knows. */
export function newerAgentOf({
  format: { agent, versions },
  source,
}: Pick<OpenSession, "format" | "source">): Pick<ImportReport, "newer_agent"> {
  const version = versions?.versionOf(source);
  if (versions === undefined || version === undefined || !isNewerVersion(version, versions.tried)) return {};
  return { newer_agent: { agent: agent.name, version, tried: versions.tried } };
}

/** Like reportUnchanged, with what the cache says of the branch. */
export function unchangedReport(
  branch: string,
  { turns, events, compactions, title, agent_of }: HeldContent,
  file: { readonly path: string; readonly byteLength: number },
): ImportReport {
  return {
    id: conversationOf(branch),
    branch,
    turns,
    events,
    compactions,
    skipped_lines: 0,
    status: "unchanged",
    source: file.path,
    title,
    agent_of,
    turns_added: 0,
    bytes: file.byteLength,
  };
}

/** Counts the events of each turn file by its lines, without parsing them. */
export async function countStoredEvents(store: ConversationStore, turnOids: readonly string[]): Promise<number[]> {
  const counts: number[] = [];
  for await (const bytes of store.readBlobs(turnOids)) counts.push(countLines(bytes));
  return counts;
}

/** Counts the live compactions at a commit after `changes`. */
export async function countCompactions(
  store: ConversationStore,
  commit: string | null,
  changes: readonly FileChange[],
): Promise<number> {
  const files = commit === null ? [] : await store.listTree(commit, { under: ["compactions"] });
  const ours = changes.filter(({ path }) => path.startsWith("compactions/"));
  return ours.reduce((count, change) => count + ("remove" in change ? -1 : 1), files.length);
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}

function countLines(bytes: Uint8Array): number {
  let count = 0;
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count++;
  return count;
}

// Caches which session files the store has completely, with their fingerprints: importing them again reads none. Only what jpg
// wrote here is believed.

/** A session file of which a branch has everything. */
export interface CachedSource {
  /** Digest of its fingerprint. */
  readonly fingerprint: string;
  /** The format as the user named it; null = detected. */
  readonly named: string | null;
  readonly format: string;
  readonly importer: number;
  readonly session: string;
  readonly origin: ExportOrigin | null;
  readonly branch: string;
  /** What the branch has of the file. */
  readonly held: HeldContent;
  /** The state of the branches at that time; see `proofOf`. */
  readonly proof: string;
}

/** The branches, which decide whether the store has a session. */
export interface StoreFacts {
  readonly tips: readonly BranchTip[];
  readonly active: string | null;
}

/** By absolute path of the session file. */
export type SourceCache = Map<string, CachedSource>;

/** Name of the cache. The files imported longest ago are dropped first. */
const SOURCES_CACHE = "sources-1";
const MAX_SOURCES = 5000;

/**
 * A digest of the branches in which a session is looked for: names, tips, and the active one. While neither it nor the file
 * changes, the result is the same.
 */
export function proofOf(
  { tips, active }: StoreFacts,
  { format, session, origin, branch }: Pick<CachedSource, "format" | "session" | "origin" | "branch">,
): string {
  const names = { suffix: importSuffix(format, session), continues: origin?.conversation ?? conversationOf(branch) };
  const family = familyOf(tips, names);
  return sha256(JSON.stringify(family.map(({ name, commit }) => [name, commit, name === active])));
}

/** Reads the cache; empty when there is none or it is damaged: then every file is read. */
export function readSourceCache(store: ConversationStore): SourceCache {
  const entries = openSealedCache(store, SOURCES_CACHE).read();
  return new Map(entries === null ? [] : (JSON.parse(String(entries)) as [string, CachedSource][]));
}

/** Writes the cache; skipped in a store that cannot be written to. */
export async function writeSourceCache(store: ConversationStore, sources: SourceCache): Promise<void> {
  await openSealedCache(store, SOURCES_CACHE).write(JSON.stringify([...sources].slice(-MAX_SOURCES)));
}
