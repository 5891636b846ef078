// A text in the user's own editor: written to a file that only the user can read, and read again when the editor has ended.
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JpgError, userError } from "../../core/errors.ts";
import { runProgram } from "./external-process.ts";

/** What is edited where nothing else is said. */
const MESSAGE = "message";

type Environment = Readonly<Record<string, string | undefined>>;

/** What an editor was given, and where it runs. */
interface EditPlace {
  readonly env: Environment;
  readonly cwd: string;
  /** What the text is, for the name of its file and for errors; default `message`. */
  readonly what?: string;
  /** The editor that git's settings name, after $GIT_EDITOR and before the others, as for git. */
  readonly configured?: string | null;
}

/** What an editor left. */
export interface EditedText {
  /** What stands in the file; what was given where it is gone. */
  readonly text: string;
  /** Exit code of the editor. */
  readonly code: number;
  /** The command line that was run. */
  readonly editor: string;
}

/** Edits a text in $GIT_EDITOR, else $VISUAL, else $EDITOR, else vi. Throws `editor_failed`, and what the file system throws. */
export async function editText(text: string, place: EditPlace): Promise<string> {
  const edited = await openEditor(text, place);
  if (edited.code === 0) return edited.text;
  throw editorFailed(edited, place.what);
}

/** The error of an editor that failed. */
export function editorFailed({ editor, code }: EditedText, what: string = MESSAGE): JpgError {
  return userError("editor_failed", `The editor ended with exit code ${code}: ${editor}. The ${what} is unchanged.`, {
    hints: ["Set $VISUAL or $EDITOR to the editor of your choice, e.g. `export EDITOR=nano`."],
  });
}

/** Has the user's editor change a text, and waits until it ends. Throws what the file system throws. */
export async function openEditor(text: string, place: EditPlace): Promise<EditedText> {
  const { env, cwd, what = MESSAGE, configured = null } = place;
  const named = [env["GIT_EDITOR"], configured ?? undefined, env["VISUAL"], env["EDITOR"]];
  const editor = named.find((name) => name !== undefined && name.trim() !== "") ?? "vi";
  const folder = await mkdtemp(join(env["TMPDIR"] ?? tmpdir(), `jpg-${what}-`));
  const path = join(folder, `${what}.${what === MESSAGE ? "md" : "txt"}`);
  try {
    await writeFile(path, text, { mode: 0o600 });
    // The variable holds a command line, as for git; the file is its last argument.
    const code = await runProgram(["sh", "-c", `${editor} "$1"`, "sh", path], { cwd, env });
    return { text: await readFile(path, "utf8").catch(() => text), code, editor };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
