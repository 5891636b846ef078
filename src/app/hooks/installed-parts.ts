// What jpg put into which file of settings, so that exactly that can be taken out again. Of the files themselves nothing is kept:
// settings hold keys. Without this record entries are still found by what they say.
import { dirname } from "node:path";
import * as z from "zod/mini";
import { codeOf } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import { makeFolders, readOwnText, replaceFile } from "../../store/files.ts";

/** What was put into one file for one agent. */
export interface InstalledPart {
  readonly agent: string;
  readonly what: "hooks" | "server";
  /** Absolute. */
  readonly path: string;
  /** Whether there was no such file before. */
  readonly created: boolean;
  readonly inserted: readonly string[];
}

const FORMAT = 1;
const installedFile = z.object({
  format: z.literal(FORMAT),
  parts: z.array(
    z.object({
      agent: z.string(),
      what: z.enum(["hooks", "server"]),
      path: z.string(),
      created: z.boolean(),
      inserted: z.array(z.string()),
    }),
  ),
});

/** Reads the record; empty when there is none or it is damaged. */
export function readInstalled(path: string): readonly InstalledPart[] {
  try {
    return parseJson(readOwnText(path), installedFile)?.parts ?? [];
  } catch (error) {
    if (codeOf(error) === "") throw error;
    return [];
  }
}

/** Writes the record with one part of a file replaced; null = it is gone. Gives what stands in the record then. */
export async function recordInstalled(
  record: string,
  { agent, what, path }: Pick<InstalledPart, "agent" | "what" | "path">,
  part: InstalledPart | null,
): Promise<readonly InstalledPart[]> {
  const others = readInstalled(record).filter(
    (other) => other.agent !== agent || other.what !== what || other.path !== path,
  );
  const parts = part === null ? others : [...others, part];
  makeFolders(dirname(record), 0o700);
  await replaceFile(record, `${JSON.stringify({ format: FORMAT, parts }, null, 2)}\n`, { mode: 0o600 });
  return parts;
}
