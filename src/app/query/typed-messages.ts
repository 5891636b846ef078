// The messages that the user typed in chats, for the next one: a file of the user's own (0600) in the state folder, one JSON text
// a line, the newest last, of bounded length. A message that begins with a blank is not kept, as in shells.
import { dirname, join } from "node:path";
import { resolveUserPaths } from "../../config/trust.ts";
import { makeFolders, replaceFile } from "../../store/files.ts";
import type { Runtime } from "../workspace/runtime.ts";
import { readIfExists } from "../workspace/workspace.ts";

/** Messages that are kept. */
const KEPT = 500;
/** Longest message that is kept, characters: a longer one was pasted. */
const LONGEST = 10_000;

type User = Pick<Runtime, "env" | "home">;

/** Reads them, newest first; a line that is none is passed over. Throws `unreadable_file`. */
export async function readTypedMessages(user: User): Promise<readonly string[]> {
  return (await readLines(user)).flatMap((line) => parseLine(line) ?? []).reverse();
}

/** Keeps a message; of two chats that do so at once, one may lose its own. Throws what the file system throws. */
export async function keepTypedMessage(user: User, text: string): Promise<void> {
  if (text.startsWith(" ") || text.trim() === "" || text.length > LONGEST) return;
  const lines = [...(await readLines(user)), JSON.stringify(text)].slice(-KEPT);
  const path = fileOf(user);
  makeFolders(dirname(path));
  await replaceFile(path, `${lines.join("\n")}\n`, { mode: 0o600 });
}

async function readLines(user: User): Promise<readonly string[]> {
  return ((await readIfExists(fileOf(user))) ?? "").split("\n").filter((line) => line !== "");
}

function fileOf({ env, home }: User): string {
  return join(resolveUserPaths(env, home).stateDir, "chat-history.jsonl");
}

function parseLine(line: string): string | null {
  try {
    const text: unknown = JSON.parse(line);
    return typeof text === "string" ? text : null;
  } catch {
    return null;
  }
}
