// What jpg cannot do without the git program, and why it is without: there is none, or the user said so.
import { type JpgError, repositoryError } from "../../core/errors.ts";
import type { Environment } from "../environment.ts";
import { hasProgram } from "./find-program.ts";

/** The error for what only the git program does: `needs_git`. `what` begins the sentence, e.g. `A checkout`. */
export function needsGit(what: string, env: Environment): JpgError {
  const why = hasGit(env) ? "--engine embedded works without it" : "no `git` was found in PATH";
  return repositoryError("needs_git", `${what} needs git, and ${why}.`, { hints: [wayToGit(env)] });
}

/** What to do for git to be used. */
export function wayToGit(env: Environment): string {
  return hasGit(env)
    ? "Run the command again without --engine embedded."
    : "Install git: https://git-scm.com/downloads";
}

/** Whether the git program is found. Where it is, jpg works without it only because it was told to. */
export function hasGit(env: Environment): boolean {
  return hasProgram("git", env["PATH"] ?? env["Path"]);
}
