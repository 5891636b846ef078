// The environment a git child process gets: the caller's, led to no other repository, with messages in English, no prompts, and
// objects as their ids name them.
import { type Environment, withoutRepository } from "../../environment.ts";

/** Creates the environment of a git child process from the caller's; `extra` is set last. */
export function gitEnvironment(env: Environment, extra: Environment = {}): Record<string, string> {
  const result = withoutRepository(env);
  result["LC_ALL"] = "C";
  result["GIT_TERMINAL_PROMPT"] = "0";
  // Objects are what their ids say, for a push sends those and not what `git replace` shows instead.
  result["GIT_NO_REPLACE_OBJECTS"] = "1";
  for (const [name, value] of Object.entries(extra)) if (value !== undefined) result[name] = value;
  return result;
}
