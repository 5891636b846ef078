// Reads history, where it is long, through one `git log` over the whole, unsimplified graph: what was added and taken back on
// merged side branches appears, each commit once. A merge names only what it changed against all its parents.
import type { LogEntry, LogQuery, Signature } from "../conversation-store.ts";
import { type Repository, runCommand } from "./git/git-command.ts";
import { readNearLog } from "./near-log.ts";

const START = "\u0001jpg";
const FIELDS = ["%H", "%P", "%an", "%ae", "%ad", "%cn", "%ce", "%cd", "%B"];
/** The option that has a log printed as it is read here. */
export const LOG_FORMAT: string = `--format=${START}%x00${FIELDS.join("%x00")}%x00`;

// The user's settings must not change what is read.
export const LOG_CONFIG: readonly string[] = [
  "log.showRoot=true",
  "log.follow=false",
  "log.showSignature=false",
  "log.mailmap=false",
  "diff.relative=false",
];

/** Reads a log, newest first; no parent stands before its child, except among the newest few of merged branches with skewed clocks. */
export async function readLog(repository: Repository, query: LogQuery): Promise<readonly LogEntry[]> {
  const { from, paths = [], limit, isAside } = query;
  const near = await readNearLog(repository.gitDir, query);
  if (near !== null) return near;
  const flags = ["--full-history", "--no-renames", "--name-status", "-c", "-O/dev/null", ...orderArguments(query)];
  if (paths.length === 0) return runLog(repository, flags, { from, paths });
  const [entries, merges] = await Promise.all([
    runLog(repository, flags, { from, paths }),
    // Git names no merge whose sides hold the same files, whatever each of them did.
    isAside === undefined ? [] : runLog(repository, ["--merges"], { from, paths: [] }),
  ]);
  const touching = entries.filter(
    ({ parents, added, removed, changed }) => parents.length < 2 || added.length + removed.length + changed > 0,
  );
  return (await leaveAside(repository, query, { merges, touching })).slice(0, limit);
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

/** Leaves out what came by the other parents of merges that are aside; only where there is one, the whole graph is read. */
async function leaveAside(
  repository: Repository,
  { from, isAside }: LogQuery,
  { merges, touching }: { readonly merges: readonly ParsedEntry[]; readonly touching: readonly ParsedEntry[] },
): Promise<readonly ParsedEntry[]> {
  const aside = new Set<string>();
  for (const merge of merges) if ((await isAside?.(merge)) === true) aside.add(merge.commit);
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
  // A set also gives what is added to it while it is gone through.
  for (const commit of own) for (const parent of parents.get(commit) ?? []) own.add(parent);
  return touching.filter(({ commit }) => own.has(commit));
}

/** Ordering by history needs the whole of it; a look at the newest few takes them as git walks. */
function orderArguments({ paths = [], limit }: LogQuery): readonly string[] {
  return limit !== undefined && paths.length === 0 ? [`--max-count=${limit}`] : ["--date-order"];
}

interface ParsedEntry extends LogEntry {
  /** Files changed in place. */
  readonly changed: number;
}

/** Parses the output of the log command: NUL-ended fields, then status and path of each file. */
export function parseLog(output: string): ParsedEntry[] {
  return splitLog(output).map(({ entry, tokens }) => {
    const files = { added: [] as string[], removed: [] as string[], changed: 0 };
    for (let at = 0; at < tokens.length; ) at += takeFile(files, tokens, at);
    return { ...entry, ...files };
  });
}

/** Splits a log into its commits, each with the words about its files as git printed them. */
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

/** Takes one status and its path; gives how many tokens that were. */
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
