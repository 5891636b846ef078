// The environment of a program that the user named in the settings.
import { gitEnvironment } from "../../store/native/git/git-environment.ts";
import type { Runtime } from "../workspace/runtime.ts";

/** The caller's environment without what an enclosing git command, such as a hook, set for its repository. */
export function programEnvironment(env: Runtime["env"]): Runtime["env"] {
  const { GIT_TERMINAL_PROMPT: _prompt, LC_ALL: _language, ...rest } = gitEnvironment(env);
  const own = env["LC_ALL"];
  return own === undefined ? rest : { ...rest, LC_ALL: own };
}
