import { notesOf, overallTokens } from "../../app/compact/compact-report.ts";
import { withoutOverrides } from "../../app/conversation/workspace.ts";
import type { ToolBox } from "../../app/models/tool-box.ts";
import { openQueryTools } from "../../app/talk/own-tools.ts";
import { findQueryPlace, type QueryPlace, type QueryReport, query, type ToolOpening } from "../../app/talk/query.ts";
import { requestContent } from "../../app/talk/request-content.ts";
import { type Content, wordsOfContent } from "../../core/conversation/event.ts";
import { formatTokens, renderCompacted } from "../../core/conversation/token-estimate.ts";
import { renderPrice } from "../../core/model/money.ts";
import { forTerminal, forTerminalLine, safe } from "../../core/safe-text.ts";
import { createAssumptionVoice } from "../frame/ask.ts";
import { type CommandContext, type CommandSpec, count, flag, INTERRUPTED, text, texts } from "../frame/command.ts";
import { endOnInterrupt } from "../frame/interrupt.ts";
import { isAsciiOnly, screenOf } from "../frame/screen.ts";
import { type AnswerPrinter, createAnswerPrinter, createQueryPrinter } from "../render/answer.ts";
import { renderNothing } from "../render/compact.ts";

/** How long to wait for input on a pipe when the request already has words, milliseconds. */
const PIPE_WAIT_MS = 3000;

export const command: CommandSpec = {
  name: "query",
  summary: "ask a model; the answer becomes a turn of the conversation",
  description:
    "Sends the view of the active conversation and your request; the answer becomes one new turn, in one commit. Continue any conversation, imported ones too, with any model. Every piece of the answer is written to a journal before it is shown, so that Ctrl-C, a crash or a full disk loses nothing. @FILE in the text attaches that file if it exists (\\@ is a plain @). Standard input is attached too, or is the request if there is no text.",
  arguments: [{ name: "[text...]", description: "the request; - reads standard input", isText: true }],
  options: [
    { flags: "-m, --model <name>", description: "model that answers from now on, e.g. anthropic/claude-sonnet" },
    {
      flags: "--compact [profile]",
      description: "compact first, with that profile (--compact=NAME)",
      optionalValue: () => false,
    },
    { flags: "--new", description: "start a new conversation, which becomes active", conflicts: ["fork", "compact"] },
    {
      flags: "--fork [n]",
      description: "ask on a new fork, which becomes active; --fork=N keeps only the last N turns in its view",
      optionalValue: () => false,
    },
    { flags: "--attach <file>", description: "attach a text, an image or a PDF", repeatable: true },
    { flags: "--no-tools", description: "offer the model no tools" },
    { flags: "--no-markdown", description: "print the answer as the model writes it, on a terminal too" },
    { flags: "-y, --yes", description: "run tools without asking" },
  ],
  examples: [
    { command: 'jpg query "Continue with the parser"', explains: "add a turn" },
    { command: 'git diff | jpg query "Review this"', explains: "attach another program's output" },
    { command: 'jpg query --compact=heavy "Go on"', explains: "the same as jpg compact -p heavy, then jpg query" },
    { command: 'jpg query --fork=3 "Try another way"', explains: "on a fork that shows the last 3 turns" },
    { command: 'jpg query --new -m ollama/qwen3 "What is in @notes.md?"', explains: "a new conversation about a file" },
  ],
  run: async (context) => {
    const content = await readRequest(context);
    return endOnInterrupt(context.output, (signal) => runQuery(context, content, signal));
  },
};

async function runQuery(context: CommandContext, content: Content, signal: AbortSignal): Promise<number> {
  const { output, options, json } = context;
  const model = text(options, "model");
  const workspace = await context.open({ create: true });
  const voice = createAssumptionVoice(output, signal);
  const place = await findQueryPlace(workspace, {
    voice,
    text: wordsOfContent(content),
    isNew: flag(options, "new"),
    fork: options["fork"] === undefined ? undefined : forkOption(options["fork"]),
    compact: options["compact"] === undefined ? undefined : profileOption(options["compact"]),
    model,
    signal,
  });
  printPlace(context, place);
  const screen = openScreen(context);
  const printer = createQueryPrinter({ output, json, yes: flag(options, "yes"), signal, screen });
  const { branch, tree, root, opened, compaction } = place;
  const openTools = (opening: ToolOpening): Promise<ToolBox> =>
    openQueryTools(workspace, { ...opening, branch, signal });
  try {
    const request = {
      content,
      signal,
      voice,
      model,
      tree,
      root,
      opened,
      ...(options["tools"] === false ? {} : { openTools }),
    };
    // Compacting first has already stored the settings of the call.
    const current = compaction === null ? workspace : withoutOverrides(workspace);
    const report = await query(current, branch, request, printer);
    printer.end();
    printReport(context, place, report);
    return report.interrupted ? INTERRUPTED : 0;
  } finally {
    printer.end();
  }
}

/** Prints the answer on the screen, if standard output is one. */
function openScreen({ output, runtime, options, json }: CommandContext): AnswerPrinter | null {
  if (json || output.width === Number.POSITIVE_INFINITY || runtime.env["TERM"] === "dumb") return null;
  const look = { style: output.style, ascii: isAsciiOnly(runtime.env), markdown: options["markdown"] !== false };
  return createAnswerPrinter({ ...screenOf(output), plain: false }, look);
}

function printReport({ output, json }: CommandContext, { compaction }: QueryPlace, report: QueryReport): void {
  const compactions = [...(compaction?.compaction == null ? [] : [compaction]), ...report.compactions];
  if (json) {
    output.json({
      ...report,
      compactions: compactions.map(({ compaction: event, commit, tokens }) => ({
        compaction: event?.id ?? null,
        commit,
        tokens,
      })),
    });
    return;
  }
  const { usage, price, tokens, branch, turn, model } = report;
  const sizes = tokens.window === null ? "" : safe` of ${formatTokens(tokens.window)}`;
  const spent = usage === null ? "" : safe`, ${formatTokens(usage.output)} written, ${renderPrice(price)}`;
  if (turn !== null)
    output.detail(
      safe`turn ${turn} of ${forTerminalLine(branch)}: ${forTerminalLine(model)}, ${formatTokens(tokens.view)}${sizes} tokens${spent}`,
    );
  if (report.isNearlyFull && tokens.window !== null)
    output.warn(
      safe`the context has ${formatTokens(tokens.view)} tokens, ${Math.round((tokens.view / tokens.window) * 100)} % of the window of ${forTerminalLine(model)}; \`jpg compact\` makes it smaller, \`-c auto.enabled=true\` does so automatically`,
    );
}

function printPlace({ output }: CommandContext, { branch, root, forked, compaction }: QueryPlace): void {
  if (root !== undefined) output.detail(safe`new conversation ${forTerminalLine(root.id)}`);
  if (forked) output.info(safe`Forked to ${forTerminalLine(branch)}, now active`);
  if (compaction === null) return;
  if (compaction.compaction === null) output.info(renderNothing(compaction, output.style));
  else output.info(renderCompacted(overallTokens(compaction)));
  for (const note of notesOf(compaction)) output.warn(forTerminal(note));
}

function forkOption(value: unknown): true | number {
  return typeof value === "string" && value !== "" ? (count({ fork: value }, "fork") ?? true) : true;
}

function profileOption(value: unknown): true | string {
  return typeof value === "string" && value !== "" ? value : true;
}

/** Builds the request. If it has words, does not wait for a pipe that stays silent. */
async function readRequest({ args, options, runtime, output }: CommandContext): Promise<Content> {
  const words = args.filter((word) => word !== "-").join(" ");
  const files = texts(options, "attach");
  const isWanted = args.includes("-");
  const kind = await runtime.inputKind();
  let stdin: Uint8Array | null = null;
  if (isWanted || kind === "file" || (kind === "open" && words === "" && files.length === 0)) {
    stdin = await runtime.readStdin();
  } else if (kind === "open") {
    stdin = await runtime.readStdinWithin(PIPE_WAIT_MS);
    if (stdin === null)
      output.warn(safe`nothing came on standard input for 3 s, so it is left out; use \`-\` to wait for it`);
  }
  return requestContent(runtime.cwd, { text: words, files, stdin });
}
