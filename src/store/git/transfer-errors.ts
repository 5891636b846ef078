// Turns git's output of a failed transfer into an error that says what to do.
import { asSentence, type JpgError, repositoryError } from "../../core/errors.ts";
import { checkRemoteName, checkRemoteUrl, isLocalPath, shownUrl, withoutSecrets } from "../../core/remote-address.ts";
import { forLine, forTerminalLine, shellWord } from "../../core/safe-text.ts";
import { type GitResult, gitError, readableStderr } from "./git-process.ts";
import type { Promisor } from "./guard.ts";

/** Creates the error for a remote that has objects of a store, and that the user has not fetched from there. */
export function remoteNotAsked({ cwd }: { readonly cwd: string }, { name, url }: Promisor): JpgError {
  const place = forTerminalLine(url === null ? name : `${name} (${shownUrl(url)})`);
  const message = `${place} was not asked: only the configuration of the store ${cwd} names it, and the store's maker wrote that.`;
  const hints = mayBeAsked({ name, url })
    ? [`\`jpg fetch --from ${name}\` fetches from it, and lets later commands ask it, in this folder.`]
    : ["`jpg clone URL` makes a store of your own, from an address that you know."];
  return repositoryError("remote_not_asked", message, { hints, data: { remote: name } });
}

/** Whether `jpg fetch` accepts the remote. */
function mayBeAsked({ name, url }: Promisor): boolean {
  try {
    checkRemoteName(name);
    return url !== null && checkRemoteUrl(url) === url;
  } catch {
    return false; // an option of git, a program, or no address at all
  }
}

/** Creates the error for objects that are needed and could not be fetched, or whose remote may not be asked. */
export function objectsElsewhere(
  cause: JpgError,
  {
    oids,
    remote,
    hints = cause.hints,
  }: { readonly oids: readonly string[]; readonly remote: string; readonly hints?: readonly string[] },
): JpgError {
  const count = oids.length === 1 ? "An object that is needed is" : `${oids.length} objects that are needed are`;
  return repositoryError("objects_elsewhere", `${count} not in this partial clone. ${cause.message}`, {
    hints,
    data: { oids, remote, cause: cause.code },
    cause,
  });
}

// Errors are of kind `repository` and say what failed, at which address, and what to do.

interface TransferRule {
  readonly code: string;
  readonly pattern: RegExp;
  readonly says: string;
  readonly hints: readonly string[];
}

/** Placeholder of the address in a hint, quoted for a shell. */
const ADDRESS = "ADDRESS";
const CHECK = "Check the address.";
/** Appended when a remote has that address. */
const CHANGE =
  ": `jpg remote ls` lists those of the remotes, `jpg remote rm NAME` and `jpg remote add NAME URL` change one.";
const AGAIN = "Run the command again: nothing was lost.";

const OTHER_HASH: TransferRule = {
  code: "remote_hash",
  pattern: /mismatched algorithms|does not support this repository's hash algorithm/,
  says: "names objects by SHA-256, and stores of conversations name them by SHA-1",
  hints: ["Git sends nothing between the two. Name another repository: `git init --bare PATH` makes one that fits."],
};

// Texts as git 2.31 to 2.55, curl and OpenSSH print them under LC_ALL=C.
const RULES: readonly TransferRule[] = [
  OTHER_HASH,
  {
    code: "remote_foreign",
    pattern: /dubious ownership|unsafe repository \(/,
    says: "belongs to another user than the one that git runs as there",
    hints: ["On that machine: `git config --global --add safe.directory PATH`, or make it that user's own."],
  },
  {
    code: "remote_host_unknown",
    pattern: /Host key verification failed|REMOTE HOST IDENTIFICATION HAS CHANGED/,
    says: "does not have the host key that ssh knows, or none is known",
    hints: [`Run \`git ls-remote ${ADDRESS}\` once in a terminal and look at what ssh asks.`],
  },
  {
    code: "remote_not_served",
    pattern: /access denied or repository not exported|service not enabled/,
    says: "does not serve that, or not to you",
    hints: [CHECK, "Git's daemon mostly lets people read only: to push, name an address of it over ssh or https."],
  },
  {
    code: "remote_credentials",
    pattern:
      /Authentication failed|could not read (Username|Password)|Permission denied|terminal prompts disabled|The requested URL returned error: 40[13]|Invalid credentials|access denied/i,
    says: "refused the credentials",
    hints: [
      "Log in as git does: a credential helper of your own (git config --global credential.helper …), or a key in ssh-agent.",
      `\`git ls-remote ${ADDRESS}\` shows whether git itself gets in.`,
    ],
  },
  {
    code: "remote_denied",
    // gitolite, GitHub, GitLab.
    pattern:
      /\bDENIED by\b|Permission to \S+ denied to|not allowed to (?:push|pull|download|upload)|do(?:es)?n't have permission/,
    says: "does not let you do that, or has no such repository",
    hints: [`Ask its owner what you may do there. ${CHECK}`],
  },
  {
    code: "remote_not_found",
    pattern:
      /does not appear to be a git repository|[Rr]epository '?.*'? not found|The requested URL returned error: 404|not a git repository|does not exist|not valid: is this a git repository|No such file or directory/,
    says: "is not a git repository, or you may not see it",
    hints: [CHECK],
  },
  {
    code: "remote_unsigned",
    pattern: /receiving end does not support --signed push/,
    says: "takes no signed pushes",
    hints: [
      "`git config --global push.gpgSign if-asked` signs pushes only where the remote takes that; `false` signs none.",
      "Or its owner sets receive.certNonceSeed there.",
    ],
  },
  {
    code: "remote_refused",
    pattern: /ref updates aborted by hook|hook declined/,
    says: "refused this by a hook of its own",
    hints: ["Ask its owner what its hook wants. Nothing was changed there."],
  },
  {
    code: "remote_unreachable",
    pattern:
      /Could not resolve (host|hostname)|Connection (refused|timed out|reset)|Empty reply from server|(Recv|Send) failure|No route to host|Network is unreachable|Failed to connect|Couldn't connect|unable to connect|Operation timed out|Name or service not known|SSL|(?<!push )certificate/i,
    says: "cannot be reached",
    hints: [`Check the network. ${CHECK}`, AGAIN],
  },
  {
    code: "remote_protocol",
    pattern: /transport '.*' not allowed|unsupported protocol|Unable to find remote helper/,
    says: "uses a protocol that is not allowed",
    hints: ["Name another address: https://HOST/PATH, USER@HOST:PATH, or a folder."],
  },
  {
    code: "remote_too_large",
    pattern: /attempting to allocate \d+ over limit/,
    says: "has a file that unpacks to more than half a GB, which jpg does not read",
    hints: ["jpg never writes one that large: ask its owner what it is. Nothing was fetched."],
  },
  {
    code: "remote_full",
    pattern: /remote: .*(No space left|quota)|exceeds|too large|pack-objects died.*size/i,
    says: "does not take that much",
    hints: ["Ask its owner for room, or push fewer conversations at a time."],
  },
  {
    code: "remote_objects",
    pattern: /fsck error|^error: object [0-9a-f]{40}:/m,
    says: "sent objects that git refuses to store",
    hints: ["Ask its owner: `git fsck --strict` there says which these are. No branch moved."],
  },
  {
    code: "remote_broke_off",
    pattern:
      /early EOF|Could not read from remote repository|unexpected disconnect|remote end hung up|RPC failed|index-pack (failed|died)|unpack|The requested URL returned error: 5\d\d|protocol error|bad line length|expected flush|invalid (index-pack|object|server)/i,
    says: "broke off, or sent what cannot be read",
    hints: [AGAIN],
  },
];

/**
 * The error of a failed transfer. `doing` begins the sentence, e.g. `Fetching from`; `cwd` = the store on this side; `isRemote`
 * = whether the address is one of its remotes, default true.
 */
export function transferError(
  doing: string,
  { url, cwd, isRemote = true }: { readonly url: string; readonly cwd: string; readonly isRemote?: boolean },
  { code, stderr }: Pick<GitResult, "code" | "stderr">,
): JpgError {
  const place = shownUrl(url);
  const said = withoutSecrets(
    readableStderr(stderr.replaceAll(url, place).replace(NO_CERTIFICATE, "").replace(ADVICE, "").replace(PROGRESS, "")),
  );
  const once = [...new Set(said.split("; "))].join("; ");
  const cause = once.replace(CONSEQUENCE, "") || said;
  // A warning of git's own, which is not the cause.
  const heard = stderr.replace(NO_CERTIFICATE, "");
  const rule = RULES.find(({ pattern }) => pattern.test(heard));
  // Failures on this side: a full disk, a store that is read-only or damaged; a local folder that git does not trust.
  const own = gitError({ args: ["fetch"], code, stderr, where: cwd });
  if (own.code === "foreign_repository" && isLocalPath(url)) return own;
  // A fetch moves no ref on the remote: a hook that stops it is on this side.
  if (own.code === "hook_refused" && !doing.startsWith("Pushing")) return own;
  if (own.code === "disk_full" || (rule === undefined && own.code !== "git_failed")) return own;
  const says = rule === undefined ? "" : `it ${rule.says}: `;
  return repositoryError(
    rule?.code ?? "remote_failed",
    `${doing} ${place} failed: ${says}${asSentence(cause || "git said nothing")}`,
    {
      // A masked address must not be typed.
      hints: (rule?.hints ?? [AGAIN])
        .map((hint) => (place === url ? hint.replace(ADDRESS, () => shellWord(url)) : hint))
        .map((hint) => (isRemote && hint.endsWith(CHECK) ? hint.replace(/\.$/, CHANGE) : hint)),
      data: { url: place, exit: code, stderr: said },
    },
  );
}

/** The error of an address whose refs have longer ids (SHA-256); git lists them without an error. */
export function otherHash(url: string): JpgError {
  const place = shownUrl(url);
  return repositoryError(OTHER_HASH.code, `${place} cannot be used: it ${OTHER_HASH.says}.`, {
    hints: OTHER_HASH.hints,
    data: { url: place },
  });
}

/** Limit on quoted output of the other side, characters. */
const MOST_SAID = 500;

/** The output of the other side, e.g. its hooks, in one line: each line once, without git's own. "" when it printed only progress. */
export function remoteWords(stderr: string): string {
  const lines = [...stderr.replace(PROGRESS, "").matchAll(/^remote: (.*)$/gm)].map(([, line = ""]) => line.trim());
  const own = lines.filter((line) => !/^error: hook declined to update /.test(line));
  return withoutSecrets(forLine([...new Set(own)].join(" "), MOST_SAID));
}

/** Git adds this to every failure of a transport. */
const ADVICE = /^Please make sure you have the correct access rights\nand the repository exists\.$/m;

/** With `push.gpgSign=if-asked`, printed for every remote that takes no signed pushes. */
const NO_CERTIFICATE = /^warning: not sending a push certificate since .*\n/m;

/** What git appends after the cause that git, ssh or a hook has named. */
const CONSEQUENCE =
  /(?:; (?:fatal: Could not read from remote repository\.|fatal: ref updates aborted by hook|send-pack: unexpected disconnect while reading sideband packet|fatal: the remote end hung up unexpectedly))+$/;

/** Progress of git on either side: its lines would hide what went wrong. */
const PROGRESS =
  /^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Resolving|Writing|Unpacking|Checking|Delta compression|Total)\b[^\n]*$/gm;
