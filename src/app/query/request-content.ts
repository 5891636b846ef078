// What is asked, put together from words, the files that they name, and standard input. The words stay as they were typed;
// what they name follows them.
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Content, ContentPart } from "../../core/conversation/event.ts";
import { userError } from "../../core/errors.ts";
import { readAttachedFile, toPart } from "./attached-file.ts";

export interface RequestInput {
  /** As typed: `@FILE` at the start of a word attaches a file, `@"A FILE"` one with blanks; what names no file is text. `\@` is an @. */
  readonly text: string;
  /** Files to attach. */
  readonly files: readonly string[];
  /** What came on standard input; null = nothing was read. The request itself when there are no words. */
  readonly stdin: Uint8Array | null;
}

/** A word that names a file: at the start, or after white space or an opening mark, so never after a backslash. */
const MENTION = /(?<=^|[\s("'[{])@(?:"([^"\n]+)"|([^\s"]+))/g;
/** What ends a sentence rather than a file's name. */
const LAST_MARKS = /[.,;:!?)\]}'"]+$/;

/** Puts a request together; a plain text when there is nothing but words. Throws `empty_request` and what reading files throws. */
export async function requestContent(cwd: string, { text, files, stdin }: RequestInput): Promise<Content> {
  const words = text.replaceAll("\\@", "@").trim();
  const mentioned: string[] = [];
  for (const match of text.matchAll(MENTION)) {
    const name = await fileOf(cwd, match);
    if (name !== null) mentioned.push(name);
  }
  const parts: ContentPart[] = [];
  for (const name of firstOfEach(cwd, [...mentioned, ...files])) parts.push(await readAttachedFile(cwd, name));
  const piped = stdin === null || stdin.byteLength === 0 ? null : toPart(stdin, "standard input");
  if (words === "" && parts.length === 0 && piped?.type === "attachment") return requireText(piped.text as string);
  const all = [...parts, ...(piped === null ? [] : [piped])];
  if (all.length === 0) return requireText(words);
  return words === "" ? all : [{ type: "text", text: words }, ...all];
}

/** Names without those of a file that was named before: it is attached once. */
function firstOfEach(cwd: string, names: readonly string[]): readonly string[] {
  const byPath = new Map<string, string>();
  for (const name of names) if (!byPath.has(resolve(cwd, name))) byPath.set(resolve(cwd, name), name);
  return [...byPath.values()];
}

/** The file that a word names; marks after it belong to it only when there is such a file. Null when there is none. */
async function fileOf(cwd: string, [, quoted, bare = ""]: RegExpMatchArray): Promise<string | null> {
  for (const name of quoted === undefined ? [bare, bare.replace(LAST_MARKS, "")] : [quoted])
    if (name !== "" && (await isFile(resolve(cwd, name)))) return name;
  return null;
}

/** A pipe is one too; a folder is none. */
function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => !found.isDirectory(),
    () => false,
  );
}

function requireText(text: string): string {
  if (text.trim() !== "") return text;
  throw userError("empty_request", "There is nothing to ask: the request is empty.", {
    hints: ['`jpg query "What does this project do?"`', "`git diff | jpg query Review this`"],
  });
}
