// Reads history through one `git log` over the whole, unsimplified graph, so that it has what was added and removed on merged
// side branches, each commit once. A merge lists only the files that differ from all its parents.
import { join } from "node:path";
import type { DrawnLine, LogEntry, LogQuery, RewrittenFile, Signature, StoreVerdict, TextQuery } from "../store.ts";
import type { GitResult } from "./git-process.ts";
import type { BlobReader } from "./objects.ts";
import { commandError, type GitCommand, type Repository, runCommand, tryCommand } from "./porcelain.ts";

const START = "\u0001jpg";
const FIELDS = ["%H", "%P", "%an", "%ae", "%ad", "%cn", "%ce", "%cd", "%B"];
/** The format option that splitLog reads. */
export const LOG_FORMAT: string = `--format=${START}%x00${FIELDS.join("%x00")}%x00`;

// The user's settings must not change what is read.
export const LOG_CONFIG: readonly string[] = [
  "log.showRoot=true",
  "log.follow=false",
  "log.showSignature=false",
  "log.mailmap=false",
  "diff.relative=false",
];

/** Reads a log, newest first; no parent precedes its child, except among the newest few of merged branches with skewed clocks. */
export async function readLog(repository: Repository, query: LogQuery): Promise<readonly LogEntry[]> {
  const { from, paths = [], limit, firstParentOnly } = query;
  const flags = ["--full-history", "--no-renames", "--name-status", "-c", "-O/dev/null", ...orderArguments(query)];
  if (paths.length === 0) return runLog(repository, flags, { from, paths });
  const [entries, merges] = await Promise.all([
    runLog(repository, flags, { from, paths }),
    // Git leaves out a merge whose sides have the same files, whatever each of them did.
    firstParentOnly === undefined ? [] : runLog(repository, ["--merges"], { from, paths: [] }),
  ]);
  const touching = entries.filter(
    ({ parents, added, removed, changed }) => parents.length < 2 || added.length + removed.length + changed > 0,
  );
  return (await withoutSideHistory(repository, query, { merges, touching })).slice(0, limit);
}

async function runLog(
  repository: Repository,
  flags: readonly string[],
  { from, paths }: { readonly from: string; readonly paths: readonly string[] },
): Promise<readonly ParsedEntry[]> {
  const form = ["-z", "--no-color", "--no-notes", "--encoding=UTF-8", "--date=raw", LOG_FORMAT];
  const args = ["log", ...form, ...flags, "--end-of-options", from, "--", ...paths];
  const output = await runCommand(repository, { args, config: LOG_CONFIG, extraEnv: { GIT_LITERAL_PATHSPECS: "1" } });
  return parseLog(output.toString("utf8"));
}

/** Removes what only the other parents of first-parent-only merges have; reads the whole graph only if there is such a merge. */
async function withoutSideHistory(
  repository: Repository,
  { from, firstParentOnly }: LogQuery,
  { merges, touching }: { readonly merges: readonly ParsedEntry[]; readonly touching: readonly ParsedEntry[] },
): Promise<readonly ParsedEntry[]> {
  const aside = new Set<string>();
  for (const merge of merges) if ((await firstParentOnly?.(merge)) === true) aside.add(merge.commit);
  if (aside.size === 0) return touching;
  const args = ["rev-list", "--parents", "--end-of-options", from, "--"];
  const graph = (await runCommand(repository, { args })).toString();
  const parents = new Map(
    graph.split("\n").map((line) => {
      const [commit = "", first, ...others] = line.split(" ");
      return [commit, first === undefined || aside.has(commit) ? [first ?? ""] : [first, ...others]];
    }),
  );
  const [tip = ""] = parents.keys();
  const own = new Set([tip]);
  // A set also iterates what is added during the iteration.
  for (const commit of own) for (const parent of parents.get(commit) ?? []) own.add(parent);
  return touching.filter(({ commit }) => own.has(commit));
}

/** Ordering by date needs the whole history; with a limit, commits are taken in the order in which git walks. */
function orderArguments({ paths = [], limit }: LogQuery): readonly string[] {
  return limit !== undefined && paths.length === 0 ? [`--max-count=${limit}`] : ["--date-order"];
}

/** Draws a history as `git log --graph` does. */
export async function drawHistory(
  repository: Repository,
  tips: readonly string[],
  limit: number | undefined,
): Promise<readonly DrawnLine[]> {
  const count = limit === undefined ? [] : [`--max-count=${limit}`];
  const form = ["--graph", "--no-color", "--no-decorate", "--no-notes", "--encoding=UTF-8", "--format=%x1f%H%x1f%s"];
  const args = ["log", ...form, ...count, "--stdin"];
  const input = tips.map((tip) => `${tip}\n`).join("");
  const output = await runCommand(repository, { args, config: LOG_CONFIG, input });
  const lines = output.toString("utf8").trimEnd().split("\n");
  return lines.map((line) => {
    const [strokes = "", id, ...subject] = line.split("\x1f");
    return { strokes, commit: id === undefined ? null : { id, subject: subject.join(" ") } };
  });
}

interface ParsedEntry extends LogEntry {
  /** Files changed in place. */
  readonly changed: number;
}

/** Parses the output of the log command: NUL-ended fields, then status and path of each file. */
function parseLog(output: string): ParsedEntry[] {
  return splitLog(output).map(({ entry, tokens }) => {
    const files = { added: [] as string[], removed: [] as string[], changed: 0 };
    for (let at = 0; at < tokens.length; ) at += takeFile(files, tokens, at);
    return { ...entry, ...files };
  });
}

/** Splits a log into its commits, each with the tokens about its files as git printed them. */
export function splitLog(output: string): { readonly entry: LogEntry; readonly tokens: readonly string[] }[] {
  const split: { readonly entry: LogEntry; readonly tokens: readonly string[] }[] = [];
  const tokens = output.split("\0");
  let at = tokens.findIndex((token) => token.endsWith(START));
  while (at >= 0 && at < tokens.length) {
    const fields = tokens.slice(at + 1, at + 1 + FIELDS.length);
    const first = at + 1 + FIELDS.length;
    at = first;
    while (at < tokens.length && !tokens[at]?.endsWith(START)) at++;
    split.push({ entry: toEntry(fields), tokens: tokens.slice(first, at) });
  }
  return split;
}

interface Files {
  readonly added: string[];
  readonly removed: string[];
  changed: number;
}

/** Adds the file of one status and its path; returns the number of tokens read. */
function takeFile(files: Files, tokens: readonly string[], at: number): number {
  const status = tokens[at]?.trim() ?? "";
  if (!/^[ACDMTUX]+$/.test(status)) return 1;
  const path = tokens[at + 1] ?? "";
  if (/^A+$/.test(status)) files.added.push(path);
  else if (/^D+$/.test(status)) files.removed.push(path);
  else files.changed++;
  return 2;
}

function toEntry(fields: readonly string[]): LogEntry {
  const [commit = "", parents = "", an = "", ae = "", ad = "", cn = "", ce = "", cd = "", body = ""] = fields;
  return {
    commit,
    parents: parents === "" ? [] : parents.split(" "),
    author: parseSignature(an, ae, ad),
    committer: parseSignature(cn, ce, cd),
    message: `${body.trimEnd()}\n`,
    added: [],
    removed: [],
  };
}

function parseSignature(name: string, email: string, date: string): Signature {
  const [seconds = "0", zone = "+0000"] = date.split(" ");
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5));
  return { name, email, seconds: Number(seconds), offsetMinutes: zone.startsWith("-") ? -minutes : minutes };
}

/** Reads committer times in seconds since 1970, in the order asked; 0 for an object that has none. Throws `object_missing`. */
export async function readCommitTimes(
  reader: Pick<BlobReader, "readAll">,
  commits: readonly string[],
): Promise<readonly number[]> {
  const times: number[] = [];
  for await (const bytes of reader.readAll(commits)) times.push(parseCommitTime(bytes));
  return times;
}

/** The message follows an empty line: a committer line in it is ignored. */
function parseCommitTime(bytes: Uint8Array): number {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
  const head = text.slice(0, text.indexOf("\n\n") + 1 || undefined);
  return Number(/^committer .*> (\d+) [+-]\d{4}$/m.exec(head)?.[1] ?? 0);
}

// Finds what git itself finds wrong in a store, and which files its history changed in place: two processes of git at once, each
// of which reads the repository once.

const FSCK: GitCommand = { args: ["fsck", "--full", "--no-dangling", "--no-reflogs", "--no-progress"] };
/** Files and folders whose files never change, or only grow; those in `sources` may also be rewritten by an agent. */
const FOLDERS = ["conversation.json", "turns", "compactions", "config", "meta", "attachments", "sources"];
const LOG: GitCommand = {
  args: [
    "log",
    "-z",
    "--branches",
    "--full-history",
    "--no-renames",
    "--diff-filter=M",
    "--raw",
    "--no-abbrev",
    "--no-color",
    "--no-show-signature",
    "--format=%x01%H",
    "--",
    ...FOLDERS,
  ],
};

export async function verifyStore(repository: Repository): Promise<StoreVerdict> {
  const [fsck, log] = await Promise.all([runFsck(repository), tryCommand(repository, LOG)]);
  const output = `${fsck.stdout.toString()}\n${fsck.stderr}`;
  const problems = output
    .split("\n")
    .filter((line) => /^(error|fatal|missing|broken link|bad |dangling)/.test(line.trim()));
  // If the log fails, fsck reports which object is missing.
  return { problems, rewritten: log.code === 0 ? parseRewrites(log.stdout.toString("utf8")) : [] };
}

/** Runs fsck. It writes the trees of a sparse index; on a read-only disk that fails, so it runs again without the index. */
async function runFsck(repository: Repository): Promise<GitResult> {
  const result = await tryCommand(repository, FSCK);
  if (!/unable to create temporary file/.test(result.stderr)) return result;
  return await tryCommand(repository, {
    ...FSCK,
    extraEnv: { GIT_INDEX_FILE: join(repository.gitDir, "jpg-no-index") },
  });
}

/** Parses `--raw -z`: a commit, then `:<modes> <from> <to> M` and the path of each file. */
function parseRewrites(output: string): readonly RewrittenFile[] {
  const rewritten: RewrittenFile[] = [];
  let commit = "";
  const tokens = output.split("\0");
  for (const [at, token] of tokens.entries()) {
    const start = token.indexOf("\u0001");
    if (start >= 0) commit = token.slice(start + 1, start + 41);
    const [, from, to] = /:\d+ \d+ ([0-9a-f]{40}) ([0-9a-f]{40}) M$/.exec(token) ?? [];
    if (from !== undefined && to !== undefined) rewritten.push({ commit, path: tokens[at + 1] ?? "", from, to });
  }
  return rewritten;
}

// Finds the files of commits that contain a text, through one `git grep` for many commits. Compares bytes: the caller checks what
// the text means in a file.

/** Commits in one command line: far fewer than any system allows. */
const COMMITS_PER_CALL = 1000;
/** Git's exit code when nothing was found. */
const NOTHING = 1;

/** Returns the paths of each commit's files that contain one of the texts, in path order; commits without any are left out. */
export async function findText(
  repository: Repository,
  commits: readonly string[],
  query: TextQuery,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>();
  if (query.texts.length === 0) return found;
  for (let at = 0; at < commits.length; at += COMMITS_PER_CALL) {
    const command = grepCommand(commits.slice(at, at + COMMITS_PER_CALL), query);
    const result = await tryCommand(repository, command);
    if (result.code > NOTHING || result.code < 0) throw await commandError(repository, command, result);
    for (const line of result.stdout.toString("utf8").split("\0")) {
      const colon = line.indexOf(":");
      if (colon < 0) continue;
      const [commit, path] = [line.slice(0, colon), line.slice(colon + 1)];
      const paths = found.get(commit) ?? [];
      found.set(commit, paths);
      paths.push(path);
    }
  }
  return found;
}

function grepCommand(commits: readonly string[], { texts, under, ignoreCase = false }: TextQuery): GitCommand {
  const flags = ["-l", "-z", "-F", "--text", "--full-name", "--no-color", ...(ignoreCase ? ["-i"] : [])];
  return {
    // The texts are passed as a file: one may begin with a dash or be long.
    args: ["grep", ...flags, "-f", "-", ...commits, "--", ...under],
    input: texts.map((text) => `${text}\n`).join(""),
    // The user's settings must not change what is found.
    config: ["grep.fallbackToNoIndex=false", "submodule.recurse=false", "core.quotePath=false"],
    extraEnv: { GIT_LITERAL_PATHSPECS: "1" },
  };
}
