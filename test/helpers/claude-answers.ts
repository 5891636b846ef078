// Writes what Claude Code writes when a mod answers its compaction: jpg's mark, a boundary without a summary, and the rows of the
// answer, which are copies of rows or built; then the command's own lines, if a person asked for it.
import type { ClaudeWriter, Json } from "./claude-session.ts";

export type AnswerItem =
  /** The row with this uuid, unchanged. */
  | { readonly keep: string }
  | { readonly user: string }
  | { readonly say: string; readonly call?: string }
  | { readonly result: string; readonly text: string };

export interface WrittenAnswer {
  readonly boundary: string;
  /** The rows of the answer, in order. */
  readonly rows: readonly string[];
  readonly marked?: string;
}

/**
 * Writes an answer; `mark` = the text of jpg's mark. `follows` = the line that the boundary names in place of the newest one: in the
 * middle of a turn, the mark of the compaction before.
 */
export function answerCompaction(
  writer: ClaudeWriter,
  items: readonly AnswerItem[],
  { mark, byCommand = true, follows }: { mark?: string; byCommand?: boolean; follows?: string } = {},
): WrittenAnswer {
  const marked = mark === undefined ? undefined : writeMark(writer, mark);
  const boundary = writer.node(
    {
      type: "system",
      subtype: "compact_boundary",
      content: "Conversation compacted",
      compactMetadata: { trigger: byCommand ? "manual" : "auto", preTokens: 900, postTokens: 300 },
      logicalParentUuid: follows ?? writer.head,
    },
    { parent: null },
  );
  const { timestamp } = writer.lines.at(-1)!;
  const rows = items.map((item) => writeRow(writer, item, String(timestamp)));
  if (byCommand) writeEcho(writer, String(timestamp));
  writer.sent.length = 0;
  return { boundary, rows, marked };
}

/** Writes a mark alone, as if the answer was never installed. */
export function writeMark(writer: ClaudeWriter, mark: string): string {
  const { head } = writer;
  const id = writer.node({ type: "system", subtype: "informational", level: "info", isMeta: false, content: mark });
  writer.head = head;
  return id;
}

function writeRow(writer: ClaudeWriter, item: AnswerItem, timestamp: string): string {
  if ("keep" in item) return copyRow(writer, item.keep);
  const row = (line: Json): string => {
    const id = writer.node(line);
    Object.assign(writer.lines.at(-1)!, { timestamp });
    return id;
  };
  if ("say" in item) {
    const call = { type: "tool_use", id: item.call, name: "Bash", input: { command: `echo ${item.call}` } };
    const text = { type: "text", text: item.say === "" ? "(no content)" : item.say };
    const content = item.call === undefined ? [text] : item.say === "" ? [call] : [text, call];
    const message = { id: `built-${writer.lines.length}`, role: "assistant", model: "<synthetic>", content };
    return row({ type: "assistant", message, isApiErrorMessage: false, madeBy: "other" });
  }
  const content =
    "user" in item
      ? item.user
      : [{ type: "tool_result", tool_use_id: item.result, content: item.text, is_error: false }];
  return row({ type: "user", message: { role: "user", content }, rowSource: "hook" });
}

/** A copy has the words and the time of its row. Results keep the row that they follow; what is hidden after a prompt is copied, too. */
function copyRow(writer: ClaudeWriter, uuid: string): string {
  const at = writer.lines.findIndex((line) => line["uuid"] === uuid);
  const original = writer.lines[at]!;
  const { uuid: _, parentUuid, timestamp, ...line } = original;
  const isResult = JSON.stringify(line["message"]).includes("tool_result");
  const id = writer.node(
    { ...line, ...(line["type"] === "user" && { rowSource: "local" }) },
    isResult ? { parent: String(parentUuid) } : {},
  );
  Object.assign(writer.lines.at(-1)!, { timestamp });
  const next = writer.lines[at + 1];
  const isHidden = next?.["type"] === "attachment" || next?.["isMeta"] === true;
  if (isHidden && line["type"] === "user") copyRow(writer, String(next?.["uuid"]));
  return id;
}

/** The lines of `/compact`: the first two are older than the boundary. */
function writeEcho(writer: ClaudeWriter, boundary: string): void {
  const timestamp = new Date(Date.parse(boundary) - 400).toISOString();
  const texts = [
    "<local-command-caveat>Do not answer this.</local-command-caveat>",
    "<command-name>/compact</command-name>",
    "<local-command-stdout>Compacted</local-command-stdout>",
  ];
  for (const [at, text] of texts.entries()) {
    writer.node({ type: "user", message: { role: "user", content: text }, ...(at === 0 && { isMeta: true }) });
    if (at < 2) Object.assign(writer.lines.at(-1)!, { timestamp });
  }
}
