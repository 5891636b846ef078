import { diffConversation } from "../../app/diff/diff.ts";
import { refreshPlugins } from "../../app/import/hooks.ts";
import { answerLive, type LiveTexts } from "../../app/live/live.ts";
import { readCompactionLog } from "../../app/look/log.ts";
import { searchConversations } from "../../app/look/search.ts";
import { show } from "../../app/look/show.ts";
import { resolveTree } from "../../app/names/resolve-id.ts";
import { messageOf } from "../../core/errors.ts";
import { forTerminal } from "../../core/safe-text.ts";
import { type CommandSpec, optionsFrom, text } from "../frame/command.ts";
import { createStyle, type Rendering } from "../frame/terminal.ts";
import { renderDiff } from "../render/diff.ts";
import { renderLog } from "../render/list.ts";
import { renderSearch } from "../render/search.ts";
import { renderShow } from "../render/show.ts";

/** Plain text in lines that fit an agent's terminal. */
const PLAIN: Rendering = { style: createStyle(false), width: 100 };
/** Hits that a model is given at once. */
const HITS = 8;

const TEXTS: LiveTexts = {
  find: async (workspace, branch, query) => {
    const { hits } = await searchConversations(workspace, { pattern: query, id: branch, rank: true, limit: HITS });
    return hits.length === 0 ? "Nothing found." : renderSearch(hits, PLAIN);
  },
  show: async (workspace, _branch, event) => renderShow(await show(workspace, event), PLAIN),
  log: async (workspace, branch) => {
    const rows = await readCompactionLog(workspace, await resolveTree(workspace, branch));
    return rows.length === 0 ? "No compactions yet." : renderLog(rows, { ...PLAIN, verbose: false });
  },
  diff: async (workspace, branch) => {
    const report = await diffConversation(workspace, [branch], {});
    return report.hunks.length === 0 ? "No difference: the model sees the same." : renderDiff(report, PLAIN);
  },
};

export const command: CommandSpec = {
  name: "live",
  summary: "answer a plug-in inside a running agent (standard input/output)",
  description:
    "An agent's plug-in starts this itself. Each line of standard input is a request, a JSON object: compact the running session, undo a compaction, find or show what is hidden, count. Each is answered with one line, in order; at the end of input it ends. docs/live.md describes the protocol: a plug-in for another agent can be written from that page alone. `jpg hooks install AGENT` installs jpg's own plug-ins.",
  options: [
    {
      flags: "--plugin <version>",
      description:
        "the jpg that wrote the plug-in's files: one of another version writes them anew, unless they were changed",
    },
  ],
  run: async ({ options, runtime, output }) => {
    const warn = (text: string): void => output.detail(forTerminal(text));
    const report = (error: unknown): void => output.warn(forTerminal(`A fault of jpg: ${messageOf(error)}.`));
    const place = { runtime, options: { ...optionsFrom(options), warn }, texts: TEXTS, report };
    let version = text(options, "plugin");
    for await (const line of runtime.readLines()) {
      output.raw(`${await answerLive(place, line)}\n`);
      // The agent has its answer: it does not wait for this.
      if (version !== undefined) await refreshPlugins(runtime, version).catch(report);
      version = undefined;
    }
    return 0;
  },
};
