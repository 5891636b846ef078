// The binary form of a commit (git-cat-file(1)): a head of `name value` lines, an empty line, the message.
import type { CommitSpec, LogEntry, Signature } from "../../conversation-store.ts";
import { formatSignature } from "../../signature-text.ts";
import { formatMessage } from "./fast-import-text.ts";

/** A commit as it is stored. */
export interface Commit extends Omit<LogEntry, "commit" | "added" | "removed"> {
  readonly tree: string;
}

const NOBODY: Signature = { name: "", email: "", seconds: 0, offsetMinutes: 0 };

/** Formats a commit. Equal to what git makes of the same. */
export function formatCommit(
  { author, committer, message, merges = [] }: Omit<CommitSpec, "changes">,
  { tree, parent }: { readonly tree: string; readonly parent: string | null },
): Buffer {
  const lines = [
    `tree ${tree}`,
    ...[...(parent === null ? [] : [parent]), ...merges].map((id) => `parent ${id}`),
    `author ${formatSignature(author)}`,
    `committer ${formatSignature(committer)}`,
    "",
    formatMessage(message),
  ];
  return Buffer.from(lines.join("\n"));
}

/** Parses a commit; what is missing in a damaged one is empty. */
export function parseCommit(bytes: Buffer): Commit {
  const end = bytes.indexOf("\n\n");
  const head = bytes.toString("utf8", 0, end < 0 ? bytes.length : end).split("\n");
  const values = (name: string): string[] =>
    head.filter((line) => line.startsWith(`${name} `)).map((line) => line.slice(name.length + 1));
  const [tree = ""] = values("tree");
  const [author = ""] = values("author");
  const [committer = ""] = values("committer");
  const [encoding = "utf-8"] = values("encoding");
  return {
    tree,
    parents: values("parent"),
    author: parseSignature(author),
    committer: parseSignature(committer),
    message: `${decode(end < 0 ? bytes.subarray(bytes.length) : bytes.subarray(end + 2), encoding).trimEnd()}\n`,
  };
}

function parseSignature(text: string): Signature {
  const [, name = "", email = "", seconds = "0", zone = "+0000"] =
    /^(.*?) ?<([^>]*)> (\d+) ([+-]\d{4})$/.exec(text) ?? [];
  if (seconds === "0" && email === "") return NOBODY;
  const minutes = Number(zone.slice(1, 3)) * 60 + Number(zone.slice(3, 5));
  return { name, email, seconds: Number(seconds), offsetMinutes: zone.startsWith("-") ? -minutes : minutes };
}

/** Messages that say so are in another encoding than UTF-8; one that this system does not know is read as UTF-8. */
function decode(bytes: Buffer, encoding: string): string {
  try {
    return new TextDecoder(encoding).decode(bytes);
  } catch {
    return bytes.toString("utf8");
  }
}
