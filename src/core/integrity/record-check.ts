// Checks one-line records by themselves: whether they can be read, and whether their names are those of their content.
import { appendAll } from "../append-all.ts";
import { type Compaction, compareCompactions } from "../compaction/compaction.ts";
import { parseCompactionLine, parseRecordLine, recordPath } from "../compaction/compaction-line.ts";
import { JpgError } from "../errors.ts";
import { attachmentsOf } from "../event/attachment.ts";
import type { Event } from "../event/event.ts";
import type { RecordFolder } from "./branch-files.ts";
import { createFinding, type Finding } from "./finding.ts";

/** A record file with its text. */
export interface RecordText {
  readonly folder: RecordFolder;
  readonly path: string;
  readonly text: string;
}

/** A compaction with its file. */
export interface CheckedCompaction {
  readonly path: string;
  readonly compaction: Compaction;
}

/** The records of a branch. */
export interface CheckedRecords {
  /** Those that can be read, oldest first. */
  readonly compactions: readonly CheckedCompaction[];
  /** Names of the attachments that settings refer to: definitions of tools. */
  readonly attachments: ReadonlySet<string>;
  readonly findings: readonly Finding[];
}

/** Checks the records of a branch. */
export function checkRecords(records: readonly RecordText[]): CheckedRecords {
  const findings: Finding[] = [];
  const compactions: CheckedCompaction[] = [];
  const attachments = new Set<string>();
  const paths = new Map<string, string>();
  for (const { folder, path, text } of records) {
    const record = parseOrReport({ folder, path, text }, findings);
    if (record === null) continue;
    if (folder === "compactions") compactions.push({ path, compaction: record as unknown as Compaction });
    if (folder === "config") for (const name of attachmentsNamed(record)) attachments.add(name);
    appendAll(findings, checkName(folder, path, record));
    appendAll(findings, checkType(folder, path, record));
    const key = `${folder} ${String(record["id"])}`;
    const other = paths.get(key);
    if (other !== undefined) findings.push(repeated(path, other));
    paths.set(key, path);
  }
  compactions.sort((a, b) => compareCompactions(a.compaction, b.compaction));
  return { compactions, attachments, findings };
}

/** What is no name of an attachment refers to none. */
function attachmentsNamed(record: Fields): readonly string[] {
  try {
    return attachmentsOf(record as unknown as Event);
  } catch (error) {
    if (error instanceof JpgError) return [];
    throw error;
  }
}

type Fields = Readonly<Record<string, unknown>>;

function parseOrReport({ folder, path, text }: RecordText, findings: Finding[]): Fields | null {
  try {
    if (folder === "compactions") return parseCompactionLine(text, path) as unknown as Fields;
    return parseRecordLine(text, path);
  } catch (error) {
    if (!(error instanceof JpgError)) throw error;
    findings.push(
      createFinding("record_malformed", {
        path,
        message: `it is not a ${folder === "compactions" ? "compaction" : "record"}: ${String(error.data["reason"] ?? error.message)}`,
        hint: `it has no effect; \`jpg git log -p -- ${path}\` shows who changed it, \`jpg git rm -- ${path}\` and a commit take it away`,
      }),
    );
    return null;
  }
}

function checkName(folder: RecordFolder, path: string, record: Fields): readonly Finding[] {
  const expected = nameOf(folder, record);
  if (expected === path) return [];
  return [
    createFinding("record_misnamed", {
      path,
      message: expected === null ? "its id or time can name no file" : `by its id and time it would be ${expected}`,
      hint: "only the content counts, but with a different name two records could have the same id",
    }),
  ];
}

function nameOf(folder: RecordFolder, record: Fields): string | null {
  try {
    return recordPath(folder, String(record["timestamp"]), String(record["id"]));
  } catch (error) {
    if (error instanceof JpgError) return null;
    throw error;
  }
}

function checkType(folder: RecordFolder, path: string, record: Fields): readonly Finding[] {
  if (folder !== "config" || record["type"] === "config_delta") return [];
  return [
    createFinding("record_malformed", {
      path,
      message: `its type is ${JSON.stringify(record["type"])}, expected config_delta`,
      hint: `it has no effect; \`jpg git log -- ${path}\` shows who added it`,
    }),
  ];
}

function repeated(path: string, other: string): Finding {
  return createFinding("record_repeated", {
    path,
    message: `it has the id of ${other}`,
    hint: "of two records with one id the later counts; remove the one that was copied: `jpg git rm -- PATH` and a commit",
  });
}
