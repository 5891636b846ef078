// A text in the user's own editor: written to a file that only the user can read, and read again when the editor has ended.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { userError } from "../../core/errors.ts";
import { runProgram } from "./external-process.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Edits a text in $VISUAL, else $EDITOR, else vi. Throws `editor_failed`, and what the file system throws. */
export async function editText(
  text: string,
  { env, cwd }: { readonly env: Environment; readonly cwd: string },
): Promise<string> {
  const editor = [env["VISUAL"], env["EDITOR"]].find((name) => name !== undefined && name.trim() !== "") ?? "vi";
  const folder = await mkdtemp(join(env["TMPDIR"] ?? tmpdir(), "jpg-message-"));
  const path = join(folder, "message.md");
  try {
    await writeFile(path, text, { mode: 0o600 });
    // The variable holds a command line, as for git; the file is its last argument.
    const code = await runProgram(["sh", "-c", `${editor} "$1"`, "sh", path], { cwd, env });
    if (code === 0) return await readFile(path, "utf8");
    throw userError("editor_failed", `The editor ended with exit code ${code}: ${editor}. The message is as it was.`, {
      hints: ["Set $VISUAL or $EDITOR to the editor of your choice, e.g. `export EDITOR=nano`."],
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
