// Answers a plug-in inside a running agent: imports what the session has gained, then compacts, undoes, looks or counts. Whatever
// fails is told as a reason to go on without jpg; the agent is never left without an answer.
import { basename } from "node:path";
import { JpgError, messageOf } from "../../core/errors.ts";
import type { LiveMarks } from "../../formats/live-mark.ts";
import { createCountedLoader } from "../conversation/counted-view.ts";
import { type Runtime, sha1Bytes } from "../conversation/runtime.ts";
import { loadTip } from "../conversation/tree.ts";
import { openWorkspace, type Workspace, type WorkspaceOptions } from "../conversation/workspace.ts";
import { folderOfSession } from "../import/drain-spool.ts";
import { importSessions } from "../import/import.ts";
import { openSession } from "../sessions/open-session.ts";
import { formatByName } from "../sessions/session-registry.ts";
import { keepEdits } from "./edits-file.ts";
import { liveCompact, liveUndo, revertMissing } from "./live-compact.ts";
import type { LiveConversation, MarkedSession } from "./live-rules.ts";
import { liveStatus } from "./live-status.ts";
import { LIVE_PROTOCOL, type LiveAnswer, type LivePass, type LiveRequest, parseLiveRequest } from "./protocol.ts";

/** Renders what a person or a model reads; the front end brings it. */
export interface LiveTexts {
  find(workspace: Workspace, branch: string, query: string): Promise<string>;
  show(workspace: Workspace, branch: string, event: string): Promise<string>;
  log(workspace: Workspace, branch: string): Promise<string>;
  diff(workspace: Workspace, branch: string): Promise<string>;
}

export interface LivePlace {
  readonly runtime: Runtime;
  readonly options: WorkspaceOptions;
  readonly texts: LiveTexts;
  /** Receives a fault of jpg's own, for standard error. */
  readonly report: (error: unknown) => void;
}

/** Answers one line with one JSON document. Never throws. */
export async function answerLive(place: LivePlace, line: string): Promise<string> {
  const request = parseLiveRequest(line);
  if ("pass" in request) return render(undefined, request);
  try {
    return render(request.id, await answer(place, request));
  } catch (error) {
    if (!(error instanceof JpgError) || error.kind === "internal") place.report(error);
    return render(request.id, passOf(error));
  }
}

function render(id: unknown, answered: LiveAnswer): string {
  return JSON.stringify({ jpg: LIVE_PROTOCOL, id, ...answered });
}

function passOf(error: unknown): LivePass {
  // git's own messages have lines of advice; a notice has room for one.
  if (error instanceof JpgError) return { pass: error.message.split("\n", 1)[0] ?? "", code: error.code };
  return { pass: `jpg failed: ${messageOf(error)}.`, code: "internal" };
}

async function answer({ runtime, options, texts }: LivePlace, request: LiveRequest): Promise<LiveAnswer> {
  const { agent, transcript = null, cwd } = request;
  const started =
    transcript === null
      ? null
      : await folderOfSession({ transcript, kept: null, agent, cwd, platform: runtime.platform });
  const workspace = await openWorkspace({ ...runtime, cwd: started ?? cwd }, { ...options, create: true });
  try {
    const conversation = await bringUpToDate(workspace, request);
    const { branch } = conversation.tree;
    switch (request.do) {
      case "compact":
        return await withEdits(conversation, liveCompact);
      case "undo":
        return await withEdits(conversation, liveUndo);
      case "keep":
        await keepEdits(conversation);
        return { done: request.do, ...(await liveStatus(conversation)) };
      case "status":
        return { done: request.do, ...(await liveStatus(conversation)) };
      case "find":
        return { done: "find", text: await texts.find(workspace, branch, request.query ?? "") };
      case "show":
        return { done: "show", text: await texts.show(workspace, branch, request.event ?? "") };
      case "log":
      case "diff":
        return { done: request.do, text: await texts[request.do](workspace, branch) };
    }
  } finally {
    await workspace.close();
  }
}

async function withEdits(
  conversation: LiveConversation,
  change: (conversation: LiveConversation) => Promise<LiveAnswer>,
): Promise<LiveAnswer> {
  const answered = await change(conversation);
  if (!("pass" in answered)) await keepEdits(conversation);
  return answered;
}

/** Imports what the session has gained. Throws the import's errors. */
async function bringUpToDate(workspace: Workspace, request: LiveRequest): Promise<LiveConversation> {
  const { agent, session, transcript = null } = request;
  const where = transcript === null ? { paths: [], kept: { agents: [agent] } } : { format: agent, paths: [transcript] };
  const { sessions } = await importSessions(workspace, { ...where, allBranches: false, keepActive: true });
  const own = sessions.find(
    ({ source, agent_of: of }) =>
      of === undefined && (source === transcript || basename(source ?? "").includes(session)),
  );
  const tree = own === undefined ? null : await loadTip(workspace.store, own.branch);
  if (own?.source === undefined || tree === null)
    throw new JpgError("user", "no_session", `The session ${session} has no request yet, or jpg cannot find it.`);
  const path = own.source;
  let read: Promise<MarkedSession> | undefined;
  const readSession = (): Promise<MarkedSession> => {
    read ??= readRunning(workspace, request, path);
    return read;
  };
  const conversation = { workspace, request, tree, readSession, load: createCountedLoader(workspace.store) };
  return { ...conversation, tree: await revertMissing(conversation) };
}

async function readRunning(
  { runtime }: Workspace,
  { agent, session }: LiveRequest,
  path: string,
): Promise<MarkedSession> {
  const { source, about, companion } = await openSession(
    runtime,
    { path, named: true },
    { format: agent, allBranches: false },
  );
  const { live: writer, read, write } = formatByName(agent);
  const hasMarks = writer?.file === undefined;
  return {
    source,
    live: hasMarks ? (read(source, about, companion).live ?? NO_MARKS) : null,
    lineId: (name) => write?.lineId(session, name, sha1Bytes) ?? name,
  };
}

/** Of a session that was never compacted by jpg while its agent ran. */
const NO_MARKS: LiveMarks = { marks: [], undone: [], handleOf: (event) => event };
