import {
  addComment,
  boundOf,
  type CommentReport,
  type CommentRow,
  listComments,
  removeComment,
} from "../../app/conversation/marks.ts";
import { resolveBranch, resolveTree } from "../../app/names/resolve-id.ts";
import { isBound, parseTurnBound } from "../../core/conversation/range-bound.ts";
import { userError } from "../../core/errors.ts";
import { forTerminalLine, joinLines, type SafeText, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, text } from "../frame/command.ts";
import { indentText, renderTime } from "../render/quantity.ts";

export const command: CommandSpec = {
  name: "comment",
  summary: "comment on a turn, or list the comments",
  description:
    "A comment is for people: no model sees it, and no compaction touches it. The conversation's page shows it (`jpg serve`, `export --to html`). It is pushed with the branch, and a fork keeps the comments on the turns it has. `jpg share` leaves comments out.",
  arguments: [
    { name: "[id]", description: "conversation; default @" },
    { name: "[what]", description: "a turn (5, -3) or an event of it (5:EVENT)" },
    { name: "[words...]", description: "the comment; - reads standard input" },
  ],
  options: [{ flags: "--remove <comment>", description: "remove this comment" }],
  examples: [
    { command: 'jpg comment 3 "Why did it go back to the old parser?"', explains: "comment on turn 3" },
    { command: "jpg comment", explains: "all comments, with their ids" },
    { command: "jpg comment --remove k3f9q2", explains: "remove one" },
  ],
  run: async (context) => {
    const { args, options, output, json, open, runtime } = context;
    const removed = text(options, "remove");
    const { id, what, words } = readArguments(args);
    const workspace = await open();
    if (what === undefined && removed === undefined)
      return list(context, await listComments(workspace, await resolveTree(workspace, id)));
    if (removed !== undefined && what !== undefined)
      throw userError("usage", "jpg comment --remove takes the id of a comment, not a turn.", {
        hints: ["`jpg comment` lists them with their ids."],
      });
    const tree = await resolveBranch(workspace, id);
    const about = parseTurnBound(what ?? "0");
    const read = async (): Promise<string> =>
      words.join(" ") === "-" ? Buffer.from(await runtime.readStdin()).toString() : words.join(" ");
    const report =
      removed === undefined
        ? await addComment(workspace, tree, { about, text: await read() })
        : await removeComment(workspace, tree, removed);
    if (json) output.json(report);
    else output.data(sentence(report, removed !== undefined));
    return 0;
  },
};

interface CommentWords {
  readonly id?: string;
  readonly what?: string;
  readonly words: readonly string[];
}

/** A first word that parses as a bound is what the comment is about; otherwise it names the conversation. */
function readArguments(args: readonly string[]): CommentWords {
  const [first, second, ...rest] = args;
  if (first === undefined) return { words: [] };
  if (isBound(first)) return { what: first, words: args.slice(1) };
  return { id: first, words: rest, what: second };
}

function sentence({ comment, commit }: CommentReport, isRemoved: boolean): SafeText {
  const [id, place] = [forTerminalLine(comment.id), forTerminalLine(boundOf(comment))];
  if (commit === null) return safe`Comment ${id} was removed already.`;
  return isRemoved ? safe`Removed comment ${id} on ${place}.` : safe`Comment ${id} on ${place}.`;
}

function list({ output, json }: CommandContext, comments: readonly CommentRow[]): number {
  if (json) output.json(comments);
  else if (comments.length === 0) output.info(safe`Nobody has commented.`);
  else output.data(joinLines(comments.flatMap(renderComment)));
  return 0;
}

function renderComment({ id, author, timestamp, text: said, ...place }: CommentRow): readonly SafeText[] {
  const who = author === undefined ? safe`` : safe`${forTerminalLine(author)}, `;
  return [
    safe`${forTerminalLine(boundOf(place))}  ${who}${renderTime(timestamp)}  ${forTerminalLine(id)}`,
    ...indentText(said),
  ];
}
