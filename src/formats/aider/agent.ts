// Recognises and reads aider's chat history.
import type { Compaction } from "../../core/conversation/compaction.ts";
import type { Event } from "../../core/conversation/event.ts";
import { titleOfRequest } from "../../core/conversation/marks.ts";
import { userError } from "../../core/errors.ts";
import type { AgentFormat } from "../agent-format.ts";
import { deriveName, type ImportedSession, shorten } from "../imported-session.ts";
import { NO_DATE, readTimestamp, type SessionSource } from "../session-source.ts";

// Imports aider's chat history as one conversation of all chats of a project. Each new chat hides those before it, as aider does.
// The history has no files, calls, reasoning or times of messages. A pure function of the file's text.

/** Version of this importer: raise it when the same bytes would give other events or records. */
const AIDER_IMPORTER = 1;

/** Title of a history without a user request. */
const UNTITLED = "untitled session";
/** Lines searched for the start of a chat: somebody may have cut off the beginning. */
const LINES_LOOKED_AT = 5000;

/** What the user typed, and what follows it. */
interface AiderTurn {
  readonly opener: Block;
  readonly blocks: readonly Block[];
  /** The model, once aider has named it. */
  readonly model?: string;
}

/** A history has no id: it is named after the first chat that starts in it. Null for other files. */
export function aiderSessionId(source: SessionSource): string | null {
  for (let at = 0; at < Math.min(source.lineCount, LINES_LOOKED_AT); at++) {
    const line = source.line(at);
    if (startOfChat(line) !== undefined) return `aider-${deriveName(`${at} ${line.trim()}`)}`;
  }
  return null;
}

/** Reads a history. Throws `not_a_session` for a file in which no chat starts. */
export function readAiderHistory(source: SessionSource): ImportedSession {
  const sessionId = aiderSessionId(source);
  if (sessionId === null) throw notASession();
  const blocks = readBlocks(source);
  const turns = turnsOf(blocks);
  const createdAt = blocks.find(({ timestamp }) => timestamp !== NO_DATE)?.timestamp ?? NO_DATE;
  const placed = hidePastChats(turns, sessionId);
  return {
    format: "aider",
    importer: AIDER_IMPORTER,
    sessionId,
    title: titleOf(turns),
    titles: [],
    createdAt,
    turnCount: turns.length,
    readTurn: (turn) => readTurn(turns[turn], sessionId),
    turnLine: (turn) => (turn === 0 ? 0 : (turns[turn]?.opener.line ?? source.lineCount)),
    turnTime: (turn) => turns[turn]?.opener.timestamp ?? createdAt,
    hasLine: () => false,
    compactions: placed.map(({ compaction }) => compaction),
    compactionTurns: new Map(placed.map(({ compaction, turn }) => [compaction.id, turn])),
    abandoned: [],
    skippedLines: [],
  };
}

/** What the user types opens a turn, unless it is a command that no model sees. Blocks above the first turn belong to it. */
function turnsOf(blocks: readonly Block[]): readonly AiderTurn[] {
  const turns: (AiderTurn & { readonly blocks: Block[] })[] = [];
  const head: Block[] = [];
  let model: string | undefined;
  for (const block of blocks) {
    model = modelNamedBy(block) ?? model;
    const open = turns.at(-1);
    const opens = open === undefined ? block.speaker !== "aider" && !isCommand(block) : isRequest(block);
    if (!opens) {
      (open?.blocks ?? head).push(block);
      continue;
    }
    const turn = { opener: block, model, blocks: [...head.splice(0), block] };
    turns.push(turn);
  }
  return turns;
}

function isRequest(block: Block): boolean {
  return block.speaker === "user" && !isCommand(block);
}

/** Commands begin with `/`, shell commands with `!`; some of aider's send their arguments to the model. */
function isCommand({ speaker, text }: Block): boolean {
  return speaker === "user" && /^[/!]/.test(text) && !/^\/(?:ask|architect|code|context)\s+\S/.test(text);
}

/** The first line in which aider names its model: `Models: … with`, `Main model: … with`, `Model: … with`. */
function modelNamedBy({ speaker, text }: Block): string | undefined {
  return speaker === "aider" ? /^(?:Main model|Models?): (\S+?),? with /m.exec(text)?.[1] : undefined;
}

function readTurn(turn: AiderTurn | undefined, sessionId: string): readonly Event[] {
  if (turn === undefined) return [];
  const { opener, blocks, model } = turn;
  const idOf = ({ line }: Block): string => `${line}-${sessionId}`;
  const start: Event = { type: "turn_start", id: `${idOf(opener)}.turn`, timestamp: opener.timestamp };
  return [start, ...blocks.map((block) => toEvent(block, idOf(block), model))];
}

function toEvent(block: Block, id: string, model: string | undefined): Event {
  const { speaker, text, timestamp } = block;
  if (speaker === "assistant") {
    const metadata = { provider: "aider", model };
    return { type: "chat_response", id, timestamp, message: text, metadata };
  }
  if (isRequest(block)) return { type: "chat_request", id, timestamp, content: text };
  return { type: "note", id, timestamp, kind: speaker === "user" ? "command" : "log", data: { text: shorten(text) } };
}

interface PlacedCompaction {
  readonly compaction: Compaction;
  readonly turn: number;
}

/** A new chat hides those before it. */
function hidePastChats(turns: readonly AiderTurn[], sessionId: string): readonly PlacedCompaction[] {
  return turns.flatMap(({ opener }, turn) => {
    const before = turns[turn - 1]?.opener;
    if (before === undefined || before.chat === opener.chat) return [];
    const compaction: Compaction = {
      type: "compaction",
      id: deriveName(`${sessionId} chat at ${opener.line}`),
      timestamp: opener.timestamp,
      from_turn: 0,
      to_turn: turn - 1,
      turns: "omit",
      source: "import",
      reason: "new-chat",
    };
    return [{ compaction, turn }];
  });
}

function titleOf(turns: readonly AiderTurn[]): string {
  for (const { blocks } of turns) {
    for (const block of blocks) {
      const title = isRequest(block) ? titleOfRequest(block.text) : "";
      if (title !== "") return title;
    }
  }
  return UNTITLED;
}

function notASession(): Error {
  return userError(
    "not_a_session",
    "The file is not a chat history of aider: expected a line `# aider chat started at …`.",
    { hints: ["aider keeps it in the project, in .aider.chat.history.md."] },
  );
}

// aider's history is Markdown: `#### ` marks what the user typed, `> ` aider's own messages, answers have no mark. An answer's line
// that begins with a mark cannot be distinguished.

interface Block {
  readonly speaker: "user" | "assistant" | "aider";
  /** 0-based, of its first line. */
  readonly line: number;
  readonly text: string;
  /** When its chat started. */
  readonly timestamp: string;
  /** Its chat, 0-based; text above the first start is of chat 0. */
  readonly chat: number;
}

/** Begins a chat: text above it is no longer sent. The time is the local time of aider's machine, without a zone. */
const START = /^# aider chat started at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)/;

/** The start time that a line names, taken as UTC; undefined for other lines. */
function startOfChat(line: string): string | undefined {
  const [, date, time] = START.exec(line) ?? [];
  return date === undefined ? undefined : (readTimestamp(`${date}T${time}.000Z`) ?? NO_DATE);
}

/** Cuts a history into blocks; drops empty ones. */
function readBlocks(source: SessionSource): readonly Block[] {
  const blocks: Block[] = [];
  let open: { readonly speaker: Block["speaker"]; readonly line: number; readonly lines: string[] } | undefined;
  let timestamp = NO_DATE;
  let chat = 0;
  let isStarted = false;
  const close = (): void => {
    const text = open?.lines.join("\n").trim() ?? "";
    if (open !== undefined && text !== "")
      blocks.push({ speaker: open.speaker, line: open.line, text, timestamp, chat });
    open = undefined;
  };
  for (let at = 0; at < source.lineCount; at++) {
    const line = source.line(at);
    const started = startOfChat(line);
    if (started !== undefined) {
      close();
      if (isStarted || blocks.length > 0) chat++;
      isStarted = true;
      timestamp = started;
      continue;
    }
    const { speaker, text } = readLine(line);
    const isEmpty = speaker === "assistant" && text === "";
    if (open?.speaker === speaker) open.lines.push(text);
    else {
      close();
      if (!isEmpty) open = { speaker, line: at, lines: [text] };
    }
  }
  close();
  return blocks;
}

/** aider ends lines with two blanks, Markdown's line break. */
function readLine(line: string): { readonly speaker: Block["speaker"]; readonly text: string } {
  if (/^####(?: |$)/.test(line)) return { speaker: "user", text: line.slice(5).replace(/ {2}$/, "") };
  if (/^>(?: |$)/.test(line)) return { speaker: "aider", text: line.slice(2).replace(/ {2}$/, "") };
  return { speaker: "assistant", text: line };
}

/** What aider calls its history, in the project's directory. */
const FILE = ".aider.chat.history.md";

export const AIDER: AgentFormat = {
  name: "aider",
  agent: { name: "aider", email: "aider@jpg.invalid" },
  importer: AIDER_IMPORTER,
  files: { endings: [FILE], folders: (_machine, directory) => [{ path: directory, directory }] },
  detect: (source) => aiderSessionId(source) !== null,
  sessionId: aiderSessionId,
  origin: () => null,
  read: readAiderHistory,
  help: {
    place: `aider keeps its chats in the project's directory, in ${FILE}.`,
    file: FILE,
    reads:
      "The whole history as one conversation; each new chat hides those before it, as a compaction that you can undo.",
    lost: [
      "The history holds no files, no edits as calls, no reasoning and no times of messages: everything in a chat has the time at which the chat started, taken as UTC.",
      "A line of an answer that begins with `#### ` or `> ` is taken for your words or for aider's.",
    ],
  },
};
