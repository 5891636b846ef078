// What Claude Code writes into the folder that has a session's name: transcripts of sub-agents and workflows, long tool
// results. Anything else that stands there is somebody's own, and no business of an import.

const FOLDER = /^(?:subagents(?:\/workflows(?:\/[^/]+)?)?|workflows(?:\/scripts)?|tool-results(?:\/[^/]+)?)$/;
const TRANSCRIPT = /^subagents\/(?:workflows\/[^/]+\/)?(?:agent-[^/]+\.(?:jsonl|meta\.json)|journal\.jsonl)$/;
const AGENT = /^subagents\/(?:workflows\/[^/]+\/)?agent-[^/]+\.jsonl$/;
const WORKFLOW = /^workflows\/(?:[^/]+\.json|scripts\/[^/]+\.js)$/;
const TOOL_RESULT = /^tool-results\/(?:[^/]+\/)?[^/]+\.(?:txt|json|pdf|png|jpe?g|gif|webp)$/;
const HIDDEN_NAME = /(?:^|\/)\./;

/** Whether the agent writes files into a folder of this path, `/` between names, relative to the folder of the session's name. */
export function isSideFolder(path: string): boolean {
  return FOLDER.test(path) && !HIDDEN_NAME.test(path);
}

/** Whether a file of the agent at this path, likewise relative, may be the transcript of a sub-agent. */
export function isTranscript(path: string): boolean {
  return AGENT.test(path) && !HIDDEN_NAME.test(path);
}

/** The file that tells of a transcript, by the transcript's name; null for other sessions. */
export function aboutTranscript(fileName: string): string | null {
  const name = /^(agent-.+)\.jsonl$/.exec(fileName)?.[1];
  return name === undefined ? null : `${name}.meta.json`;
}

/** Whether the agent writes a file of this path, likewise relative. */
export function isSideFile(path: string): boolean {
  return [TRANSCRIPT, WORKFLOW, TOOL_RESULT].some((form) => form.test(path)) && !HIDDEN_NAME.test(path);
}
