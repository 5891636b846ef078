// The block of JSON in an answer: `{"files": […], "open_tasks": […]}` at its end, or the whole answer as one object. A block that
// cannot be read is taken out of the text all the same: it was meant for programs.
import { defined } from "../defined.ts";
import { type Fields, isFields } from "../event/fields.ts";

/** What the block of an answer says; absent lists are empty. */
export interface BlockFacts {
  readonly summary?: unknown;
  readonly files: readonly string[];
  readonly open_tasks: readonly string[];
  readonly plan?: unknown;
}

/** Words after the block that are taken for a farewell, characters. */
const FAREWELL_CHARS = 300;
const KEYS: readonly string[] = ["files", "open_tasks", "summary", "plan"];

/** Parts an answer into its text and its block; null = it has none. */
export function splitBlock(text: string): { readonly body: string; readonly block: Fields | null } {
  const whole = parseObject(text.replace(/^```(?:json)?\s*\n([\s\S]*)\n```$/, "$1"));
  if (whole !== null && KEYS.some((key) => key in whole)) return { body: "", block: whole };
  return splitFenced(text) ?? splitBare(text) ?? { body: text, block: null };
}

/** Reads the block. Entries that are no text, empty, or the example's `…`, are left out. */
export function readBlock(block: Fields | null): BlockFacts {
  if (block === null) return { files: [], open_tasks: [] };
  const { summary, plan } = block;
  return {
    ...defined({ summary }),
    files: textsIn(block["files"]),
    open_tasks: textsIn(block["open_tasks"] ?? block["openTasks"]),
    ...defined({ plan }),
  };
}

/** The last fenced block, when little follows it and it is an object of ours, or JSON that is broken. */
function splitFenced(text: string): { readonly body: string; readonly block: Fields | null } | null {
  const open = text.lastIndexOf("\n```json");
  if (open < 0) return null;
  const start = text.indexOf("\n", open + 1) + 1;
  const close = text.indexOf("\n```", start);
  const end = close === -1 ? text.length : close;
  if (text.slice(end + 4).trim().length > FAREWELL_CHARS || start === 0) return null;
  const content = text.slice(start, end);
  const block = parseObject(content);
  const isOurs = block === null ? KEYS.some((key) => content.includes(`"${key}"`)) : KEYS.some((key) => key in block);
  return isOurs ? { body: text.slice(0, open), block } : null;
}

/** An object without a fence at the very end. */
function splitBare(text: string): { readonly body: string; readonly block: Fields } | null {
  const open = Math.max(text.lastIndexOf('\n{"files"'), text.lastIndexOf('\n{"open_tasks"'), text.lastIndexOf("\n{\n"));
  const block = open === -1 ? null : parseObject(text.slice(open));
  return block !== null && KEYS.some((key) => key in block) ? { body: text.slice(0, open), block } : null;
}

function parseObject(text: string): Fields | null {
  const json = text.trim();
  for (const attempt of [json, json.replace(/,(\s*[\]}])/g, "$1")]) {
    try {
      const value: unknown = JSON.parse(attempt);
      return isFields(value) ? value : null;
    } catch {
      // not JSON as it stands
    }
  }
  return null;
}

function textsIn(value: unknown): readonly string[] {
  if (!Array.isArray(value)) return [];
  const texts = value.flatMap((item) => (typeof item === "string" ? [item.trim()] : []));
  return [...new Set(texts)].filter((text) => text !== "" && text !== "…");
}
