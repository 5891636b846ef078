// Records what jpg added to agents' settings, to remove exactly that later. Contents of settings files are not recorded: they hold
// keys. Without the record, entries and files are found by their content.
import { dirname } from "node:path";
import * as z from "zod/mini";
import { codeOf } from "../../core/errors.ts";
import { parseJson } from "../../core/json.ts";
import { makeFolders, readOwnText, replaceFile } from "../../store/files.ts";
import { withLock } from "../../store/locks.ts";

/** What to install: hooks that keep sessions, the server of jpg's tools, jpg inside the running agent. */
export type SetupKind = "hooks" | "server" | "live";

/** One installed part. */
export interface InstalledPart {
  /** The name of its format. */
  readonly agent: string;
  readonly what: SetupKind;
  /** Absolute. */
  readonly path: string;
  /** Whether installing created the file. */
  readonly created: boolean;
  /** Texts inserted into a settings file. */
  readonly inserted: readonly string[];
  /** Files of a plug-in; absent = the part is in a settings file. */
  readonly files?: readonly InstalledFile[];
  /** Folders that installing created, absolute. */
  readonly folders?: readonly string[];
}

/** A file of a plug-in. */
export interface InstalledFile {
  /** Absolute. */
  readonly path: string;
  /** SHA-256 of the texts that jpg wrote; two while an update runs. */
  readonly sha256: readonly string[];
}

/** Which part of which file. */
export type InstalledKey = Pick<InstalledPart, "agent" | "what" | "path">;

const FORMAT = 1;
const installedFile = z.object({
  format: z.literal(FORMAT),
  parts: z.array(
    z.object({
      agent: z.string(),
      what: z.enum(["hooks", "server", "live"]),
      path: z.string(),
      created: z.boolean(),
      inserted: z.array(z.string()),
      files: z.optional(z.array(z.object({ path: z.string(), sha256: z.array(z.string()) }))),
      folders: z.optional(z.array(z.string())),
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

export function findInstalled(record: string, key: InstalledKey): InstalledPart | undefined {
  return readInstalled(record).find((part) => isSame(part, key));
}

/** Replaces one part in the record, null = removes it. Returns the parts in the record. */
export async function recordInstalled(
  record: string,
  key: InstalledKey,
  part: InstalledPart | null,
): Promise<readonly InstalledPart[]> {
  makeFolders(dirname(record), 0o700);
  return withLock(`${record}.lock`, async () => {
    const others = readInstalled(record).filter((other) => !isSame(other, key));
    const parts = part === null ? others : [...others, part];
    await replaceFile(record, `${JSON.stringify({ format: FORMAT, parts }, null, 2)}\n`, { mode: 0o600 });
    return parts;
  });
}

function isSame(one: InstalledKey, other: InstalledKey): boolean {
  return one.agent === other.agent && one.what === other.what && one.path === other.path;
}
