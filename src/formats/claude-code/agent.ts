// Recognises and reads sessions of Claude Code.
import { userError } from "../../core/errors.ts";
import { toAnthropicThread } from "../../core/model/anthropic-thread.ts";
import { type AgentFormat, findVersion, type SessionDraft } from "../agent-format.ts";
import {
  type AbandonedBranch,
  deriveName,
  type ImportedSession,
  lineUuid,
  parseExportOrigin,
  readExportOrigin,
  type SessionLineage,
  sessionUuid,
  toUsableId,
} from "../imported-session.ts";
import { createParsedLines, type ParsedLines, type RawLine, type SessionSource, stringOf } from "../session-source.ts";
import { findOffPathLines, followTest, pathTo, type SessionGraph, type SessionPath } from "./active-path.ts";
import { createAnswerReader } from "./answer-rows.ts";
import { readAgentCompactions } from "./compactions.ts";
import { firstTitle, readPath, readPlannedTurn, type TurnPlan } from "./events.ts";
import { readLive } from "./live-session.ts";
import { CLAUDE_SENT_LOG } from "./sent-requests.ts";
import {
  aboutTranscript,
  claudeDescent,
  claudeDirectory,
  claudeFolders,
  claudeKeptDays,
  claudeStart,
  isSideFile,
  isSideFolder,
  isTranscript,
  listParts,
  projectFolder,
  sessionIdOf,
} from "./session-folder.ts";
import {
  findEmptyMessages,
  indexSession,
  isSent,
  type LineEntry,
  NODE_TYPES,
  parseLine,
  placeList,
  readToolLists,
  type SessionIndex,
  sessionOfLine,
} from "./session-index.ts";
import { CLAUDE_SETUP } from "./setup.ts";
import { arrangeTurns, cutTurns, readTitles, requestLines, type TurnCut } from "./turns.ts";
import { exportClaudeCode } from "./write.ts";

/** Lines searched; the first ones may be side data or damaged. */
const LINES_LOOKED_AT = 50;

/** Side lines, each with a key that no other format has with that type. */
const SIDE_TYPES: Readonly<Record<string, string>> = {
  "ai-title": "aiTitle",
  "custom-title": "customTitle",
  "file-history-snapshot": "snapshot",
  "last-prompt": "sessionId",
  "permission-mode": "permissionMode",
  "queue-operation": "operation",
  mode: "sessionId",
  summary: "leafUuid",
};

/** Whether the first lines look like a Claude Code session. */
export function isClaudeSession(source: SessionSource): boolean {
  for (let line = 0; line < Math.min(source.lineCount, LINES_LOOKED_AT); line++) {
    const parsed = parseLine(source.line(line));
    if (parsed !== null && typeof parsed !== "string" && isClaudeLine(parsed)) return true;
  }
  return false;
}

/** Whether a line can only come from Claude Code. */
function isClaudeLine(line: RawLine): boolean {
  const type = stringOf(line, "type") ?? "";
  if (NODE_TYPES.has(type))
    return typeof line["uuid"] === "string" && ("parentUuid" in line || typeof line["sessionId"] === "string");
  return Object.hasOwn(SIDE_TYPES, type) && (SIDE_TYPES[type] ?? "") in line;
}

// Imports a Claude Code session: indexes its lines, finds the path that the agent would resume, reads its turns on demand and its
// compactions. A pure function of the file's text.

/** Version of this importer: raise it when the same bytes would give other events or records. */
const CLAUDE_IMPORTER = 8;

/** Title of a session without a user request. */
const UNTITLED = "untitled session";

/** Reads a session; lists bad lines in `skippedLines`. Throws `not_a_session` when no line is Claude Code's. */
export function readClaudeSession(source: SessionSource): ImportedSession {
  const lines = createParsedLines(source, parseLine);
  const indexed = indexSession(lines, source.lineCount);
  if (!hasClaudeLine(lines, indexed)) throw notASession(indexed);
  const sessionId = sessionIdOf(indexed);
  const { index, answers, graph, path, cuts, plan } = readPath(lines, indexed, sessionId);
  const readAnswer = createAnswerReader(indexed);
  const compactions = readAgentCompactions({ plan, chain: path.chain, graph, answers, readAnswer });
  const starts = turnStarts(cuts);
  const title = firstTitle(plan);
  const origin = readExportOrigin(index.firstLine);
  const parts = listParts(lines, index);
  const readTurn = (turn: number) => readPlannedTurn(plan, turn);
  return {
    format: "claude-code",
    importer: CLAUDE_IMPORTER,
    sessionId,
    title: title ?? UNTITLED,
    titles: readTitles(index, sessionId),
    toolLists: readToolLists(lines, index.snapshots).map((list) => placeList(list, starts)),
    createdAt: index.createdAt,
    cwd: index.cwd,
    turnCount: cuts.length,
    readTurn,
    turnLine: (turn) => starts[turn] ?? source.lineCount,
    hasLine: (id) => index.nodes.has(id),
    turnTime: (turn) => cuts[turn]?.opener.timestamp ?? index.createdAt,
    compactions,
    compactionTurns: new Map(compactions.map((compaction) => [compaction.id, compaction.to_turn])),
    abandoned: findAbandoned(index, graph, { path, cuts, plan }),
    skippedLines: index.skipped,
    live: readLive({ index: indexed, answers, graph, path, cuts, compactions }),
    lineage: readLineage(index, path),
    ...(parts.length > 0 && { parts }),
    ...(origin !== null && { origin }),
  };
}

/** What shows that the session is a copy: ids of its lines, and a compaction that it begins with. */
function readLineage({ originals, ...index }: SessionIndex, { chain }: SessionPath): SessionLineage {
  const continuedIn = index.continuedIn === undefined ? undefined : toUsableId(index.continuedIn);
  const originalOf = (line: string): string => originals.get(line) ?? line;
  const first = chain.find(({ kind }) => kind !== "side");
  if (first?.kind !== "boundary" || first.uuid === undefined) return { originalOf, continuedIn };
  const line = originalOf(first.uuid);
  return { originalOf, continuedIn, after: { compaction: deriveName(line), line } };
}

/** Reads the session's id up to the first line that names it; null when none does. */
export function claudeSessionId(source: SessionSource): string | null {
  for (let line = 0; line < source.lineCount; line++) {
    const parsed = parseLine(source.line(line));
    const id = parsed === null || typeof parsed === "string" ? undefined : sessionOfLine(parsed);
    if (id !== undefined) return toUsableId(id);
  }
  return null;
}

function hasClaudeLine(lines: ParsedLines, index: SessionIndex): boolean {
  return index.entries.some((entry) => {
    const line = lines.at(entry.line);
    return line !== null && typeof line !== "string" && isClaudeLine(line);
  });
}

function notASession(index: SessionIndex): Error {
  const first = index.skipped[0];
  const found = first === undefined ? "no line of one was found" : `line ${first.line} is ${first.reason}`;
  return userError(
    "not_a_session",
    `The file is not a Claude Code session: expected JSON lines with \`type\` and \`uuid\`, ${found}.`,
    {
      hints: ["Claude Code keeps sessions in ~/.claude/projects/<project>/<session>.jsonl."],
    },
  );
}

/** Lines at which the turns' pieces of the file begin, 0-based, never falling; turn 0 begins with the file. */
function turnStarts(cuts: readonly TurnCut[]): readonly number[] {
  let last = 0;
  return cuts.map((cut, turn) => {
    if (turn > 0) last = Math.max(last, cut.opener.firstLine);
    return last;
  });
}

// Branches that the active path abandoned: the user went back and asked something else. Parallel calls, sub-agents and failed
// requests branch the graph too but are not counted.

interface ActiveBranch {
  readonly path: SessionPath;
  readonly cuts: readonly TurnCut[];
  readonly plan: TurnPlan;
}

/** Finds the abandoned branches, in the file order of their ends. */
function findAbandoned(index: SessionIndex, graph: SessionGraph, active: ActiveBranch): readonly AbandonedBranch[] {
  const { leaf: end, chain: kept, offPath: keptOffPath } = active.path;
  const claimed = new Set([...kept, ...keptOffPath.keys(), ...unreachedAnswers(index, graph, end)]);
  const branches: AbandonedBranch[] = [];
  for (const leaf of findLeaves(index, graph, claimed).toReversed()) {
    if (claimed.has(leaf)) continue;
    const chain = pathTo(leaf, graph);
    const own = chain.filter((entry) => !claimed.has(entry));
    const offPath = findOffPathLines(index, graph, chain);
    for (const entry of [...own, ...offPath.keys()]) claimed.add(entry);
    const first = own.find((entry) => isSent(entry.kind));
    if (first === undefined || !own.some(isSubstance)) continue;
    branches.unshift(createBranch(active, { chain, offPath }, branchName(first)));
  }
  return branches;
}

/** Answers written before the end of the path although they follow it: the path will reach them. */
function unreachedAnswers(index: SessionIndex, graph: SessionGraph, end: LineEntry | undefined): readonly LineEntry[] {
  if (end === undefined) return [];
  const follows = followTest(index, graph, end);
  return index.entries.filter((entry) => entry.kind === "assistant" && entry.line < end.line && follows(entry));
}

function isSubstance(entry: LineEntry): boolean {
  return entry.kind === "prompt" || entry.kind === "assistant";
}

function branchName(first: LineEntry): string {
  return `left-${deriveName(first.uuid ?? String(first.line)).slice(0, 8)}`;
}

/** Messages off the path that no other message off the path follows, in file order. */
function findLeaves(index: SessionIndex, graph: SessionGraph, onPath: ReadonlySet<LineEntry>): readonly LineEntry[] {
  const followed = new Set<LineEntry>();
  const candidates: LineEntry[] = [];
  for (const entry of index.entries) {
    if (onPath.has(entry) || entry.isSidechain || !isSent(entry.kind) || entry.kind === "attachment") continue;
    candidates.push(entry);
    for (
      let at = graph.parentOf(entry);
      at !== undefined && !onPath.has(at) && !followed.has(at);
      at = graph.parentOf(at)
    ) {
      followed.add(at);
    }
  }
  return candidates.filter((entry) => !followed.has(entry));
}

function createBranch(active: ActiveBranch, path: SessionPath, name: string): AbandonedBranch {
  const cuts = cutTurns(path.chain);
  const plan: TurnPlan = {
    ...active.plan,
    openers: cuts.map((cut) => cut.opener),
    lines: arrangeTurns(cuts, path.offPath, []),
    requests: requestLines(path.chain),
    notes: new Set(),
    empty: findEmptyMessages([...path.chain, ...path.offPath.keys()]),
  };
  const common = countCommonTurns(active.cuts, cuts);
  return {
    name,
    commonTurns: common,
    turnCount: cuts.length,
    readTurn: (turn) => readPlannedTurn(turn < common ? active.plan : plan, turn),
  };
}

/** Counts the turns at the start that sent the same lines. */
function countCommonTurns(a: readonly TurnCut[], b: readonly TurnCut[]): number {
  const differs = b.findIndex((cut, turn) => !hasSameLines(sentLines(cut), sentLines(a[turn])));
  return differs < 0 ? b.length : differs;
}

function sentLines(cut: TurnCut | undefined): readonly LineEntry[] {
  return cut?.chain.filter((entry) => isSent(entry.kind)) ?? [];
}

function hasSameLines(a: readonly LineEntry[], b: readonly LineEntry[]): boolean {
  return a.length === b.length && a.every((entry, position) => entry === b[position]);
}

// Tokens that Claude Code sends before a conversation: system prompt, tools, instructions of the project. Measured as the median
// over sessions with usage (docs/decisions/sizes.md); a user's servers and memory files add to it.

/** Tokens by the first version that sends that many, newest first. From 2.1.100 on most tools are loaded when needed. */
const MEASURED: readonly (readonly [version: readonly [number, number, number], tokens: number])[] = [
  [[2, 1, 100], 20_000],
  [[0, 0, 0], 31_000],
];

/** Gives the tokens that a line's version sends; null when the line names none. */
export function typicalClaudeOverhead(line: string): number | null {
  const [, ...version] = /"version":\s*"(\d+)\.(\d+)\.(\d+)/.exec(line) ?? [];
  if (version.length === 0) return null;
  const own = version.map(Number);
  return MEASURED.find(([from]) => !isBelow(own, from))?.[1] ?? null;
}

function isBelow(own: readonly number[], from: readonly number[]): boolean {
  const at = from.findIndex((part, index) => part !== own[index]);
  return at !== -1 && (own[at] ?? 0) < (from[at] ?? 0);
}

// Claude Code as one value: see docs/ARCHITECTURE.md, and `../agent-format.ts` for what each part means.

const ENDING = ".jsonl";

export const CLAUDE_CODE: AgentFormat = {
  name: "claude-code",
  agent: { name: "Claude Code", email: "claude-code@jpg.invalid" },
  importer: CLAUDE_IMPORTER,
  files: {
    endings: [ENDING],
    folders: claudeFolders,
    directory: claudeDirectory,
    keptDays: claudeKeptDays,
    isCallers: ({ CLAUDE_CODE_SESSION_ID: session }, fileName) =>
      session !== undefined && fileName === `${session}${ENDING}`,
    about: aboutTranscript,
    sideFiles: {
      folder: (fileName) => (fileName.endsWith(ENDING) ? fileName.slice(0, -ENDING.length) : null),
      holdsFolder: isSideFolder,
      holdsFile: isSideFile,
      isSession: isTranscript,
    },
  },
  detect: isClaudeSession,
  sessionId: claudeSessionId,
  origin: (source) => (source.lineCount > 0 ? parseExportOrigin(source.line(0)) : null),
  descent: claudeDescent,
  start: claudeStart,
  read: readClaudeSession,
  overhead: typicalClaudeOverhead,
  sent: CLAUDE_SENT_LOG,
  write: { sessionId: sessionUuid, lineId: lineUuid, write: writeSession },
  resume: (machine, { sessionId, cwd }) => ({
    path: machine.join(projectFolder(machine, cwd), `${sessionId}${ENDING}`),
    command: reopen(sessionId),
    hints: [
      "CLAUDE_CONFIG_DIR names another folder for Claude Code's files.",
      "`jpg export --to claude-code -o FILE` writes anywhere; `claude --resume FILE` takes it.",
    ],
  }),
  reopen,
  setup: CLAUDE_SETUP,
  versions: { tried: "2.1.330", versionOf: (source) => findVersion(source, parseLine, ({ version }) => version) },
  tools: {
    shell: { name: "Bash", keys: { command: "command" } },
    read: { name: "Read", keys: { path: "file_path" } },
    write: { name: "Write", keys: { path: "file_path", content: "content" } },
    edit: { name: "Edit", keys: { path: "file_path", before: "old_string", after: "new_string" } },
    search: { name: "Grep", keys: { pattern: "pattern", path: "path" } },
    find: { name: "Glob", keys: { pattern: "pattern", path: "path" } },
  },
  help: {
    place: "Claude Code keeps its sessions under ~/.claude/projects (or CLAUDE_CONFIG_DIR).",
    file: "~/.claude/projects/-home-me-app/4f2e….jsonl",
    reads:
      "Sessions of 2.0 and later. Its own compactions become compactions, what you rewound becomes a fork (`--all-branches`), a session copied by `--fork-session`, `/branch` or the background a fork of the same conversation, what its tools wrote into files of the session's own folder is kept with it, and what each of its sub-agents did becomes a conversation linked with it.",
    lost: [
      "Attachments that Claude Code makes again on each start (its lists of files, tools, skills) become notes and are not exported.",
      "Reasoning is exported only for the model family that wrote it: the API refuses other signatures.",
    ],
    takes: { file: "4f2e.jsonl", by: "a session that `claude --resume FILE` takes" },
    addServer: "claude mcp add jpg -- jpg mcp",
  },
};

function reopen(sessionId: string): readonly string[] {
  return ["claude", "--resume", sessionId];
}

function writeSession({ view, sessionId, origin, cwd, title, model, sha1 }: SessionDraft): string {
  const thread = toAnthropicThread(view, { model, systemMessages: true, toolReferences: true });
  const lineId = (name: string): string => lineUuid(sessionId, name, sha1);
  return exportClaudeCode({ thread, view, sessionId, lineId, origin, cwd, title }).text;
}
