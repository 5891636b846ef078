// `/export`: writes the conversation to a file, the view or, with --include-full-history, everything that was said.
import { existsSync } from "node:fs";
import { extname, resolve } from "node:path";
import { writeResultFile } from "../../app/conversation/runtime.ts";
import { exportConversation } from "../../app/import/export.ts";
import { conversationOf } from "../../core/conversation/name.ts";
import { userError } from "../../core/errors.ts";
import { forTerminalLine, safe } from "../../core/safe-text.ts";
import { type SlashCommand, wrongWords } from "./slash-command.ts";

/** Formats by the ending of the file's name; what has none of these is Markdown. */
const FORMATS: Readonly<Record<string, string>> = { ".jsonl": "jsonl", ".md": "markdown" };

const FULL = "--include-full-history";

export const exportCommand: SlashCommand = {
  name: "export",
  aliases: [],
  forms: [{ usage: `[${FULL}] [FILE]`, explains: "write what the model sees, or all turns; FILE.md or FILE.jsonl" }],
  complete: async (words) => (words.includes(FULL) ? [] : [FULL]),
  run: async (words, { workspace, runtime, terminal, loadTree }) => {
    const names = words.filter((word) => word !== FULL);
    const option = names.find((word) => word.startsWith("--"));
    if (option !== undefined) throw wrongWords(exportCommand, `does not know ${option}`);
    const tree = await loadTree();
    const name = names.length === 0 ? `${conversationOf(tree.branch).replaceAll("/", "-")}.md` : names.join(" ");
    const path = resolve(runtime.cwd, name);
    if (names.length === 0 && existsSync(path)) throw inTheWay(path);
    const text = await exportConversation(workspace, tree, {
      to: FORMATS[extname(name).toLowerCase()] ?? "markdown",
      fullHistory: names.length < words.length,
    });
    await writeResultFile(path, text);
    terminal.write(safe`Wrote ${forTerminalLine(path)}\n`);
    return {};
  },
};

/** A file that nobody named is not replaced. */
function inTheWay(path: string): Error {
  return userError("file_exists", `${path} already exists.`, { hints: ["Name the file: /export FILE replaces it."] });
}
