// The README branch of an empty repository: its commit, which is the same wherever it is made, and the branch that HEAD names
// there, so that a host shows it first and a plain clone has it checked out.
import { rm } from "node:fs/promises";
import { parse } from "node:path";
import { checkRemoteUrl } from "../../../core/remote-address.ts";
import { makeDraftFolder } from "../../files/replace-file.ts";
import { README_BRANCH, STORE_MARKER } from "../../readme-branch.ts";
import type { RemoteTip, TransferOptions } from "../../sharing.ts";
import { FALLBACK_IDENTITY } from "../../store-surroundings.ts";
import { type Repository, runCommand } from "../git/git-command.ts";
import { readHead } from "../refs/ref-reader.ts";
import { readFromNowhere } from "./transfer.ts";

/** Its tree beside the text, in git's order of names. */
const OTHER_FILES: ReadonlyMap<string, string> = new Map([
  [".gitattributes", "* -text\n"],
  [STORE_MARKER, '{"format":1}\n'],
]);

/** Two people who both send the first conversation make one commit, and neither is in the other's way. */
const DATE = "1767225600 +0000";

/** Makes the commit of a README branch, and names the branch. Throws `remote_*`. */
export async function makeReadme(
  repository: Repository,
  { url, text }: { readonly url: string; readonly text: string },
  options: TransferOptions = {},
): Promise<RemoteTip> {
  const [name, commit] = await Promise.all([unbornBranch(repository, url, options), makeCommit(repository, text)]);
  return { name: name ?? README_BRANCH, commit };
}

async function makeCommit(repository: Repository, text: string): Promise<string> {
  const run = async (args: readonly string[], input: string): Promise<string> =>
    (await runCommand(repository, { args, input, extraEnv: SIGNATURE })).toString().trim();
  const entries = await Promise.all(
    [...OTHER_FILES, ["README.md", text] as const].map(
      async ([file, content]) => `100644 blob ${await run(["hash-object", "-w", "--stdin"], content)}\t${file}\n`,
    ),
  );
  const tree = await run(["mktree"], entries.join(""));
  return await run(["commit-tree", "--no-gpg-sign", tree], "Say what this repository is\n");
}

const SIGNATURE = Object.fromEntries(
  ["AUTHOR", "COMMITTER"].flatMap((role) => [
    [`GIT_${role}_NAME`, FALLBACK_IDENTITY.name],
    [`GIT_${role}_EMAIL`, FALLBACK_IDENTITY.email],
    [`GIT_${role}_DATE`, DATE],
  ]),
);

/** The branch that HEAD of an empty repository names; only a clone is told. Null where a README branch cannot be called so. */
async function unbornBranch(
  { gitDir, env }: Repository,
  url: string,
  options: TransferOptions,
): Promise<string | null> {
  const folder = await makeDraftFolder(gitDir);
  try {
    const args = [
      "-c",
      `init.defaultBranch=${README_BRANCH}`,
      "clone",
      "--bare",
      "--quiet",
      "--no-tags",
      "--template=",
    ];
    // From no repository, whose settings would count.
    const place = { cwd: parse(gitDir).root, env };
    await readFromNowhere(place, [...args, "--", checkRemoteUrl(url), folder], { url, options });
    const head = await readHead({ gitDir: folder, cwd: folder, env }, folder);
    const named = head !== null && "ref" in head ? head.ref.slice("refs/heads/".length) : "";
    return /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/.test(named) ? named : null;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
