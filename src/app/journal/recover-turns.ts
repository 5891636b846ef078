// Commits the turns whose writers ended before they could: whoever opens the store next finds their journals. A store without
// journals costs one look at a folder; doing it twice, or two at a time, gives the same branches.

import type { Event } from "../../core/conversation/event.ts";
import { messageOf } from "../../core/errors.ts";
import { refreshViews } from "../branch/refresh-view.ts";
import { makeActive, readStanding } from "../workspace/standing.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { hasAnswer, type InterruptionReason, interruptionNote } from "./interruption.ts";
import { listJournals, readJournal, removeJournal } from "./journal-files.ts";
import type { JournalHead, Replay } from "./journal-lines.ts";
import { type RecordedTurn, recordTurn } from "./record-turn.ts";
import { keepUnsent, requestOf } from "./unsent-request.ts";

/** Where it is said what was found. */
export interface RecoveryVoice {
  info(text: string): void;
  warn(text: string): void;
}

/** Commits what others abandoned. What cannot be committed now stays for the next time, and is said: no command fails of it. */
export async function recoverTurns(workspace: Workspace, voice: RecoveryVoice): Promise<void> {
  for (const { path, isAbandoned } of await listJournals(workspace.store.journal(), workspace.runtime.now())) {
    if (!isAbandoned) continue;
    try {
      await recoverTurn(workspace, path, voice);
    } catch (error) {
      const reason = messageOf(error);
      voice.warn(`a turn that was interrupted cannot be committed and stays in ${path}: ${reason}`);
    }
  }
}

async function recoverTurn(workspace: Workspace, path: string, voice: RecoveryVoice): Promise<void> {
  const { head, isComplete, recorded, unsent } = await commitAbandonedTurn(workspace, path, "process_ended");
  if (head === null) return;
  if (recorded === null) {
    if (unsent !== null)
      voice.info(`A request of ${head.branch} was interrupted before its answer; its text is in ${unsent}.`);
    return;
  }
  const fork = recorded.branch === head.branch ? "" : `, on the new fork ${recorded.branch}`;
  voice.info(
    `Turn ${head.turn} of ${head.branch} was ${isComplete ? "talked" : "interrupted"}; it is committed now${fork}.`,
  );
}

/** What became of a journal. */
export interface AbandonedTurn {
  /** Null when the journal had not even a head. */
  readonly head: JournalHead | null;
  readonly isComplete: boolean;
  /** Null when no model had said anything: the turn is not kept. */
  readonly recorded: RecordedTurn | null;
  /** Where the text of a turn that is not kept is. */
  readonly unsent: string | null;
}

/** Commits the turn of an abandoned journal, and takes the journal away. Throws as `recordTurn` does; the journal stays then. */
export async function commitAbandonedTurn(
  workspace: Workspace,
  path: string,
  reason: InterruptionReason,
): Promise<AbandonedTurn> {
  const found = await readJournal(path);
  if (found === null || !hasAnswer(found.events)) {
    const { head = null, events = [] } = found ?? {};
    const unsent = await keepUnsent(workspace.store, requestOf(events));
    await removeJournal(path, head?.start ?? null);
    return { head, isComplete: false, recorded: null, unsent };
  }
  const { head, isComplete } = found;
  const events = isComplete ? found.events : withMark(found, reason);
  const recorded = await recordTurn(workspace, { ...head, events });
  await removeJournal(path, head.start);
  if (head.root !== undefined) await useWhereNoneIs(workspace, recorded.branch);
  await refreshViews(workspace, recorded.branch, recorded.parent);
  return { head, isComplete, recorded, unsent: null };
}

/** A new conversation becomes the active one where there is no other. */
async function useWhereNoneIs(workspace: Workspace, branch: string): Promise<void> {
  const { branch: active, commit } = await readStanding(workspace);
  const hasNone = commit === null && (active === null || (await workspace.store.readBranch(active)) === null);
  if (hasNone) await makeActive(workspace, branch);
}

function withMark({ head, events }: Replay, reason: InterruptionReason): readonly Event[] {
  return [...events, interruptionNote(head.start, reason, events.at(-1)?.timestamp ?? "")];
}
