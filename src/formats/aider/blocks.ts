// The chat history of aider, a page of Markdown, as blocks: what the user typed stands behind `#### `, what aider says of itself
// behind `> `, answers stand as they are. A line of an answer that begins so is taken for what it looks like: nothing tells.
import type { SessionSource } from "../session-source.ts";
import { NO_DATE, readTimestamp } from "../timestamp.ts";

export interface Block {
  readonly speaker: "user" | "assistant" | "aider";
  /** 0-based, of its first line. */
  readonly line: number;
  readonly text: string;
  /** When its chat was started. */
  readonly timestamp: string;
  /** The chat that it is of, 0-based; what stands above the first start is of chat 0. */
  readonly chat: number;
}

/** Begins a chat: what stands above is not sent any more. The time is that of aider's machine, without a zone. */
const START = /^# aider chat started at (\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d)/;

/** Gives the time that a line says a chat was started at, as if it was UTC; undefined for other lines. */
export function startOfChat(line: string): string | undefined {
  const [, date, time] = START.exec(line) ?? [];
  return date === undefined ? undefined : (readTimestamp(`${date}T${time}.000Z`) ?? NO_DATE);
}

/** Cuts a history into blocks; those that say nothing are left out. */
export function readBlocks(source: SessionSource): readonly Block[] {
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

/** aider ends lines with two blanks, which break them in Markdown. */
function readLine(line: string): { readonly speaker: Block["speaker"]; readonly text: string } {
  if (/^####(?: |$)/.test(line)) return { speaker: "user", text: line.slice(5).replace(/ {2}$/, "") };
  if (/^>(?: |$)/.test(line)) return { speaker: "aider", text: line.slice(2).replace(/ {2}$/, "") };
  return { speaker: "assistant", text: line };
}
