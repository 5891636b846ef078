// How long a search takes, compared with git grep: 100 MB of made-up turns, words that are in one of them, and words that are
// in none.
import { rmSync, writeFileSync } from "node:fs";
import { interleave } from "./measure.mjs";
import { createRow, ratio } from "./row.mjs";

const ONCE = "the lantern at the third pier";
const NOWHERE = "no such words at all";

/** Measures literal and ranked searches. */
export async function benchSearch(sandbox, { rounds, turns, resultChars }) {
  const [file, store] = [sandbox.newPath("much.jsonl"), sandbox.newPath("much")];
  writeFileSync(file, makeSession(turns, resultChars));
  await sandbox.jpg(["import", "--store", store, file, "--quiet"]);
  rmSync(file);
  const [{ branch }] = JSON.parse((await sandbox.jpg(["ls", "--json", "--store", store])).output);
  const grep = (words) =>
    timed(sandbox, ["git", "-C", store, "grep", "-lF", words, branch, "--", "turns", "attachments"]);
  const search = (...args) => timed(sandbox, [process.execPath, sandbox.bin, "search", "--store", store, ...args]);
  const times = await interleave(rounds, {
    grepOnce: grep(ONCE),
    once: search(ONCE),
    grepNowhere: grep(NOWHERE),
    nowhere: search(NOWHERE),
    ranked: search(ONCE, "--rank", "--limit", "5"),
  });
  rmSync(store, { recursive: true });
  return [
    createRow("search", "jpg search in 100 MB, words that occur once ÷ git grep", {
      ...ratio(times.once, times.grepOnce),
    }),
    createRow("search-none", "the same, words that occur nowhere", {
      ...ratio(times.nowhere, times.grepNowhere),
    }),
    createRow("search-rank", "jpg search --rank in 100 MB ÷ git grep", ratio(times.ranked, times.grepOnce)),
  ];
}

/** Runs a search and gives its time; that it found nothing, which both say by exit code 1, is no failure. */
function timed(sandbox, command) {
  return async () => (await sandbox.run("sh", ["-c", '"$@" || [ $? -eq 1 ]', "sh", ...command])).ms;
}

/** The text of a session of Claude Code: a request, a command with a long result, an answer, in each turn. */
function makeSession(turns, resultChars) {
  const sessionId = "5ea5c400-0000-4000-8000-000000000001";
  const model = "claude-sonnet-4-5-20250929";
  const lines = [];
  let parentUuid = null;
  const add = (type, message) => {
    const uuid = `5ea5c400-0000-4000-9000-${String(lines.length).padStart(12, "0")}`;
    const timestamp = new Date(Date.UTC(2030, 0, 1) + lines.length * 1000).toISOString();
    const place = { cwd: "/demo", version: "2.0.0", isSidechain: false, userType: "external" };
    lines.push(JSON.stringify({ parentUuid, sessionId, ...place, type, uuid, timestamp, message }));
    parentUuid = uuid;
  };
  const answer = (id, content) => add("assistant", { id, role: "assistant", model, content: [content] });
  for (let turn = 0; turn < turns; turn++) {
    const id = `toolu_${turn}`;
    add("user", { role: "user", content: turn === turns / 2 ? `Look at ${ONCE}.` : `Survey berth ${turn}.` });
    answer(`msg_${turn}a`, { type: "tool_use", id, name: "Bash", input: { command: `survey ${turn}` } });
    add("user", {
      role: "user",
      content: [{ type: "tool_result", tool_use_id: id, content: makeResult(turn, resultChars) }],
    });
    answer(`msg_${turn}b`, { type: "text", text: `Berth ${turn} is done.` });
  }
  return `${lines.join("\n")}\n`;
}

function makeResult(turn, chars) {
  let text = "";
  for (let mark = 0; text.length < chars; mark++)
    text += `berth ${turn} mark ${mark}: depth ${(mark * 7919 + turn * 104_729) % 9973} mm, mud ${(mark * turn) % 97} cm\n`;
  return text;
}
