// Sorts the files of a branch by kind, from their paths alone, and finds what is missing, misplaced or not a file.
import { appendAll } from "../lists.ts";
import { turnIndexOfPath, turnPath } from "./turn-file.ts";

export interface BranchFile {
  readonly path: string;
  readonly oid: string;
  /** Set when it is not a plain file. */
  readonly special?: "link" | "repository";
}

export interface BranchFiles {
  /** By turn position; undefined where one is missing. */
  readonly turns: readonly (BranchFile | undefined)[];
  /** Plain files. */
  readonly records: Readonly<Record<RecordFolder, readonly BranchFile[]>>;
  /** By name. */
  readonly attachments: ReadonlyMap<string, BranchFile>;
  readonly sources: readonly BranchFile[];
  readonly findings: readonly Finding[];
}

/** The session that another one comes from. It may be imported later, or never. */
export interface ParentSession {
  /** `agent`: the parent started it as a subagent. `fork`: it continues a copy of the parent's beginning. */
  readonly kind: "agent" | "fork";
  readonly session: string;
  /** The parent's call that started it. */
  readonly call?: string;
  /** What the parent's results call it; absent = its session id. */
  readonly name?: string;
}

/** Folders of one-line records. */
export const RECORD_FOLDERS = ["compactions", "config", "meta"] as const;
export type RecordFolder = (typeof RECORD_FOLDERS)[number];

const ATTACHMENT = /^attachments\/([0-9a-f]{2})\/(\1[0-9a-f]{62}(?:\.[a-z0-9]{1,16})?)$/;
const PIECE = /^sources\/([^/]+)\/\d{4,}\/(\d{6,})(?:\.p(\d{2,}))?\.jsonl$/;
const OTHER_SOURCE = /^sources\/[^/]+\/(?:document\.[a-z0-9]+$|files\/)/;
const RECORD = /^(compactions|config|meta)\/[^/]+\.jsonl$/;
/** Folders that only jpg writes to. */
const OWN = /^(turns|compactions|config|meta|attachments|sources)\//;
/** Longest run of missing turns that is reported. */
const LONGEST_GAP = 10_000;
/** A piece of an imported session: the turn's position, and its number among the pieces of that turn, from 0. */
interface Piece {
  readonly turn: number;
  readonly piece: number;
}

/** How many things one finding lists. */
const MOST_NAMED = 5;

export function sortBranchFiles(files: readonly BranchFile[]): BranchFiles {
  const turns = new Map<number, BranchFile>();
  const records: Record<RecordFolder, BranchFile[]> = { compactions: [], config: [], meta: [] };
  const attachments = new Map<string, BranchFile>();
  const sources: BranchFile[] = [];
  const findings: Finding[] = [];
  for (const file of files) {
    const { path } = file;
    if (file.special !== undefined) findings.push(notAFile(file));
    const turn = turnIndexOfPath(path);
    const folder = RECORD.exec(path)?.[1] as RecordFolder | undefined;
    const attachment = ATTACHMENT.exec(path)?.[2];
    if (turn !== null) turns.set(turn, file);
    else if (folder !== undefined) records[folder].push(file);
    else if (attachment !== undefined) attachments.set(attachment, file);
    else if (PIECE.test(path) || OTHER_SOURCE.test(path)) sources.push(file);
    else if (OWN.test(path)) findings.push(misplaced(path));
  }
  const listed = listTurns(turns, findings);
  appendAll(findings, checkGaps(listed));
  appendAll(findings, checkSources(sources, listed.length));
  for (const folder of RECORD_FOLDERS) records[folder] = records[folder].filter(({ special }) => special === undefined);
  return { turns: listed, records, attachments, sources, findings };
}

function notAFile({ path, special }: BranchFile): Finding {
  return createFinding("not_a_file", {
    path,
    message: special === "link" ? "it is a symbolic link: jpg follows none" : "it is another repository, not a file",
    hint: `\`jpg git log --diff-filter=AT -- ${path}\` shows who put it there; \`jpg git rm --cached -- ${path}\` and a commit remove it`,
  });
}

function misplaced(path: string): Finding {
  return createFinding("misplaced_file", {
    path,
    message: "jpg writes no file of that name there, and ignores it",
    hint: `\`jpg git log -- ${path}\` shows who added it`,
  });
}

/** Lists turns by position. A file far beyond the others is misplaced: no accident loses more than LONGEST_GAP turns. */
function listTurns(turns: ReadonlyMap<number, BranchFile>, findings: Finding[]): readonly (BranchFile | undefined)[] {
  const listed: (BranchFile | undefined)[] = [];
  for (const index of [...turns.keys()].sort((a, b) => a - b)) {
    const file = turns.get(index);
    if (index - listed.length > LONGEST_GAP) findings.push(misplaced(file?.path ?? ""));
    else listed[index] = file;
  }
  return Array.from(listed); // holes become values
}

function checkGaps(turns: readonly (BranchFile | undefined)[]): readonly Finding[] {
  const missing = [...turns.keys()].filter((turn) => turns[turn] === undefined);
  return missing.slice(0, MOST_NAMED).map((turn) =>
    createFinding("turn_missing", {
      path: turnPath(turn),
      message: `turn ${turn} is missing: turns are numbered without gaps`,
      hint: `\`jpg git log --diff-filter=D -- ${turnPath(turn)}\` shows the commit that removed it; revert that commit`,
    }),
  );
}

/** Checks that no piece of a session is missing: joined in order, the pieces are its file. */
function checkSources(sources: readonly BranchFile[], turnCount: number): readonly Finding[] {
  const sessions = new Map<string, Piece[]>();
  for (const { path } of sources) {
    const [, session = "", turn, piece = "0"] = PIECE.exec(path) ?? [];
    if (turn === undefined) continue;
    const pieces = sessions.get(session) ?? [];
    pieces.push({ turn: Number(turn), piece: Number(piece) });
    sessions.set(session, pieces);
  }
  return [...sessions].flatMap(([session, pieces]) => checkSession(session, pieces, turnCount));
}

function checkSession(session: string, pieces: readonly Piece[], turnCount: number): readonly Finding[] {
  const path = `sources/${session}`;
  const beyond = pieces.filter(({ turn }) => turn >= turnCount);
  const findings: Finding[] = [];
  if (beyond.length > 0)
    findings.push(
      createFinding("source_without_turn", {
        path,
        message: `it has text of turn ${beyond[0]?.turn}, but the branch has ${turnCount} turns`,
        hint: "`jpg export --original` returns more than the branch has; `jpg log` and `jpg git log -- turns` show what cut it",
      }),
    );
  const ordered = [...pieces].sort((a, b) => a.turn - b.turn || a.piece - b.piece);
  for (const [at, { turn, piece }] of ordered.entries()) {
    const before = ordered[at - 1];
    const isNext = before?.turn === turn ? piece === before.piece + 1 : piece === 0;
    const follows = before === undefined || before.turn === turn || before.turn === turn - 1;
    if (isNext && follows) continue;
    findings.push(
      createFinding("source_gap", {
        path,
        message: `the text before turn ${turn}${piece === 0 ? "" : `, piece ${piece}`} is missing`,
        hint: `\`jpg git log --diff-filter=D -- ${path}\` shows the commit that removed it; revert that commit`,
      }),
    );
  }
  return findings.slice(0, MOST_NAMED);
}

/**
 * `error`: something cannot be read, or is read differently from how it was written. `warning`: everything can be read, but
 * something is not as it should be.
 */
type Severity = "error" | "warning";

/** The kinds of damage. A kind is never renamed: scripts look for it. */
export type FindingCode =
  // the repository
  | "ref_broken"
  | "object_damaged"
  | "view_stale"
  // the files of a branch
  | "header_unreadable"
  | "newer_format"
  | "header_differs"
  | "id_differs"
  | "attributes_differ"
  | "not_a_file"
  | "misplaced_file"
  | "turn_missing"
  | "changed_in_place"
  // turns
  | "turn_malformed"
  | "turn_start_missing"
  | "id_repeated"
  | "time_malformed"
  | "result_without_call"
  | "chain_broken"
  // records
  | "record_malformed"
  | "record_misnamed"
  | "record_repeated"
  | "range_beyond_end"
  | "event_missing"
  | "compaction_stale"
  | "summaries_overlap"
  | "message_differs"
  | "coverage_broken"
  // payloads and sources
  | "attachment_missing"
  | "attachment_damaged"
  | "attachment_unused"
  | "source_gap"
  | "source_without_turn";

export interface Finding {
  readonly code: FindingCode;
  readonly severity: Severity;
  /** Path in the tree of the branch, if it is about a file. */
  readonly path?: string;
  /** Line in the file, 1-based. */
  readonly line?: number;
  /** A sentence without a full stop. */
  readonly message: string;
  /** What to do next. */
  readonly hint: string;
}

/** Findings after which everything can still be read as it was written. */
const WARNINGS: ReadonlySet<FindingCode> = new Set<FindingCode>([
  "id_differs",
  "attributes_differ",
  "misplaced_file",
  "changed_in_place",
  "time_malformed",
  "result_without_call",
  "record_misnamed",
  "range_beyond_end",
  "compaction_stale",
  "summaries_overlap",
  "event_missing",
  "message_differs",
  "attachment_unused",
  "source_without_turn",
  "view_stale",
]);

/** Creates a finding; its severity follows from its code. */
export function createFinding(
  code: FindingCode,
  about: Pick<Finding, "message" | "hint"> & Partial<Pick<Finding, "path" | "line">>,
): Finding {
  return { code, severity: WARNINGS.has(code) ? "warning" : "error", ...about };
}
