// What Claude Code writes into the folder that has a session's name: transcripts of sub-agents and workflows, long tool
// results. Anything else that stands there is somebody's own, and no business of an import.

const FOLDER = /^(?:subagents(?:\/workflows(?:\/[^/]+)?)?|workflows(?:\/scripts)?|tool-results(?:\/[^/]+)?)$/;
const TRANSCRIPT = /^subagents\/(?:workflows\/[^/]+\/)?(?:agent-[^/]+\.(?:jsonl|meta\.json)|journal\.jsonl)$/;
const WORKFLOW = /^workflows\/(?:[^/]+\.json|scripts\/[^/]+\.js)$/;
const TOOL_RESULT = /^tool-results\/(?:[^/]+\/)?[^/]+\.(?:txt|json|pdf|png|jpe?g|gif|webp)$/;
const HIDDEN_NAME = /(?:^|\/)\./;

/** Whether the agent writes files into a folder of this path, `/` between names, relative to the folder of the session's name. */
export function isSideFolder(path: string): boolean {
  return FOLDER.test(path) && !HIDDEN_NAME.test(path);
}

/** Whether the agent writes a file of this path, likewise relative. */
export function isSideFile(path: string): boolean {
  return [TRANSCRIPT, WORKFLOW, TOOL_RESULT].some((form) => form.test(path)) && !HIDDEN_NAME.test(path);
}
