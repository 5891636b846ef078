// Signs commits that ask for it, when the user's git says so. fast-import cannot sign, so such a commit and all after it in
// the same write are made again with `git commit-tree`, same trees, dates and messages.
import { shellWord } from "../../../core/safe-text.ts";
import type { CommitSpec, Signature } from "../../conversation-store.ts";
import type { Environment } from "../../environment.ts";
import { type Repository, runCommand, tryCommand } from "../git/git-command.ts";
import type { ImportedBranch } from "./fast-import.ts";
import { formatMessage } from "./fast-import-text.ts";

/** Signs commits of one write. */
export interface Signer {
  /** Asks git for `commit.gpgSign`, once; called when a commit wants to know, so that git answers while it is written. */
  ask(): void;
  /** Replaces the commits to be signed. */
  sign(branches: readonly ImportedBranch[]): Promise<readonly ImportedBranch[]>;
}

/** Creates the signer of a write; `say` is told where signing takes so long that somebody may have to do something. */
export function createSigner(repository: Repository, say: (text: string) => void = () => undefined): Signer {
  let answer: ReturnType<typeof tryCommand> | null = null;
  return {
    ask() {
      if (answer !== null) return;
      answer = tryCommand(repository, { args: ["config", "--type=bool", "--get", "commit.gpgSign"] });
      // A write that fails for another reason says that one.
      answer.catch(() => undefined);
    },
    sign: async (branches) => {
      if ((await answer)?.stdout.toString().trim() !== "true") return branches;
      const timer = setTimeout(() => void describeWait(repository).then(say), LONG_MS);
      try {
        return await signBranches(repository, branches);
      } finally {
        clearTimeout(timer);
      }
    },
  };
}

/** A signature that nobody has to do anything for is made sooner. */
const LONG_MS = 2000;

/** What runs when a format has no program of its own set. */
const PROGRAMS: Readonly<Record<string, string>> = { openpgp: "gpg", x509: "gpgsm", ssh: "ssh-keygen" };

async function describeWait(repository: Repository): Promise<string> {
  const read = async (key: string): Promise<string | null> => {
    const { code, stdout } = await tryCommand(repository, { args: ["config", "--get", key] });
    return code === 0 ? stdout.toString().trim() : null;
  };
  const format = (await read("gpg.format"))?.toLowerCase() ?? "openpgp";
  const own = (await read(`gpg.${format}.program`)) ?? (format === "openpgp" ? await read("gpg.program") : null);
  const unsigned = `git -C ${shellWord(repository.cwd)} config commit.gpgSign false`;
  return `git is signing with ${own ?? PROGRAMS[format] ?? format} (commit.gpgSign), which may be waiting for a PIN, a password or a key. To commit unsigned here, stop this command and type \`${unsigned}\`.`;
}

async function signBranches(
  repository: Repository,
  branches: readonly ImportedBranch[],
): Promise<readonly ImportedBranch[]> {
  const signed: ImportedBranch[] = [];
  for (const branch of branches) signed.push(await signBranch(repository, branch));
  return signed;
}

async function signBranch(repository: Repository, branch: ImportedBranch): Promise<ImportedBranch> {
  const commits = branch.commits.slice(0, branch.firstSigned);
  for (const [index, spec] of branch.specs.entries()) {
    const unsigned = branch.commits[branch.firstSigned + index] ?? "";
    commits.push(await commitTree(repository, `${unsigned}^{tree}`, commits.at(-1) ?? branch.parent, spec));
  }
  return { ...branch, commits };
}

async function commitTree(
  repository: Repository,
  tree: string,
  parent: string | null,
  spec: Omit<CommitSpec, "changes">,
): Promise<string> {
  const output = await runCommand(repository, {
    args: [
      "commit-tree",
      tree,
      ...[...(parent === null ? [] : [parent]), ...(spec.merges ?? [])].flatMap((id) => ["-p", id]),
      ...(spec.sign === true ? ["-S"] : []),
      "-F",
      "-",
    ],
    config: ["i18n.commitEncoding=UTF-8"],
    input: formatMessage(spec.message),
    extraEnv: { ...identity("AUTHOR", spec.author), ...identity("COMMITTER", spec.committer) },
  });
  return output.toString().trim();
}

function identity(role: "AUTHOR" | "COMMITTER", { name, email, seconds, offsetMinutes = 0 }: Signature): Environment {
  const minutes = Math.abs(offsetMinutes);
  const zone = `${offsetMinutes < 0 ? "-" : "+"}${String(Math.floor(minutes / 60) * 100 + (minutes % 60)).padStart(4, "0")}`;
  return {
    [`GIT_${role}_NAME`]: name,
    [`GIT_${role}_EMAIL`]: email,
    [`GIT_${role}_DATE`]: `@${Math.floor(seconds)} ${zone}`,
  };
}
