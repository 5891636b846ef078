// What a list of many conversations costs: against `git for-each-ref`, the first time and when it is known.
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { rmSync } from "node:fs";
import { interleave } from "./measure.mjs";
import { createRow, formatNumber } from "./row.mjs";

const CONVERSATIONS = 10_000;
const TURNS = 3;

/** Measures `jpg ls` with as many refs in files of their own, as imports leave them, and packed. */
export async function benchList(sandbox, { repetitions }) {
  const [few, loose] = [await makeStore(sandbox, 1), await makeStore(sandbox, CONVERSATIONS)];
  const first = (await sandbox.jpg(["ls", "--store", loose])).ms;
  const rows = [
    createRow("list-first", `jpg ls of ${CONVERSATIONS} conversations, the first time, ms each`, {
      value: first / CONVERSATIONS,
      unit: "ms",
      detail: `${formatNumber(first / 1000)} s; ${TURNS} turns each`,
    }),
  ];
  for (const refs of ["loose", "packed"]) {
    if (refs === "packed") await sandbox.run("git", ["-C", loose, "pack-refs", "--all"]);
    rows.push(await measureList(sandbox, { few, many: loose, refs, repetitions }));
  }
  rmSync(loose, { recursive: true });
  return rows;
}

async function measureList(sandbox, { few, many, refs, repetitions }) {
  const { ls, start, git } = await interleave(repetitions, {
    ls: async () => (await sandbox.jpg(["ls", "--store", many])).ms,
    start: async () => (await sandbox.jpg(["ls", "--store", few])).ms,
    git: async () => (await sandbox.run("git", ["-C", many, "for-each-ref"])).ms,
  });
  return createRow(`list-${refs}`, `(jpg ls of ${CONVERSATIONS} − of one) ÷ git for-each-ref, ${refs} refs`, {
    value: (ls.median - start.median) / git.median,
    limit: { atMost: 3 },
    detail: `(${formatNumber(ls.median)} − ${formatNumber(start.median)} ms) ÷ ${formatNumber(git.median)} ms`,
  });
}

async function makeStore(sandbox, count) {
  const store = sandbox.newPath("store");
  await sandbox.jpg(["init", store]);
  const ids = Array.from({ length: count }, (_, index) => `made-${String(index).padStart(5, "0")}`);
  await importStream(sandbox, store, ids);
  return store;
}

function importStream(sandbox, store, ids) {
  const git = spawn("git", ["-C", store, "fast-import", "--quiet"], {
    env: sandbox.env,
    stdio: ["pipe", "inherit", "inherit"],
  });
  for (const [index, id] of ids.entries()) git.stdin.write(conversation(index, id));
  git.stdin.end();
  return new Promise((resolve, reject) => {
    git.on("error", reject);
    git.on("close", (code) =>
      code === 0 ? resolve() : reject(new Error(`bench: git fast-import ended with ${code}`)),
    );
  });
}

function conversation(index, id) {
  let text = "";
  let prev = null;
  for (let turn = 0; turn < TURNS; turn++) {
    const timestamp = new Date(1.75e12 + index * 1000 + turn).toISOString();
    const events = turnEvents({ id, turn, timestamp, prev });
    prev = createHash("sha1")
      .update(`blob ${Buffer.byteLength(events)}\0${events}`)
      .digest("hex");
    const seconds = 1_750_000_000 + index * 10 + turn;
    text += `commit refs/heads/${id}/main\ncommitter Bench <bench@example.invalid> ${seconds} +0000\n${data("turn\n")}`;
    if (turn === 0) text += header(id, index, timestamp);
    text += `M 100644 inline turns/0000/${String(turn).padStart(6, "0")}.jsonl\n${data(events)}`;
  }
  return text;
}

function header(id, index, created_at) {
  const json = JSON.stringify({ format: 1, id, title: `Question ${index}`, created_at, source: null });
  return `M 100644 inline conversation.json\n${data(`${json}\n`)}`;
}

function turnEvents({ id, turn, timestamp, prev }) {
  const event = (type, fields) => ({ type, id: `${id}-${turn}-${type}`, timestamp, ...fields });
  const events = [
    event("turn_start", prev === null ? {} : { prev }),
    event("chat_request", { content: `Question ${turn}: ${"how does the parser treat this? ".repeat(10)}` }),
    event("tool_call_request", { call_id: "c", name: "Read", arguments: { file_path: `/src/${id}.ts` } }),
    event("tool_call_response", { call_id: "c", content: "a line of the file\n".repeat(60), is_error: false }),
    event("chat_response", { message: `Answer ${turn}: ${"it reads each line once. ".repeat(20)}` }),
  ];
  return events.map((line) => `${JSON.stringify(line)}\n`).join("");
}

function data(text) {
  return `data ${Buffer.byteLength(text)}\n${text}\n`;
}
