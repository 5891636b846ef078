// Writes commits through one `git fast-import`: streamed, so that an import of any size runs in bounded memory, and without
// leaving a ref whatever happens (the ref it needs is dropped before the end; an unfinished stream updates none).
import { createHash } from "node:crypto";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { repositoryError } from "../../core/errors.ts";
import { shellWord } from "../../core/safe-text.ts";
import type { Environment } from "../environment.ts";
import { formatSignature } from "../ref-files.ts";
import { type BranchWrite, type CommitSpec, type Signature, ZERO_ID } from "../store.ts";
import { createSink, type GitPipe, type GitSink, openGit } from "./git-process.ts";
import { commandError, formatArguments, placeOf, type Repository, runCommand, tryCommand } from "./porcelain.ts";

/** The commits written for a branch, and the specs of those that asked to be signed or follow one that did. */
export interface ImportedBranch {
  readonly branch: string;
  readonly expected: string | null;
  readonly parent: string | null;
  /** Ids of the commits, oldest first. */
  readonly commits: readonly string[];
  /** Position of the first commit that asks for a signature; `commits.length` when none does. */
  readonly firstSigned: number;
  /** The commits from `firstSigned` on, without their changes. */
  readonly specs: readonly Omit<CommitSpec, "changes">[];
}

// Measured on 22 MB of sessions: level 1 with deltas is as fast as no deltas at half the size, and a later `git gc` keeps what
// fast-import stores (it reuses both deflated data and deltas within one pack). Chains of 10 instead of 50 cost 5 % of space
// and save most of the time to read the far end of a chain; the choice of bases below keeps chains of files short. Fewer
// objects than 100 become loose files, which git does not sync by default; syncing all at once costs one wait.
const CONFIG: readonly string[] = [
  "core.compression=1",
  "fastimport.unpackLimit=100",
  "core.fsync=committed",
  "core.fsyncMethod=batch",
];
// glibc returns the memory of each deflated object to the system and asks for it again: a third of the time. Other C libraries
// ignore these.
const MEMORY: Environment = {
  MALLOC_TOP_PAD_: String(16 * 1024 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(256 * 1024 * 1024),
  MALLOC_MMAP_THRESHOLD_: String(256 * 1024 * 1024),
};
const ARGS: readonly string[] = ["fast-import", "--quiet", "--done", "--date-format=raw", "--depth=10"];

/**
 * Writes the commits of all writes; moves no branch. When a source of commits throws, so does this, with nothing referenced.
 * Calls `onSign` for each commit that asks to be signed, before it is written.
 */
export async function fastImport(
  repository: Repository,
  writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>,
  onSign: () => void = () => undefined,
): Promise<readonly ImportedBranch[]> {
  const stream = createImportStream(repository);
  const planned: PlannedBranch[] = [];
  let failure: { readonly cause: unknown } | null = null;
  try {
    await sendWrites(stream.sink, writes, { planned, onSign });
  } catch (cause) {
    failure = { cause };
  }
  const answer = await stream.end();
  if (failure !== null) throw failure.cause;
  return assignIds(planned, parseMarks(answer));
}

/** A fast-import that starts with the first write: moves without commits need none. */
interface ImportStream {
  readonly sink: () => GitSink;
  /** Ends it; returns what it printed, "" when it was not started. */
  readonly end: () => Promise<string>;
}

function createImportStream(repository: Repository): ImportStream {
  let started: { readonly pipe: GitPipe; readonly sink: GitSink } | undefined;
  let answer = "";
  const start = (): NonNullable<typeof started> => {
    const pipe = openGit(formatArguments(repository, { args: ARGS, config: CONFIG }), placeOf(repository, MEMORY));
    pipe.child.stdout.on("data", (chunk: Buffer) => {
      answer += chunk.toString("latin1");
    });
    return { pipe, sink: createSink(pipe) };
  };
  return {
    sink() {
      started ??= start();
      return started.sink;
    },
    async end() {
      if (started === undefined) return "";
      const { pipe, sink } = started;
      sink.text(`reset ${WRITE_REF}\nfrom ${ZERO_ID}\n\ndone\n`);
      await sink.end();
      const result = await pipe.ended;
      if (result.code === 0) return answer;
      await rm(join(repository.gitDir, `fast_import_crash_${pipe.child.pid}`), { force: true });
      throw await commandError(repository, { args: ARGS }, result);
    },
  };
}

interface PlannedBranch extends Omit<ImportedBranch, "commits"> {
  readonly count: number;
}

async function sendWrites(
  start: () => GitSink,
  writes: Iterable<BranchWrite> | AsyncIterable<BranchWrite>,
  { planned, onSign }: { readonly planned: PlannedBranch[]; readonly onSign: () => void },
): Promise<void> {
  const base = createDeltaBase();
  let mark = 0;
  for await (const write of writes) {
    const { branch, expected, parent } = write;
    const specs: Omit<CommitSpec, "changes">[] = [];
    let count = 0;
    for await (const commit of write.commits) {
      if (commit.sign === true) onSign();
      const sink = start();
      sink.text(formatHead(commit, ++mark, count === 0 ? { parent } : null));
      await sendChanges(sink, commit.changes, base);
      sink.text(`\nget-mark :${mark}\n`);
      count++;
      if (commit.sign === true || specs.length > 0) {
        const { message, author, committer, sign, merges = [] } = commit;
        specs.push({ message, author, committer, sign: sign === true, merges });
      }
    }
    planned.push({ branch, expected, parent, count, firstSigned: count - specs.length, specs });
  }
}

/** `first` = the parent of a branch's first commit; null for later commits. */
function formatHead(commit: CommitSpec, mark: number, first: Pick<BranchWrite, "parent"> | null): string {
  return first === null
    ? formatCommitHead(commit, mark, null)
    : `reset ${WRITE_REF}\n${formatCommitHead(commit, mark, first.parent)}`;
}

async function sendChanges(sink: GitSink, changes: CommitSpec["changes"], base: DeltaBase): Promise<void> {
  let isFirst = true;
  for (const change of changes) {
    if ("bytes" in change) {
      sink.text(base.before(change.bytes, isFirst));
      isFirst = false;
      sendFile(sink, change.path, change.bytes);
    } else sink.text("remove" in change ? formatRemoval(change.path) : formatNamedFile(change.path, change.oid));
    // Bounds the memory.
    if (sink.isFull()) await sink.drained();
  }
}

function sendFile(sink: GitSink, path: string, bytes: Uint8Array): void {
  sink.text(formatInlineFile(path, bytes.length));
  sink.bytes(bytes);
  sink.text("\n");
}

function assignIds(planned: readonly PlannedBranch[], ids: readonly string[]): ImportedBranch[] {
  let next = 0;
  return planned.map(({ count, ...rest }) => {
    const commits = ids.slice(next, next + count);
    next += count;
    if (commits.length !== count || commits.some((id) => id.length < 40)) {
      throw repositoryError(
        "git_failed",
        `git fast-import named ${commits.length} of ${count} commits of ${rest.branch}.`,
      );
    }
    return { ...rest, commits };
  });
}

// Chooses the delta base of the next blob. `git fast-import` always takes the blob before, however little that saves, so that a
// record of a few lines ends up after ten long pieces of a session, and reading it inflates them all. A blob that `cat-blob`
// prints becomes the base instead: unrelated content is then stored whole.

/** Called for all files in the order in which they are sent. */
interface DeltaBase {
  /** The commands to send before a file; it may be a delta of files of its own commit that are not much longer. */
  before(bytes: Uint8Array, isFirstOfCommit: boolean): string;
}

/** A base of at most so many bytes costs a reader nothing. */
const SMALL_BYTES = 1024;
/** A base of at least so many bytes is avoided for unrelated files; printing a blob costs git some 50 µs. */
const LARGE_BYTES = 16 * 1024;
/** Within a commit, how many times as long as a file its base may be. */
const TIMES_LONGER = 4;

/** Creates the state of a stream in which nothing was sent yet. */
export function createDeltaBase(): DeltaBase {
  let small: Uint8Array | null = null;
  let lastBytes = 0;
  return {
    before(bytes, isFirstOfCommit) {
      const isFar = isFirstOfCommit || bytes.length * TIMES_LONGER < lastBytes;
      const command = lastBytes >= LARGE_BYTES && isFar && small !== null ? `cat-blob ${blobId(small)}\n` : "";
      lastBytes = bytes.length;
      if (bytes.length <= SMALL_BYTES) small = bytes;
      return command;
    },
  };
}

/**
 * Parses the ids that `get-mark` printed, skipping the blobs that `cat-blob` printed between them. Input is Latin-1, a byte a
 * character.
 */
export function parseMarks(answer: string): string[] {
  const ids: string[] = [];
  for (let at = 0; at < answer.length; ) {
    const end = answer.indexOf("\n", at);
    const line = answer.slice(at, end < 0 ? answer.length : end);
    const [, size] = /^[0-9a-f]+ blob (\d+)$/.exec(line) ?? [];
    if (size === undefined) ids.push(line);
    at += line.length + 1 + (size === undefined ? 0 : Number(size) + 1);
  }
  return ids;
}

function blobId(bytes: Uint8Array): string {
  return createHash("sha1").update(`blob ${bytes.length}\0`).update(bytes).digest("hex");
}

/** The ref that commits are built on; it never exists outside a running fast-import. */
const WRITE_REF = "refs/jpg/write";

/** The message as git keeps it: one line end at its end, no NUL. */
export function formatMessage(message: string): string {
  return `${message.replaceAll("\0", "").trimEnd()}\n`;
}

/** The head of a commit; `from` is set for the first commit of a write that builds on an older one. */
function formatCommitHead(commit: CommitSpec, mark: number, from: string | null): string {
  const message = formatMessage(commit.message);
  const size = Buffer.byteLength(message);
  const lines = [
    `commit ${WRITE_REF}`,
    `mark :${mark}`,
    `author ${formatSignature(commit.author)}`,
    `committer ${formatSignature(commit.committer)}`,
    `data ${size}\n${message}`,
  ];
  const parents = [...(from === null ? [] : [`from ${from}\n`]), ...(commit.merges ?? []).map((id) => `merge ${id}\n`)];
  return lines.join("\n") + parents.join("");
}

function formatRemoval(path: string): string {
  return `D ${quotePath(path)}\n`;
}

/** The command that puts a stored blob at a path. */
function formatNamedFile(path: string, oid: string): string {
  return `M 100644 ${oid} ${quotePath(path)}\n`;
}

/** The command that puts `size` bytes at a path; they follow it, then a line end. */
function formatInlineFile(path: string, size: number): string {
  return `M 100644 inline ${quotePath(path)}\ndata ${size}\n`;
}

/** Quotes a path as a C string. Throws `bad_path` for what cannot be in a tree. */
export function quotePath(path: string): string {
  const isBad = path.includes("\0") || path.split("/").some((part) => part === "" || isReservedName(part));
  if (isBad) throw repositoryError("bad_path", `${JSON.stringify(path)} cannot be a path in a conversation's tree.`);
  const quoted = path.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
  return `"${quoted}"`;
}

function isReservedName(part: string): boolean {
  return part === "." || part === ".." || part.toLowerCase() === ".git";
}

// Signs commits that ask for it, if the user's git does. fast-import cannot sign, so such a commit and all after it in the same
// write are made again with `git commit-tree`, same trees, dates and messages.

interface Signer {
  /** Asks git for `commit.gpgSign`, once; called early, so that git answers while the commit is written. */
  ask(): void;
  /** Replaces the commits to be signed. */
  sign(branches: readonly ImportedBranch[]): Promise<readonly ImportedBranch[]>;
}

/** Creates the signer of a write; `say` receives a notice when signing takes so long that a person may have to act. */
export function createSigner(repository: Repository, say: (text: string) => void = () => undefined): Signer {
  let answer: ReturnType<typeof tryCommand> | null = null;
  return {
    ask() {
      if (answer !== null) return;
      answer = tryCommand(repository, { args: ["config", "--type=bool", "--get", "commit.gpgSign"] });
      // A write that fails for another reason reports that one.
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

/** A signature without user interaction is faster. */
const LONG_MS = 2000;

/** Git's default program of each format. */
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
