// Where things stand on a served page. One place for both who links and who answers.
import { eventAnchor, turnAnchor } from "./names.ts";

/** The page of a branch. */
export function branchAddress(branch: string): string {
  return `/c/${encodeURIComponent(branch)}`;
}

/** A branch as if a compaction had been taken back. */
export function lookAddress(branch: string, without: string): string {
  return `${branchAddress(branch)}?without=${encodeURIComponent(without)}`;
}

/** A turn on the page of its branch, 0-based; `without` = as if that compaction had been taken back. */
export function turnAddress(branch: string, turn: number, without?: string): string {
  return `${openedAt(branch, without)}at=${turn}#${turnAnchor(turn)}`;
}

/** An event of a turn on the page of its branch. */
export function eventAddress(branch: string, turn: number, id: string, without?: string): string {
  const anchor = encodeURIComponent(eventAnchor(id));
  return `${openedAt(branch, without)}at=${turn}:${encodeURIComponent(id)}#${anchor}`;
}

function openedAt(branch: string, without: string | undefined): string {
  return without === undefined ? `${branchAddress(branch)}?` : `${lookAddress(branch, without)}&`;
}

/** The page of a compaction: what it changes for the model, what is lost by it, its summary. */
export function compactionAddress(branch: string, compaction: string): string {
  return `${branchAddress(branch)}/compaction/${encodeURIComponent(compaction)}`;
}

/** Two branches side by side. */
export function compareAddress(branch: string, other: string): string {
  return `${branchAddress(branch)}/compare/${encodeURIComponent(other)}`;
}

/** What fills the window of a branch. */
export function anatomyAddress(branch: string): string {
  return `${branchAddress(branch)}/anatomy`;
}

/** What can be done with a branch; each is a form that is sent to its address. */
export type Action = "comment" | "compact" | "fork" | "label" | "pin" | "revert" | "title" | "uncomment" | "unpin";

export function actionAddress(branch: string, action: Action): string {
  return `${branchAddress(branch)}/${action}`;
}
