// Makes a page safe to export: masks secrets in all of it, and for a view leaves out what the model does not see. Reports what was
// masked and left out.
import { traitsOf } from "../../core/conversation/event.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { sourceFileOf, turnPath } from "../../core/conversation/turn-file.ts";
import { repositoryError } from "../../core/errors.ts";
import type { BothRow } from "../../core/look/both-views.ts";
import { createMasker, maskLine } from "../../core/secrets/mask.ts";
import type { BranchTree } from "../conversation/tree.ts";
import { loadView } from "../conversation/view.ts";
import type { Workspace } from "../conversation/workspace.ts";
import {
  type ConversationPage,
  type PageTokens,
  type PageTurn,
  readConversationPage,
  readPayloads,
} from "../look/conversation-page.ts";
import {
  findMasksInLines,
  type MaskedSecret,
  maskedIn,
  masksIn,
  type TextAtPath,
  type WantedSecrets,
} from "./find-masks.ts";
import { type ReviewReport, reviewedPair } from "./review.ts";
import { type OutgoingSecret, secretsError } from "./scan-outgoing.ts";
import { nameShared, readSaidLines, sharedTitle } from "./share.ts";

/** What of a conversation to export as a page. */
export interface MaskedPageRequest {
  /** `all`: everything that was said, with the model's view; `view`: only the model's view. */
  readonly scope: "all" | "view";
  /** Rules whose finds are allowed. */
  readonly allow: readonly string[];
}

export interface MaskedPageReport {
  readonly turns: number;
  readonly scope: MaskedPageRequest["scope"];
  /** `events` = those that the view hides; `sources` = files of the agent, which no page holds. */
  readonly left_out: {
    readonly events: number;
    readonly compactions: number;
    readonly comments: number;
    readonly sources: number;
  };
  readonly secrets: readonly MaskedSecret[];
}

/** A page as one document. */
export interface StaticPage {
  /** The conversation's name on it; valid as a file name. */
  readonly name: string;
  readonly html: string;
  readonly report: MaskedPageReport;
}

/** Lists what was left out and what was masked, one line each; empty if nothing was. */
export function describeLeftOut({ left_out: left, secrets }: MaskedPageReport): readonly string[] {
  const counted = Object.entries(LEFT_OUT_NAMES).flatMap(([kind, [one, many]]) => {
    const count = left[kind as keyof typeof LEFT_OUT_NAMES];
    return count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];
  });
  const masked = secrets.map(({ mask, sample }) => `${mask} for ${sample}`);
  return [
    ...(counted.length === 0 ? [] : [`Left out: ${counted.join(", ")}`]),
    ...(masked.length === 0 ? [] : [`Masked: ${masked.join(", ")}`]),
  ];
}

const LEFT_OUT_NAMES = {
  events: ["hidden event", "hidden events"],
  compactions: ["compaction", "compactions"],
  comments: ["comment", "comments"],
  sources: ["source file", "source files"],
} as const;

/** Reads a page to export. Throws `redact_incomplete`. */
export async function readMaskedPage(
  workspace: Workspace,
  tree: BranchTree,
  { scope, allow }: MaskedPageRequest,
): Promise<{ readonly page: ConversationPage; readonly report: MaskedPageReport }> {
  const whole = await readWholePage(workspace, tree);
  const page = scope === "all" ? whole : await viewOf(workspace, tree, whole);
  const { config } = await workspace.config();
  const wanted = { rules: [], texts: [], allowed: config.secrets.allow, passing: allow };
  // Scans what is left out, too: the beginning of a secret there may occur elsewhere.
  const { secrets, masks } = await findMasksInLines(workspace, linesOf(whole), wanted);
  const masker = createMasker(masks);
  const text = maskLine(JSON.stringify(page), masker);
  const masked = JSON.parse(text) as ConversationPage;
  await requireClean(workspace, masked, wanted);
  const sources = await workspace.store.listTree(tree.commit, { under: ["sources"] });
  return {
    // The name of a view is made from the first request.
    page: scope === "all" ? masked : named(masked, nameShared({ branch: tree.branch, header: page }, masker)),
    report: {
      turns: page.turns.length,
      scope,
      left_out: {
        events: countEvents(whole) - countEvents(page),
        compactions: whole.compactions.length - page.compactions.length,
        comments: whole.comments.length - page.comments.length,
        sources: new Set(sources.map(({ path }) => sourceFileOf(path))).size,
      },
      secrets: maskedIn(secrets, [text]),
    },
  };
}

/** A page with long texts and images in full. */
async function readWholePage(workspace: Workspace, tree: BranchTree): Promise<ConversationPage> {
  const page = await readConversationPage(workspace, tree);
  const whole = await readPayloads(
    workspace,
    page,
    page.turns.flatMap(({ rows }) => rows),
  );
  const withPayloads = (row: BothRow): BothRow => {
    if (row.kind === "inserted") return { ...row, events: row.events.map(whole) };
    const { event, shown } = row;
    return { ...row, event: whole(event), ...(shown === undefined ? {} : { shown: whole(shown) }) };
  };
  return { ...page, turns: page.turns.map((turn) => ({ ...turn, rows: turn.rows.map(withPayloads) })) };
}

/** The page as the model sees it, without a trace of what is hidden. */
async function viewOf({ store }: Workspace, tree: BranchTree, whole: ConversationPage): Promise<ConversationPage> {
  const { view } = await loadView(store, tree);
  const title = await sharedTitle(store, { ...tree, header: { ...tree.header, title: whole.title } }, view.turns);
  const turns = whole.turns
    .map(({ tokens, rows, ...turn }): PageTurn => ({ ...turn, tokens: asSeen(tokens), rows: rows.flatMap(seenRow) }))
    .filter(({ rows }) => rows.length > 0);
  return { ...whole, title, turns, tokens: asSeen(whole.tokens), compactions: [], comments: [] };
}

function asSeen({ view }: PageTokens): PageTokens {
  return { raw: view, view };
}

function seenRow(row: BothRow): readonly BothRow[] {
  if (row.kind === "inserted") return [row];
  if (!isSaid(row) || (row.state !== "shown" && row.shown === undefined)) return [];
  return [{ kind: "event", event: row.shown ?? row.event, state: "shown" }];
}

function named(page: ConversationPage, branch: string): ConversationPage {
  return { ...page, branch, conversation: conversationOf(branch) };
}

/** Counts the events on the page that were said as they are. */
function countEvents({ turns }: ConversationPage): number {
  return turns.flatMap(({ rows }) => rows).filter(isSaid).length;
}

function isSaid(row: BothRow): boolean {
  return row.kind === "event" && traitsOf(row.event).providerVisible;
}

function* linesOf(page: ConversationPage): Generator<{ readonly path: string; readonly text: string }> {
  const { turns, ...rest } = page;
  yield { path: "title, compactions and comments", text: JSON.stringify(rest) };
  for (const { turn, rows } of turns)
    yield { path: turnPath(turn), text: rows.map((row) => JSON.stringify(row)).join("\n") };
}

async function requireClean(workspace: Workspace, page: ConversationPage, wanted: WantedSecrets): Promise<void> {
  const { secrets } = await findMasksInLines(workspace, linesOf(page), wanted);
  const [first] = secrets;
  if (first === undefined) return;
  throw repositoryError(
    "redact_incomplete",
    `${secrets.length === 1 ? "A secret" : `${secrets.length} secrets`} could not be masked, the first in ${first.path} (${first.rule}); nothing was written.`,
    { hints: [`\`--allow ${first.rule}\` allows what that rule finds.`], data: { secrets } },
  );
}

/** A part of a review; `turn` is absent where it is of no turn. */
interface ReviewPart extends TextAtPath {
  readonly turn?: number;
}

/**
 * Refuses a review that contains secrets; `word` names the fork, `allow` = rules whose finds pass this once. Throws
 * `secrets_found`.
 */
export async function checkReview(
  workspace: Workspace,
  report: ReviewReport,
  { word, allow }: { readonly word: string | undefined; readonly allow: readonly string[] },
): Promise<void> {
  const { fork } = await reviewedPair(workspace, word);
  const { config } = await workspace.config();
  const parts = partsOf(report);
  const looked = async function* (): AsyncGenerator<TextAtPath> {
    yield* parts;
    yield* readSaidLines(workspace, fork);
  };
  const wanted = { rules: [], texts: [], allowed: config.secrets.allow, passing: allow };
  const { secrets, masks } = await findMasksInLines(workspace, looked(), wanted);
  const masker = createMasker(masks);
  const refused = parts.flatMap(({ path, turn, text }): readonly OutgoingSecret[] => {
    const found = masksIn(maskLine(text, masker));
    return secrets.flatMap(({ mask, rule, sample, fingerprint }) => {
      const count = found.filter((one) => one === mask).length;
      const place = turn === undefined ? { path } : { path, turn };
      return count === 0 ? [] : [{ ...place, rule, line: 1, count, sample, fingerprint }];
    });
  });
  if (refused.length > 0)
    throw secretsError(refused, { command: "jpg review --markdown", of: [conversationOf(report.fork)] });
}

function partsOf({ turns, compactions, ...rest }: ReviewReport): readonly ReviewPart[] {
  return [
    { path: "names and settings", text: JSON.stringify(rest) },
    ...turns.map((turn) => ({ path: "", turn: turn.turn, text: JSON.stringify(turn) })),
    ...compactions.map((one) => ({ path: `compaction ${one.compaction.id}`, text: JSON.stringify(one) })),
  ];
}
