import { conversationTitle } from "../../app/conversation/title.ts";
import { setTitle } from "../../app/manage/marks.ts";
import { namesNothing, resolveBranch, resolveTree } from "../../app/names/resolve-id.ts";
import { JpgError, userError } from "../../core/errors.ts";
import { forTerminalLine } from "../../core/safe-text.ts";
import type { CommandSpec } from "../frame/command.ts";

export const command: CommandSpec = {
  name: "title",
  summary: "show or change a conversation's title",
  arguments: [
    { name: "[id]", description: "conversation; default @" },
    { name: "[title]", description: "new title; alone, it is the active conversation's" },
  ],
  examples: [{ command: 'jpg title "Fix the parser"', explains: "names the active conversation" }],
  run: async ({ args, output, json, open }) => {
    const workspace = await open();
    const [only] = args.length === 1 ? args : [];
    const isTitle = only !== undefined && !LIKE_A_NAME.test(only) && (await namesNothing(workspace, only));
    const [id, wanted] = isTitle ? [undefined, only] : args;
    const resolve = wanted === undefined ? resolveTree : resolveBranch;
    const tree = await resolve(workspace, id).catch((error: unknown) => {
      throw id === undefined || wanted !== undefined ? error : withTitleHint(error, id);
    });
    const report =
      wanted === undefined
        ? { commit: null, title: await conversationTitle(workspace, tree) }
        : await setTitle(workspace, tree, wanted);
    if (json) output.json({ ...report, branch: tree.branch });
    else output.data(forTerminalLine(report.title));
    return 0;
  },
};

/** Words in small letters, joined: a mistyped name must not rename the active conversation. */
const LIKE_A_NAME = /^[a-z\d]+(?:[-/][a-z\d]+)+$/;

/** Adds a hint: a single word that names no conversation may be meant as the title. */
function withTitleHint(error: unknown, word: string): unknown {
  if (!(error instanceof JpgError) || error.code !== "unknown_id") return error;
  const hints = [`To give the active conversation this title: jpg title @ "${word}"`, ...error.hints];
  return userError(error.code, error.message, { hints, data: error.data });
}
