// Imports session files: compares each with the store, and writes only what is new. All sessions of a call are written at once,
// except where two of them belong to one conversation.
import { basename } from "node:path";
import { compareTimestamps } from "../../core/conversation/compaction.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { makeActive, readCheckedOut } from "../conversation/checked-out.ts";
import { notePlace } from "../conversation/known-places.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import type { Runtime } from "../conversation/runtime.ts";
import type { BranchTree } from "../conversation/tree.ts";
import type { Workspace } from "../conversation/workspace.ts";
import { resolveBranch, resolveTree } from "../names/resolve-id.ts";
import { withAgentFiles } from "../sessions/agent-stores.ts";
import { type FormatPlugin, readByPlugin, requirePluginTrust } from "../sessions/format-plugins.ts";
import type { SessionFile } from "../sessions/session-files.ts";
import { agents } from "../sessions/session-registry.ts";
import { failureOf, type ImportCall, type ImportPass, importPass, type WaitingSession } from "./import-pass.ts";
import { type ImportReport, proofOf, readSourceCache, type SourceCache, writeSourceCache } from "./import-report.ts";
import { findFiles, type ImportFailure, type ImportRequest } from "./import-request.ts";

export interface ImportOutcome {
  readonly sessions: readonly ImportReport[];
  /** Files that could not be imported, folders that could not be read, side files that cannot be stored. */
  readonly failed: readonly ImportFailure[];
}

/** Imports sessions. An error in one file does not stop the others: it is reported, and thrown if it is the only file named. */
export async function importSessions(workspace: Workspace, request: ImportRequest): Promise<ImportOutcome> {
  const { store } = workspace;
  const { files: found, failed } = await findFiles(workspace, request);
  const files = request.plugin === undefined ? await withAgentFiles(found) : found;
  const sources = readSourceCache(store);
  const isSingle = files.filter(({ isSideFile }) => isSideFile !== true).length === 1 && files[0]?.named === true;
  const call = { request, sources, isSingle, postponed: new Set<string>(), count: { done: 0 } };
  const { plugin } = request;
  const passes = await (plugin === undefined
    ? importAll(workspace, call, files)
    : importByPlugin(workspace, call, { plugin, files }));
  const reports = passes.flatMap((pass) => pass.reports);
  await activate(workspace, { request, reports }, found);
  await writeSourceCache(store, withFound(sources, passes, (await readCheckedOut(workspace)).branch));
  if (reports.some(({ status }) => status !== "unchanged")) {
    await store.maintain();
    const { kind, project } = workspace.location;
    if (kind === "project" && project !== undefined) await notePlace(workspace.runtime, project.root);
  }
  const failure = passes.at(-1)?.failure ?? null;
  if (failure !== null) throw failure.error;
  return { sessions: reports, failed: [...failed, ...passes.flatMap((pass) => pass.failed)] };
}

/** Imports sessions that a plug-in reads, one after the other: it has ended before anything of its session is written. */
async function importByPlugin(
  workspace: Workspace,
  call: ImportCall,
  { plugin, files }: { readonly plugin: FormatPlugin; readonly files: readonly SessionFile[] },
): Promise<readonly ImportPass[]> {
  await requirePluginTrust(workspace.runtime, plugin);
  if (files.length === 0 || files.some(({ named }) => !named))
    throw userError("usage", `The plug-in jpg-format-${plugin.name} reads files; a folder was named.`, {
      hints: [`Name the files: \`jpg import ${plugin.name} FILE…\`.`],
    });
  const passes: ImportPass[] = [];
  for (const file of files) {
    try {
      workspace.progress({ doing: "importing sessions", done: passes.length, total: files.length });
      const { formatOf } = await readByPlugin(workspace.runtime, plugin, file);
      appendAll(passes, await importAll(workspace, { ...call, formatOf }, [file]));
      if (passes.at(-1)?.failure != null) break;
    } catch (error) {
      const failure = failureOf(call, file, error);
      if (failure !== null) passes.push({ reports: [], failed: [failure], found: [], waiting: [], failure: null });
    }
  }
  workspace.progress(null);
  return passes;
}

async function importAll(
  workspace: Workspace,
  call: ImportCall,
  files: readonly SessionFile[],
): Promise<readonly ImportPass[]> {
  const passes: ImportPass[] = [];
  let waiting: readonly WaitingSession[] = files;
  while (waiting.length > 0) {
    const pass = await importPass(workspace, call, waiting);
    passes.push(pass);
    waiting = pass.failure === null ? pass.waiting : [];
  }
  workspace.progress(null);
  return passes;
}

/** Updates the cache of files, newest last. If several branches have a file, the active one is reported. */
function withFound(sources: SourceCache, passes: readonly ImportPass[], active: string | null): SourceCache {
  const known = new Map(sources);
  for (const { path, source, facts } of passes.flatMap(({ found }) => found)) {
    known.delete(path);
    known.set(path, { ...source, proof: proofOf({ active, ...facts }, source) });
  }
  return known;
}

/**
 * Makes the session that changed last active, or the one that was named, unless the active one should stay; refreshes the views of
 * all that changed.
 */
async function activate(
  workspace: Workspace,
  { request, reports }: { readonly request: ImportRequest; readonly reports: readonly ImportReport[] },
  files: readonly SessionFile[],
): Promise<void> {
  const { store } = workspace;
  const changed = reports.filter((report) => report.status !== "unchanged");
  // The sessions of sub-agents are not made active.
  const own = reports.filter(({ agent_of }) => agent_of === undefined);
  const candidates = own.length === 0 ? reports : own;
  const newest =
    candidates
      .filter(({ status }) => status !== "unchanged")
      .sort((a, b) => compareTimestamps(a.updated_at ?? "", b.updated_at ?? ""))
      .at(-1) ?? (files.length === 1 ? candidates[0] : undefined);
  if (newest === undefined) return;
  const { branch: active, commit } = await readCheckedOut(workspace);
  const isThere = active !== null && (await store.readBranch(active)) !== null;
  const isFoundAgent = own.length === 0 && files.every(({ named }) => !named);
  // Do not leave a commit that the user has checked out, as in a bisect.
  const stays = commit !== null || ((request.keepActive === true || isFoundAgent) && isThere);
  if (!stays && active !== newest.branch) await makeActive(workspace, newest.branch);
  await refreshViews(workspace, new Set([...(stays ? [] : [newest.branch]), ...changed.map(({ branch }) => branch)]));
}

// Finds the conversation that a calling agent is in, after importing its session, which has grown since. If the user has made a
// conversation active, that one is used.

interface CallerConversation {
  readonly tree: BranchTree;
  /** Whether it is of a session that an agent on this machine keeps and may continue. */
  readonly isKept: boolean;
  /** What was imported for this, a sentence; null if nothing was. */
  readonly imported: string | null;
}

/**
 * Imports what agents keep for this project and loads the conversation that an id names; without an id, that of the calling agent.
 * What is only read or forked may be at a commit: a detached HEAD, or any that the id names. Throws `no_conversation`,
 * `unknown_id`, `ambiguous_id`; to write, also `detached_head`, `not_a_branch`.
 */
export async function loadCallerConversation(
  workspace: Workspace,
  id: string | undefined,
  use: "read" | "fork" | "write",
): Promise<CallerConversation> {
  const reports = await importQuietly(workspace);
  const { env } = workspace.runtime;
  const { JPG_CONVERSATION: chosen = "" } = env;
  const meant = id ?? (chosen === "" ? callerBranch(reports, env) : undefined);
  const tree =
    use === "write"
      ? await resolveBranch(workspace, meant)
      : await resolveTree(workspace, meant, { changes: use === "fork" });
  const isKept = reports.some(({ branch }) => branch === tree.branch);
  const own = reports.find(({ branch, status }) => branch === tree.branch && status !== "unchanged");
  const others = reports.filter(({ branch, status }) => branch !== tree.branch && status !== "unchanged").length;
  const sentences = [
    ...(own === undefined ? [] : [`Its session was imported first (${turns(own.turns_added ?? own.turns)}).`]),
    ...(others === 0 ? [] : [`${others} other ${others === 1 ? "session was" : "sessions were"} imported too.`]),
  ];
  return { tree, isKept, imported: sentences.length === 0 ? null : sentences.join(" ") };
}

/**
 * The branch of the calling session: the one that the agent names to its servers, unless that has not grown and another has (it
 * names the session that it began with); else the one written last. Undefined = the active one.
 */
function callerBranch(reports: readonly ImportReport[], env: Runtime["env"]): string | undefined {
  const isCallers = (fileName: string): boolean =>
    agents().some(({ files }) => files.isCallers?.(env, fileName) === true);
  const named = reports.find(({ source }) => source !== undefined && isCallers(basename(source)));
  const changed = reports.filter(({ status, agent_of }) => status !== "unchanged" && agent_of === undefined);
  if (named !== undefined && (changed.length === 0 || changed.includes(named))) return named.branch;
  const newest = changed.reduce<ImportReport | undefined>(
    (best, report) => (best === undefined || (report.updated_at ?? "") > (best.updated_at ?? "") ? report : best),
    undefined,
  );
  return newest?.branch;
}

/** Imports without throwing for unreadable sessions, or a project without any: the call can still be answered. */
async function importQuietly(workspace: Workspace): Promise<readonly ImportReport[]> {
  try {
    return (await importSessions(workspace, { paths: [], allBranches: false, keepActive: true })).sessions;
  } catch (error) {
    if (error instanceof JpgError && error.kind === "user") return [];
    throw error;
  }
}

function turns(count: number): string {
  return `${count} ${count === 1 ? "turn" : "turns"}`;
}
