// Branches of remotes as they were last fetched: they are listed; following one is a matter of git's own configuration.
import { needsGit } from "../files/needs-git.ts";
import { listRefs } from "../refs/ref-files.ts";
import type { Remotes } from "../sharing.ts";
import type { EmbeddedRepository } from "./repository.ts";

/** The branches of a repository's remotes. */
export function createRemotes(repository: EmbeddedRepository): Remotes {
  return {
    async list() {
      const refs = await listRefs(repository, "refs/remotes/");
      return refs.flatMap(({ ref }) => {
        const [, remote, name] = /^refs\/remotes\/([^/]+)\/(.+)$/.exec(ref) ?? [];
        return remote === undefined || name === undefined || name === "HEAD" ? [] : [{ remote, name }];
      });
    },
    track: () => Promise.reject(needsGit("A branch that follows a remote's", repository.env)),
  };
}
