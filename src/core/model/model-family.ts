// Whether two model names mean the same model: providers add dates, context sizes and routes to one name, and write versions with a
// dot or a hyphen.

/** Parts of a name that do not tell models apart: the route before the name (`us.anthropic.`, `openrouter/google/`, an ARN). */
const ROUTE =
  /^(?:.*[./:~]|databricks-)(?=(?:claude|chatgpt|gpt|gemini|codex)-|o\d)|^(?:[a-z]{2,8}|us-gov)\.(?=[a-z\d-]+\.[a-z])/;
/** The same after it: context size, way of asking, version of the host, date. */
const SUFFIXES =
  /(?:\[[^\]]*\]|:\d+|:(?:thinking|beta|free|online|nitro|floor|exacto|extended)|-v\d+|[@-]\d{8}|@(?:default|latest)|-latest|-\d{4}-\d\d-\d\d)$/;
/** Versions of Claude as Anthropic does not write them. */
const DOTTED_CLAUDE = /^(claude-.*\d)\.(?=\d)/;
const CLAUDE_VERSION_FIRST = /^claude-([4-9](?:-\d)?)-(opus|sonnet|haiku)(?=-|$)/;

/** The name without route, context size, version and date, in lower case: `claude-sonnet-4-5-20250929` → `claude-sonnet-4-5`. */
export function modelFamily(model: string): string {
  let family = withoutRoute(model);
  for (let shorter = family.replace(SUFFIXES, ""); shorter !== family; shorter = family.replace(SUFFIXES, "")) {
    family = shorter;
  }
  return family.replace(DOTTED_CLAUDE, "$1-").replace(CLAUDE_VERSION_FIRST, "claude-$2-$1");
}

/** The name in lower case without the route before it: `openrouter/openai/GPT-5` → `gpt-5`. */
export function withoutRoute(model: string): string {
  return model.toLowerCase().replace(ROUTE, "");
}

/** Whether two names mean the same model, so that reasoning of one may be sent to the other. */
export function isSameModelFamily(a: string, b: string): boolean {
  return modelFamily(a) === modelFamily(b);
}
