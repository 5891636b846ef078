// Builds a request from words, the files that they name, and standard input. The words stay as typed; what they name follows them.
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import type { Content, ContentPart } from "../../core/conversation/event.ts";
import { codeOf, reasonOf, userError } from "../../core/errors.ts";

interface RequestInput {
  /** As typed: `@FILE` at the start of a word attaches a file, `@"A FILE"` one with spaces; anything else is text. `\@` is an @. */
  readonly text: string;
  /** Files to attach. */
  readonly files: readonly string[];
  /** Standard input; null = not read. The request itself when there are no words. */
  readonly stdin: Uint8Array | null;
}

/** A word that names a file: at the start, or after white space or an opening mark, so never after a backslash. */
const MENTION = /(?<=^|[\s("'[{])@(?:"([^"\n]+)"|([^\s"]+))/g;
/** Marks that end a sentence rather than a file's name. */
const LAST_MARKS = /[.,;:!?)\]}'"]+$/;

/** Builds a request; a plain text when there are only words. Throws `empty_request` and as reading files does. */
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

/** Removes names of a file that was named before: it is attached once. */
function firstOfEach(cwd: string, names: readonly string[]): readonly string[] {
  const byPath = new Map<string, string>();
  for (const name of names) if (!byPath.has(resolve(cwd, name))) byPath.set(resolve(cwd, name), name);
  return [...byPath.values()];
}

/** The file that a word names; marks after it belong to it only if there is such a file. Null when there is none. */
async function fileOf(cwd: string, [, quoted, bare = ""]: RegExpMatchArray): Promise<string | null> {
  for (const name of quoted === undefined ? [bare, bare.replace(LAST_MARKS, "")] : [quoted])
    if (name !== "" && (await isFile(resolve(cwd, name)))) return name;
  return null;
}

/** Whether it is a file or a pipe, not a folder. */
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

// Attaches files: texts as attachments, images and PDFs by type, detected by their first bytes. Other files, too large or missing
// ones are refused by name before anything is sent.

interface Kind {
  readonly type: "image" | "document";
  readonly mediaType: string;
}

/** First bytes of files, as latin-1; `.` is any byte. */
const BEGINNINGS: readonly (readonly [beginning: RegExp, kind: Kind])[] = [
  [/^\x89PNG\r\n\x1a\n/, { type: "image", mediaType: "image/png" }],
  [/^\xff\xd8\xff/, { type: "image", mediaType: "image/jpeg" }],
  [/^GIF8[79]a/, { type: "image", mediaType: "image/gif" }],
  [/^RIFF....WEBP/s, { type: "image", mediaType: "image/webp" }],
  [/^%PDF-/, { type: "document", mediaType: "application/pdf" }],
];
/** The most bytes that they need. */
const BEGINNING_BYTES = 16;

const MIB = 1024 * 1024;
/** Bytes of the largest file by kind: half a million tokens of text; what the providers accept of images and documents. */
const LIMITS = { text: 2 * MIB, image: 10 * MIB, document: 32 * MIB } as const;

/** Reads a file as a part of a request. Throws `missing_file`, `unreadable_file`, `not_a_file`, `file_too_large`, `binary_file`. */
async function readAttachedFile(cwd: string, name: string): Promise<ContentPart> {
  const path = resolve(cwd, name);
  const found = await stat(path).catch((error: unknown) => {
    throw unreadable(name, error);
  });
  if (found.isDirectory()) {
    throw userError("not_a_file", `${name} is a folder, but only files can be attached.`, {
      hints: ["Name the files in it one by one."],
    });
  }
  if (found.isFile() && found.size > LIMITS.document) throw tooLarge(name, LIMITS.document);
  return toPart(await readBytes(path, name), name);
}

/** Converts the bytes of a file; `name` is for errors. Throws `file_too_large`, `binary_file`. */
function toPart(bytes: Uint8Array, name: string): ContentPart {
  const start = Buffer.from(bytes.subarray(0, BEGINNING_BYTES)).toString("latin1");
  const kind = BEGINNINGS.find(([beginning]) => beginning.test(start))?.[1];
  const limit = LIMITS[kind?.type ?? "text"];
  if (bytes.byteLength > limit) throw tooLarge(name, limit);
  if (kind === undefined) return { type: "attachment", name, text: decodeText(bytes, name) };
  const data = Buffer.from(bytes).toString("base64");
  const title = kind.type === "document" ? { title: name } : {};
  return { type: kind.type, media_type: kind.mediaType, data, ...title };
}

/** Reads a file in chunks until it is too large: a pipe has no size. */
async function readBytes(path: string, name: string): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of createReadStream(path)) {
      chunks.push(chunk as Buffer);
      size += (chunk as Buffer).byteLength;
      if (size > LIMITS.document) break;
    }
  } catch (error) {
    throw unreadable(name, error);
  }
  return Buffer.concat(chunks);
}

/** Decodes text. Throws `binary_file` for what is no UTF-8, or has a null byte. */
function decodeText(bytes: Uint8Array, name: string): string {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    if (!text.includes("\0")) return text;
  } catch {
    // Thrown below.
  }
  throw userError("binary_file", `${name} is neither UTF-8 text nor a PNG, JPEG, GIF, WebP or PDF.`, {
    hints: ["Convert it first, or say in words what it holds."],
  });
}

function unreadable(name: string, cause: unknown): Error {
  const code = codeOf(cause);
  if (code === "ENOENT" || code === "ENOTDIR") {
    return userError("missing_file", `There is no file ${name}.`, {
      hints: ["Name a file by its path from the current directory, or by its whole path."],
      cause,
    });
  }
  const reason = reasonOf(cause);
  return userError("unreadable_file", `${name} cannot be read: ${reason}.`, { cause });
}

function tooLarge(name: string, limit: number): Error {
  return userError(
    "file_too_large",
    `${name} is larger than ${limit / MIB} MiB, the largest that can be attached of its kind.`,
    {
      hints: ["Attach only the part that matters: `head -c 1m FILE | jpg query TEXT`."],
    },
  );
}
