// Where things stand on a served page. One place for both who links and who answers.

/** The page of a branch. */
export function branchAddress(branch: string): string {
  return `/c/${encodeURIComponent(branch)}`;
}

/** What a compaction changes for the model. */
export function diffAddress(branch: string, compaction: string): string {
  return `${branchAddress(branch)}/diff/${encodeURIComponent(compaction)}`;
}

/** What can be done with a branch; each is a form that is sent to its address. */
export type Action = "compact" | "fork" | "label" | "pin" | "revert" | "title" | "unpin";

export function actionAddress(branch: string, action: Action): string {
  return `${branchAddress(branch)}/${action}`;
}
