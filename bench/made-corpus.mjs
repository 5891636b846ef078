// A small corpus for where there is none: made-up sessions of Claude Code that hold what the benchmarks look for in real ones:
// usage at each answer, files that are read and changed, facts that are needed later, and a compaction of the agent's own. What
// is measured on it says nothing; that a benchmark comes to its end on it says that it still runs.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MODEL = "claude-sonnet-4-5-20250929";
/** Turns before the agent's compaction: so many that compacting half of them pays; and after it. */
const TURNS_BEFORE = 20;
const TURNS_BEHIND = 8;
/** Turns of a short session, with as many calls as make a coding session. */
const SHORT_TURNS = 6;
/** Lines of a result: some 6,000 characters. */
const LINES = 110;
const CHARS_PER_TOKEN = 4;
/** What an agent sends beside the conversation. */
const OVERHEAD_TOKENS = 5000;

/** Writes the sessions into a folder, which becomes a corpus. */
export function writeMadeCorpus(folder) {
  const sessions = join(folder, "claude-code");
  mkdirSync(sessions, { recursive: true });
  const long = startSession("0000c0de-0000-4000-8000-000000000001");
  addTurns(long, 0, TURNS_BEFORE);
  addCompaction(long);
  addTurns(long, TURNS_BEFORE, TURNS_BEFORE + TURNS_BEHIND);
  const short = startSession("0000c0de-0000-4000-8000-000000000002");
  addTurns(short, 0, SHORT_TURNS);
  for (const { id, lines } of [long, short]) writeFileSync(join(sessions, `${id}.jsonl`), `${lines.join("\n")}\n`);
  // The session as it was earlier, as a corpus has it, too.
  writeFileSync(join(sessions, "earlier.jsonl"), `${long.lines.slice(0, 10).join("\n")}\n`);
}

/** A session to add lines to; `chars` = what the model is sent of it. */
function startSession(id) {
  return { id, lines: /** @type {string[]} */ ([]), parent: /** @type {string | null} */ (null), chars: 0, answers: 0 };
}

function addTurns(session, from, to) {
  for (let turn = from; turn < to; turn++) addTurn(session, turn);
}

/** A request, a file that is read, changed and tested, and an answer that refers to an earlier turn. */
function addTurn(session, turn) {
  const path = `/demo/src/part-${turn}.ts`;
  const earlier = Math.floor(turn / 3);
  addMessage(session, "user", { role: "user", content: `Have readDepth${turn} of ${path} skip line ${4000 + turn}.` });
  addCall(session, { name: "Read", input: { file_path: path } }, `${codeOf(turn)}`);
  addCall(
    session,
    { name: "Edit", input: { file_path: path, old_string: `depth${turn}`, new_string: `skipDepth${turn}` } },
    `The file ${path} has been updated.`,
  );
  addCall(
    session,
    { name: "Bash", input: { command: `npx vitest run part-${turn}` } },
    `Error: expected mark ${5000 + turn} of berth ${turn}\n${codeOf(turn + 1000)}`,
  );
  const text = `As checkBerth${earlier}x1 of /demo/src/part-${earlier}.ts does, it skips line ${4000 + turn}, see skipMark${turn % LINES}of${earlier}.`;
  addAnswer(session, { type: "text", text });
}

function addCall(session, { name, input }, result) {
  const id = `toolu_${session.id.slice(-4)}x${session.lines.length}`;
  addAnswer(session, { type: "tool_use", id, name, input });
  addMessage(session, "user", { role: "user", content: [{ type: "tool_result", tool_use_id: id, content: result }] });
}

function addAnswer(session, content) {
  session.answers += 1;
  const tokens = OVERHEAD_TOKENS + Math.ceil(session.chars / CHARS_PER_TOKEN);
  const usage = {
    input_tokens: 10,
    cache_read_input_tokens: tokens,
    cache_creation_input_tokens: 0,
    output_tokens: 40,
  };
  const id = `msg_${session.id.slice(-4)}x${session.answers}`;
  addMessage(session, "assistant", { id, type: "message", role: "assistant", model: MODEL, content: [content], usage });
}

function addMessage(session, type, message) {
  session.chars += JSON.stringify(message.content).length;
  addLine(session, { type, message });
}

/** What Claude Code writes when it compacts: a boundary without a parent, and the summary. */
function addCompaction(session) {
  const compactMetadata = { trigger: "auto", preTokens: Math.ceil(session.chars / CHARS_PER_TOKEN) };
  const boundary = { type: "system", subtype: "compact_boundary", content: "Conversation compacted", compactMetadata };
  const logicalParentUuid = session.parent;
  session.parent = null;
  addLine(session, { ...boundary, logicalParentUuid });
  const content = "The parts of /demo/src/part-0.ts to part-19.ts skip their lines; checkBerth7x1 is kept.";
  session.chars = content.length;
  const summary = { isCompactSummary: true, isVisibleInTranscriptOnly: true };
  addLine(session, { type: "user", message: { role: "user", content }, ...summary });
}

function addLine(session, line) {
  const number = session.lines.length;
  const uuid = `${session.id.slice(-8)}-0000-4000-9000-${String(number).padStart(12, "0")}`;
  const timestamp = new Date(Date.UTC(2030, 0, 1) + number * 1000).toISOString();
  const place = { isSidechain: false, userType: "external", cwd: "/demo", version: "2.1.17", gitBranch: "main" };
  session.lines.push(
    JSON.stringify({ parentUuid: session.parent, ...place, sessionId: session.id, ...line, uuid, timestamp }),
  );
  session.parent = uuid;
}

/** Lines of code, each with words of its own. */
function codeOf(part) {
  return Array.from(
    { length: LINES },
    (_, line) => `  if (checkBerth${part}x${line}(${part * 100 + line})) return skipMark${line}of${part};\n`,
  ).join("");
}
