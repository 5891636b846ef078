// Where jpg is published. Empty until somebody has said so: whatever needs the address fails then, with a sentence.

/** The address of the repository, such as `https://github.com/OWNER/jpg`. */
export const REPOSITORY = "";

/** Gives an address of the project, or throws. */
export function addressesOf(repository) {
  if (!/^https:\/\/[^/\s]+\/\S+[^/]$/.test(repository)) {
    throw new Error(
      "The address of the repository is not known: give it as REPOSITORY in scripts/release/project.mjs, such as https://github.com/OWNER/jpg.",
    );
  }
  return {
    repository: { type: "git", url: `git+${repository}.git` },
    bugs: { url: `${repository}/issues` },
    homepage: `${repository}#readme`,
  };
}

/**
 * The name of jpg's server in the MCP registry, below the name that the owner of the repository proves there: `io.github.OWNER`, or
 * the host's own, such as `example.git` for git.example. The registry wants it in the package's manifest, too. Throws without an address.
 */
export function serverName(repository) {
  addressesOf(repository);
  const { hostname, pathname } = new URL(repository);
  const owner =
    hostname === "github.com" ? `io.github.${pathname.split("/")[1]}` : hostname.split(".").reverse().join(".");
  return `${owner}/jpg`;
}
