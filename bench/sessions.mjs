// Session files to measure with: real ones repeated under new ids, and a made-up one of any number of turns.
import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const UUID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g;

/** The Claude Code sessions of a corpus, by path; null when it has none. */
export function listSessions(corpus) {
  const folder = join(corpus, "claude-code");
  if (!existsSync(folder)) return null;
  return readdirSync(folder, { recursive: true })
    .map((path) => join(folder, path))
    .filter((path) => path.endsWith(".jsonl") && statSync(path).isFile())
    .sort();
}

/** The largest of some files. */
export function largest(paths) {
  return [...paths].sort((a, b) => statSync(b).size - statSync(a).size)[0];
}

/** Files that are not the beginning of another: the last state of each session. */
export function lastStates(paths) {
  const texts = paths.map((path) => readFileSync(path));
  return paths.filter(
    (_, i) =>
      !texts.some(
        (other, k) => k !== i && other.length > texts[i].length && other.subarray(0, texts[i].length).equals(texts[i]),
      ),
  );
}

/** Writes copies of session files, each under a session id of its own. Gives their bytes in all. */
export function writeCopies(paths, folder, copies) {
  let bytes = 0;
  for (let copy = 0; copy < copies; copy++) {
    for (const path of paths) {
      const text = readFileSync(path, "utf8");
      const id = sessionIdOf(text);
      const fresh = deriveUuid(`${path}:${copy}`);
      const target = join(folder, `${basename(dirname(path))}-${copy}-${basename(path)}`);
      const written = Buffer.from(id === undefined ? text : text.replaceAll(id, fresh));
      writeFileSync(target, written);
      bytes += written.length;
    }
  }
  return bytes;
}

/**
 * Writes one session of at least `minBytes` by repeating a session: every round has new ids, later times, and continues
 * where the round before it ended. Gives its bytes.
 */
export function writeLongSession(path, target, minBytes) {
  const text = readFileSync(path, "utf8").trimEnd();
  const id = sessionIdOf(text);
  const rounds = Math.ceil(minBytes / Buffer.byteLength(text));
  let end = null;
  writeFileSync(target, "");
  let bytes = 0;
  for (let round = 0; round < rounds; round++) {
    const renamed = renameRound(text, id, round);
    const chained = end === null ? renamed : chainRoots(renamed, end);
    end = lastMessageOf(chained) ?? end;
    const chunk = Buffer.from(`${chained}\n`);
    writeFileSync(target, chunk, { flag: "a" });
    bytes += chunk.length;
  }
  return bytes;
}

/** Gives the roots of a round the end of the round before as parent; a compaction's boundary is a root on purpose. */
function chainRoots(text, parent) {
  const isRoot = (line) => line.includes('"parentUuid":null') && !line.includes('"logicalParentUuid"');
  return text
    .split("\n")
    .map((line) => (isRoot(line) ? line.replace('"parentUuid":null', `"parentUuid":"${parent}"`) : line))
    .join("\n");
}

function renameRound(text, sessionId, round) {
  const names = new Map([[sessionId, sessionId]]);
  const freshId = (old) => {
    const known = names.get(old) ?? deriveUuid(`${old}:${round}`);
    names.set(old, known);
    return known;
  };
  return text
    .replace(UUID, freshId)
    .replace(/\b(toolu|msg|req)_([A-Za-z0-9]{8,})\b/g, `$1_$2r${round}`)
    .replace(/"timestamp":"([^"]+Z)"/g, (whole, time) => {
      const shifted = Date.parse(time) + round * 7 * 86_400_000;
      return Number.isFinite(shifted) ? `"timestamp":"${new Date(shifted).toISOString()}"` : whole;
    });
}

function lastMessageOf(text) {
  const line = text
    .split("\n")
    .findLast(
      (candidate) => /^\{.*"type":"(user|assistant)"/.test(candidate) && !candidate.includes('"isSidechain":true'),
    );
  return line === undefined ? undefined : JSON.parse(line).uuid;
}

/**
 * The lines of made-up turns `[from, to)`: a request, a reasoning, a call, its result, an answer; about 2.5 KB a turn where the
 * result has 80 words.
 */
export function makeTurns(session, from, to, resultWords = 80) {
  const lines = [];
  for (let turn = from; turn < to; turn++) lines.push(...turnLines(session, turn, resultWords));
  return `${lines.join("\n")}\n`;
}

/** Writes a made-up session of so many turns. */
export function writeMadeSession(target, turns) {
  writeFileSync(target, makeTurns(deriveUuid(`made:${turns}`), 0, turns));
}

/** The session id of a made-up session, to continue it with `makeTurns`. */
export function madeSessionId(turns) {
  return deriveUuid(`made:${turns}`);
}

function turnLines(session, turn, resultWords) {
  const random = createRandom(turn + 1);
  const uuid = (part) => deriveUuid(`${session}:${turn}:${part}`);
  const base = Date.UTC(2030, 0, 1) + turn * 60_000;
  const model = "claude-sonnet-4-5-20250929";
  const call = `toolu_${turn}x${session.slice(0, 8)}`;
  const messages = [
    ["user", { role: "user", content: words(random, 30) }],
    [
      "assistant",
      {
        id: `msg_${turn}a`,
        role: "assistant",
        model,
        content: [{ type: "thinking", thinking: words(random, 40), signature: "c2ln" }],
      },
    ],
    [
      "assistant",
      {
        id: `msg_${turn}a`,
        role: "assistant",
        model,
        content: [{ type: "tool_use", id: call, name: "Read", input: { file_path: `/demo/src/part-${turn % 97}.ts` } }],
      },
    ],
    [
      "user",
      { role: "user", content: [{ type: "tool_result", tool_use_id: call, content: words(random, resultWords) }] },
    ],
    [
      "assistant",
      { id: `msg_${turn}b`, role: "assistant", model, content: [{ type: "text", text: words(random, 40) }] },
    ],
  ];
  return messages.map(([type, message], part) =>
    JSON.stringify({
      parentUuid: part > 0 ? uuid(part - 1) : turn > 0 ? deriveUuid(`${session}:${turn - 1}:4`) : null,
      isSidechain: false,
      userType: "external",
      cwd: "/demo",
      sessionId: session,
      version: "2.1.17",
      gitBranch: "main",
      type,
      message,
      uuid: uuid(part),
      timestamp: new Date(base + part * 1000).toISOString(),
    }),
  );
}

const WORDS =
  "the parser reads a line and keeps its place so that errors name where they stand when tests fail again after the rewrite of module seven".split(
    " ",
  );

function words(random, count) {
  return Array.from({ length: count }, () =>
    random() < 0.1 ? Math.floor(random() * 1e6).toString(36) : WORDS[Math.floor(random() * WORDS.length)],
  ).join(" ");
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
function createRandom(seed) {
  let state = seed * 0x9e3779b1;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

function sessionIdOf(text) {
  return /"sessionId":"([^"]+)"/.exec(text)?.[1];
}

function deriveUuid(seed) {
  const hex = createHash("sha256").update(seed).digest("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
