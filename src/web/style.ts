// The style of all pages: what shows a conversation, then what shows compactions and comparisons.
import { readTemplate } from "../app/conversation/runtime.ts";

const SHEETS = ["page.css", "page-compare.css"] as const;

/** Reads it as one sheet. */
export async function readStyle(): Promise<string> {
  return (await Promise.all(SHEETS.map(readTemplate))).join("\n");
}
