// Writes commits through one `git fast-import`: in stretches, so that an import of any size runs in bounded memory, and without
// leaving a ref behind whatever happens (the ref it needs is dropped before the end; an unfinished stream updates none).
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { repositoryError } from "../../../core/errors.ts";
import type { BranchWrite, CommitSpec } from "../../conversation-store.ts";
import type { Environment } from "../../environment.ts";
import { ZERO_ID } from "../../object-ids.ts";
import { commandError, formatArguments, placeOf, type Repository } from "../git/git-command.ts";
import { type GitPipe, openGit } from "../git/git-process.ts";
import { createSink, type GitSink } from "../git/git-sink.ts";
import { createDeltaBase, type DeltaBase, parseMarks } from "./delta-base.ts";
import { formatCommitHead, formatInlineFile, formatNamedFile, formatRemoval, WRITE_REF } from "./fast-import-text.ts";

/** A commit that was written for a branch, and what it was made from when it asked to be signed or follows one that did. */
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

// Measured on 22 MB of sessions: level 1 with deltas is as fast as no deltas at half the size, and what fast-import
// stores is what a later `git gc` keeps (it reuses both deflated data and deltas within one pack). Chains of 10 instead of 50
// cost 5 % of room and save most of what reading the far end of a chain costs; `delta-base.ts` keeps them short for files.
const CONFIG: readonly string[] = ["core.compression=1", "fastimport.unpackLimit=100"];
// glibc gives the memory of each deflated object back to the system and asks for it again: a third of the time. Other C
// libraries ignore these.
const MEMORY: Environment = {
  MALLOC_TOP_PAD_: String(16 * 1024 * 1024),
  MALLOC_TRIM_THRESHOLD_: String(256 * 1024 * 1024),
  MALLOC_MMAP_THRESHOLD_: String(256 * 1024 * 1024),
};
const ARGS: readonly string[] = ["fast-import", "--quiet", "--done", "--date-format=raw", "--depth=10"];

/**
 * Writes the commits of all writes; moves no branch. When a source of commits throws, so does this, with nothing referenced.
 * `onSign` is called for each commit that asks to be signed, before it is written.
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

/** A fast-import that starts with what is written first: moves without commits need none. */
interface ImportStream {
  readonly sink: () => GitSink;
  /** Ends it; gives what it printed, "" when it was not started. */
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

/** `first` = what the first commit of a branch builds on; null for those that follow it. */
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
    // Memory stays bounded.
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
