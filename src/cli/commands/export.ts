import { resolve } from "node:path";
import {
  EXPORT_FORMATS,
  exportByPlugin,
  exportConversation,
  parseRoots,
  systemSummaryNote,
  unknownExportFormat,
} from "../../app/import/export.ts";
import { exportOriginal } from "../../app/import/original.ts";
import { resolveTree, resolveWholeTree } from "../../app/names/resolve-id.ts";
import { treeAt } from "../../app/names/revision.ts";
import { writeNamedFile } from "../../app/sessions/named-file.ts";
import { writingAgents } from "../../app/sessions/session-registry.ts";
import { describeLeftOut } from "../../app/share/masked-page.ts";
import { userError } from "../../core/errors.ts";
import { isProviderName, PROVIDER_NAMES } from "../../core/model/provider-rules.ts";
import { forTerminal, forTerminalLine, safe } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag, text, texts } from "../frame/command.ts";
import { allowedPlugin } from "./format-plugins.ts";

/** A page shows history and view together, for people: options that shape a view for a model do not apply. */
const PAGE = "html";
const FORMATS: readonly string[] = [...EXPORT_FORMATS, PAGE];

export const command: CommandSpec = {
  name: "export",
  summary: "write a conversation in another format, or its imported bytes",
  description:
    "Writes the view: what the model sees. --full-history writes everything that was said, --original the imported file, byte for byte. html writes a page, one file that needs no network; anthropic, openai-chat, openai-responses and google write a request body for that API.",
  details:
    "The formats of APIs write a request body as `jpg query` would send it: for the model that --model names, or else the last model of that API that answered here (Google takes the model in the address). Tool definitions are not recorded: add your own if the model should keep calling tools. If the conversation ends with an answer and the API wants a user message last, one is added. --messages writes only the messages, so that you can add a request. html writes a page, one file that needs no network: everything that was said, what the model sees of it, the compactions and the comments; secrets are masked as `jpg redact` does, and the page says which. A session written for an agent names the conversation it comes from, so that importing it after the agent has continued it continues that conversation.",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [
    { flags: "--to <format>", description: "format to write", choices: FORMATS, isOpen: true, asks: "plugins" },
    {
      flags: "-o, --output <file>",
      description: "write to this file instead of standard output; never over an agent's session",
    },
    { flags: "--full-history", description: "all turns as they were said, instead of the view" },
    {
      flags: "--original",
      description: "the imported bytes as they are",
      conflicts: ["to", "fullHistory", "model", "messages", "root"],
    },
    {
      flags: "--session <id>",
      description: "with --original: which session, if the conversation came from several",
      listed: "more",
    },
    {
      flags: "--file <name>",
      description: "with --original: a file that was imported with the session, by its name there",
      listed: "more",
    },
    { flags: "--at <commit-or-turn>", description: "as of a commit, or only the turns up to this one" },
    {
      flags: "--model <model>",
      description: "model that will read it; reasoning of other model families is left out",
      listed: "more",
    },
    {
      flags: "--root <old=new>",
      description: "write paths below OLD, somebody else's folder, as paths below NEW",
      listed: "more",
      repeatable: true,
    },
    { flags: "--messages", description: "write only a request's messages, with the system prompt", listed: "more" },
    {
      flags: "--allow <rule>",
      description: "with --to html: do not mask what this rule finds",
      listed: "more",
      repeatable: true,
    },
  ],
  examples: [
    ...writingAgents().flatMap(({ name, help }) =>
      help.takes === undefined
        ? []
        : [{ command: `jpg export --to ${name} -o ${help.takes.file}`, explains: help.takes.by }],
    ),
    { command: "jpg export --to anthropic -o body.json", explains: "what `curl -d @body.json` can send" },
    {
      command: "jpg export --to html -o session.html",
      explains: "a page to read and pass on, secrets masked",
    },
    { command: "jpg export --original -o session.jsonl", explains: "the file as it was imported" },
  ],
  withoutGit: true,
  run: async (context) => {
    checkFlags(context);
    const { args, options, open } = context;
    const workspace = await open();
    const at = text(options, "at");
    const tree =
      at === undefined
        ? await resolveWholeTree(workspace, args[0])
        : await treeAt(workspace, await resolveTree(workspace, args[0]), at);
    if (flag(options, "original"))
      return writeBytes(
        context,
        await exportOriginal(workspace, tree, {
          word: args[0],
          session: text(options, "session"),
          file: text(options, "file"),
        }),
      );
    if (text(options, "to") === PAGE) {
      const request = { scope: "all", allow: texts(options, "allow") } as const;
      const { html, report } = await context.fronts.renderStaticPage(workspace, tree, request);
      for (const line of describeLeftOut(report)) context.output.info(forTerminalLine(line));
      return writeBytes(context, [Buffer.from(html)]);
    }
    const model = text(options, "model");
    const request = {
      to: text(options, "to") ?? "",
      fullHistory: flag(options, "fullHistory"),
      messages: flag(options, "messages"),
      roots: parseRoots(texts(options, "root"), context.runtime.cwd),
      model,
    };
    const plugin = FORMATS.includes(request.to) ? null : await allowedPlugin(context, request.to);
    if (plugin === null && !FORMATS.includes(request.to))
      throw unknownExportFormat(request.to, FORMATS, [
        `A program jpg-format-${request.to} in jpg's folder for formats or on PATH would write it.`,
      ]);
    if (plugin !== null) return writeBytes(context, [await exportByPlugin(workspace, tree, { ...request, plugin })]);
    const note = request.fullHistory ? null : await systemSummaryNote(workspace, tree, request.to);
    if (note !== null) context.output.warn(forTerminal(note));
    return writeBytes(context, [Buffer.from(await exportConversation(workspace, tree, request))]);
  },
};

function checkFlags({ options }: CommandContext): void {
  if (!flag(options, "original") && text(options, "to") === undefined) {
    throw userError("usage", "jpg export needs a format: `--to FORMAT`, or `--original` for the imported bytes.", {
      hints: [`Formats: ${FORMATS.join(", ")}.`],
    });
  }
  const to = text(options, "to") ?? "";
  if (!flag(options, "original") && text(options, "file") !== undefined)
    throw userError(
      "contradictory_flags",
      "--file names a file that was imported with the session, so it needs --original.",
      {
        hints: [`Leave it out, or \`jpg export --original --file ${text(options, "file")}\`.`],
      },
    );
  const forModels = ["fullHistory", "messages", "model", "root"].find((name) => to === PAGE && isGiven(options[name]));
  if (forModels !== undefined) {
    const word = forModels === "fullHistory" ? "--full-history" : `--${forModels}`;
    throw userError(
      "contradictory_flags",
      `${word} shapes what a model is sent; a page shows all that was said, for people.`,
      {
        hints: [`Leave ${word} out.`],
      },
    );
  }
  if (to !== PAGE && isGiven(options["allow"]))
    throw userError("contradictory_flags", "--allow works only with --to html: nothing is masked in other formats.", {
      hints: ["Leave --allow out."],
    });
  if (flag(options, "messages") && to !== "" && !isProviderName(to))
    throw userError(
      "contradictory_flags",
      `--messages works only for requests: ${PROVIDER_NAMES.join(", ")}; ${to} is not one.`,
      {
        hints: ["Leave --messages out."],
      },
    );
}

function isGiven(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

async function writeBytes(
  { options, runtime, output, json }: CommandContext,
  chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): Promise<number> {
  const file = text(options, "output");
  if (file === undefined || file === "-") {
    for await (const chunk of chunks) output.raw(chunk);
    return 0;
  }
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  const bytes = Buffer.concat(parts);
  const path = resolve(runtime.cwd, file);
  await writeNamedFile(runtime, path, bytes);
  if (json) output.json({ path, bytes: bytes.length });
  else output.info(safe`Wrote ${forTerminalLine(path)} (${bytes.length} bytes).`);
  return 0;
}
