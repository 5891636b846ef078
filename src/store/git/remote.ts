// Remotes in the store's git configuration. The fetch refspec says how a remote is published to, so that stock git and jpg
// agree; jpg never uses the refspecs themselves and passes its own in every transfer.
import { isAbsolute, join, parse, resolve } from "node:path";
import { userError } from "../../core/errors.ts";
import { checkRemoteUrl, isLocalPath, type PublishedAs } from "../../core/remote-address.ts";
import type { Environment } from "../environment.ts";
import { readFileIfExists } from "../files.ts";
import type { NewRemote, ProjectRemote, Remote } from "../sharing.ts";
import type { ProjectLocation } from "../store.ts";
import { runGit } from "./git-process.ts";
import { parseSubsections, type SubsectionSetting } from "./guard.ts";
import { appendConfig, formatConfig, type Repository, runCommand, runPorcelain, tryCommand } from "./porcelain.ts";
import { followRemote, forgetFollowed } from "./refs.ts";

/** The prefix of conversations' refs on a remote, by how they are published; a branch's name follows. */
export const REMOTE_PREFIX: Readonly<Record<PublishedAs, string>> = {
  branches: "refs/heads/",
  hidden: "refs/jpg/conversations/",
};

/** Reads the remotes of a store, in the order of its configuration. Throws `bad_remote_url`. */
export async function readRemotes(repository: Repository): Promise<readonly Remote[]> {
  const remotes = new Map<string, Map<string, string[]>>();
  for (const { subsection: name, key, value } of await readSettings(repository, "remote")) {
    const settings = remotes.get(name) ?? new Map<string, string[]>();
    settings.set(key, [...(settings.get(key) ?? []), value]);
    remotes.set(name, settings);
  }
  return [...remotes].flatMap(([name, settings]) => {
    const url = settings.get("url")?.[0];
    if (url === undefined) return [];
    const isHidden = settings.get("fetch")?.some((refspec) => refspec.startsWith(`+${REMOTE_PREFIX.hidden}*:`));
    return [
      {
        name,
        url: checkRemoteUrl(url),
        pushUrl: checkRemoteUrl(settings.get("pushurl")?.[0] ?? url),
        as: isHidden === true ? "hidden" : "branches",
      } as const,
    ];
  });
}

/** Adds a remote to the configuration, so that stock git fetches and pushes the same refs. Throws `remote_exists`. */
export async function writeRemote(repository: Repository, { name, url, as, filter }: NewRemote): Promise<void> {
  if ((await readSettings(repository, "remote")).some(({ subsection }) => subsection === name))
    throw remoteExists(name);
  const key = `remote.${name}`;
  const settings = new Map([
    [`${key}.url`, checkRemoteUrl(url)],
    [`${key}.fetch`, `+${REMOTE_PREFIX[as]}*:refs/remotes/${name}/*`],
    [`${key}.tagOpt`, "--no-tags"],
    // Without `push`, below, stock git would push to a branch that everybody sees.
    ...(filter === undefined
      ? []
      : ([
          [`${key}.promisor`, "true"],
          [`${key}.partialclonefilter`, filter],
          ["core.repositoryformatversion", "1"],
        ] as const)),
    ...(as === "hidden" ? [[`${key}.push`, `refs/heads/*:${REMOTE_PREFIX.hidden}*`] as const] : []),
  ]);
  await appendConfig(repository.gitDir, () => formatConfig(settings));
}

/** Makes branches track those of their names on a configured remote; skips those that track something already. */
export async function followBranches(
  repository: Repository,
  { name: remote, as }: Pick<Remote, "name" | "as">,
  branches: readonly string[],
): Promise<void> {
  const remotes = await readSettings(repository, "remote");
  const isWritten = remotes.some(({ subsection, key }) => subsection === remote && key === "url");
  if (!isWritten || branches.length === 0) return;
  const settings = await readSettings(repository, "branch");
  const following = new Set(
    settings.flatMap(({ subsection, key }) => (["remote", "merge"].includes(key) ? [subsection] : [])),
  );
  const names = branches.filter((name) => !following.has(name));
  await followRemote(repository, names, { remote, prefix: REMOTE_PREFIX[as] });
}

/** Removes a remote and its branches, as stock git does. */
export async function forgetRemote(repository: Repository, name: string): Promise<void> {
  await forgetFollowed(repository, name);
  await runCommand(repository, { args: ["remote", "remove", name] }, runPorcelain);
}

type Section = "remote" | "branch";

/** The settings of remotes or branches in the store's own configuration. Asks git when the file is not plain. */
async function readSettings(repository: Repository, section: Section): Promise<readonly SubsectionSetting[]> {
  const text = await readFileIfExists(join(repository.gitDir, "config"));
  const plain = text === null ? null : parseSubsections(text, section);
  if (plain !== null) return plain;
  const args = ["config", "--local", "-z", "--get-regexp", `^${section}\\.`];
  return (await tryCommand(repository, { args })).stdout
    .toString()
    .split("\0")
    .flatMap((entry) => {
      const [, own, subsection, key, value = ""] = /^([a-z]+)\.([^\n]+)\.([a-z-]+)(?:\n(.*))?$/is.exec(entry) ?? [];
      const isWhole = own === section && subsection !== undefined && key !== undefined;
      return isWhole ? [{ subsection, key: key.toLowerCase(), value }] : [];
    });
}

function remoteExists(name: string): Error {
  return userError("remote_exists", `There is a remote ${name} already.`, {
    hints: ["`jpg remote ls` lists them.", `\`jpg remote rm ${name}\` forgets it; nothing there changes.`],
  });
}

// The remotes of the project that a store belongs to, from the project's own configuration. Starts nothing for them and uses no
// other setting.

/** Reads the project's remotes, in the order of the configuration; folders are absolute. */
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
