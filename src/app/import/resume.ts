// Writes a conversation where its agent looks for sessions and returns the command that continues it. Never overwrites what the
// agent wrote since.

import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { findBreaks } from "../../core/conversation/broken-chain.ts";
import { resumedTitle } from "../../core/conversation/marks.ts";
import { nearestName, reasonOf, userError } from "../../core/errors.ts";
import { tradeOf } from "../../core/model/money.ts";
import { shellWord } from "../../core/safe-text.ts";
import type { SessionDraft } from "../../formats/agent-format.ts";
import type { ResumePlan } from "../../formats/session-source.ts";
import { withoutRepository } from "../../store/environment.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import { loadCounted, reportTokens } from "../conversation/counted-view.ts";
import { readRecordLog } from "../conversation/log.ts";
import { loadConversationConfig } from "../conversation/marks.ts";
import { conversationTitle } from "../conversation/title.ts";
import { type BranchTree, loadBranchTree } from "../conversation/tree.ts";
import { loadCompactions } from "../conversation/view.ts";
import { readIfExists, type Workspace } from "../conversation/workspace.ts";
import { askIntoFile } from "../models/external-process.ts";
import { conversationModel, recordedFacts, splitName, viewWindow } from "../models/models.ts";
import { cacheState, callTermsOf, lastAnswer } from "../models/next-call.ts";
import { exportSessionId } from "../names/find-session.ts";
import { machineOf, type ResumingAgent, resumingAgents, wholeFormatName } from "../sessions/session-registry.ts";
import { draftSession, type RootMapping } from "./export.ts";
import { hasServer } from "./has-server.ts";
import { listSourceSessions, ownSession } from "./original.ts";
import { findOriginalFile, isViewOf } from "./original-file.ts";

/** What the first call of a resumed session sends: nothing of it is in the provider's cache yet. */
export interface FirstCall {
  readonly tokens: number;
  /** US dollars at today's list price; null = unknown. */
  readonly usd: number | null;
  /** Share of the model's window; null = the window is unknown. */
  readonly window: number | null;
  /** The same for the whole conversation; null = nothing is hidden. */
  readonly whole: { readonly tokens: number; readonly usd: number | null } | null;
}

export interface ResumeReport {
  readonly agent: string;
  readonly session: string;
  /** Its name in the agent's list. */
  readonly title: string;
  /** The agent's session that the conversation was imported from; absent = it comes from another agent, or none. */
  readonly original?: OriginalSession;
  /** Whether the view is what that session's own file holds: then nothing is written, and that session is resumed. */
  readonly is_original: boolean;
  /** Turns that are not in it because the agent's file is damaged, where that was not said before; absent = none. */
  readonly unreached?: readonly { readonly from_turn: number; readonly to_turn: number }[];
  readonly first_call: FirstCall;
  /** Absolute path of the session file. */
  readonly path: string;
  /** Program and arguments to run first; absent = none. */
  readonly before?: readonly string[];
  /** Program and arguments that resume it. */
  readonly command: readonly string[];
  /** What the user should know of it, a sentence; absent = nothing. */
  readonly note?: string;
  /** Directory to run it in. */
  readonly directory: string;
  readonly branch: string;
  /** Whether the file was there already, as written before. */
  readonly reused: boolean;
}

interface OriginalSession {
  readonly session: string;
  /** Program and arguments that open it. */
  readonly command: readonly string[];
  /** Its file, absolute, among those that the agent keeps for this project; null = it is no longer there. */
  readonly path: string | null;
}

/** Returns the agent that a conversation comes from; undefined where jpg cannot resume in it. */
export function ownAgent({ header }: Pick<BranchTree, "header">): string | undefined {
  return resumingAgents().find(({ name }) => name === header.source?.format)?.name;
}

/** Milliseconds in which an agent has to print a session from its store. */
const PRINTING_MS = 60_000;

/** Writes the session file, unless the agent's own holds the same and no copy is wanted (`isCopy`). Throws `unknown_agent`. */
export async function prepareResume(
  workspace: Workspace,
  tree: BranchTree,
  {
    name,
    roots = [],
    isCopy = roots.length > 0,
  }: { readonly name: string; readonly roots?: readonly RootMapping[]; readonly isCopy?: boolean },
): Promise<ResumeReport> {
  const agent = resumingAgent(name);
  const own = await originalOf(workspace, tree, agent);
  const same = isCopy ? undefined : await unchangedOriginal(workspace, tree, { agent: name, own });
  if (same !== undefined) return same;
  const unreached = await findBroken(workspace, tree, isCopy);
  const notice = await hasServer(workspace.runtime, agent, workspace.location.project?.root ?? null);
  const drafted = await draftSession(workspace, tree, { agent, sessionId: "", roots, notice });
  const firstCall = await countFirstCall(workspace, tree, name);
  const draft = { ...drafted, title: resumedTitle(drafted.title, firstCall.tokens) };
  const machine = machineOf(workspace.runtime);
  const report = ({ session, plan }: PlannedSession, reused: boolean): ResumeReport => ({
    agent: name,
    session,
    title: draft.title,
    original: own,
    is_original: false,
    unreached,
    first_call: firstCall,
    path: plan.path,
    before: plan.before,
    command: plan.command,
    note: plan.note,
    directory: draft.cwd,
    branch: tree.branch,
    reused,
  });
  const plans = { agent, machine, draft };
  const earlier = await writtenEarlier(workspace, tree, plans);
  if (earlier !== null) return report(earlier, true);
  for (let n = 0; ; n++) {
    const planned = planSession(tree, n, plans);
    const { plan, text } = planned;
    const existing = await readIfExists(plan.path);
    if ((existing !== null && existing !== text) || (plan.elsewhere ?? []).some((path) => existsSync(path))) continue;
    const isHeld = await isHeldAsWritten(workspace, plan);
    if (isHeld === false) continue;
    if (existing === null) await writeWhole(plan, text);
    return report(planned, existing !== null || isHeld === true);
  }
}

/** A session that is ready to be written. */
interface PlannedSession {
  readonly session: string;
  readonly plan: ResumePlan;
  readonly text: string;
}

interface SessionPlans {
  readonly agent: ResumingAgent;
  readonly machine: ReturnType<typeof machineOf>;
  readonly draft: SessionDraft;
}

/** Plans the session that a commit of a branch is exported as; its id derives from that commit and from `n`. */
function planSession(
  { branch, commit, atTurn }: Pick<BranchTree, "branch" | "commit" | "atTurn">,
  n: number,
  { agent, machine, draft }: SessionPlans,
): PlannedSession {
  const sessionId = exportSessionId(agent, { branch, commit, atTurn }, n);
  const origin = { ...draft.origin, commit };
  const session = { ...draft, origin, sessionId, provider: agent.provider?.(machine) };
  return { session: sessionId, plan: agent.resume(machine, session), text: agent.write.write(session) };
}

/** Changes of a branch that are searched for one that left the same content. */
const MOST_EARLIER = 20;

/**
 * Finds the session that was written for an earlier commit with the same content, as after an undo and a redo, if its file is there and
 * unchanged; null = there is none. Sessions in an agent's own store are not looked up.
 */
async function writtenEarlier(
  { store }: Workspace,
  tree: BranchTree,
  plans: SessionPlans,
): Promise<PlannedSession | null> {
  if (tree.atTurn !== undefined) return null;
  const content = contentOf(tree);
  for (const { commit } of (await readRecordLog(store, tree.commit)).slice(0, MOST_EARLIER)) {
    if (commit === tree.commit || contentOf(await loadBranchTree(store, tree.branch, commit)) !== content) continue;
    const planned = planSession({ branch: tree.branch, commit }, 0, plans);
    const { path, elsewhere = [], held } = planned.plan;
    const isFree = held === undefined && !elsewhere.some((place) => existsSync(place));
    if (isFree && (await readIfExists(path)) === planned.text) return planned;
  }
  return null;
}

function contentOf({ turnOids, compactions, metas }: BranchTree): string {
  return JSON.stringify([turnOids, compactions, metas]);
}

/** The report of the agent's own session, where its file holds exactly the view; undefined where a file has to be written. */
async function unchangedOriginal(
  workspace: Workspace,
  tree: BranchTree,
  { agent, own }: { readonly agent: string; readonly own: OriginalSession | undefined },
): Promise<ResumeReport | undefined> {
  if (own === undefined || own.path === null) return undefined;
  const file = await findOriginalFile(workspace, { agent, session: own.session });
  if (file === null || !(await isViewOf(workspace, tree, file))) return undefined;
  return {
    agent,
    session: own.session,
    title: await conversationTitle(workspace, tree),
    original: own,
    is_original: true,
    unreached: await findBroken(workspace, tree, false),
    first_call: await countFirstCall(workspace, tree, agent),
    path: file.path,
    command: own.command,
    directory: workspace.location.project?.root ?? workspace.runtime.cwd,
    branch: tree.branch,
    reused: true,
  };
}

/** Of a copy that was asked for, `--repair` has said it. */
async function findBroken({ store }: Workspace, tree: BranchTree, isCopy: boolean): Promise<ResumeReport["unreached"]> {
  if (isCopy) return undefined;
  const { unreached: breaks } = findBreaks(tree.turnOids.length, (await loadCompactions(store, tree)).applied);
  return breaks.length === 0 ? undefined : breaks.map(({ from_turn, to_turn }) => ({ from_turn, to_turn }));
}

/** The agent's own session; undefined where the conversation comes from none of this agent, or from one that jpg wrote. */
async function originalOf(
  workspace: Workspace,
  tree: BranchTree,
  { name, reopen }: ResumingAgent,
): Promise<ResumeReport["original"]> {
  const sessions = tree.header.source?.format === name ? await listSourceSessions(workspace, tree) : [];
  if (sessions.length === 0 || reopen === undefined) return undefined;
  const session = await ownSession(workspace, tree, sessions);
  const file = await findOriginalFile(workspace, { agent: name, session });
  return { session, command: reopen(session), path: file?.path ?? null };
}

/**
 * Counts the first call of a conversation that goes on in an agent, which caches for as long as it did before; another agent's model,
 * and so its price, is unknown. `planned` = tokens of a view that is not stored yet.
 */
export async function countFirstCall(
  workspace: Workspace,
  tree: BranchTree,
  agent: string,
  planned?: number,
): Promise<FirstCall> {
  const counted = await loadCounted(workspace.store, tree);
  const { raw, view: stored } = reportTokens(counted).tokens;
  const view = planned ?? stored;
  const model = tree.header.source?.format === agent ? conversationModel(counted.turns.values()) : null;
  const { config } = await loadConversationConfig(workspace, tree);
  const price = model === null ? null : (await recordedFacts(workspace, config, splitName(model))).price;
  const cache = cacheState(lastAnswer(counted.turns.values()), workspace.runtime.now());
  const terms = price === null ? null : { ...callTermsOf(price, cache), isWarm: false };
  const usd = (tokens: number): number | null =>
    terms === null ? null : tradeOf({ kept: 0, rewritten: tokens, dropped: 0 }, terms).with_usd;
  const whole = view >= raw ? null : { tokens: raw, usd: usd(raw) };
  const window = model === null ? null : await viewWindow(workspace, config, { ...counted, next: null });
  const share = window?.tokens == null ? null : view / window.tokens;
  return { tokens: view, usd: usd(view), window: share, whole };
}

/**
 * Whether the agent's own store has the session as written; null = it does not, or cannot be asked, so the session has to be loaded
 * into it.
 */
async function isHeldAsWritten({ runtime: { env, home } }: Workspace, { held }: ResumePlan): Promise<boolean | null> {
  if (held === undefined) return null;
  const { command, isAsWritten } = held;
  const where = { cwd: home, env: withoutRepository(env) };
  const answer = await askIntoFile({ command, input: "", ...where, timeoutMs: PRINTING_MS });
  return "output" in answer ? isAsWritten(answer.output) : null;
}

function resumingAgent(name: string): ResumingAgent {
  const agents = resumingAgents();
  const agent = agents.find((candidate) => candidate.name === wholeFormatName(name));
  if (agent !== undefined) return agent;
  const names = agents.map((candidate) => candidate.name);
  const nearest = nearestName(name, names);
  throw userError("unknown_agent", `jpg cannot resume in ${name}: expected one of ${names.join(", ")}.`, {
    hints: nearest === undefined ? ["`jpg export --to FORMAT` writes other formats."] : [`Did you mean ${nearest}?`],
  });
}

async function writeWhole({ path, hints }: ResumePlan, text: string): Promise<void> {
  try {
    makeFolders(dirname(path));
    await replaceFile(path, text, { mode: 0o600 });
  } catch (error) {
    throw userError("cannot_write", `${path} cannot be written: ${reasonOf(error)}.`, {
      hints,
      cause: error,
    });
  }
}

/**
 * Returns the `jpg resume …` command for a branch, with the store if the call named one. `isGrowing`: the agent still writes the
 * session, so the command imports it first.
 */
export function resumeCommand(
  { location }: Pick<Workspace, "location">,
  tree: BranchTree,
  { isGrowing = false }: { readonly isGrowing?: boolean } = {},
): string {
  const store = location.kind === "flag" ? ["--store", location.root] : [];
  const format = (words: readonly string[]): string => [...words, ...store].map(shellWord).join(" ");
  const resume = format(["jpg", "resume", tree.branch, "--with", ownAgent(tree) ?? resumingAgents()[0]?.name ?? ""]);
  return isGrowing ? `${format(["jpg", "import", "--quiet"])} && ${resume}` : resume;
}
