// A stored event as the text that was said, what was moved to files of its own brought back.
import { inline } from "../../core/event/attachment.ts";
import { readAttachments } from "../branch/attachments.ts";
import { eventLines } from "../diff/view-text.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { ShowEvent } from "./show-report.ts";

/** Reads the whole text of an event that `show` found. Throws `attachment_missing`. */
export async function readEventText({ store }: Workspace, { branch, event }: ShowEvent): Promise<string> {
  const commit = await store.readBranch(branch);
  const whole = commit === null ? event : inline(event, await readAttachments(store, commit, [event]));
  return eventLines(whole).join("\n");
}
