// What pi tells its model of entries that nobody typed: the words are pi's own (0.73.1 and 1.5.2), so that the view says what
// was sent.
import { type RawLine, stringOf } from "../json-line.ts";

/** How a text stands in what pi sends. */
interface Frame {
  readonly before: string;
  readonly after: string;
}

const COMPACTION: Frame = {
  before: "The conversation history before this point was compacted into the following summary:\n\n<summary>\n",
  after: "\n</summary>",
};
const BRANCH: Frame = {
  before: "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n",
  after: "</summary>",
};

/** The text that stands for all that a compaction hides. */
export function compactionText(summary: string): string {
  return put(summary, COMPACTION);
}

/** The summary in such a text; null when it is none. */
export function compactedSummary(text: string): string | null {
  const { before, after } = COMPACTION;
  const isFramed = text.startsWith(before) && text.endsWith(after) && text.length >= before.length + after.length;
  return isFramed ? text.slice(before.length, text.length - after.length) : null;
}

/** The text that tells of a branch that was left. */
export function branchText(summary: string): string {
  return put(summary, BRANCH);
}

/** The text of a command that the user ran in the agent's own shell. */
export function bashText(message: RawLine): string {
  const output = stringOf(message, "output") ?? "";
  const ran = `Ran \`${stringOf(message, "command") ?? ""}\`\n`;
  return `${ran}${output === "" ? "(no output)" : `\`\`\`\n${output}\n\`\`\``}${bashEnding(message)}`;
}

function bashEnding({ cancelled, exitCode, truncated, fullOutputPath }: RawLine): string {
  const failed = typeof exitCode === "number" && exitCode !== 0;
  const ending =
    cancelled === true ? "\n\n(command cancelled)" : failed ? `\n\nCommand exited with code ${exitCode}` : "";
  const isCut = truncated === true && typeof fullOutputPath === "string" && fullOutputPath !== "";
  return isCut ? `${ending}\n\n[Output truncated. Full output: ${fullOutputPath}]` : ending;
}

function put(text: string, { before, after }: Frame): string {
  return `${before}${text}${after}`;
}
