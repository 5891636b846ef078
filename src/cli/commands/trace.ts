import { tracePhrase } from "../../app/look/trace.ts";
import { resolveTree } from "../../app/names/resolve-id.ts";
import { userError } from "../../core/errors.ts";
import type { CommandSpec } from "../frame/command.ts";
import { renderTrace } from "../render/stats.ts";

/** As with grep: nothing was found. */
const NOTHING_FOUND = 1;

export const command: CommandSpec = {
  name: "trace",
  summary: "find who said something first: the conversation or a summary",
  description:
    "Looks for PHRASE in everything that was said, in every summary ever made, reverted ones too, and in what jpg wrote into the view, and lists the places in order of time. A place matches exactly, or ignoring spelling: upper and lower case, white space, line ends, typographic marks, backticks and asterisks, commas in numbers. Nothing else is guessed. Exit code 1 if nobody said it.",
  arguments: [
    { name: "<phrase>", description: "words as they may have been said", isText: true },
    { name: "[id]", description: "conversation, fork or commit; default @" },
  ],
  examples: [
    { command: 'jpg trace "the limit is 4,096"', explains: "did anybody say that before the summary did?" },
    { command: 'jpg trace "port 8443" HEAD~2', explains: "as the conversation was two commits ago" },
  ],
  run: async ({ args, output, json, open }) => {
    const [phrase, id] = args;
    if (phrase === undefined)
      throw userError("usage", "jpg trace: say what to look for.", { hints: ['jpg trace "the words that were said"'] });
    const workspace = await open();
    const report = await tracePhrase(workspace, await resolveTree(workspace, id), phrase);
    if (json) output.json(report);
    else await output.page(renderTrace(report, output));
    return report.places.length === 0 ? NOTHING_FOUND : 0;
  },
};
