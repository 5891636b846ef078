import { SEARCH_SCOPES, type SearchScope, searchConversations } from "../../app/look/search.ts";
import { userError } from "../../core/errors.ts";
import { safe } from "../../core/safe-text.ts";
import { type CommandSpec, count, flag, text } from "../frame/command.ts";
import { renderUnreadable } from "../render/list.ts";
import { renderSearch } from "../render/search.ts";

/** As with grep: nothing was found. */
const NOTHING_FOUND = 1;
/** The exit code if a part of the store is damaged, or newer than this jpg. */
const BROKEN_STORE = 3;

export const command: CommandSpec = {
  name: "search",
  summary: "find events by their text, including hidden ones",
  description:
    "Looks for PATTERN in requests, answers, reasoning, tool calls and results, in all conversations or in ID and its forks. Says of each event whether the view still shows it; `jpg show EVENT` prints the original. Events are listed in the order of their conversation. With --rank, the events that best match the words of PATTERN come first; what the view hides or changes counts more, and what only repeats a better match is left for last. Texts that look alike are alike: it does not matter how letters with marks are composed, or which kind of space is used. Summaries are searched only if --in names them; `jpg show SUMMARY --sources` says which facts of a summary nobody said. Exit code 1 if nothing is found.",
  arguments: [
    { name: "<pattern>", description: "literal text; with --rank: words, any of which may match", isText: true },
    { name: "[id]", description: "conversation, or one branch of it; default all" },
  ],
  options: [
    { flags: "-i, --ignore-case", description: "ignore case" },
    { flags: "--regex", description: "PATTERN is a regular expression (JavaScript's)" },
    { flags: "--rank", description: "find events with any words of PATTERN, the best match first" },
    {
      flags: "--in <who>",
      description: `only what these said: ${SEARCH_SCOPES.join(", ")}; separate several with commas`,
    },
    { flags: "-a, --all", description: "list a turn once per fork that has it, not once per conversation" },
    { flags: "-n, --limit <n>", description: "stop after N events" },
  ],
  examples: [
    { command: 'jpg search "tide table"', explains: "in any conversation" },
    { command: 'jpg search --rank --limit 5 "retry backoff limit" @', explains: "the best matches for these words" },
    { command: "jpg search -i enospc @", explains: "in the active conversation and its forks" },
  ],
  run: async ({ args, options, output, json, open }) => {
    const [pattern = "", id] = args;
    const limit = count(options, "limit");
    if (limit === 0) {
      const hints = ["For example: --limit 20"];
      throw userError("bad_number", "--limit takes a whole number, 1 or more; got 0.", { hints });
    }
    const isRanked = flag(options, "rank");
    if (isRanked && flag(options, "regex")) {
      const hints = ["Leave one of them out."];
      throw userError("usage", "--rank takes words and --regex an expression, so they cannot be used together.", {
        hints,
      });
    }
    const scopes = readScopes(text(options, "in"));
    const report = await searchConversations(await open(), {
      pattern,
      id,
      limit,
      regex: flag(options, "regex"),
      ignoreCase: flag(options, "ignoreCase"),
      all: flag(options, "all"),
      rank: isRanked,
      scopes,
    });
    const { hits, cut, unreadable } = report;
    if (json) output.json(hits);
    else if (hits.length === 0) output.info(safe`Nothing found.`);
    else await output.page(renderSearch(hits, output));
    if (cut) output.info(safe`There are more; these are the first ${hits.length}.`);
    for (const one of unreadable) output.warn(renderUnreadable(one));
    if (unreadable.length > 0) return BROKEN_STORE;
    return hits.length === 0 ? NOTHING_FOUND : 0;
  },
};

/** Reads the names after --in. Throws `usage`. */
function readScopes(words: string | undefined): readonly SearchScope[] | undefined {
  return words?.split(",").map((word) => {
    const scope = SEARCH_SCOPES.find((name) => name === word.trim());
    if (scope !== undefined) return scope;
    const hints = ["For example: --in user,assistant"];
    throw userError("usage", `--in takes ${SEARCH_SCOPES.join(", ")}; got ${word.trim() || "nothing"}.`, { hints });
  });
}
