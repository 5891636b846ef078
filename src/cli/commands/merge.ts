import { readFile } from "node:fs/promises";
import { resolve } from "node:path";
import { mergeFork } from "../../app/manage/merge.ts";
import { resolveFork } from "../../app/names/resolve-id.ts";
import { reasonOf, userError } from "../../core/errors.ts";
import { forTerminalLine } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag, text, texts } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/interrupt.ts";
import { renderMerge } from "../render/sharing.ts";

const WRITTEN = ["model", "focus", "concise", "strict"];

export const command: CommandSpec = {
  name: "merge",
  summary: "add a summary of a fork to its conversation, as one turn",
  description:
    "Adds one turn to the active conversation: a summary of the turns that FORK has and this conversation lacks, in a commit with both as parents. The turns themselves stay on FORK, and so do its compactions, sources and settings. Merging again summarises only what is new since then. Without --summary a model writes the summary, as for `jpg compact`; without a model it is an extract.",
  arguments: [{ name: "<fork>", description: "the fork whose turns are summarised, such as try-b" }],
  options: [
    { flags: "--into <fork>", description: "the fork that gets the turn; default @" },
    {
      flags: "--summary <text>",
      description: "your own summary (- reads it from standard input)",
      conflicts: [...WRITTEN, "summaryFile"],
    },
    { flags: "--summary-file <file>", description: "your own summary, from a file", conflicts: WRITTEN },
    {
      flags: "-m, --model <name>",
      description: "model that writes the summary, as provider/model; extractive makes an extract without a model",
    },
    { flags: "--focus <text>", description: "what the summary should focus on", repeatable: true },
    { flags: "--concise", description: "a shorter summary: key points, open questions, context" },
    { flags: "--strict", description: "reject a summary that claims anything its turns do not say" },
    { flags: "--dry-run", description: "show what would be merged, without asking a model or committing" },
  ],
  examples: [
    { command: "jpg merge try-b --dry-run", explains: "which turns would be summarised, and by which model" },
    { command: "jpg merge try-b -m anthropic/claude-haiku", explains: "have this model write the summary" },
    { command: "jpg merge try-b --summary 'The cache is not worth it: 2 % faster.'", explains: "say it yourself" },
  ],
  run: (context) => endOnInterrupt(context.output, (signal) => run(context, signal)),
};

async function run(context: CommandContext, signal: AbortSignal): Promise<number> {
  const { args, options, output, json, open } = context;
  const [id] = args;
  if (id === undefined) throw userError("usage", "jpg merge needs a fork.");
  const own = await readOwn(context);
  const workspace = await open();
  const into = await resolveFork(workspace, text(options, "into"));
  const fork = await resolveFork(workspace, id, into.branch);
  const [model, focus] = [text(options, "model"), texts(options, "focus")];
  const report = await mergeFork(workspace, {
    into,
    fork,
    text: own,
    dryRun: flag(options, "dryRun"),
    summary: {
      model,
      ...(focus.length === 0 ? {} : { focus }),
      ...(flag(options, "concise") ? { style: "concise" as const } : {}),
      strict: flag(options, "strict"),
      signal,
      progress: (line) => output.info(forTerminalLine(line)),
    },
  });
  if (json) output.json(report);
  else output.data(renderMerge(report, output));
  return 0;
}

/** Reads the user's own summary; undefined if jpg is to write one. Throws `unreadable_file`. */
async function readOwn({ options, runtime }: CommandContext): Promise<string | undefined> {
  const [own, file] = [text(options, "summary"), text(options, "summaryFile")];
  if (own === "-")
    return Buffer.from(await runtime.readStdin())
      .toString("utf8")
      .trim();
  if (file === undefined) return own;
  try {
    return (await readFile(resolve(runtime.cwd, file), "utf8")).trim();
  } catch (error) {
    throw userError("unreadable_file", `${file} cannot be read: ${reasonOf(error)}.`, {
      hints: ["--summary TEXT takes the text itself; `--summary -` reads it from standard input."],
      cause: error,
    });
  }
}
