// What jpg writes into parts so that it knows them again; OpenCode keeps it and sends none of it.
import type { RawLine } from "../json-line.ts";

/** Beside a call that was never answered: OpenCode shows and sends it as interrupted. */
export const UNANSWERED: RawLine = { interrupted: true, jpg: "unanswered" };

/** Whether a call has no result but the one that jpg wrote because it had none. */
export function isUnanswered(metadata: RawLine): boolean {
  return metadata["jpg"] === UNANSWERED["jpg"];
}
