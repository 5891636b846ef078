// What jpg cannot do without the git program.
import { type JpgError, repositoryError } from "../core/errors.ts";

/** The error for what only the git program does: `needs_git`. `what` begins the sentence, e.g. `A checkout`. */
export function needsGit(what: string): JpgError {
  return repositoryError("needs_git", `${what} needs git, which jpg is running without.`, {
    hints: ["install git: https://git-scm.com/downloads", "where git is installed, leave out --engine embedded"],
  });
}
