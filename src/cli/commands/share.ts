import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { resolveWholeTree } from "../../app/names/resolve-id.ts";
import { type SharedFile, shareView, shareWhole } from "../../app/redact/share.ts";
import { writeResultFile } from "../../app/workspace/write-file.ts";
import { conversationOf } from "../../core/conversation-name.ts";
import { userError } from "../../core/errors.ts";
import { shellWord } from "../../core/shell-word.ts";
import { type CommandContext, type CommandSpec, flag, text, texts } from "../frame/command.ts";
import { renderSharedFile } from "../render/render-share.ts";

export const command: CommandSpec = {
  name: "share",
  summary: "hand a conversation over as one file",
  description:
    "Writes what the model sees of a conversation as one file, a git bundle, which `jpg import FILE` and `git clone FILE` read. In it is a conversation of its own: the turns of the view, summaries in the place of what they hide, secrets masked as `jpg redact` does. Turns that are hidden, compactions, settings and the agent's own files are left out. A later file of the same view goes on with an earlier one where it is imported. --full writes everything as it is, with all forks, and refuses what `jpg push` would refuse. A local conversation is not shared.",
  arguments: [{ name: "[id]", description: "conversation; default @" }],
  options: [
    { flags: "-o, --output <file>", description: "write here; default ID.bundle in this folder, - is standard output" },
    { flags: "--full", description: "everything, hidden turns and the agent's files too; nothing is masked" },
    { flags: "--allow <rule>", description: "let pass what this rule takes for a secret", repeatable: true },
    { flags: "--force", description: "replace a file that is there" },
  ],
  examples: [
    { command: "jpg share @ -o talk.bundle", explains: "what the model sees" },
    { command: "jpg import talk.bundle", explains: "takes it in elsewhere" },
  ],
  run: async (context) => {
    const { args, options, output, json, open } = context;
    const workspace = await open();
    const tree = await resolveWholeTree(workspace, args[0]);
    const allow = texts(options, "allow");
    const { report, pieces } = await (flag(options, "full") ? shareWhole : shareView)(workspace, tree, { allow });
    // The conversation's own name may be made of what was masked.
    const name = text(options, "output") ?? `${conversationOf(report.branches[0] ?? "")}.bundle`;
    const path = name === "-" ? null : resolve(context.runtime.cwd, name);
    if (path !== null) await requireFree(context, path);
    let bytes = 0;
    const counted = eachPiece(pieces, (piece) => {
      bytes += piece.length;
    });
    if (path === null) for await (const piece of counted) output.raw(piece);
    else await writeResultFile(path, counted);
    reportShare(context, report, { path, bytes });
    if (json && path !== null) output.json({ path, bytes, ...report });
    return 0;
  },
};

async function* eachPiece<Piece>(pieces: AsyncIterable<Piece>, tell: (piece: Piece) => void): AsyncGenerator<Piece> {
  for await (const piece of pieces) {
    tell(piece);
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
