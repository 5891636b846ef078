// The routes of one conversation, and the actions of forms: each calls `app` like the command of the same name.
import { type CompactRequest, compact } from "../app/compact/compact.ts";
import { describeNothing, overallTokens } from "../app/compact/compact-report.ts";
import { addComment, addPin, boundOf, removeComment, removePin } from "../app/conversation/marks.ts";
import { readTemplate } from "../app/conversation/runtime.ts";
import type { BranchTree } from "../app/conversation/tree.ts";
import type { Workspace } from "../app/conversation/workspace.ts";
import { eventText } from "../app/diff/view-text.ts";
import { type AskedCost, askedModel, describeAsked } from "../app/look/compaction-page.ts";
import { type ConversationPage, readPayloads } from "../app/look/conversation-page.ts";
import type { PageReader } from "../app/look/page-reader.ts";
import { searchConversations } from "../app/look/search.ts";
import { forkConversation } from "../app/manage/fork.ts";
import { addLabels, setTitle } from "../app/manage/marks.ts";
import { revertCompactions } from "../app/manage/revert.ts";
import { choosePipelines } from "../core/compact/strategies/pipelines.ts";
import { EXTRACTIVE } from "../core/conversation/compaction.ts";
import { parseTurnBound } from "../core/conversation/range-bound.ts";
import { formatTokens } from "../core/conversation/token-estimate.ts";
import { userError } from "../core/errors.ts";
import { forMarkdown } from "../core/safe-text.ts";
import { MANNERS } from "./pages/actions.ts";
import { renderPage, rowContext } from "./pages/conversation.ts";
import { type Action, branchAddress, type Place, turnAddress } from "./pages/document.ts";
import { renderFindPage } from "./pages/list.ts";
import { drawnRows, drawRows, drawTurns, type PageSpot, pageAt, rowsInReach, turnsOf } from "./pages/turns.ts";

// The actions of forms. Each returns lines that say what happened.

/** The outcome of an action: its messages, and the page, or turn of a page, that shows them. */
interface ActionOutcome {
  readonly said: readonly string[];
  readonly address: string;
}

/** An action that asks a model: shown with its price, and done when the form comes again with that model's name. */
interface ActionToConfirm {
  readonly confirm: AskedCost & { readonly fields: URLSearchParams };
}

type Run = (workspace: Workspace, tree: BranchTree, form: URLSearchParams) => Promise<ActionOutcome | ActionToConfirm>;

export const ACTIONS: Readonly<Record<Action, Run>> = {
  async comment(workspace, tree, form) {
    const about = parseTurnBound(field(form, "about"));
    const { comment } = await addComment(workspace, tree, { about, text: field(form, "text") });
    return {
      said: [`Comment ${comment.id} on ${boundOf(comment)}.`],
      address: turnAddress(tree.branch, comment.turn),
    };
  },
  async compact(workspace, tree, form) {
    const dryRun = form.get("how") !== "do";
    const request: CompactRequest = {
      range: { from: parseTurnBound(field(form, "from")), to: parseTurnBound(field(form, "to")) },
      ...mannerOf(field(form, "profile")),
      dryRun,
      activate: false,
      fork: false,
    };
    const asked = await askedModel(workspace, tree, request);
    if (asked !== null && !dryRun && form.get("confirm") !== asked.model)
      return { confirm: { ...asked, fields: new URLSearchParams([...form, ["confirm", asked.model]]) } };
    const report = await compact(workspace, tree, request);
    if (report.compaction === null && report.planned_summary === null) {
      const { title, why, hints } = describeNothing(report);
      return on(tree, [title, why, ...hints], form);
    }
    const { before, after } = overallTokens(report);
    const what = `${report.policies}, turns ${report.from_turn}..${report.to_turn}`;
    const size = `${formatTokens(before)} → ${formatTokens(after)} tokens`;
    const price = asked === null ? [] : [describeAsked(asked)];
    return on(
      tree,
      [
        dryRun ? `It would do this: ${what}; ${size}.` : `Compacted: ${what}; ${size}.`,
        ...(dryRun ? price : []),
        ...report.warnings,
      ],
      form,
    );
  },
  async fork(workspace, tree, form) {
    const name = form.get("name")?.trim() ?? "";
    const first = Number(field(form, "turn")) + 1;
    const report = await forkConversation(workspace, tree, {
      first,
      activate: false,
      ...(name === "" ? {} : { name }),
    });
    return { said: [`Forked to ${report.branch}, ${report.turns} turns.`], address: branchAddress(report.branch) };
  },
  async label(workspace, tree, form) {
    const { labels } = await addLabels(workspace, tree, [field(form, "label")]);
    return on(tree, [`Labels: ${labels.join(", ")}.`], form);
  },
  async pin(workspace, tree, form) {
    const { commit, events, warnings } = await addPin(workspace, tree, parseTurnBound(field(form, "what")));
    return on(tree, [`${commit === null ? "Pinned already" : "Pinned"}: ${events.length} events.`, ...warnings], form);
  },
  async uncomment(workspace, tree, form) {
    const { comment, commit } = await removeComment(workspace, tree, field(form, "id"));
    const done = commit === null ? "was removed already" : "is removed";
    return on(tree, [`Comment ${comment.id} on ${boundOf(comment)} ${done}.`], form);
  },
  async unpin(workspace, tree, form) {
    const { events, warnings } = await removePin(workspace, tree, parseTurnBound(field(form, "what")));
    return on(tree, [`Unpinned: ${events.length} events.`, ...warnings], form);
  },
  async revert(workspace, tree, form) {
    const {
      reverted,
      restored = [],
      tokens,
      warnings = [],
    } = await revertCompactions(workspace, [field(form, "id")], tree.branch);
    const size = tokens === undefined ? "" : `; ${formatTokens(tokens.before)} → ${formatTokens(tokens.after)} tokens`;
    const what = restored.length > 0 ? `Brought back ${restored.join(", ")}` : `Reverted ${reverted.join(", ")}`;
    return on(tree, [`${what}${size}.`, ...warnings], form);
  },
  async title(workspace, tree, form) {
    const { title } = await setTitle(workspace, tree, field(form, "title"));
    return on(tree, [`It is now called "${title}".`], form);
  },
};

/** Shows the messages on the page that the form came from, if it is one of this branch, else on the branch's page. */
function on({ branch }: BranchTree, said: readonly string[], form: URLSearchParams): ActionOutcome {
  const own = branchAddress(branch);
  const back = form.get("back") ?? "";
  const address = /^\/[^/?#]+\/[^/?#]+$/.test(back.slice(own.length)) && back.startsWith(own) ? back : own;
  return { said: said.filter((line) => line !== ""), address };
}

function field(form: URLSearchParams, name: string): string {
  const value = form.get(name)?.trim() ?? "";
  if (value === "")
    throw userError("missing_field", `The form came without "${name}".`, { hints: ["Go back and fill it in."] });
  return value;
}

function mannerOf(name: string): Pick<CompactRequest, "profile" | "model" | "strategies"> {
  if (name === "auto") {
    // Without its last step, a summary, which could ask a model.
    const { summarizeAbove: _, ...strategies } = choosePipelines(["auto"]);
    return { strategies };
  }
  if (name === "extract") return { profile: "heavy", model: EXTRACTIVE };
  // Who writes it is the user's word in the settings: no form names a model.
  if (name === "summary") return { profile: "heavy" };
  const profile = MANNERS.find((manner) => manner === name);
  if (profile === undefined)
    throw userError("unknown_profile", `A page compacts with ${MANNERS.join(", ")}, not with "${name}".`);
  return { profile };
}

// What a route is asked and what it answers.

export interface PageAnswer {
  readonly type: "text/html" | "text/plain" | "text/css" | "text/javascript" | "application/json";
  readonly body: string;
}

/** Redirects to another page of this server, which shows the messages. */
export interface Redirect {
  readonly address: string;
  readonly said: readonly string[];
}

interface PageRequest {
  readonly workspace: Workspace;
  readonly pages: PageReader;
  /** What the path names, decoded. */
  readonly names: readonly string[];
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
  readonly place: Place;
}

export interface Route {
  readonly method: "GET" | "POST";
  readonly path: RegExp;
  readonly run: (exchange: PageRequest) => Promise<PageAnswer | Redirect>;
}

// The style of all pages: what shows a conversation, then what shows compactions and comparisons.

const SHEETS = ["page.css", "page-compare.css"] as const;

/** Reads it as one sheet. */
export async function readStyle(): Promise<string> {
  return (await Promise.all(SHEETS.map(readTemplate))).join("\n");
}

/** Most that a page shows of what is found. */
const MOST_HITS = 200;

export const PARTS: readonly Route[] = [
  { method: "GET", path: /^\/c\/([^/]+)$/, run: answerPage },
  { method: "GET", path: /^\/c\/([^/]+)\/turns$/, run: answerTurns },
  { method: "GET", path: /^\/c\/([^/]+)\/text$/, run: answerText },
  { method: "GET", path: /^\/c\/([^/]+)\/find$/, run: answerFind },
];

async function answerPage(request: PageRequest): Promise<PageAnswer> {
  const page = await readPage(request);
  const parts = pageAt(page, readSpot(page, request.query.get("at")) ?? { turn: 0 });
  const turns = parts.flatMap((part) => (part.kind === "turns" ? part.turns : []));
  const whole = await readPayloads(request.workspace, page, drawnRows(turns));
  const family = await request.pages.family(request.workspace, page, { isFresh: true });
  return { type: "text/html", body: renderPage(page, request.place, { parts, whole, family }) };
}

/** Turns, or some rows of one, without a document around them. */
async function answerTurns(request: PageRequest): Promise<PageAnswer> {
  const { workspace, place, query } = request;
  const page = await readPage(request);
  const [, from, to] = /^(\d+)\.\.(\d+)$/.exec(query.get("rows") ?? "") ?? [];
  const range = { from: readNumber(query, "from"), to: readNumber(query, "to") };
  const turn = page.turns[range.from];
  if (turn === undefined) throw notHere(`turn ${range.from}`);
  if (from === undefined || to === undefined) {
    const turns = turnsOf(page, range);
    const whole = await readPayloads(workspace, page, drawnRows(turns));
    const { agents = [] } = await request.pages.family(workspace, page);
    const context = rowContext(page, place, { turns: turns.map((drawn) => drawn.turn), whole, agents });
    return { type: "text/html", body: String(drawTurns(turns, context)) };
  }
  const rows = rowsInReach(turn, { from: Number(from), to: Number(to) });
  const whole = await readPayloads(workspace, page, turn.rows.slice(rows.from, rows.to + 1));
  return { type: "text/html", body: String(drawRows(turn, rows, rowContext(page, place, { turns: [turn], whole }))) };
}

/** The whole text of an event, as text. */
async function answerText(request: PageRequest): Promise<PageAnswer> {
  const page = await readPage(request);
  const spot = readSpot(page, request.query.get("at"));
  const row = page.turns[spot?.turn ?? -1]?.rows.find((one) => one.kind === "event" && one.event.id === spot?.event);
  if (row?.kind !== "event") throw notHere("this event");
  const whole = await readPayloads(request.workspace, page, [row]);
  return { type: "text/plain", body: forMarkdown(eventText(whole(row.event)) ?? "") };
}

async function answerFind(request: PageRequest): Promise<PageAnswer> {
  const { workspace, query, place } = request;
  const { branch, title } = await readPage(request);
  const words = query.get("words")?.trim() ?? "";
  const search = { pattern: words, ignoreCase: true, id: branch, limit: MOST_HITS };
  const report = words === "" ? { hits: [], cut: false, unreadable: [] } : await searchConversations(workspace, search);
  return { type: "text/html", body: renderFindPage(title, branch, { words, report, place }) };
}

function readPage({ workspace, pages, names: [branch = ""], query }: PageRequest): Promise<ConversationPage> {
  const commit = query.get("commit");
  if (commit !== null && !/^[0-9a-f]{40}$/.test(commit)) throw userError("bad_address", "The address names no commit.");
  const without = query.get("without");
  return pages.read(workspace, branch, {
    ...(commit === null ? {} : { commit }),
    ...(without === null ? {} : { without }),
  });
}

/** Reads `12`, `12:EVENT`, or `:EVENT` alone; null when it is none of these, or nothing is there. */
function readSpot({ turns }: ConversationPage, text: string | null): PageSpot | null {
  const [, turn = "", event] = /^(\d{0,9})(?::(.+))?$/s.exec(text ?? "") ?? [];
  if (turn !== "") return { turn: Number(turn), event };
  const found = turns.find(({ rows }) => rows.some((row) => row.kind === "event" && row.event.id === event));
  return found === undefined || event === undefined ? null : { turn: found.turn, event };
}

function readNumber(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? "";
  if (!/^\d{1,9}$/.test(text)) throw userError("bad_address", `"${name}" in the address is not a turn.`);
  return Number(text);
}

function notHere(what: string): Error {
  return userError("unknown_place", `The conversation does not have ${what}.`);
}
