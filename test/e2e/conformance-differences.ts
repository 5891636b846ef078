// Cases of conformance/ that jpg shows otherwise, with the reason.

/** The reason by the case's id. */
export const KNOWN_DIFFERENCES: Readonly<Record<string, string>> = {
  "claude-code/api-error-of-a-model": "Not yet.",
  "claude-code/renamed-tool": "The view keeps the name under which the tool was called.",
  "codex/long-output": "The view keeps outputs whole; how much Codex sends of one again depends on the model.",
  "pi/thinking-of-another-model": "The view holds it as reasoning; whether a model gets it, an API's rules decide.",
};
