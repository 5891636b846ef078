// What an import says it did. Counts are those of the branch as it stands afterwards.
import { conversationOf } from "../../core/conversation/name.ts";
import { isNewerVersion } from "../../formats/agent-format.ts";
import type { ExportOrigin, SkippedLine } from "../../formats/imported-session.ts";
import type { BranchTip, ConversationStore, FileChange } from "../../store/store.ts";
import { openSealedCache } from "../conversation/caches.ts";
import { sha256 } from "../conversation/runtime.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { familyOf, importSuffix } from "../names/find-session.ts";
import type { OpenSession } from "../sessions/open-session.ts";
import type { SideFilesReport } from "../sessions/side-files.ts";

/** What happened to one session that was imported. */
export interface ImportReport {
  /** Conversation id. */
  readonly id: string;
  readonly branch: string;
  /** Turns of the branch after the import. */
  readonly turns: number;
  /** Events of the branch after the import. */
  readonly events: number;
  /** Live compactions of the branch after the import, the user's and the agent's. */
  readonly compactions: number;
  /** Lines that are no event; they are kept in sources/. 0 when unchanged: no line was read then. */
  readonly skipped_lines: number;
  readonly status: "created" | "updated" | "unchanged" | "forked";
  /** Where it was read from. */
  readonly source?: string;
  readonly title?: string;
  /** The session that began it, of a sub-agent: its id. */
  readonly agent_of?: string;
  /** Turns that this import added. */
  readonly turns_added?: number;
  readonly bytes?: number;
  /** Time of the newest event, RFC 3339 UTC. */
  readonly updated_at?: string;
  /** Which lines were skipped and why; may be cut short, `skipped_lines` is the count. */
  readonly skipped?: readonly SkippedLine[];
  /** Branches made of what the agent left (`--all-branches`). */
  readonly abandoned?: readonly string[];
  /** The version of the agent that wrote it, where that is newer than the one that jpg has been tried with. */
  readonly newer_agent?: { readonly agent: string; readonly version: string; readonly tried: string };
  /** What stood in the folder of the session's name. Absent when nothing did, and when unchanged: nothing was taken then. */
  readonly side_files?: SideFilesReport;
}

const NEWLINE = 10;

/** What a branch holds, as an import reports it. */
export type HeldContent = Pick<ImportReport, "turns" | "events" | "compactions" | "title" | "agent_of">;

/** The report of a session of which the branch holds everything. Its lines were not read: none is counted as skipped. */
export async function reportUnchanged(
  store: ConversationStore,
  open: Pick<OpenSession, "path" | "descent"> & { readonly source: { readonly byteLength: number } },
  tree: BranchTree,
): Promise<ImportReport> {
  const events = sum(await countStoredEvents(store, tree.turnOids));
  const { branch, header, turnOids, compactions } = tree;
  const held = {
    turns: turnOids.length,
    events,
    compactions: compactions.length,
    title: header.title,
    ...agentOf(open),
  };
  return unchangedReport(branch, held, { path: open.path, byteLength: open.source.byteLength });
}

/** What a report says of the session that a sub-agent's comes from. */
export function agentOf({ descent }: Pick<OpenSession, "descent">): Pick<ImportReport, "agent_of"> {
  const session = descent?.kind === "agent" ? descent.sessions[0] : undefined;
  return session === undefined ? {} : { agent_of: session };
}

/** What a report says of a session that was written by a version that jpg does not know. */
export function newerAgentOf({
  format: { agent, versions },
  source,
}: Pick<OpenSession, "format" | "source">): Pick<ImportReport, "newer_agent"> {
  const version = versions?.of(source);
  if (versions === undefined || version === undefined || !isNewerVersion(version, versions.tried)) return {};
  return { newer_agent: { agent: agent.name, version, tried: versions.tried } };
}

/** The same of a branch of which it is known what it holds: nothing is read. */
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

/** Events of each turn file, by its lines; nothing is parsed. */
export async function countStoredEvents(store: ConversationStore, turnOids: readonly string[]): Promise<number[]> {
  const counts: number[] = [];
  for await (const bytes of store.readBlobs(turnOids)) counts.push(countLines(bytes));
  return counts;
}

/** Live compactions at a commit, once `changes` are made. */
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

// Session files of which the store was found to hold everything, remembered with how they stood in the file
// system: importing them again reads none of them. A cache that may be deleted at any time; only what jpg wrote here is believed.

/** A session file of which a branch holds everything. */
export interface CachedSource {
  /** Digest of its fingerprint. */
  readonly fingerprint: string;
  /** The format as the user named it; null = recognised. */
  readonly named: string | null;
  readonly format: string;
  readonly importer: number;
  readonly session: string;
  readonly origin: ExportOrigin | null;
  readonly branch: string;
  /** What the branch holds, as long as the file is known. */
  readonly held: HeldContent;
  /** What held when this was found; see `proofOf`. */
  readonly proof: string;
}

/** What of a store decides whether it holds a session. */
export interface StoreFacts {
  readonly tips: readonly BranchTip[];
  readonly active: string | null;
}

/** By absolute path of the session file. */
export type SourceCache = Map<string, CachedSource>;

/** Files remembered; those imported longest ago go first. */
const SOURCES_CACHE = "sources-1";
const MOST_SOURCES = 5000;

/**
 * Digest of the branches that a session is looked for in: their names, their tips, and which one is active. While it is the
 * same, so is what an unchanged file is found to be.
 */
export function proofOf(
  { tips, active }: StoreFacts,
  { format, session, origin, branch }: Pick<CachedSource, "format" | "session" | "origin" | "branch">,
): string {
  const names = { suffix: importSuffix(format, session), continues: origin?.conversation ?? conversationOf(branch) };
  const family = familyOf(tips, names);
  return sha256(JSON.stringify(family.map(({ name, commit }) => [name, commit, name === active])));
}

/** Reads what is remembered; empty when there is nothing or it is damaged: then every file is read. */
export function readSourceCache(store: ConversationStore): SourceCache {
  const entries = openSealedCache(store, SOURCES_CACHE).read();
  return new Map(entries === null ? [] : (JSON.parse(String(entries)) as [string, CachedSource][]));
}

/** Writes what is remembered. A store that cannot be written to keeps no cache. */
export async function writeSourceCache(store: ConversationStore, sources: SourceCache): Promise<void> {
  await openSealedCache(store, SOURCES_CACHE).write(JSON.stringify([...sources].slice(-MOST_SOURCES)));
}
