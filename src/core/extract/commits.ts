// The commits that commands made, as git's own output names them; where git was told to say nothing, by the subject that it was
// given. A later model finds in them what is done for good.
import { textsOf } from "../loss/event-texts.ts";
import { callFacts } from "../tools/call-facts.ts";
import type { ToolCall } from "../tools/tool-call.ts";
import { commandOf, hasFailed } from "./failures.ts";
import { cutEnd, oneLine } from "./short-text.ts";

/** A commit, or a request to take commits in, with the turn (0-based) that made it. */
export interface MadeCommit {
  readonly turn: number;
  readonly line: string;
}

const LINE_CHARS = 160;
/** `[main 039dfc5] subject`, `[main (root-commit) 039dfc5] subject`. */
const MADE = /^\[([^\]\n]{1,120}) ([0-9a-f]{7,40})\] (.+)$/gm;
const COMMITTING = /\bgit\b[^|;&\n]{0,80}\b(?:commit|merge|revert|cherry-pick|rebase|am)\b/;
const COMMIT = /\bgit\b[^|;&\n]{0,80}\bcommit\b/;
const SUBJECT = /\s-\w*m\s*(?:"\$\(cat <<-?\s*['"]?(\w+)['"]?\n([^\n]+)|"([^"\n]+)|'([^'\n]+))/;
const OPENING = /\b(?:gh pr|glab mr|hub pull-request)\b[^|;&\n]{0,40}\bcreate\b/;
const OPENED = /https?:\/\/\S+\/(?:pull|merge_requests)\/\d+/;

/** Lists the commits that calls made, and the requests to merge that they opened, in order. */
export function commitsMade(calls: readonly ToolCall[]): readonly MadeCommit[] {
  return calls.flatMap((call) => {
    if (call.response === null || callFacts(call.request).kind !== "shell") return [];
    const command = commandOf(call);
    if (!COMMITTING.test(command) && !OPENING.test(command)) return [];
    const output = textsOf(call.response).join("\n");
    const turn = call.responseTurn ?? call.turn;
    return linesOf(command, output, hasFailed(call)).map((line) => ({ turn, line: cutEnd(oneLine(line), LINE_CHARS) }));
  });
}

function linesOf(command: string, output: string, failed: boolean): readonly string[] {
  const amends = /--amend\b/.test(command) ? " (amended the commit before)" : "";
  const made = [...output.matchAll(MADE)].map(([, , sha = "", subject = ""]) => `${sha} ${subject}${amends}`);
  if (made.length > 0 || failed) return made;
  const opened = OPENING.test(command) ? OPENED.exec(output)?.[0] : undefined;
  const given = COMMIT.test(command) ? SUBJECT.exec(command) : null;
  const subject = given?.[2] ?? given?.[3] ?? given?.[4];
  return [...(subject === undefined ? [] : [`${subject.trim()}${amends}`]), ...(opened === undefined ? [] : [opened])];
}
