// Ends a turn: one commit if it is complete; else a commit of what had arrived, marked as interrupted; none if the model said
// nothing. If anything fails here, the journal stays for the next command.
import type { ToolDefinition } from "../../core/conversation/defined-tools.ts";
import type { Event } from "../../core/conversation/event.ts";
import { JpgError } from "../../core/errors.ts";
import type { StopReason } from "../../llm/client.ts";
import type { FileChange } from "../../store/store.ts";
import { randomPadding, type Signatures, timestampAfter } from "../conversation/append.ts";
import { makeActive } from "../conversation/checked-out.ts";
import type { JournalHead } from "../conversation/journal.ts";
import { readDeltas, storeOverrides } from "../conversation/marks.ts";
import {
  type AbandonedTurn,
  commitAbandonedTurn,
  hasAnswer,
  type InterruptionReason,
  type RecordedTurn,
  recordTurn,
  requestOf,
  saveUnsent,
  unsentHints,
  withHints,
} from "../conversation/record-turn.ts";
import { refreshViews } from "../conversation/refresh-view.ts";
import { randomId } from "../conversation/runtime.ts";
import { loadTip } from "../conversation/tree.ts";
import { toolRecord } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import type { OpenedModel } from "../models/models.ts";
import type { OpenTurn } from "./open-turn.ts";
import type { TalkEnd } from "./talk.ts";

/** A turn after its last answer. */
interface EndedTurn {
  readonly turn: OpenTurn;
  readonly opened: OpenedModel;
  readonly end: TalkEnd;
  readonly signatures: () => Promise<Signatures>;
  /** Settings of `--cfg` of this call that the conversation keeps. */
  readonly settings: readonly string[];
  /** Tools that its requests could offer, if not recorded yet; empty = recorded. */
  readonly tools: readonly ToolDefinition[];
}

export interface SettledTurn {
  /** Null when the turn was interrupted before the model said anything. */
  readonly recorded: RecordedTurn | null;
  /** What the user should know, one line each. */
  readonly notices: readonly string[];
}

/**
 * Settles a turn. Throws what the provider reported, `empty_answer` and `refused`, and as committing does; each says what happened
 * to the turn.
 */
export async function settleTurn(workspace: Workspace, ended: EndedTurn): Promise<SettledTurn> {
  const { turn, end } = ended;
  if (end.failure !== null) return failTurn(workspace, turn, { error: end.failure, reason: "provider" });
  if (end.stop === "aborted") return settleAborted(workspace, turn);
  if (!hasAnswer(turn.events)) {
    await turn.journal.remove();
    const unsent = await saveUnsent(workspace.store, requestOf(turn.events));
    throw withHints(noAnswer(ended.opened, end.stop), unsentHints(unsent, isNew(turn)));
  }
  const recorded = await commitTurn(workspace, ended);
  return { recorded, notices: [...stopNotices(ended), ...forkNotices(turn, recorded)] };
}

/** Keeps what had arrived of a turn that failed, then throws the error with what happened to the turn. */
export async function failTurn(
  workspace: Workspace,
  turn: OpenTurn,
  { error, reason }: { readonly error: unknown; readonly reason: InterruptionReason },
): Promise<never> {
  const path = await turn.journal.abandon();
  const kept = await keepAbandoned(workspace, path, reason).catch(() => null);
  if (kept === null) throw withHints(error, [journalHint(path)]);
  if (kept.recorded === null) throw withHints(error, unsentHints(kept.unsent, isNew(turn)));
  const { branch, commit } = kept.recorded;
  const hint = `What had arrived by then is kept as turn ${turn.head.turn} of ${branch}, marked as interrupted.`;
  throw withHints(error, [hint], { branch, turn: turn.head.turn, commit });
}

async function settleAborted(workspace: Workspace, turn: OpenTurn): Promise<SettledTurn> {
  const path = await turn.journal.abandon();
  const { recorded, unsent } = await keepAbandoned(workspace, path, "user").catch((error: unknown) => {
    throw withHints(error, [journalHint(path)]);
  });
  if (recorded === null) {
    const kept = unsent === null ? "" : ` What you wrote is in ${unsent}.`;
    return { recorded, notices: [`Interrupted before an answer: the conversation is unchanged.${kept}`] };
  }
  const kept = `Interrupted: what had arrived is kept as turn ${turn.head.turn} of ${recorded.branch}.`;
  return { recorded, notices: [kept, ...forkNotices(turn, recorded)] };
}

/** Commits what had arrived of this command's own turn; a conversation that it began becomes active. */
async function keepAbandoned(workspace: Workspace, path: string, reason: InterruptionReason): Promise<AbandonedTurn> {
  const kept = await commitAbandonedTurn(workspace, path, reason);
  if (kept.recorded !== null && kept.head?.root !== undefined) await makeActive(workspace, kept.recorded.branch);
  return kept;
}

/** Whether a turn begins its conversation. */
function isNew({ head }: OpenTurn): boolean {
  return head.root !== undefined;
}

async function commitTurn(
  workspace: Workspace,
  { turn, signatures, settings, tools }: EndedTurn,
): Promise<RecordedTurn> {
  const { head, events, journal } = turn;
  let recorded: RecordedTurn;
  try {
    // Written to disk while git writes the commit.
    const complete = journal.complete();
    complete.catch(() => undefined);
    // The turn was talked under these settings, so they are stored before it, if there is a branch already.
    if (!isNew(turn)) await storeSettings(workspace, head.branch, settings);
    const extraChanges = tools.length === 0 ? [] : await recordTools(workspace, head, tools);
    recorded = await recordTurn(workspace, { ...head, events, extraChanges }, await signatures());
    await complete;
  } catch (error) {
    throw withHints(error, [journalHint(await journal.abandon())]);
  }
  await journal.remove();
  if (isNew(turn)) {
    await makeActive(workspace, recorded.branch);
    await storeSettings(workspace, recorded.branch, settings);
  }
  await refreshViews(workspace, recorded.branch, recorded.parent);
  return recorded;
}

async function recordTools(
  workspace: Workspace,
  { branch, turn }: JournalHead,
  tools: readonly ToolDefinition[],
): Promise<readonly FileChange[]> {
  const { store, runtime } = workspace;
  const tree = await loadTip(store, branch);
  const others = tree === null ? [] : await readDeltas(workspace, tree);
  const times = others.map(({ timestamp }) => timestamp);
  const timestamp = timestampAfter(runtime.now(), times);
  return toolRecord(tools, { id: randomId(runtime), timestamp, atTurn: turn, padding: randomPadding(workspace) });
}

async function storeSettings(workspace: Workspace, branch: string, overrides: readonly string[]): Promise<void> {
  const tree = overrides.length === 0 ? null : await loadTip(workspace.store, branch);
  if (tree === null) return;
  const stored = await storeOverrides({ ...workspace, overrides }, tree);
  if (stored !== null) await refreshViews(workspace, branch, stored.parent);
}

function journalHint(path: string): string {
  return `What has arrived of the turn is in ${path}; the next jpg command commits it.`;
}

function forkNotices({ head }: OpenTurn, { branch }: RecordedTurn): readonly string[] {
  if (branch === head.branch) return [];
  return [
    `${head.branch} got another turn ${head.turn} meanwhile, so this one is on the new fork ${branch} (\`jpg use ${branch}\`).`,
  ];
}

/** Notices about an incomplete answer. */
function stopNotices({ opened, end }: EndedTurn): readonly string[] {
  switch (end.stop) {
    case "length":
      return ["The answer was cut off at the model's maximum length."];
    case "refusal":
      return [`${opened.name} refused to continue.`];
    case "unknown":
      return ["The answer ended for a reason that jpg does not know; it may be incomplete."];
    case "complete":
    case "tool_calls":
    case "aborted":
      return [];
    default:
      return end.stop satisfies never;
  }
}

/** The error of a turn in which the model said nothing. */
function noAnswer({ name }: OpenedModel, stop: StopReason): JpgError {
  const hints = ["Reword the request, or ask another model: --model NAME."];
  return stop === "refusal"
    ? new JpgError("provider", "refused", `${name} refused to answer.`, { hints })
    : new JpgError("provider", "empty_answer", `${name} gave an empty answer (${stop}).`, { hints });
}

/** The messages among events, as shown. */
export function messagesOf(events: readonly Event[]): string {
  return events
    .flatMap((event) => (event.type === "chat_response" && typeof event.message === "string" ? [event.message] : []))
    .join("\n\n");
}
