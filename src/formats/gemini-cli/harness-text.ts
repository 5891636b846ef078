// Texts in the user's name that nobody typed: the agent puts them in, or jpg's user had the agent run a command. Some the agent
// leaves out when it resumes a session, whoever wrote them.

/**
 * Whose words a text is: a person's, perhaps typed while the agent worked; the agent's, that introduce the next request, tell of
 * something else, sum up what was said, or describe its surroundings.
 */
export type Voice = "user" | "queued" | "context" | "harness" | "summary" | "surroundings";

const SURROUNDINGS = /^\s*(?:<session_context>|This is the Gemini CLI\. We are setting up the context for our chat\.)/;
const CONTEXT = [
  /^\s*<hook_context>/,
  /^Here is the user's editor context as a JSON object\./,
  /^Here is a summary of changes in the user's editor context/,
  /^- \*\*Workspace Directories:\*\*\n/,
];
const HARNESS = [
  /^I ran the following shell command:\n```sh\n/,
  /^(?:System: )?Please continue\.$/,
  /^System: Potential loop detected\. /,
];
const SUMMARY = /^\s*(?:<scratchpad>[\s\S]*?<\/scratchpad>\s*)?<state_snapshot>/;
/** What the user adds while the agent works. */
const QUEUED = /^\s*User (?:steering update|hints):\n<user_input>\n/;

/** Tells who speaks in a text. */
export function voiceOf(text: string): Voice {
  if (SURROUNDINGS.test(text)) return "surroundings";
  if (SUMMARY.test(text)) return "summary";
  if (QUEUED.test(text)) return "queued";
  if (CONTEXT.some((mark) => mark.test(text))) return "context";
  return HARNESS.some((mark) => mark.test(text)) ? "harness" : "user";
}

/** Tells who speaks in a text that stands behind results of calls. */
export function voiceBesideResults(text: string): Voice {
  return QUEUED.test(text) ? "queued" : "harness";
}

/** Whether the agent leaves a request with this beginning out of what it sends when it resumes the session. */
export function isLeftOut(text: string): boolean {
  return /^\s*(?:$|[/?]|<session_context>|<hook_context>)/.test(text);
}

const WORKSPACE = /\*\*Workspace Directories:\*\*\n {2}- (.+)\n/;

/** The directory that a text of the agent's surroundings names first; absent where it names none. */
export function directoryIn(text: string): string | undefined {
  return WORKSPACE.exec(text)?.[1];
}
