// Which pager shows long output, as git chooses it: only on a terminal, $JPG_PAGER before $PAGER before less.
import type { PagerProgram } from "../../app/models/external-process.ts";

/** Chooses the pager, or null for none. An empty value or `cat` turns paging off. */
export function choosePager(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): PagerProgram | null {
  if (!isTerminal || env["TERM"] === "dumb") return null;
  const own = env["JPG_PAGER"] ?? env["PAGER"];
  if (own === undefined) return { program: "less", arguments: ["-FRX"] };
  return own.trim() === "" || own.trim() === "cat" ? null : { shellCommand: own };
}
