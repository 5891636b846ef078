// Comments of a conversation: what people say about its turns. Saying or taking back one is one commit with one record.

import { recordPath } from "../../core/conversation/compaction-line.ts";
import {
  type Comment,
  type CommentRecord,
  commentOf,
  commentsInForce,
  parseComment,
} from "../../core/conversation/marks.ts";
import { isTurnNumber, mayBeBeginning, SHORTEST_BEGINNING } from "../../core/conversation/name.ts";
import type { TurnBound } from "../../core/conversation/range-bound.ts";
import { type JpgError, userError } from "../../core/errors.ts";
import { defined } from "../../core/json.ts";
import { forLine } from "../../core/safe-text.ts";
import { recordMessage } from "../../store/messages.ts";
import type { FileChange } from "../../store/store.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { appendMeta } from "./append-meta.ts";
import type { BranchTree } from "./branch-tree.ts";
import { boundOf, resolvePlace } from "./pins.ts";
import { readRecordLog } from "./record-log.ts";
import { type MetaRecord, readMetas } from "./titles.ts";

/** A comment, and who made it; absent = no commit says so. */
export interface CommentRow extends Comment {
  readonly author?: string;
}

export interface CommentReport {
  readonly branch: string;
  /** Null when nothing had to be written: somebody else had taken it back. */
  readonly commit: string | null;
  readonly comment: Omit<Comment, "timestamp">;
}

/** Lists the comments in force by turn, then by time. */
export async function listComments(workspace: Workspace, tree: BranchTree): Promise<readonly CommentRow[]> {
  const comments = await readComments(workspace, tree);
  if (comments.length === 0) return [];
  const authors = new Map(
    (await readRecordLog(workspace.store, tree.commit, ["meta"])).flatMap(({ added, author }) =>
      added.map((path) => [path, author.name] as const),
    ),
  );
  return comments
    .map((comment): CommentRow => {
      const author = authors.get(recordPath("meta", comment.timestamp, comment.id));
      return { ...comment, ...defined({ author }) };
    })
    .sort((a, b) => a.turn - b.turn);
}

/** The comments in force, oldest first. */
export async function readComments(workspace: Pick<Workspace, "store">, tree: BranchTree): Promise<readonly Comment[]> {
  return tree.metas.length === 0 ? [] : commentsInForce(await readMetas(workspace, tree));
}

/** Says something about a turn or an event. Throws `bad_comment`, `unknown_turn`, `unknown_event`, `ambiguous_event`. */
export async function addComment(
  workspace: Workspace,
  tree: BranchTree,
  { about, text }: { readonly about: TurnBound; readonly text: string },
): Promise<CommentReport> {
  const said = parseComment(text);
  const place = await resolvePlace(workspace, tree, about);
  let id = "";
  const commit = await appendMeta(workspace, tree, (_, __, own) => {
    id = own;
    return { fields: { comment: { ...place, text: said } }, message: messageOf("comment", place) };
  });
  return { branch: tree.branch, commit, comment: { id, ...place, text: said } };
}

/** Takes a comment back; `id` = its record's, or the beginning of it. Throws `unknown_comment`, `ambiguous_id`. */
export async function removeComment(workspace: Workspace, tree: BranchTree, id: string): Promise<CommentReport> {
  const comments = await readComments(workspace, tree);
  const exact = comments.filter((comment) => comment.id === id);
  const begun = comments.filter((comment) => comment.id.startsWith(id));
  const meant = exact.length > 0 ? exact : mayBeBeginning(id) ? begun : [];
  const [comment] = meant;
  if (comment === undefined) throw unknownComment(tree, id, { comments, begun });
  if (meant.length > 1) {
    throw userError("ambiguous_id", `${id} could mean ${meant.map((one) => one.id).join(", ")}.`, {
      hints: ["Type more of the name you mean."],
    });
  }
  const commit = await appendMeta(workspace, tree, (metas) =>
    commentsInForce(metas).some((one) => one.id === comment.id)
      ? { fields: { uncomment: comment.id }, message: messageOf("uncomment", comment) }
      : null,
  );
  const { timestamp: _, ...named } = comment;
  return { branch: tree.branch, commit, comment: named };
}

function unknownComment(
  { branch }: BranchTree,
  id: string,
  { comments, begun }: { readonly comments: readonly Comment[]; readonly begun: readonly Comment[] },
): JpgError {
  const isTurn = isTurnNumber(id);
  const near = isTurn ? comments.filter(({ turn }) => turn === Number(id)) : id === "" ? [] : begun;
  const names = near.map((comment) => comment.id).join(", ");
  const why = isTurn
    ? `${id} is the number of a turn, not the id of a comment.`
    : near.length > 0
      ? `${id} is too short to be the beginning of a comment's id: expected ${SHORTEST_BEGINNING} characters or more.`
      : `${branch} has no comment ${id}.`;
  return userError("unknown_comment", why, {
    hints: [
      ...(near.length === 0 ? [] : [`${isTurn ? `Comments on turn ${id}` : "It begins"}: ${names}`]),
      "`jpg comment` lists them with their ids.",
    ],
  });
}

/** What makes the comments on the first turns those of the tip, where a branch begins with these: what was said, and taken back, of them. */
export async function commentsAlong(
  { store }: Pick<Workspace, "store">,
  tip: BranchTree,
  start: { readonly metas: BranchTree["metas"]; readonly turnCount: number },
): Promise<readonly FileChange[]> {
  if (tip.metas.length === 0) return [];
  const metas = await readMetas({ store }, tip);
  const isHere = (record: CommentRecord): boolean => (commentOf(record)?.turn ?? start.turnCount) < start.turnCount;
  const here = new Set(metas.filter(isHere).map(({ id }) => id));
  const wanted = new Set(
    metas
      .filter((record) => here.has(record.id) || here.has(String(record.uncomment)))
      .map(({ timestamp, id }: MetaRecord) => recordPath("meta", timestamp, id)),
  );
  const has = new Set(start.metas.map(({ path }) => path));
  return tip.metas.flatMap(({ path, oid }) => (wanted.has(path) && !has.has(path) ? [{ path, oid }] : []));
}

function messageOf(what: "comment" | "uncomment", place: Pick<Comment, "turn" | "event">): string {
  return recordMessage(what, forLine(boundOf(place), 100));
}
