// How a value that is put into a JSON text is laid out: as the text around it is, so that it looks as if its owner had typed it.
import type { JsonValue } from "../../formats/agent-format.ts";
import type { OutlineNode } from "./json-outline.ts";
import type { Insertion } from "./settings-edit.ts";

const USUAL_INDENT = "  ";
const BYTE_ORDER_MARK = "\uFEFF";

/** An item, or a member where it has a key. */
interface NewPart {
  readonly key: string | null;
  readonly value: JsonValue;
}

/** Where a value goes in a file that holds nothing. */
export function placeFirst(text: string, value: JsonValue): Insertion {
  return { at: text.startsWith(BYTE_ORDER_MARK) ? 1 : 0, text: `${JSON.stringify(value, null, USUAL_INDENT)}\n` };
}

/** Where a part goes in a list or an object: behind what is there. */
export function placePart(text: string, holder: OutlineNode, part: NewPart): Insertion {
  const parts = holder.parts ?? [];
  const [first, last] = [parts[0], parts.at(-1)];
  const inner = text.slice(holder.start + 1, first?.start ?? holder.end - 1);
  const isFlat = first === undefined ? isOneLine(text) : !inner.includes("\n");
  const unit = indentOf(text);
  const outer = lineIndent(text, holder.start);
  const indent = first === undefined || isFlat ? outer + unit : lineIndent(text, first.start);
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const words = isFlat ? flat(part) : laidOut(part, { unit, indent, eol });
  const gap = isFlat ? (first === undefined ? "" : " ") : `${eol}${indent}`;
  if (last === undefined) {
    const close = isFlat || inner.includes("\n") ? "" : `${eol}${outer}`;
    return { at: holder.start + 1, text: `${gap}${words}${close}` };
  }
  return last.comma === null
    ? { at: last.value.end, text: `,${gap}${words}` }
    : { at: last.comma + 1, text: `${gap}${words}` };
}

/** Whether a file that holds something holds it in one line. */
function isOneLine(text: string): boolean {
  const trimmed = text.trim();
  return !trimmed.includes("\n") && trimmed.replaceAll(/\s/g, "").length > 2;
}

/** What a level is indented by, told from the first line that is. */
function indentOf(text: string): string {
  return /^([ \t]+)["}\]]/m.exec(text)?.[1] ?? USUAL_INDENT;
}

/** The blank that a line begins with. */
function lineIndent(text: string, at: number): string {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  return /^[ \t]*/.exec(text.slice(start, at))?.[0] ?? "";
}

function flat({ key, value }: NewPart): string {
  const words = JSON.stringify(value);
  return key === null ? words : `${JSON.stringify(key)}: ${words}`;
}

function laidOut(
  { key, value }: NewPart,
  { unit, indent, eol }: { readonly unit: string; readonly indent: string; readonly eol: string },
): string {
  const words = JSON.stringify(value, null, unit).replaceAll("\n", `${eol}${indent}`);
  return key === null ? words : `${JSON.stringify(key)}: ${words}`;
}
