// The remotes of the project that a store belongs to, as the project's own configuration names them. Nothing is started for
// them, and nothing else of that configuration counts.
import { isAbsolute, join, parse, resolve } from "node:path";
import { isLocalPath } from "../../../core/remote-address.ts";
import type { Environment } from "../../environment.ts";
import type { ProjectRemote } from "../../sharing.ts";
import type { ProjectLocation } from "../../store-location.ts";
import { runGit } from "../git/git-process.ts";

/** Reads them, in the order of the configuration; folders are absolute. */
export async function readProjectRemotes(
  { root, commonDir }: ProjectLocation,
  env: Environment,
): Promise<readonly ProjectRemote[]> {
  const args = [
    "config",
    "--file",
    join(commonDir, "config"),
    "-z",
    "--get-regexp",
    "^remote\\..*\\.((push)?url|mirror)$",
  ];
  const { stdout } = await runGit(args, { cwd: parse(root).root, env });
  const urls = new Map<string, string>();
  const mirrors = new Set<string>();
  for (const entry of stdout.toString().split("\0")) {
    const [, name, key, url = ""] = /^remote\.([^\n]+)\.(url|pushurl|mirror)\n(.*)$/is.exec(entry) ?? [];
    if (name !== undefined && key === "mirror") {
      if (/^(true|yes|on|1|push)$/i.test(url)) mirrors.add(name);
    } else if (name !== undefined && (key === "pushurl" || !urls.has(name))) urls.set(name, url);
  }
  return [...urls].map(([name, url]) => ({
    name,
    isMirror: mirrors.has(name),
    url: isLocalPath(url) && !isAbsolute(url) ? resolve(root, url) : url,
  }));
}
