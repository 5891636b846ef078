import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import { resolveWholeTree } from "../../app/names/resolve-id.ts";
import { writeNamedFile } from "../../app/sessions/named-file.ts";
import { refuseLocal, type SharedFile, shareView, shareWhole } from "../../app/share/share.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import { shellWord } from "../../core/safe-text.ts";
import { type CommandContext, type CommandSpec, flag, text, texts } from "../frame/command.ts";
import { renderSharedFile, renderSharedPage } from "../render/share.ts";

export const command: CommandSpec = {
  name: "share",
  summary: "write a conversation to one file that you can pass on",
  description:
    "Writes what the model sees of a conversation to one file, a git bundle, which `jpg import FILE` and `git clone FILE` read. It holds a new conversation: the turns of the view, summaries instead of what they hide, and secrets masked as `jpg redact` does. Hidden turns, compactions, settings and the agent's own files are left out. Importing a later file of the same view continues the earlier one. --full writes everything as it is, with all forks, and refuses what `jpg push` would refuse. --html writes a page instead, one file that needs no network and says what it leaves out; with --full it also shows what is hidden, the compactions and the comments, with secrets masked there too. A local conversation is not shared.",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [
    {
      flags: "-o, --output <file>",
      description: "file to write; default ID.bundle or ID.html in this folder; - is standard output",
    },
    { flags: "--html", description: "write a page" },
    {
      flags: "--full",
      description: "write everything, also hidden turns and the agent's files; only a page is masked",
    },
    { flags: "--allow <rule>", description: "allow what this rule finds", repeatable: true },
    { flags: "--force", description: "replace an existing file" },
  ],
  examples: [
    { command: "jpg share @ -o talk.bundle", explains: "what the model sees" },
    { command: "jpg import talk.bundle", explains: "import it on another machine" },
    { command: "jpg share --html -o talk.html", explains: "what the model sees, as a page" },
  ],
  run: async (context) => {
    const { args, options, output, json, open } = context;
    const workspace = await open();
    const tree = await resolveWholeTree(workspace, args[0]);
    const allow = texts(options, "allow");
    if (flag(options, "html")) return sharePage(context, workspace, { tree, allow });
    const { report, pieces } = await (flag(options, "full") ? shareWhole : shareView)(workspace, tree, { allow });
    // The conversation's own name may contain what was masked.
    const path = await pathToWrite(context, `${conversationOf(report.branches[0] ?? "")}.bundle`);
    let bytes = 0;
    const counted = eachPiece(pieces, (piece) => {
      bytes += piece.length;
    });
    if (path === null) for await (const piece of counted) output.raw(piece);
    else await writeNamedFile(context.runtime, path, counted);
    reportShare(context, report, { path, bytes });
    if (json && path !== null) output.json({ path, bytes, ...report });
    return 0;
  },
};

async function sharePage(
  context: CommandContext,
  workspace: Workspace,
  { tree, allow }: { readonly tree: BranchTree; readonly allow: readonly string[] },
): Promise<number> {
  const { output, options, json } = context;
  await refuseLocal(workspace, tree);
  const scope = flag(options, "full") ? "all" : "view";
  const { name, html, report } = await context.fronts.renderStaticPage(workspace, tree, { scope, allow });
  const path = await pathToWrite(context, `${name}.html`);
  const bytes = Buffer.from(html);
  if (path === null) output.raw(bytes);
  else await writeNamedFile(context.runtime, path, bytes);
  const said = renderSharedPage(report, { path, bytes: bytes.length });
  if (path === null) output.info(said);
  else if (json) output.json({ path, bytes: bytes.length, ...report });
  else output.data(said);
  return 0;
}

/** Returns the file to write, which must not exist yet; null = standard output. */
async function pathToWrite(context: CommandContext, otherwise: string): Promise<string | null> {
  const name = text(context.options, "output") ?? otherwise;
  if (name === "-") return null;
  const path = resolve(context.runtime.cwd, name);
  await requireFree(context, path);
  return path;
}

async function* eachPiece<Piece>(
  pieces: AsyncIterable<Piece>,
  printShare: (piece: Piece) => void,
): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    printShare(piece);
    yield piece;
  }
}

function reportShare(
  { output, json }: CommandContext,
  report: SharedFile["report"],
  written: { readonly path: string | null; readonly bytes: number },
): void {
  const { path } = written;
  const said = renderSharedFile(report, written);
  if (path === null) output.info(said);
  else if (!json) output.data(said);
}

async function requireFree({ options }: CommandContext, path: string): Promise<void> {
  if (flag(options, "force")) return;
  const found = await stat(path).catch(() => null);
  if (found === null || !found.isFile()) return;
  throw userError("file_exists", `${path} is there already; nothing was written.`, {
    hints: [`Name another file with -o, or replace it: \`jpg share -o ${shellWord(path)} --force\`.`],
  });
}
