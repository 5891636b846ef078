// What an agent's model is told after its agent compacted a session: what went, and how to find it. The agent waits for this, so it
// only reads: the hook's other half imports the session meanwhile.
import { lstat } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { conversationOf } from "../../core/conversation/name.ts";
import { estimateView, formatTokens } from "../../core/conversation/token-estimate.ts";
import { JpgError } from "../../core/errors.ts";
import { shellWord } from "../../core/safe-text.ts";
import { type Runtime, startWords } from "../conversation/runtime.ts";
import { loadTip } from "../conversation/tree.ts";
import { type KnownTurns, loadCompactions, loadView } from "../conversation/view.ts";
import { openWorkspace, type Workspace } from "../conversation/workspace.ts";
import { findSession } from "../names/find-session.ts";
import { formatByName } from "../sessions/session-registry.ts";
import { folderOfSession } from "./drain-spool.ts";
import { hasServer } from "./has-server.ts";
import { isOnPath } from "./hooks.ts";
import { readSourceCache } from "./import-report.ts";
import { type HookEvent, readHookEvent } from "./spool.ts";

interface NoteRequest {
  /** The name of its format. */
  readonly agent: string;
  /** The event that its hook was given. */
  readonly event: string;
  /** The session's entry in the spool, which is gone once it is imported; null = do not wait. */
  readonly entry: string | null;
}

/** Longest wait for the import, milliseconds; the agent waits ten seconds. */
const WAIT_MS = 4000;
const LOOK_MS = 40;

/** Writes the note; null if jpg has not kept the session. Throws errors of stores. */
export async function noteCompaction(runtime: Runtime, { agent, event, entry }: NoteRequest): Promise<string | null> {
  const hook = readHookEvent(event);
  const isImported = entry === null || (await isGone(entry));
  const folder = await folderOfSession({
    agent,
    transcript: hook.transcript,
    kept: null,
    cwd: hook.cwd,
    platform: runtime.platform,
  });
  const workspace = await openWorkspace({ ...runtime, cwd: folder ?? runtime.home }).catch(nullIfNoStore);
  if (workspace === null) return null;
  try {
    const branch = await findBranch(workspace, agent, hook);
    if (branch === null) return null;
    const sizes = isImported ? await measure(workspace, branch) : null;
    return await writeNote(workspace, { agent, branch, sizes });
  } finally {
    await workspace.close();
  }
}

async function isGone(entry: string): Promise<boolean> {
  for (let waited = 0; waited < WAIT_MS; waited += LOOK_MS) {
    if ((await lstat(entry).catch(() => null)) === null) return true;
    await sleep(LOOK_MS);
  }
  return false;
}

function nullIfNoStore(error: unknown): null {
  if (error instanceof JpgError && error.code === "no_store") return null;
  throw error;
}

async function findBranch({ store }: Workspace, agent: string, hook: HookEvent): Promise<string | null> {
  const known = hook.transcript === null ? undefined : readSourceCache(store).get(hook.transcript);
  const tips = await store.listBranches();
  if (known !== undefined && tips.some(({ name }) => name === known.branch)) return known.branch;
  const { session } = hook;
  return session === null ? null : ((await findSession(store, tips, { format: agent, session }))?.name ?? null);
}

/** Tokens of a view, estimated. */
interface Sizes {
  readonly before: number;
  readonly after: number;
}

/** What the agent's newest compaction made smaller; null if it made nothing smaller. */
async function measure({ store }: Workspace, branch: string): Promise<Sizes | null> {
  const tree = await loadTip(store, branch);
  if (tree === null) return null;
  const live = await loadCompactions(store, tree);
  const own = live.applied.filter(({ source }) => source === "import").at(-1);
  if (own === undefined) return null;
  const known: KnownTurns = new Map();
  const others = { ...live, applied: live.applied.filter((compaction) => compaction !== own) };
  const before = estimateView((await loadView(store, tree, { known, live: others })).view);
  const after = estimateView((await loadView(store, tree, { known, live })).view);
  return after < before ? { before, after } : null;
}

interface Compacted {
  readonly agent: string;
  readonly branch: string;
  /** Null = not known. */
  readonly sizes: Sizes | null;
}

async function writeNote(workspace: Workspace, { agent, branch, sizes }: Compacted): Promise<string> {
  const { runtime, location } = workspace;
  const format = formatByName(agent);
  const became =
    sizes === null ? "" : `: about ${formatTokens(sizes.before)} tokens became ${formatTokens(sizes.after)}`;
  const hasTools = await hasServer(runtime, format, location.project?.root ?? null);
  const jpg = isOnPath(runtime, "jpg") ? "jpg" : startWords(runtime).map(shellWord).join(" ");
  const how = hasTools
    ? "jpg's tools `search` and `show` find it"
    : `\`${jpg} search --rank "WORDS" ${shellWord(conversationOf(branch))}\` finds it, and \`${jpg} show EVENT\` prints the original`;
  return `${format.agent.name} has compacted this conversation${became}. jpg kept all of it.\nWhen you miss something from before, look it up instead of guessing: ${how}.`;
}
