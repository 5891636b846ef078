// What `jpg push`, `pull`, `share`, `scan`, `redact`, `merge` and `revert` print.
import type { MergeReport } from "../../app/manage/merge.ts";
import type { RevertReport } from "../../app/manage/revert.ts";
import type { CloneReport, FetchReport, PullReport, RemotePlace } from "../../app/share/pull.ts";
import type { PushReport } from "../../app/share/push.ts";
import type { RedactReport } from "../../app/share/redact.ts";
import type { RemoteRow } from "../../app/share/remotes.ts";
import type { ScanReport } from "../../app/share/scan.ts";
import { EXTRACTIVE } from "../../core/conversation/compaction.ts";
import { abbreviateCommit, conversationOf, forkOf } from "../../core/conversation/name.ts";
import { formatTokens } from "../../core/conversation/token-estimate.ts";
import { renderPrice } from "../../core/model/money.ts";
import type { PublishedAs } from "../../core/remote-address.ts";
import { forTerminal, forTerminalLine, joinLines, joinSafe, type SafeText, safe } from "../../core/safe-text.ts";
import { type Column, renderTable } from "../frame/table.ts";
import type { Rendering, Style } from "../frame/terminal.ts";
import { groupDigits, renderBytes, renderCount, renderId, renderRange, renderTokens, shortCommit } from "./quantity.ts";

/** Renders a remote's name, how conversations are stored there, and its address. */
export function renderRemotePlace({ remote, as, url }: RemotePlace): SafeText {
  return safe`${forTerminalLine(remote)} (${renderPublished(as)}): ${forTerminalLine(url)}`;
}

/** Renders how conversations are stored on a remote. */
export function renderPublished(as: PublishedAs): SafeText {
  return as === "hidden" ? safe`hidden refs` : safe`branches`;
}

/** Renders the remotes of a store, one a line. */
export function renderRemotes(rows: readonly RemoteRow[], { style, width }: Rendering): SafeText {
  const cells = rows.map(({ name, as, url, branches }) => [
    name,
    renderPublished(as),
    url,
    branches === 0 ? "" : renderCount(branches, "branch", "branches"),
  ]);
  const columns = [{ paint: style.id }, {}, { shrinkTo: 16 }, { shrinkTo: 8, paint: style.faint }];
  return joinLines(renderTable(cells, { columns, width }));
}

/** Renders what a push sent, or would send. */
export function renderPush(report: PushReport, isDryRun: boolean, { style, width }: Rendering): SafeText {
  const shown = report.branches.filter(({ status }) => status !== "unchanged");
  const cells = shown.map(({ branch, status, turns, reason }) => [
    PUSH_STATUS[status],
    branch,
    reason ?? (turns === 0 ? "" : renderCount(turns, "turn")),
  ]);
  const columns = [{ paint: style.heading }, { shrinkTo: 16, paint: style.id }, { shrinkTo: 8 }];
  const going = shown.filter(({ status }) => status === "new" || status === "updated");
  const there = renderCount(report.branches.length - shown.length, "branch", "branches");
  const isAllThere = shown.length === 0 && report.branches.length > 0;
  const name = forTerminalLine(report.remote);
  const local = joinSafe(report.local.map(forTerminalLine), ", ");
  return joinLines([
    ...renderFirstRows(cells, columns, width),
    isAllThere
      ? safe`Nothing to send: ${name} has all of it (${there}).`
      : going.length === 0
        ? safe`Nothing ${isDryRun ? "would be" : "was"} sent to ${name}.`
        : safe`${isDryRun ? "Would send" : "Sent"} ${sumOf(going, report.bytes)} to ${name}.`,
    ...(isAllThere || report.branches.length === shown.length ? [] : [safe`${there} already there.`]),
    ...(report.local.length === 0 ? [] : [safe`Not sent because they are local: ${local}.`]),
    ...shown.flatMap(concurrentPushNotes),
  ]);
}

/** Renders what somebody else pushed meanwhile that this push lacks, and how to keep it here as a fork. */
function concurrentPushNotes({ branch, passed_over: passed }: PushReport["branches"][number]): readonly SafeText[] {
  if (passed === undefined) return [];
  const [fork, commit] = [forTerminalLine(forkOf(branch)), forTerminalLine(abbreviateCommit(passed.commit))];
  const what = passed.turns === 0 ? "something" : renderCount(passed.turns, "turn");
  return [
    safe`In the meantime somebody else pushed ${what} to ${fork} that yours does not have.`,
    safe`Their next \`jpg pull\` makes it a fork. To keep it here as well:`,
    safe`  jpg git branch ${forTerminalLine(conversationOf(branch))}/NAME ${commit}`,
  ];
}

function sumOf(branches: PushReport["branches"], bytes: number): SafeText {
  const turns = branches.reduce((sum, branch) => sum + branch.turns, 0);
  const said = turns === 0 ? "" : safe`${renderCount(turns, "turn")}, `;
  return safe`${renderCount(branches.length, "branch", "branches")}, ${said}${renderBytes(bytes)}`;
}

const PUSH_STATUS: Readonly<Record<PushReport["branches"][number]["status"], string>> = {
  new: "new",
  updated: "updated",
  unchanged: "unchanged",
  ahead: "more is there: pull",
  behind: "not sent: pull first",
  refused: "refused",
  gone: "not sent: removed there",
};

/** Renders what a fetch downloaded. */
export function renderFetch({ remote, branches, total, gone }: FetchReport, { style, width }: Rendering): SafeText {
  const cells = branches.map(({ branch, status }) => [status, branch]);
  const columns = [{ paint: style.heading }, { shrinkTo: 16, paint: style.id }];
  const name = forTerminalLine(remote);
  const end =
    branches.length > 0
      ? safe`Your own branches are unchanged; \`jpg pull\` brings these in.`
      : safe`Nothing new from ${name}, which has ${renderCount(total, "branch", "branches")}.`;
  return joinLines([...renderFirstRows(cells, columns, width), end, ...renderRemovedFromRemote(name, gone)]);
}

/** Renders what somebody removed from a remote, perhaps because of a leak: it stays here, and a push asks before sending it again. */
function renderRemovedFromRemote(remote: SafeText, gone: readonly string[]): readonly SafeText[] {
  const names = joinSafe([...new Set(gone.map(conversationOf))].slice(0, MOST_ROWS).map(forTerminalLine), ", ");
  return gone.length === 0
    ? []
    : [safe`Somebody removed from ${remote}, but you still have: ${names}. \`jpg rm ID\` removes one here, too.`];
}

/** Renders what a pull changed. */
export function renderPull(report: PullReport, rendering: Rendering): SafeText {
  const { remote, branches, removed, gone, total, active } = report;
  const name = forTerminalLine(remote);
  const forked = branches.filter(({ status }) => status === "forked");
  const isBegun = branches.some(({ branch, status, fork }) => active === (status === "new" ? branch : fork));
  return joinLines([
    ...(branches.length > 0
      ? renderUpdatedBranches(branches, rendering)
      : [safe`Nothing new from ${name}, which has ${renderCount(total, "branch", "branches")}.`]),
    ...forked
      .filter(({ fork }) => fork === active)
      .map(
        ({ branch }) => safe`\`jpg merge ${forTerminalLine(forkOf(branch))}\` adds a summary of their turns to yours.`,
      ),
    ...(removed.length === 0
      ? []
      : [safe`Not brought back because they were removed here: ${joinSafe(removed.map(forTerminalLine), ", ")}.`]),
    ...renderRemovedFromRemote(name, gone),
    ...(active === null || !isBegun ? [] : [safe`Now on ${forTerminalLine(active)}`]),
  ]);
}

/** Renders what happened to updated branches, one a line, then why some stayed as they were. */
function renderUpdatedBranches(branches: PullReport["branches"], { style, width }: Rendering): readonly SafeText[] {
  const columns = [{ paint: style.heading }, { shrinkTo: 16, paint: style.id }, { shrinkTo: 8 }];
  return [...renderFirstRows(branches.map(pulledCells), columns, width), ...renderUpdateNotes(branches, style)];
}

/** Renders why branches stayed as they were, and the new names of the user's own where both sides had added turns. */
export function renderUpdateNotes(branches: readonly UpdatedBranch[], style: Style): readonly SafeText[] {
  return [...unchangedNotes(branches, style), ...forkNotes(branches)];
}

type UpdatedBranch = Pick<PullReport["branches"][number], "branch" | "fork" | "reason">;

/** Uses short names if all branches belong to one conversation. */
function forkNotes(branches: readonly UpdatedBranch[]): readonly SafeText[] {
  const forked = branches.flatMap(({ branch, fork }) => (fork === undefined ? [] : [{ branch, fork }]));
  const isOne = new Set(forked.map(({ branch }) => conversationOf(branch))).size === 1;
  return forked.slice(0, MOST_ROWS).map(({ branch, fork }) => {
    const name = forTerminalLine(isOne ? forkOf(branch) : branch);
    return safe`Both sides of ${name} had added turns: theirs keeps the name, yours is ${forTerminalLine(forkOf(fork))}.`;
  });
}

function unchangedNotes(branches: readonly UpdatedBranch[], style: Style): readonly SafeText[] {
  const kept = branches.filter(({ reason }) => reason !== undefined);
  return kept
    .slice(0, MOST_ROWS)
    .map(
      ({ branch, reason }) =>
        safe`${style.caution(safe`note:`)} ${forTerminalLine(branch)}: ${forTerminal(reason ?? "")}`,
    );
}

function pulledCells({ branch, status, turns }: PullReport["branches"][number]): string[] {
  return [status, branch, turns === 0 ? "" : `${renderCount(turns, "turn")}${status === "new" ? "" : " more"}`];
}

export function renderClone(report: CloneReport): SafeText {
  const begun = report.branches.filter(({ status }) => status === "new");
  const conversations = new Set(begun.map(({ branch }) => conversationOf(branch)));
  return joinLines([
    safe`Cloned ${renderCount(conversations.size, "conversation")} (${renderCount(begun.length, "branch", "branches")}) into ${forTerminalLine(report.path)}`,
    safe`from ${renderRemotePlace(report)}`,
    ...(report.active === null ? [] : [safe`Now on ${forTerminalLine(report.active)}`]),
  ]);
}

/** Rows shown of a list that may have a thousand. */
const MOST_ROWS = 20;

/** The first rows, and how many more there are. */
function renderFirstRows(rows: readonly string[][], columns: readonly Column[], width: number): readonly SafeText[] {
  const lines = renderTable(rows.slice(0, MOST_ROWS), { columns, width, indent: "  " });
  const more = rows.length - lines.length;
  return more === 0
    ? lines
    : [...lines, safe`  and ${renderCount(more, "more branch", "more branches")}; \`--json\` lists all`];
}

/** Most compactions named; the rest is counted. An edited plan may make one a turn. */
const MOST_NAMED = 10;

/** Renders the outcome of `revert` and `undo`. */
export function renderRevert(report: RevertReport, { style }: Rendering): SafeText {
  const back = new Set(report.restored);
  const named = (verb: SafeText, ids: readonly string[]): SafeText[] => {
    const rest = ids.length - MOST_NAMED;
    const shown = ids.slice(0, MOST_NAMED).map((id) => style.id(renderId(id)));
    const all = joinSafe(rest > 0 ? [...shown, safe`… ${groupDigits(rest)} more`] : shown, ", ");
    return ids.length === 0 ? [] : [safe`${style.heading(verb)} ${all}`];
  };
  const taken = report.reverted.filter((id) => !back.has(id));
  const returned = report.reverted.filter((id) => back.has(id));
  const done = joinSafe([...named(safe`Reverted`, taken), ...named(safe`Brought back`, returned)], "; ");
  const tokens = report.tokens === undefined ? "" : safe`  view ${renderTokens(report.tokens)}`;
  const where = report.branch === undefined ? "" : safe` on ${forTerminalLine(report.branch)}`;
  return safe`${done}${where}\n${style.commit(safe`commit ${shortCommit(report.commit ?? "none")}`)}${tokens}`;
}

/** Renders the outcome of `merge`. */
export function renderMerge(report: MergeReport, { style }: Rendering): SafeText {
  const { from_turn: from, to_turn: to, turn, tokens, commit, summary } = report;
  if (from === null || to === null || turn === null)
    return safe`${style.heading(safe`Nothing to merge.`)} ${forTerminalLine(report.reason ?? "")}`;
  const verb = style.heading(report.dry_run ? safe`Would merge` : safe`Merged`);
  const turns = from === to ? safe`turn ${from}` : safe`turns ${renderRange(from, to)}`;
  const price = summary?.price_usd === undefined ? "" : safe` (${forTerminal(renderPrice(summary.price_usd))})`;
  const notes = report.notes.map((note) => safe`${style.caution(safe`note:`)} ${forTerminal(note)}`);
  return joinLines([
    safe`${verb} ${forTerminalLine(report.fork)} ${turns} (${formatTokens(tokens.fork)} tokens)`,
    safe`into ${forTerminalLine(forkOf(report.branch))} as turn ${turn}: ${writerOf(report)}${price}`,
    ...(commit === null || tokens.after === null
      ? []
      : [
          safe`${style.commit(safe`commit ${shortCommit(commit)}`)}  view ${renderTokens({ before: tokens.before, after: tokens.after })}`,
        ]),
    ...notes,
  ]);
}

function writerOf({ model, dry_run: isDry }: MergeReport): SafeText {
  if (model === null) return safe`your summary`;
  if (model === EXTRACTIVE) return isDry ? safe`would extract a summary, without a model` : safe`an extract`;
  const name = forTerminalLine(model);
  return isDry ? safe`would have ${name} write a summary` : safe`a summary by ${name}`;
}

/** Renders findings, each as `FILE:LINE: github ghp_… (40 characters), 3 times`, and their number. */
export function renderScan({ files, bytes, secrets, directory }: ScanReport, { style }: Rendering): SafeText {
  if (files === 0 && directory !== undefined)
    return safe`Nothing was scanned: no agent on this machine keeps sessions for ${forTerminalLine(directory)}.`;
  const lines = secrets.map(({ path, line, rule, sample, count }) => {
    const times = count === 1 ? "" : safe`, ${count} times`;
    return safe`${forTerminalLine(path)}:${line}: ${style.heading(forTerminalLine(rule))} ${forTerminalLine(sample)}${times}`;
  });
  const found = secrets.length === 0 ? style.good(safe`no secrets`) : style.bad(renderCount(secrets.length, "secret"));
  return joinLines([...lines, safe`${found} in ${renderCount(files, "file")} (${renderBytes(bytes)})`]);
}

/** Renders the secrets with their masks, and what happened to the conversation. */
export function renderRedact(report: RedactReport, isDryRun: boolean, rendering: Rendering): SafeText {
  const { conversation, redacted, status, secrets, changes } = report;
  const [name, copy] = [forTerminalLine(conversation), forTerminalLine(redacted ?? "")];
  if (status === "nothing") return safe`Nothing to mask in ${name}: no secret was found.`;
  if (status === "unchanged") return safe`${name} is already masked as ${copy}; nothing has changed since.`;
  const rows = renderTable(secrets.map(secretCells), {
    columns: [{ paint: rendering.style.id }, {}, {}, { shrinkTo: 12, paint: rendering.style.faint }],
    width: rendering.width,
    indent: "  ",
  });
  if (status === "created") return joinLines([...rows, renderCreated(report, isDryRun)]);
  const masked = renderCount(secrets.length, "secret");
  return joinLines([
    ...rows,
    ...renderUpdatedBranches(changes, rendering),
    isDryRun
      ? safe`Would bring ${copy}, the copy of ${name}, up to date, with ${masked} masked.`
      : safe`Brought ${copy}, the copy of ${name}, up to date, with ${masked} masked.`,
  ]);
}

function secretCells({ mask, sample, count, path, turn }: RedactReport["secrets"][number]): string[] {
  return [mask, sample, count === 1 ? "" : `${count} times`, turn === undefined ? path : `turn ${turn}`];
}

function renderCreated({ conversation, redacted, secrets, left_out: left }: RedactReport, isDryRun: boolean): SafeText {
  const name = forTerminalLine(conversation);
  const masked = renderCount(secrets.length, "secret");
  const sources =
    left.sources === 0 ? "" : safe`; ${renderCount(left.sources, "source file")} (${renderBytes(left.bytes)}) left out`;
  return isDryRun
    ? safe`Would mask ${masked} in a copy of ${name}${sources}.`
    : safe`Masked ${masked} in ${forTerminalLine(redacted ?? "")}, a copy of ${name}${sources}.`;
}

/** Renders what a masked copy does not protect, and what to do about it. */
export function renderRedactAdvice(report: RedactReport): SafeText {
  const { conversation, redacted, status, branches, earlier, seen_on: seen } = report;
  const [name, copy] = [forTerminalLine(conversation), forTerminalLine(redacted ?? "")];
  if (status !== "created") return safe`\`jpg push ${copy}\` sends what the remote does not have yet.`;
  const others = branches.length === 1 ? "" : safe` (${renderCount(branches.length, "fork")})`;
  return joinLines([
    ...(earlier === null
      ? []
      : [safe`It masks other texts than ${forTerminalLine(earlier)}, the earlier copy, which stays.`]),
    safe`${name} is unchanged, and local now: nothing of it is pushed.`,
    safe`\`jpg push ${copy}\` sends the copy${others}.`,
    ...(seen.length === 0
      ? []
      : [safe`The original was seen on ${joinSafe(seen.map(forTerminalLine), ", ")}: what is there keeps the secret.`]),
    safe`The secret is still in the original, in clones and remotes that have it, in the trash`,
    safe`and in the agent's own files. Revoke it where it was issued. To remove the original`,
    safe`from this store for good: \`jpg purge ${name}\`.`,
  ]);
}
