// Cases of conformance/ that jpg shows otherwise, with the reason.

/** The reason by the case's id. */
export const KNOWN_DIFFERENCES: Readonly<Record<string, string>> = {
  "claude-code/renamed-tool": "The view keeps the name under which the tool was called.",
  "codex/long-output": "The view keeps outputs whole; how much Codex sends of one again depends on the model.",
  "gemini-cli/results-as-user-message": "The view shows a result once.",
  "gemini-cli/slash-and-question": "The request was sent when it was typed, and Gemini CLI leaves it out later.",
  "gemini-cli/unanswered-call-then-prompt": "The view holds the call; this API takes none without a result.",
  "opencode/thinking": "This API takes no reasoning without a signature.",
};
