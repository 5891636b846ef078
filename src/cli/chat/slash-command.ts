// What a slash command of the chat is, and how a typed line names one.
import { readdir } from "node:fs/promises";
import { resolve } from "node:path";
import type { Runtime } from "../../app/conversation/runtime.ts";
import type { BranchTree } from "../../app/conversation/tree.ts";
import type { Workspace } from "../../app/conversation/workspace.ts";
import type { OpenedModel } from "../../app/models/models.ts";
import type { Tool } from "../../app/models/tool-box.ts";
import type { CompactOffers } from "../../core/compact/automatic.ts";
import type { Content } from "../../core/conversation/event.ts";
import { nearestName, userError } from "../../core/errors.ts";
import type { Output } from "../frame/output.ts";
import type { AnswerLook } from "../render/answer.ts";
import type { ChatTerminal } from "./chat-terminal.ts";
import type { LineCompletion } from "./edit-line.ts";

/** The state of a chat between two messages. */
export interface ChatState {
  /** The branch of the chat; null until a new conversation has its first turn. */
  readonly branch: string | null;
  readonly model: OpenedModel;
  /** Whether the user named the model; if so, the conversation stores it. */
  readonly isNamed: boolean;
  readonly offers: CompactOffers;
  /** The last message, if it got no answer and was not kept. */
  readonly unanswered: Content | null;
  /** Text to put into the line at the next prompt. */
  readonly draft: string;
  /** Whether the conversation has stored the settings of `--cfg`. */
  readonly settingsKept: boolean;
}

/** What a command changes; `leave` ends the chat, `ask` is sent next. */
export type ChatChange = Partial<ChatState> & { readonly leave?: true; readonly ask?: Content };

/** What a command works with. */
export interface SlashContext {
  readonly workspace: Workspace;
  readonly runtime: Runtime;
  readonly output: Output;
  readonly terminal: ChatTerminal;
  readonly look: AnswerLook;
  readonly state: ChatState;
  /** Tools that the messages of this chat offer the model. */
  readonly tools: readonly Tool["definition"][];
  /** Loads the branch at its tip. Throws `no_turn_yet` before the first turn of a new conversation. */
  loadTree(): Promise<BranchTree>;
}

export interface SlashCommand {
  /** Without the slash. */
  readonly name: string;
  readonly aliases: readonly string[];
  /** What may follow the name, e.g. `[N]`; one line of help for each form. */
  readonly forms: readonly { readonly usage: string; readonly explains: string }[];
  /** Completes the next word, given those before it. */
  complete?(words: readonly string[], context: SlashContext): Promise<readonly string[]>;
  run(words: readonly string[], context: SlashContext): Promise<ChatChange>;
}

/** A line that names a command. */
interface SlashLine {
  readonly name: string;
  readonly words: readonly string[];
}

/**
 * Parses a line as a command; null if it is a message. Paths (`/etc/hosts is …`), texts of several lines and those that begin
 * with `//` are messages.
 */
export function parseSlashLine(line: string): SlashLine | null {
  if (line.includes("\n")) return null;
  const [first = "", ...words] = line.trimEnd().split(/\s+/);
  const name = /^\/([a-z?][\w-]*)$/i.exec(first)?.[1] ?? (first === "/" ? "" : undefined);
  return name === undefined ? null : { name: name.toLowerCase(), words };
}

/** Whether a name is a command's name or alias. */
function isCalled(command: SlashCommand, name: string): boolean {
  return command.name === name || command.aliases.includes(name);
}

/** Finds a command by its name or an alias. Throws `unknown_slash_command` with the nearest one. */
export function findSlashCommand(commands: readonly SlashCommand[], name: string): SlashCommand {
  const found = commands.find((command) => isCalled(command, name));
  if (found !== undefined) return found;
  const nearest = nearestName(
    name,
    commands.flatMap((command) => [command.name, ...command.aliases]),
  );
  throw userError("unknown_slash_command", `/${name} is not a chat command.`, {
    hints: [
      ...(nearest === undefined ? [] : [`Did you mean /${nearest}?`]),
      `/help lists the commands; a message that begins with a slash is typed with two: //${name}`,
    ],
  });
}

/** Creates the error for words that a command does not understand. */
export function wrongWords(command: SlashCommand, message: string): Error {
  return userError("bad_slash_argument", `/${command.name}: ${message}.`, {
    hints: command.forms.map(({ usage, explains }) => `${`/${command.name} ${usage}`.trimEnd()}: ${explains}`),
  });
}

/** Completes the end of a line: a command's words, or in a message the name of an attached file. */
export async function completeLine(
  line: string,
  commands: readonly SlashCommand[],
  context: SlashContext,
): Promise<LineCompletion> {
  if (!line.startsWith("/") || line.startsWith("//"))
    return (await completeFile(line, context.runtime.cwd)) ?? [[], line];
  const [name = "", ...words] = line.slice(1).split(/\s+/);
  const last = words.pop();
  if (last === undefined) return [matchingNames(commands, name).map((found) => `/${found} `), line];
  const command = commands.find((one) => isCalled(one, name));
  const candidates = (await command?.complete?.(words, context)) ?? [];
  return [matching(candidates, last).map((found) => `${found} `), last];
}

/** Offers aliases only if no name fits. */
function matchingNames(commands: readonly SlashCommand[], beginning: string): readonly string[] {
  const found = matching(
    commands.map(({ name }) => name),
    beginning,
  );
  if (found.length > 0) return found;
  return matching(
    commands.flatMap(({ aliases }) => aliases),
    beginning,
  );
}

function matching(candidates: readonly string[], beginning: string): readonly string[] {
  return candidates.filter((candidate) => candidate.startsWith(beginning));
}

/** Matches the beginning of a file's name at the end of a text, quoted or not, as `requestContent` reads it. */
const MENTION = /(?<=^|[\s("'[{])@(?:"[^"\n]*|[^\s"]*)$/;

/** Completes a file's name; null if none is being typed. A folder that cannot be read has no names. */
export async function completeFile(before: string, cwd: string): Promise<LineCompletion | null> {
  const mention = MENTION.exec(before)?.[0];
  if (mention === undefined) return null;
  const isQuoted = mention.startsWith('@"');
  const typed = mention.slice(isQuoted ? 2 : 1);
  const at = typed.lastIndexOf("/") + 1;
  const [folder, beginning] = [typed.slice(0, at), typed.slice(at)];
  const entries = await readdir(resolve(cwd, folder), { withFileTypes: true }).catch(() => []);
  const found = entries
    .filter(({ name }) => name.startsWith(beginning) && (beginning !== "" || !name.startsWith(".")))
    // What cannot be typed cannot be attached.
    .filter(({ name }) => !/[\p{Cc}"]/u.test(name))
    .map((entry) => ({ path: folder + entry.name, isFolder: entry.isDirectory() }));
  // Only the common part of several names is inserted: unquoted, if one of them needs no quotes.
  const quotes = isQuoted || found.every(({ path }) => /\s/.test(path));
  return [found.map((file) => mentionOf(file, quotes)).sort(), mention];
}

/** As it is typed; after a folder more is to come. */
function mentionOf({ path, isFolder }: { path: string; isFolder: boolean }, quotes: boolean): string {
  const start = quotes ? `@"${path}` : `@${path}`;
  if (isFolder) return `${start}/`;
  return quotes ? `${start}" ` : `${start} `;
}
