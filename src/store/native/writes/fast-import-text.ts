// The text of `git fast-import` commands (git-fast-import(1)): commits by mark, files by quoted path.
import { repositoryError } from "../../../core/errors.ts";
import type { CommitSpec } from "../../conversation-store.ts";
import { formatSignature } from "../../signature-text.ts";

/** The ref that commits are built on; it never exists outside a running fast-import. */
export const WRITE_REF = "refs/jpg/write";

/** The message as git keeps it: one line end at its end, no NUL. */
export function formatMessage(message: string): string {
  return `${message.replaceAll("\0", "").trimEnd()}\n`;
}

/** The head of a commit; `from` is given for the first commit of a write that builds on an older one. */
export function formatCommitHead(commit: CommitSpec, mark: number, from: string | null): string {
  const message = formatMessage(commit.message);
  const size = Buffer.byteLength(message);
  const lines = [
    `commit ${WRITE_REF}`,
    `mark :${mark}`,
    `author ${formatSignature(commit.author)}`,
    `committer ${formatSignature(commit.committer)}`,
    `data ${size}\n${message}`,
  ];
  const parents = [...(from === null ? [] : [`from ${from}\n`]), ...(commit.merges ?? []).map((id) => `merge ${id}\n`)];
  return lines.join("\n") + parents.join("");
}

/** The command that removes a file. */
export function formatRemoval(path: string): string {
  return `D ${quotePath(path)}\n`;
}

/** The command that puts a blob of the repository at a path. */
export function formatNamedFile(path: string, oid: string): string {
  return `M 100644 ${oid} ${quotePath(path)}\n`;
}

/** The command that puts `size` bytes at a path; they follow it, then a line end. */
export function formatInlineFile(path: string, size: number): string {
  return `M 100644 inline ${quotePath(path)}\ndata ${size}\n`;
}

/** Quotes a path as a C string. Throws `bad_path` for what cannot stand in a tree. */
export function quotePath(path: string): string {
  const isBad = path.includes("\0") || path.split("/").some((part) => part === "" || isReservedName(part));
  if (isBad) throw repositoryError("bad_path", `${JSON.stringify(path)} cannot be a path in a conversation's tree.`);
  const quoted = path.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n");
  return `"${quoted}"`;
}

function isReservedName(part: string): boolean {
  return part === "." || part === ".." || part.toLowerCase() === ".git";
}
