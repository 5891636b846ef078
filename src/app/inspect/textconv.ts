// A stored record as git's diffs show it: a compaction in words, other records as they are.
import { readFile } from "node:fs/promises";
import { parseCompactionLine } from "../../core/compaction/compaction-line.ts";
import { describePolicies } from "../../core/compaction/policy.ts";
import { forTerminal } from "../../core/safe-text.ts";

/** Reads a record's file and describes it, fit for the terminal that git prints it on; what is no compaction stays as it is. */
export async function describeRecord(path: string): Promise<string> {
  return forTerminal(describeText(await readFile(path, "utf8"), path));
}

function describeText(text: string, path: string): string {
  try {
    const compaction = parseCompactionLine(text.trimEnd(), path);
    const { summary, replacement, ...facts } = compaction;
    const fields = Object.entries(facts).map(
      ([key, value]) => `${key}: ${typeof value === "string" ? value : JSON.stringify(value)}`,
    );
    return [
      `compaction ${compaction.id}`,
      `turns ${compaction.from_turn}..${compaction.to_turn}: ${describePolicies(compaction)}`,
      ...fields.filter((field) => !/^(type|id|from_turn|to_turn):/.test(field)),
      ...(summary === undefined ? [] : ["summary:", ...summary.summary.split("\n").map((line) => `  ${line}`)]),
      ...(replacement === undefined ? [] : [`replacement: ${replacement.length} events`]),
      "",
    ].join("\n");
  } catch {
    return text; // git shows what stands there, damaged or not
  }
}
