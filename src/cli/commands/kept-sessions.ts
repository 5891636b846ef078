// Chooses among the sessions that agents keep for this project: by agent, by age, or by a person at a terminal.
import type { Workspace } from "../../app/conversation/workspace.ts";
import { createKnownSessions, type ImportRequest, type KnownAs } from "../../app/import/import-request.ts";
import { type KeptRow, type ListedSessions, listKeptSessions } from "../../app/import/list-kept.ts";
import type { KeptChoice } from "../../app/sessions/kept-files.ts";
import type { SessionFile } from "../../app/sessions/session-files.ts";
import { userError } from "../../core/errors.ts";
import { forTerminal, safe } from "../../core/safe-text.ts";
import { isTerminal, readTerminalLine } from "../frame/ask.ts";
import { type CommandContext, flag, text } from "../frame/command.ts";
import { readSince } from "../frame/range-argument.ts";
import { renderKept, renderPick } from "../render/import.ts";
import { renderCount } from "../render/quantity.ts";

/** Most rows of a list without --all. */
const LISTED = 50;
/** Most rows to pick from: they fit on a screen. */
const ASKED = 20;

/** Reads the choice by agents' names and `--since`. Throws `contradictory_flags` for one that also names paths, `bad_time`. */
export function chooseKept(
  { options, runtime }: CommandContext,
  request: Pick<ImportRequest, "format" | "paths" | "kept">,
): KeptChoice {
  const since = text(options, "since");
  const isNarrowed = since !== undefined || flag(options, "all") || flag(options, "list");
  if (isNarrowed && (request.paths.length > 0 || request.format !== undefined)) {
    throw userError(
      "contradictory_flags",
      "jpg import: --list, --all and --since choose among the sessions that agents keep, so they cannot be used with paths.",
      { hints: ["Leave the paths out, or import them: `jpg import PATH`."] },
    );
  }
  if (since === undefined) return request.kept ?? {};
  return { ...request.kept, sinceMs: readSince(since, runtime) };
}

/** Prints what agents keep. Returns the exit code: 1 = there is none. */
export async function listKept(context: CommandContext, choice: KeptChoice): Promise<number> {
  const { options, runtime, output, json, open } = context;
  const most = flag(options, "all") ? Number.POSITIVE_INFINITY : LISTED;
  const workspace = await open({ create: true });
  const knownAs = await createKnownSessions(workspace);
  const { rows, older, leftOut } = await listKeptSessions(workspace, listed(knownAs, { choice, most }));
  if (json) output.json(rows);
  else output.data(renderKept(rows, { ...output, now: runtime.now(), home: runtime.home }));
  for (const { message } of leftOut) output.warn(forTerminal(message));
  if (older > 0)
    output.info(safe`${renderCount(older, "older session")} not listed; --all lists them, --since 30d some.`);
  return rows.length === 0 ? 1 : 0;
}

/** Lets a person pick among sessions that jpg has not seen. Returns the choice unchanged if nobody is asked; null = none. */
export async function pickKept(
  context: CommandContext,
  workspace: Workspace,
  choice: KeptChoice,
): Promise<KeptChoice | null> {
  const { options, runtime, output, json } = context;
  if (flag(options, "all") || json || !isTerminal(process.stdin, output)) return choice;
  const knownAs = await createKnownSessions(workspace);
  const { rows, older, unclear } = await listKeptSessions(workspace, listed(knownAs, { choice, most: ASKED }));
  const claimed = await pickUnclear(context, unclear);
  const asked: KeptChoice = { ...choice, isClaimed: ({ path }) => Promise.resolve(claimed.has(path)), wasAsked: true };
  const known = new Set<string>();
  for (const { path } of rows) if ((await knownAs({ path, named: false })) !== null) known.add(path);
  const fresh = rows.filter(({ path }) => !known.has(path));
  if (fresh.length < 2) return rows.length + claimed.size === 0 && unclear.length > 0 ? null : asked;
  output.info(renderPick(fresh, { ...output, now: runtime.now() }));
  if (older > 0)
    output.info(safe`${renderCount(older, "older session")} not shown; \`jpg import --all\` imports them too.`);
  output.prompt(safe`Which? [Enter = all of these, 1 3-5 = some, n = none] `);
  const picked = await askPick(output, fresh.length);
  const only = new Set([...picked.flatMap((at) => fresh[at]?.path ?? []), ...known, ...claimed]);
  return only.size === 0 ? null : { ...asked, only };
}

/** Leaves out sessions that jpg exported and nobody continued: they hold nothing new. */
function listed(
  knownAs: (file: SessionFile) => Promise<KnownAs>,
  { choice, most }: { readonly choice: KeptChoice; readonly most: number },
): ListedSessions {
  return {
    choice: { ...choice, isClaimed: async (file) => (await knownAs(file)) !== null },
    most,
    isSkipped: async (file) => (await knownAs(file)) === "exported",
  };
}

/** Asks which unclear sessions belong to this project. Returns their paths. */
async function pickUnclear(
  { runtime, output }: CommandContext,
  unclear: readonly KeptRow[],
): Promise<ReadonlySet<string>> {
  if (unclear.length === 0) return new Set();
  output.info(renderPick(unclear, { ...output, now: runtime.now() }));
  output.info(safe`They name no directory that exists, so they may belong to another project.`);
  output.prompt(safe`Which belong to this one? [Enter = none, 1 3-5 = some, a = all] `);
  const picked = await askPick(output, unclear.length, "none");
  return new Set(picked.flatMap((at) => unclear[at]?.path ?? []));
}

/** Asks until the answer can be parsed; the end of input means none. */
async function askPick(
  output: CommandContext["output"],
  count: number,
  enter: "all" | "none" = "all",
): Promise<readonly number[]> {
  for (;;) {
    const line = await readTerminalLine(process.stdin);
    if (line === null) output.prompt(safe`\n`);
    const isNone = line === null || (enter === "none" && line.trim() === "");
    const picked = isNone ? [] : parsePick(line, count);
    if (picked !== null) return picked;
    output.prompt(safe`Please type numbers from 1 to ${count}, or press Enter: `);
  }
}

/** Parses an answer into positions, 0-based, ascending; empty = none, null = it cannot be parsed. */
export function parsePick(line: string, count: number): readonly number[] | null {
  const words = line
    .trim()
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((word) => word !== "");
  const all = Array.from({ length: count }, (_, at) => at);
  if (words.length === 0 || (words.length === 1 && /^(?:a|all|y|yes)$/.test(words[0] ?? ""))) return all;
  if (words.length === 1 && /^(?:n|no|none|q|quit)$/.test(words[0] ?? "")) return [];
  const picked = new Set<number>();
  for (const word of words) {
    const [, from, to = from] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(word) ?? [];
    const [first, last] = [Number(from), Number(to)];
    if (from === undefined || first < 1 || last > count || first > last) return null;
    for (let at = first; at <= last; at++) picked.add(at - 1);
  }
  return all.filter((at) => picked.has(at));
}
