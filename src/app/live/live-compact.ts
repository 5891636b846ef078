// Compacts a conversation for its running agent, and undoes a compaction. The commit comes first; that the agent installed it is seen
// in its session, by the mark. A commit whose mark is missing at the next request was never in force, and is reverted.
import type { LiveOrigin } from "../../core/compact/compaction-request.ts";
import { type Compaction, compareCompactions, EXTRACTIVE } from "../../core/conversation/compaction.ts";
import { fieldsOf, type Turn, traitsOf } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { appendAll } from "../../core/lists.ts";
import { formatLiveMark } from "../../formats/live-mark.ts";
import { liveRows } from "../../formats/live-rows.ts";
import type { LiveSummary } from "../../formats/live-writer.ts";
import { compact } from "../compact/compact.ts";
import { type CompactReport, describeNothing, overallTokens } from "../compact/compact-report.ts";
import type { CountedView } from "../conversation/counted-view.ts";
import { randomId } from "../conversation/runtime.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { inlineView } from "../conversation/turns.ts";
import { loadCompactions } from "../conversation/view.ts";
import { withoutOverrides } from "../conversation/workspace.ts";
import { type RevertReport, revertCompactions, undoCompaction } from "../manage/revert.ts";
import { formatByName } from "../sessions/session-registry.ts";
import { type LiveConversation, type LiveRules, measureLive, rulesFor, tipOf } from "./live-rules.ts";
import { liveStatus } from "./live-status.ts";
import type { LiveChange, LivePass } from "./protocol.ts";

/** Share of the window that a compaction may leave when the agent asks because its window is full. */
const MOST_LEFT = 0.6;

/** Compacts, and returns the context that follows; a pass if there is nothing to gain, or not enough for a full window. */
export async function liveCompact(conversation: LiveConversation): Promise<LiveChange | LivePass> {
  const { workspace, tree } = conversation;
  const answer = randomId(workspace.runtime);
  const made: CompactReport[] = [];
  try {
    const measured = await measureLive(conversation, tree);
    const [first, ...further] = await rulesFor(conversation, measured);
    appendAll(made, await compactBy(conversation, { rules: first, answer }));
    for (const rules of further) {
      // The agent's window is full: nothing gained means that it compacts by itself.
      if (made.some(({ compaction }) => compaction !== null) && !(await isTooLarge(conversation))) break;
      appendAll(made, await compactBy(conversation, { rules, answer }));
    }
    const [report] = made;
    if (made.every(({ compaction }) => compaction === null)) return nothingToGain(report);
    if (further.length > 0 && (await isTooLarge(conversation))) throw notEnough();
    return await describeCompaction(conversation, made);
  } catch (error) {
    await revertAll(conversation, idsOf(made));
    throw error;
  }
}

async function isTooLarge(conversation: LiveConversation): Promise<boolean> {
  const measured = await measureLive(conversation, await tipOf(conversation));
  return measured !== null && measured.tokens > MOST_LEFT * measured.windowTokens;
}

function notEnough(): JpgError {
  return userError("not_enough", `More than ${MOST_LEFT * 100} % of the window would stay in use.`);
}

async function compactBy(
  conversation: LiveConversation,
  { rules, answer }: { readonly rules: LiveRules; readonly answer: string },
): Promise<readonly CompactReport[]> {
  const { workspace, request } = conversation;
  const asked = {
    ...rules,
    source: request.trigger === "auto" ? "auto" : "manual",
    dryRun: false,
    fork: false,
    activate: false,
    live: { agent: request.agent, session: request.session, answer },
  } as const;
  const run = async (model?: string): Promise<CompactReport> =>
    compact(withoutOverrides(workspace), await tipOf(conversation), { ...asked, model });
  const report = await run().catch((error: unknown) => {
    // With a full window an extract is better than the agent's own compaction.
    if (request.trigger !== "auto" || !(error instanceof JpgError) || error.kind !== "provider") throw error;
    return run(EXTRACTIVE);
  });
  return report.further === undefined ? [report] : [report, report.further];
}

function nothingToGain(report: CompactReport | undefined): LivePass {
  const { title, why } = describeNothing(report ?? {});
  return { pass: `${title} ${why}`.trim(), code: "nothing_to_compact" };
}

function idsOf(reports: readonly CompactReport[]): readonly string[] {
  return reports.flatMap(({ compaction }) => compaction?.id ?? []);
}

async function describeCompaction(
  conversation: LiveConversation,
  reports: readonly CompactReport[],
): Promise<LiveChange> {
  const made = reports.filter(({ compaction }) => compaction !== null);
  const last = made.at(-1);
  const { before } = overallTokens(made[0] as CompactReport);
  const { after } = overallTokens(last as CompactReport);
  const change = `${formatTokens(before)} → ${formatTokens(after)} tokens`;
  const what = made.map(({ from_turn, to_turn, policies }) => `turns ${from_turn}..${to_turn}: ${policies}`).join("; ");
  return describeChange(conversation, {
    kind: "compact",
    compaction: last?.compaction?.id ?? "",
    commit: last?.commit ?? "",
    tokens: { before, after },
    words: `Compacted by jpg, ${change}; \`/jpg-undo\` undoes it.`,
    notice: `Compacted by jpg, ${change} (${what}). Nothing is lost: /jpg-undo undoes it.`,
  });
}

/** Undoes the newest compaction, or the named one, and returns the context without it. Throws as `undoCompaction` does. */
export async function liveUndo(conversation: LiveConversation): Promise<LiveChange | LivePass> {
  const { workspace, request, tree } = conversation;
  const named = request.compaction ?? null;
  const ids = named === null ? await newestAnswer(conversation) : [named];
  const report =
    ids.length === 0 ? await undoCompaction(workspace, tree) : await revertCompactions(workspace, ids, tree.branch);
  const { commit, reverted, tokens = { before: 0, after: 0 } } = report;
  if (commit === null) return { pass: "Nothing was undone.", code: "nothing_to_undo" };
  const change = `${formatTokens(tokens.before)} → ${formatTokens(tokens.after)} tokens`;
  const words = `Undone by jpg: ${reverted.join(", ")}, ${change}.`;
  const notes = (report.warnings ?? []).map((warning) => ` ${warning}.`).join("");
  return describeChange(conversation, {
    kind: "undo",
    compaction: reverted.at(-1) ?? "",
    commit,
    tokens,
    words,
    notice: `${words}${notes}`,
  });
}

/** The compactions of the newest live answer, newest first, if the newest compaction is one of them. */
async function newestAnswer({ workspace, tree }: LiveConversation): Promise<readonly string[]> {
  const { all } = await loadCompactions(workspace.store, tree);
  const ordered = [...all].sort(compareCompactions).reverse();
  const answer = ordered[0] === undefined ? undefined : originOf(ordered[0])?.answer;
  if (answer === undefined) return [];
  return ordered.filter((one) => originOf(one)?.answer === answer).map(({ id }) => id);
}

interface Change {
  readonly kind: "compact" | "undo";
  readonly compaction: string;
  readonly commit: string;
  readonly tokens: { readonly before: number; readonly after: number };
  /** For the mark. */
  readonly words: string;
  readonly notice: string;
}

async function describeChange(conversation: LiveConversation, change: Change): Promise<LiveChange> {
  const { request } = conversation;
  const tree = await tipOf(conversation);
  const now = { ...conversation, tree };
  const { kind, compaction, commit, tokens, words, notice } = change;
  const { differences, ...context } = await contextOf(now, await now.load(tree));
  return {
    done: kind,
    conversation: conversationOf(tree.branch),
    branch: tree.branch,
    commit,
    compaction,
    tokens,
    ...context,
    marker: formatLiveMark({ words, kind, compaction, commit, rows: (context.messages ?? context.edits ?? []).length }),
    notice: [notice, ...differences].join(" "),
    status: await liveStatus({ ...now, request: { ...request, tokens: null } }),
  };
}

type LiveContextOf = Pick<LiveChange, "messages" | "edits" | "restart" | "summary">;

/** The context of the agent, in the form that it asked for. Throws `no_form`. */
async function contextOf(
  { workspace, request, tree, readSession }: LiveConversation,
  { view, turns }: CountedView,
): Promise<LiveContextOf & { readonly differences: readonly string[] }> {
  const whole = await inlineView(workspace.store, tree.commit, view);
  const session = await readSession();
  const { live } = session;
  if (request.form === "messages") {
    const raw = new Set([...turns.values()].flatMap(({ events }) => events));
    const shown = view.turns.flatMap(({ events }) => events);
    const unchanged = new Set(shown.flatMap((event) => (raw.has(event) ? [event.id] : [])));
    const handleOf = (event: string): string | undefined => (live === null ? event : live.handleOf(event));
    const before = eventsBefore([...turns.values()]);
    const context = { handles: new Set(request.handles), handleOf, unchanged, before, inLoop: request.in_loop };
    return { messages: liveRows(whole, context), differences: [] };
  }
  const { live: writer } = formatByName(request.agent);
  if (request.form === "edits" && writer?.edits !== undefined) {
    const { edits, restart, differences } = writer.edits(session, whole);
    return { edits, restart: restart === undefined ? undefined : textOf(restart), differences };
  }
  const summary = request.form === "summary" ? (writer?.summary?.(session, whole) ?? null) : null;
  if (summary !== null) return { summary: textOf(summary), differences: [] };
  throw userError("no_form", `jpg cannot give ${request.agent} this context as ${request.form}.`);
}

/** Names the event before one, without what the harness adds and what no model is sent; from turns in order. */
function eventsBefore(turns: readonly Turn[]): (event: string) => string | undefined {
  const found = new Map<string, string>();
  let last: string | undefined;
  for (const event of turns.flatMap(({ events }) => events)) {
    if (last !== undefined) found.set(event.id, last);
    if (traitsOf(event).providerVisible && event.metadata?.origin !== "harness") last = event.id;
  }
  return (event) => found.get(event);
}

function textOf({ text, firstKept }: LiveSummary): NonNullable<LiveChange["summary"]> {
  return { text, first_kept: firstKept };
}

// Which agent's session a compaction was made for, and with which others for one answer: kept in the record's metadata.

function originOf({ metadata }: Compaction): Omit<LiveOrigin, "agent"> | null {
  const { session, answer } = fieldsOf(fieldsOf(metadata)["live"]);
  return typeof session === "string" && typeof answer === "string" ? { session, answer } : null;
}

/** Milliseconds within which an agent installs an answer. */
const INSTALLING_MS = 10_000;

/**
 * Reverts what was committed for this session and never installed: the user stopped it, or the agent or jpg was killed. While the
 * agent asks for nothing new, the newest may still be on its way. Returns the branch as it is then.
 */
export async function revertMissing(conversation: LiveConversation): Promise<BranchTree> {
  const { workspace, request, tree } = conversation;
  const { all } = await loadCompactions(workspace.store, tree);
  const own = all.filter((one) => originOf(one)?.session === request.session).sort(compareCompactions);
  const live = own.length === 0 ? null : (await conversation.readSession()).live;
  if (live === null) return tree;
  const installed = new Set(live.marks.flatMap(({ isInstalled, compaction }) => (isInstalled ? [compaction] : [])));
  const last = own.findLastIndex(({ id }) => installed.has(id));
  const asksAgain = request.do === "compact" || request.do === "undo";
  const isOld = ({ timestamp }: Compaction): boolean =>
    workspace.runtime.now().getTime() - Date.parse(timestamp) > INSTALLING_MS;
  const missing = own.slice(last + 1).filter((one) => asksAgain || isOld(one));
  await revertAll(
    conversation,
    missing.map(({ id }) => id),
  );
  return missing.length === 0 ? tree : tipOf(conversation);
}

async function revertAll({ workspace, tree }: LiveConversation, ids: readonly string[]): Promise<RevertReport | null> {
  return ids.length === 0 ? null : revertCompactions(workspace, ids.toReversed(), tree.branch);
}
