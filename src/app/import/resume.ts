// Writes a conversation where its agent looks for sessions and returns the command that continues it. Never overwrites what the
// agent wrote since.
import { existsSync } from "node:fs";
import { dirname } from "node:path";
import { resumedTitle } from "../../core/conversation/marks.ts";
import { nearestName, reasonOf, userError } from "../../core/errors.ts";
import { tradeOf } from "../../core/model/money.ts";
import { shellWord } from "../../core/safe-text.ts";
import type { ResumePlan } from "../../formats/session-source.ts";
import { withoutRepository } from "../../store/environment.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import { loadCounted, reportTokens } from "../conversation/counted-view.ts";
import { loadConversationConfig } from "../conversation/marks.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { readIfExists, type Workspace } from "../conversation/workspace.ts";
import { askIntoFile } from "../models/external-process.ts";
import { conversationModel, recordedFacts, splitName, viewWindow } from "../models/models.ts";
import { cacheState, callTermsOf, lastAnswer } from "../models/next-call.ts";
import { exportSessionId } from "../names/find-session.ts";
import { machineOf, type ResumingAgent, resumingAgents, wholeFormatName } from "../sessions/session-registry.ts";
import { draftSession, type RootMapping } from "./export.ts";
import { hasServer } from "./has-server.ts";
import { listSourceSessions, ownSession } from "./original.ts";

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
  /** The agent's session that the conversation was imported from, and what opens it; absent = it comes from another agent, or none. */
  readonly original?: { readonly session: string; readonly command: readonly string[] };
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

/** Returns the agent that a conversation comes from; undefined where jpg cannot resume in it. */
export function ownAgent({ header }: Pick<BranchTree, "header">): string | undefined {
  return resumingAgents().find(({ name }) => name === header.source?.format)?.name;
}

/** Milliseconds in which an agent has to print a session from its store. */
const PRINTING_MS = 60_000;

/** Writes the session file. Throws `unknown_agent`. */
export async function prepareResume(
  workspace: Workspace,
  tree: BranchTree,
  { name, roots = [] }: { readonly name: string; readonly roots?: readonly RootMapping[] },
): Promise<ResumeReport> {
  const agent = resumingAgent(name);
  const notice = await hasServer(workspace.runtime, agent, workspace.location.project?.root ?? null);
  const drafted = await draftSession(workspace, tree, { agent, sessionId: "", roots, notice });
  const firstCall = await countFirstCall(workspace, tree, name);
  const draft = { ...drafted, title: resumedTitle(drafted.title, firstCall.tokens) };
  const machine = machineOf(workspace.runtime);
  for (let n = 0; ; n++) {
    const session = { ...draft, sessionId: exportSessionId(agent, tree, n), provider: agent.provider?.(machine) };
    const plan = agent.resume(machine, session);
    const text = agent.write.write(session);
    const existing = await readIfExists(plan.path);
    if ((existing !== null && existing !== text) || (plan.elsewhere ?? []).some((path) => existsSync(path))) continue;
    const isHeld = await isHeldAsWritten(workspace, plan);
    if (isHeld === false) continue;
    if (existing === null) await writeWhole(plan, text);
    return {
      agent: name,
      session: session.sessionId,
      title: draft.title,
      original: await originalOf(workspace, tree, agent),
      first_call: firstCall,
      path: plan.path,
      before: plan.before,
      command: plan.command,
      note: plan.note,
      directory: draft.cwd,
      branch: tree.branch,
      reused: existing !== null || isHeld === true,
    };
  }
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
  return { session, command: reopen(session) };
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
